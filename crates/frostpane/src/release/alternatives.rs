//! The noise of other ways of continual release, for comparison.

use crate::noise::DiscreteLaplace;
use crate::privacy::Epsilon;
use crate::release::noise_tree::{Tree, WindowNoise};
use crate::spec::Unit;

/// The noise of a continual release, and what other ways would need: standard deviations of the noise of a count.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternatives {
    pub(crate) tree: Tree,
    /// As drawn.
    pub(crate) deviation: f64,
    /// With fresh noise for each window and epsilon divided by their number: an event is in as many windows as a
    /// window has panes.
    pub(crate) basic: f64,
    /// The same with a delta, half of which is left to the threshold.
    pub(crate) with_delta: Option<WithDelta>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WithDelta {
    /// Laplace noise under advanced composition.
    pub advanced: f64,
    /// Gaussian noise under zero-concentrated differential privacy.
    pub concentrated: f64,
}

impl Alternatives {
    pub(crate) fn new(noise: &WindowNoise, panes: u64, unit: Unit, epsilon: Epsilon, delta: f64) -> Self {
        let log = (2.0 / delta).ln();
        let with_delta = (delta > 0.0).then(|| WithDelta {
            advanced: advanced(panes as f64, epsilon.as_f64(), log),
            concentrated: concentrated(panes as f64, epsilon.as_f64(), log),
        });
        let each = epsilon.share(1, panes);
        let basic = DiscreteLaplace::new(unit.counts(), each).variance().sqrt();
        Self { tree: noise.tree, deviation: noise.sum.deviation(), basic, with_delta }
    }
}

/// With noise for `e` in each of `n` windows, `epsilon = sqrt(2 n ln(1/delta)) e + n e (exp(e) - 1)`.
fn advanced(windows: f64, epsilon: f64, log: f64) -> f64 {
    let spent = |each: f64| (2.0 * windows * log).sqrt() * each + windows * each * each.exp_m1();
    let (mut low, mut high) = (0.0, epsilon);
    // To a fixed point of floats.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if spent(middle) <= epsilon { low = middle } else { high = middle }
    }
    8.0_f64.sqrt() / low
}

/// `epsilon = rho + 2 sqrt(rho ln(1/delta))`; `n` windows of squared sensitivity 2 take `rho = n / variance`.
fn concentrated(windows: f64, epsilon: f64, log: f64) -> f64 {
    let rho = ((log + epsilon).sqrt() - log.sqrt()).powi(2);
    (windows / rho).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternatives(panes: u64, epsilon: f64, delta: f64) -> Alternatives {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let noise = WindowNoise::new(panes, Unit::Event, epsilon, u64::MAX).unwrap();
        Alternatives::new(&noise, panes, Unit::Event, epsilon, delta)
    }

    /// Each alternative by its own equation: its noise spends exactly epsilon.
    #[test]
    fn alternatives_spend_what_they_may() {
        for (panes, epsilon, delta) in
            [(1_u64, 1.0, 1e-9), (32, 1.0, 1e-9), (100, 0.25, 1e-6), (365, 4.0, 0.1)]
        {
            let others = alternatives(panes, epsilon, delta);
            let windows = panes as f64;
            let q = (-epsilon / (2.0 * windows)).exp();
            assert!((others.basic / ((2.0 * q).sqrt() / (1.0 - q)) - 1.0).abs() < 1e-9);
            let others = others.with_delta.unwrap();
            let log = (2.0 / delta).ln();
            // Laplace noise of scale 2/e has a deviation of sqrt(8)/e.
            let each = 8.0_f64.sqrt() / others.advanced;
            let spent = (2.0 * windows * log).sqrt() * each + windows * each * (each.exp() - 1.0);
            assert!((spent / epsilon - 1.0).abs() < 1e-9, "{panes}");
            let rho = windows / others.concentrated.powi(2);
            let spent = rho + 2.0 * (rho * log).sqrt();
            assert!((spent / epsilon - 1.0).abs() < 1e-9, "{panes}");
        }
        // With almost no windows half of epsilon spends all of it, to the last bit.
        assert_eq!(advanced(2.0_f64.powi(-60), 1.0, 2.0_f64.powi(61)), 8.0_f64.sqrt() / 0.5);
        assert_eq!(alternatives(4, 1.0, 0.0).with_delta, None);
    }

    #[test]
    fn what_is_done_and_what_the_others_come_to_is_said() {
        assert_eq!(
            alternatives(32, 1.0, 0.0).to_string(),
            "each key has one noise value a pane, the same in every window: standard deviation 15.8 in a window; fresh noise for \
             each window would have 90.5 under basic composition"
        );
        let tree = alternatives(64, 1.0, 1e-9).to_string();
        assert!(tree.starts_with(
            "each key has one noise value for each node of a tree of 2 levels over the panes, 8 to one, the same in every \
             window: standard deviation 21.9 in a window;"
        ), "{tree}");
        assert!(
            tree.contains(" under advanced composition, ")
                && tree.ends_with(" under zero-concentrated privacy")
        );
    }

    /// For every meaningful delta. Other ways to draw noise once are not compared.
    #[test]
    fn noise_drawn_once_is_never_worse_than_fresh_noise_for_each_window() {
        for panes in [1_u64, 2, 5, 32, 100, 1_000, 5_000] {
            for epsilon in [0.1, 1.0, 4.0] {
                for delta in [0.0, 1e-12, 1e-6, 0.25] {
                    let Alternatives { deviation, basic, with_delta, .. } =
                        alternatives(panes, epsilon, delta);
                    assert!(deviation <= basic * 1.000_001, "{panes} {epsilon}");
                    if let Some(others) = with_delta {
                        assert!(deviation <= others.concentrated, "{panes} {epsilon} {delta}");
                        assert!(deviation <= others.advanced || panes == 1, "{panes} {epsilon} {delta}");
                    }
                }
            }
        }
    }
}
