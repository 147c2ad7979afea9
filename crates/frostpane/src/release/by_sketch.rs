#![doc = include_str!("by_sketch.md")]

use std::borrow::Cow;

use crate::error::Result;
use crate::key::{Key, Keys, Universe};
use crate::mechanism::threshold::MOST_EXPECTED_FROM_NOISE;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::pane::Pane;
use crate::release::guarantee::Guarantee;
use crate::release::noise_bounds::NoiseBounds;
use crate::release::norm::{NormEstimate, three_quarters};
use crate::release::request::Request;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::Norm;

/// Every key of the universe is looked up, so it must not be larger than this.
pub const LARGEST_UNIVERSE: u64 = 1 << 26;

/// Estimates of declared keys from the noisy sketch of a window.
pub(crate) struct BySketch<'a, K: Key> {
    universe: &'a dyn Universe<K>,
    dimensions: Dimensions,
    laplace: DiscreteLaplace,
    pub guarantee: Guarantee,
}

impl<'a, K: Key> BySketch<'a, K> {
    /// The guarantee of such estimates at this norm, if they can be made.
    pub fn new(request: &'a Request<K>, norm: NormEstimate) -> Option<Self> {
        let (Keys::Declared(universe), Some(dimensions), Norm::L2) =
            (&request.keys, request.shape.sketch(), request.spec.norm)
        else {
            return None;
        };
        let size = universe.size();
        // A sketch too narrow to bound the norm bounds no count either.
        if size > LARGEST_UNIVERSE || !norm.high.is_finite() {
            return None;
        }
        let laplace =
            DiscreteLaplace::new(request.unit().sketch(dimensions.rows as u32), request.split.counts);
        let floor = dimensions.noise_floor(&laplace, MOST_EXPECTED_FROM_NOISE as f64 / size as f64).max(1);
        let threshold = floor.max(three_quarters(request.spec.alpha, norm.value));
        let half = request.counts_failure() / 2.0;
        let frequent = (norm.high / threshold as f64).powi(2).clamp(1.0, size as f64);
        Some(Self {
            universe: universe.as_ref(),
            dimensions,
            laplace,
            guarantee: Guarantee {
                alpha: request.alpha(),
                cut: 0,
                slack: 0,
                norm,
                threshold,
                floor,
                bounds: NoiseBounds::Alike {
                    over: dimensions.point_error(norm.high, &laplace, half / size as f64),
                    under: dimensions.point_error(norm.high, &laplace, half / frequent),
                },
            },
        })
    }

    /// Returns true if these estimates are preferable to the counts: never where the counts are as good
    /// in every respect; otherwise where these alone keep the promises, or where neither does and the
    /// error is smaller.
    pub fn is_better_than(&self, counts: &Guarantee) -> bool {
        let sketch = &self.guarantee;
        if counts.is_as_good_as(sketch) {
            return false;
        }
        let smaller = sketch.inaccuracy() < counts.inaccuracy();
        sketch.holds_with_room() || smaller && !counts.holds_with_room()
    }

    /// The keys whose estimate reaches the threshold, with the estimate.
    pub fn select(
        &self,
        request: &Request<K>,
        panes: &[Cow<'_, Pane<K>>],
        entropy: &mut impl Entropy,
    ) -> Result<Vec<(K, u64)>> {
        let seed = request.shape.seed();
        let mut sketch = CountSketch::new(self.dimensions, seed);
        panes.iter().try_for_each(|pane| pane.add_to(&mut sketch))?;
        sketch.blur(&self.laplace, entropy)?;
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
    use crate::noise::InsecureSeededEntropy;
    use crate::pane::PaneShape;
    use crate::release::test_oracle::{CONFIDENCE, laplace, pane, reach, request, shape, sketch, times};

    const ROWS: u32 = 3;

    /// The largest failure probability of a row at which two of three rows fail with probability at
    /// most `chance`.
    fn row_failure(chance: f64) -> f64 {
        let two_of_three = |p: f64| 3.0 * p * p * (1.0 - p) + p * p * p;
        let steps = (1..=60).map(|bit| 0.5_f64.powi(bit + 1));
        steps.fold(0.0, |p, step| if two_of_three(p + step) <= chance { p + step } else { p })
    }

    /// The least `c + m` of the proof, over splits of a row's failure into 32 parts.
    fn error(norm: f64, width: f64, epsilon: f64, chance: f64) -> u64 {
        let p = row_failure(chance);
        let split = |part: f64| {
            let collisions = (norm * norm / (2.0 * width * p * part)).sqrt().ceil() as u64;
            collisions + reach(2.0 * f64::from(ROWS), epsilon, p * (1.0 - part)) - 1
        };
        (1..32).map(|part| split(f64::from(part) / 32.0)).min().unwrap()
    }

    /// Seven tenths of the failure probability are for the counts: half for all keys, upwards, and half
    /// for those that can be frequent, downwards. The noise is that of `2r` at nine tenths of epsilon.
    #[test]
    fn what_estimates_are_worth_follows_from_the_noisy_norm_and_public_numbers() {
        let shape = shape(10, 1 << 12);
        for (size, value) in [(1_000, 5_000), (1_000, 100), (60_000_000, 5_000)] {
            let request = request(Norm::L2, 2.0, Keys::range(0..size).unwrap(), shape);
            let norm =
                NormEstimate { value, low: value as f64 - 70.0, high: value as f64 + 80.0, by_sketch: true };
            let found = BySketch::new(&request, norm).unwrap().guarantee;
            let size = size as f64;
            let floor = reach(6.0, 1.8, row_failure(1e6 / size)).max(1);
            let threshold = floor.max((3 * value as u64).div_ceil(40));
            assert_eq!((found.floor, found.threshold), (floor, threshold));
            assert_eq!((found.cut, found.slack, found.alpha), (0, 0, Some(0.1)));
            assert_eq!((found.norm.low, found.norm.high), (norm.low, norm.high));
            let half = (1.0 - CONFIDENCE) * 0.7 / 2.0;
            let frequent = (norm.high / threshold as f64).powi(2).clamp(1.0, size);
            let width = 4_096.0;
            let NoiseBounds::Alike { over, under } = found.bounds else { panic!("{found:?}") };
            assert_eq!(over, error(norm.high, width, 1.8, half / size));
            assert_eq!(under, error(norm.high, width, 1.8, half / frequent));
        }
    }

    #[test]
    fn only_declared_keys_of_a_small_universe_with_a_norm_are_estimated() {
        let sketched = shape(10, 64);
        let plain = PaneShape::new(10, 0, None, 1).unwrap();
        let universe = |size| Keys::range(0..size).unwrap();
        let known = NormEstimate::of_events(100);
        let unknown = NormEstimate { high: f64::INFINITY, ..known };
        let can = |request: Request<u64>, norm| BySketch::new(&request, norm).is_some();
        assert!(can(request(Norm::L2, 1.0, universe(1 << 26), sketched), known));
        assert!(!can(request(Norm::L2, 1.0, universe((1 << 26) + 1), sketched), known));
        assert!(!can(request(Norm::L2, 1.0, universe(9), sketched), unknown));
        assert!(!can(request(Norm::L1, 1.0, universe(9), sketched), known));
        assert!(!can(request(Norm::L2, 1.0, Keys::Open, sketched), known));
        assert!(!can(request(Norm::L2, 1.0, universe(9), plain), known));
    }

    /// Counts with an error of cut and noise against a sketch with an error of noise alone.
    #[test]
    fn estimates_are_taken_where_they_alone_keep_the_promises_or_neither_does_and_they_are_closer() {
        let request = request(Norm::L2, 2.0, Keys::range(0..9).unwrap(), shape(10, 1 << 12));
        let norm = NormEstimate::of_events(10_000);
        let with = |cut: u64, noise: u64| Guarantee {
            alpha: Some(0.1),
            cut,
            slack: 0,
            norm,
            threshold: 750,
            floor: 1,
            bounds: NoiseBounds::Alike { over: noise, under: noise },
        };
        let is_taken = |sketch: u64, counts: Guarantee| {
            let guarantee = with(0, sketch);
            BySketch { guarantee, ..BySketch::new(&request, norm).unwrap() }.is_better_than(&counts)
        };
        // The promises hold up to a noise of 249, or a cut of 200 with a noise of 49.
        assert!(with(0, 249).holds_with_room() && !with(0, 250).holds_with_room());
        assert!(with(200, 49).holds_with_room() && !with(200, 50).holds_with_room());
        assert!(!is_taken(100, with(0, 100)), "counts are as good");
        assert!(is_taken(100, with(200, 100)), "only the sketch keeps the promises");
        assert!(is_taken(100, with(200, 10)), "both do, and the list of the sketch is surer");
        assert!(!is_taken(300, with(200, 10)), "only the counts do");
        assert!(is_taken(300, with(700, 10)), "neither does, and the sketch is closer");
        assert!(!is_taken(260, with(10, 250)), "neither does, and both are as close");
        assert!(!is_taken(300, with(280, 10)), "neither does, and the counts are closer");
    }

    /// Every row's estimate is its cell with the sign of the key; the median of three is compared with
    /// the threshold.
    #[test]
    fn a_key_is_listed_if_the_median_of_its_noisy_cells_passes() {
        let shape = shape(10, 16);
        let events = || times(3, 700).chain(times(4, 400)).chain((0..100).map(Some));
        let request = request(Norm::L2, 2.0, Keys::range(0..100).unwrap(), shape);
        let by_sketch = BySketch::new(&request, NormEstimate::of_events(900)).unwrap();
        let (panes, dimensions) = ([pane(events(), shape)], shape.sketch().unwrap());
        let threshold = by_sketch.guarantee.threshold as i64;
        assert_eq!(threshold, 68);
        let mut listed = 0;
        for seed in 0..20 {
            let mut entropy = InsecureSeededEntropy::new(seed);
            let mut found = by_sketch.select(&request, &panes, &mut entropy).unwrap();
            let mut again = InsecureSeededEntropy::new(seed);
            let noisy: Vec<i64> = sketch(events(), dimensions)
                .cells()
                .iter()
                .map(|cell| cell + laplace(2 * ROWS, 1.8).sample(&mut again).unwrap())
                .collect();
            assert_eq!(entropy.word().unwrap(), again.word().unwrap());
            let said = |key: u64| {
                let alone = sketch([Some(key)], dimensions);
                let signed: Vec<i64> =
                    alone.cells().iter().zip(&noisy).map(|(unit, cell)| unit * cell).collect();
                let mut rows: Vec<i64> = signed.chunks(16).map(|row| row.iter().sum()).collect();
                rows.sort_unstable();
                rows[1]
            };
            let expected: Vec<(u64, u64)> = (0..100)
                .map(|key| (key, said(key)))
                .filter(|(_, median)| *median >= threshold)
                .map(|(key, median)| (key, median as u64))
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected);
            listed += found.len();
        }
        assert!((40..1_000).contains(&listed), "{listed}");
    }
}
