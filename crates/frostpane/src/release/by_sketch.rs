#![doc = include_str!("by_sketch.md")]

use std::borrow::Cow;

use crate::error::Result;
use crate::key::Key;
use crate::noise::threshold::MOST_EXPECTED_FROM_NOISE;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::pane::Pane;
use crate::release::guarantee::{Guarantee, Reach};
use crate::release::norm::{Norm, NormEstimate, three_quarters};
use crate::release::terms::Terms;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;
use crate::universe::{Keys, Universe};

/// Every key of the universe is looked up, so it must not be larger than this.
pub const LARGEST_UNIVERSE: u64 = 1 << 26;

/// Estimates of declared keys from the noisy sketch of a window.
pub(crate) struct BySketch<'a, K: Key> {
    universe: &'a dyn Universe<K>,
    dimensions: Dimensions,
    law: DiscreteLaplace,
    pub guarantee: Guarantee,
}

impl<'a, K: Key> BySketch<'a, K> {
    /// What such estimates would be worth at this norm, if they can be made.
    pub fn new(terms: &'a Terms<K>, norm: NormEstimate) -> Option<Self> {
        let (Keys::Declared(universe), Some(dimensions), Norm::L2) =
            (&terms.keys, terms.shape.sketch(), terms.norm)
        else {
            return None;
        };
        let size = universe.size();
        // A sketch too narrow for any bound on the norm bounds no count either.
        if size > LARGEST_UNIVERSE || !norm.high.is_finite() {
            return None;
        }
        let law = DiscreteLaplace::new(2 * dimensions.rows as u32, terms.counts_epsilon());
        let floor = dimensions
            .noise_floor(&law, MOST_EXPECTED_FROM_NOISE as f64 / size as f64)
            .max(1);
        let threshold = floor.max(three_quarters(terms.alpha, norm.value));
        let half = terms.counts_failure() / 2.0;
        let frequent = (norm.high / threshold as f64).powi(2).clamp(1.0, size as f64);
        Some(Self {
            universe: universe.as_ref(),
            dimensions,
            law,
            guarantee: Guarantee {
                alpha: terms.alpha,
                cut: 0,
                slack: 0,
                norm,
                threshold,
                floor,
                reach: Reach {
                    noise: dimensions.point_error(norm.high, &law, half / (2 * size) as f64),
                    shortfall: dimensions.point_error(norm.high, &law, half / frequent),
                },
            },
        })
    }

    /// Whether these estimates are to be used instead of the counts: never where the counts are as good in
    /// every respect; otherwise where the promises hold by these alone, or by neither and the error is
    /// smaller.
    pub fn is_better_than(&self, counts: &Guarantee) -> bool {
        let sketch = &self.guarantee;
        if counts.is_as_good_as(sketch) {
            return false;
        }
        let smaller = sketch.inaccuracy() < counts.inaccuracy();
        sketch.holds_with_room() || smaller && !counts.holds_with_room()
    }

    /// The keys whose estimate passes the threshold, with it.
    pub fn select(
        &self,
        terms: &Terms<K>,
        panes: &[Cow<'_, Pane<K>>],
        entropy: &mut impl Entropy,
    ) -> Result<Vec<(K, u64)>> {
        let seed = terms.shape.seed();
        let mut sketch = CountSketch::new(self.dimensions, seed);
        panes
            .iter()
            .for_each(|pane| pane.add_to(&mut sketch, &terms.shape));
        sketch.blur(&self.law, entropy)?;
        let least = self.guarantee.threshold as i64;
        let mut passed = Vec::new();
        self.universe.for_each(&mut |key| {
            if let Some(estimate) = sketch.estimate_from(K::hash(key, seed), least) {
                passed.push((K::owned(key), estimate as u64));
            }
        });
        Ok(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Epsilon, InsecureSeededEntropy};
    use crate::pane::PaneShape;
    use crate::timeline::Policy;

    /// The L1 distance of all cells between neighbours, for many seeds, and the noise that belongs to it: the
    /// mean distance of 15,360 values from 0 is as calculated to 5 %, seven standard errors.
    #[test]
    fn every_cell_has_the_noise_of_the_whole_sketch() {
        let dimensions = Dimensions {
            rows: 5,
            width: 1_024,
        };
        let terms = Terms::<u64> {
            norm: Norm::L2,
            alpha: 0.1,
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: 0.0,
            confidence: 0.95,
            keys: Keys::range(0..100).unwrap(),
            shape: PaneShape::new(10, 0, Some(dimensions), 1).unwrap(),
            policy: Policy::Uniform,
            part: 1,
            fault: crate::fault::Fault::default(),
        };
        let sketch = BySketch::new(&terms, NormEstimate::of_events(1_000)).unwrap();
        let scale = 2.0 * 5.0 / 0.9;
        assert!((sketch.law.scale() / scale - 1.0).abs() < 1e-9);
        let mut entropy = InsecureSeededEntropy::new(2);
        let (mut sum, mut cells) = (0, 0);
        for seed in 0..3 {
            let mut blurred = CountSketch::new(dimensions, seed);
            blurred.blur(&sketch.law, &mut entropy).unwrap();
            blurred.cells().iter().for_each(|cell| sum += cell.abs());
            cells += blurred.cells().len();
        }
        let mean = sum as f64 / cells as f64;
        assert!((mean * (1.0 / scale).sinh() - 1.0).abs() < 0.05, "{mean}");
        for seed in 0..500 {
            let with = |key: u64| {
                let mut sketch = CountSketch::new(dimensions, seed);
                sketch.add(u64::hash(key, seed), 1);
                sketch
            };
            let (one, other) = (with(seed), with(seed + 1));
            let cells = one.cells().iter().zip(other.cells());
            let distance: i64 = cells.map(|(a, b)| (a - b).abs()).sum();
            assert!(distance <= 10, "{distance}");
        }
    }
}
