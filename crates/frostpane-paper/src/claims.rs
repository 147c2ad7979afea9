//! The paper's formulas that the algorithms and other crates need; `tests/claims.rs` has those of its claims.
//!
//! `log` is the natural logarithm, and base 2 in Appendix A (from [`shortest_block`] on), where levels double. Sizes are
//! floats: some exceed any integer type.

use serde::Serialize;

/// The demands of Theorem 1.2 of the paper, with its constants as printed, for a stream of `m` events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Demands {
    /// The theorem needs `epsilon > 1000 ln m / (alpha^3 sqrt W)`: the least `W`.
    pub window: f64,
    /// Timestamps of the smooth histogram, whose norms differ by a factor of `1 + (epsilon / (1000 ln m))^2`.
    pub timestamps: f64,
    /// Counters of each norm estimate, which is good to `epsilon / (500 ln m)`, with 1 for the constant.
    pub counters: f64,
}

impl Demands {
    /// The demands for a stream of `events` events.
    pub fn new(alpha: f64, epsilon: f64, events: u64) -> Self {
        let m = events.max(2) as f64;
        Self {
            window: least_window(alpha, epsilon, m),
            timestamps: timestamps(epsilon, m),
            counters: norm_accuracy(epsilon, m).powi(-2),
        }
    }
}

/// `rho = eps/(500 log m)`: the accuracy of the norm in Section 3.
pub fn norm_accuracy(epsilon: f64, m: f64) -> f64 {
    epsilon / (500.0 * m.ln())
}

/// The window that Theorem 1.2 needs: `eps > 1000 log m/(alpha^3 sqrt(W))` solved for `W`.
pub fn least_window(alpha: f64, epsilon: f64, m: f64) -> f64 {
    (1000.0 * m.ln() / (alpha.powi(3) * epsilon)).powi(2)
}

/// The number of norms from 1 to `m` that differ by line 1's ratio, `1 + (eps/(1000 log m))^2`. If it
/// exceeds `m`, every event is a timestamp.
pub fn timestamps(epsilon: f64, m: f64) -> f64 {
    m.ln() / (epsilon / (1000.0 * m.ln())).powi(2).ln_1p()
}

/// A theorem of the paper on the composition of private releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Composition {
    /// Epsilons add up: the proof of Theorem 1.2 uses this one.
    Basic,
    /// Epsilons add up to about their root mean square, at a `delta'`: the remark after that proof.
    Advanced,
}

/// `eps'` for each of `10/alpha^2` counts by basic composition: together `eps/3`. The remark after the proof of
/// Theorem 1.2 prints `eps/(30 alpha^2)`.
pub fn epsilon_each(alpha: f64, epsilon: f64) -> f64 {
    epsilon * alpha.powi(2) / 30.0
}

/// `eps'` for each of `k = 10/alpha^2` counts by advanced composition with `delta' = 1/m^3`, the `delta` that the
/// proof gives all counts: `eps' sqrt(2 k ln(1/delta')) + k eps' (e^eps' - 1)/(e^eps' + 1) = eps/3`.
pub fn epsilon_each_advanced(alpha: f64, epsilon: f64, m: f64) -> f64 {
    let k = 10.0 / alpha.powi(2);
    let root = (6.0 * k * m.ln()).sqrt();
    let composed = |each: f64| each * root + k * each * (each / 2.0).tanh();
    let (mut low, mut high) = (0.0, epsilon / (3.0 * root));
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if composed(middle) > epsilon / 3.0 { high = middle } else { low = middle }
    }
    low
}

/// The greater `eps'` of both compositions, and whose it is.
pub fn best_epsilon_each(alpha: f64, epsilon: f64, m: f64) -> (f64, Composition) {
    let (basic, advanced) = (epsilon_each(alpha, epsilon), epsilon_each_advanced(alpha, epsilon, m));
    if advanced > basic { (advanced, Composition::Advanced) } else { (basic, Composition::Basic) }
}

/// `S_1 = alpha sqrt(W)/(200 log W)` in events.
pub fn shortest_block(alpha: f64, window: f64) -> f64 {
    alpha * window.sqrt() / (200.0 * window.log2())
}

/// The least window whose shortest block has one event.
pub fn least_window_of_blocks(alpha: f64) -> f64 {
    least_window_with(|window| shortest_block(alpha, window) >= 1.0)
}

/// `L = ceil(log((100 eps/alpha) sqrt(W)) + log log W) + 2`.
pub fn levels(alpha: f64, epsilon: f64, window: f64) -> f64 {
    let exponent = (100.0 * epsilon / alpha * window.sqrt()).log2() + window.log2().log2();
    (exponent.ceil() + 2.0).max(1.0)
}

/// The sensitivity that the proof states for a block: `phi alpha sqrt(W)/(16 log^3 W)`.
pub fn block_sensitivity(alpha: f64, epsilon: f64, window: f64) -> f64 {
    epsilon.min(1.0) * alpha * window.sqrt() / (16.0 * window.log2().powi(3))
}

/// The scale of line 10: `alpha sqrt(W)/(16 log^2 W)`.
pub fn block_noise(alpha: f64, window: f64) -> f64 {
    alpha * window.sqrt() / (16.0 * window.log2().powi(2))
}

/// The least window from 2^10 on that satisfies a monotone condition.
pub fn least_window_with(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (10.0_f64, 200.0_f64);
    while high - low > 1e-9 {
        let middle = (low + high) / 2.0;
        if holds(middle.exp2()) { high = middle } else { low = middle }
    }
    high.exp2()
}
