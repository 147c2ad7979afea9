//! The norm of a window, measured privately.

use crate::error::Result;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::privacy::Epsilon;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::Unit;

/// A norm with bounds that hold at the confidence it was measured for.
#[derive(Clone, Copy, Debug)]
pub struct NormEstimate {
    /// The estimate: public, or with its noise.
    pub value: i64,
    /// A lower bound.
    pub low: f64,
    /// An upper bound.
    pub high: f64,
    /// True if the norm was measured by a sketch.
    pub by_sketch: bool,
}

impl NormEstimate {
    /// The number of events, if it is public: exact.
    pub fn of_events(events: u64) -> Self {
        Self { value: events as i64, low: events as f64, high: events as f64, by_sketch: false }
    }

    /// Measures the L2 norm of exact counts, from the sum of their squares.
    pub fn of_exact_counts(
        squares: u128,
        unit: Unit,
        epsilon: Epsilon,
        failure: f64,
        entropy: &mut impl Entropy,
    ) -> Result<Self> {
        let noise = DiscreteLaplace::new(unit.norm(), epsilon).sample(entropy)?;
        Ok(Self::around_exact(squares.isqrt() as i64 + noise, unit, epsilon, failure))
    }

    /// Measures the L2 norm by a sketch.
    pub fn of_sketch(
        sketch: &CountSketch,
        unit: Unit,
        epsilon: Epsilon,
        failure: f64,
        entropy: &mut impl Entropy,
    ) -> Result<Self> {
        let noise = DiscreteLaplace::new(unit.sketched_norm(), epsilon).sample(entropy)?;
        Ok(Self::around_sketch(sketch.norm() as i64 + noise, sketch.dimensions(), unit, epsilon, failure))
    }

    /// The bounds that follow from a noisy norm of exact counts.
    pub(crate) fn around_exact(value: i64, unit: Unit, epsilon: Epsilon, failure: f64) -> Self {
        let spread = DiscreteLaplace::new(unit.norm(), epsilon).quantile(1, failure) as i64;
        Self {
            value,
            low: (value - spread).max(0) as f64,
            high: (value + spread + 1).max(0) as f64,
            by_sketch: false,
        }
    }

    /// The bounds that follow from a noisy norm by a sketch.
    pub(crate) fn around_sketch(
        value: i64,
        dimensions: Dimensions,
        unit: Unit,
        epsilon: Epsilon,
        failure: f64,
    ) -> Self {
        let spread = DiscreteLaplace::new(unit.sketched_norm(), epsilon).quantile(1, failure / 3.0) as i64;
        let error = dimensions.squared_error(failure * 2.0 / 3.0);
        Self {
            value,
            low: (value - spread).max(0) as f64 / (1.0 + error).sqrt(),
            high: (value + spread + 1).max(0) as f64 / (1.0 - error).max(0.0).sqrt(),
            by_sketch: true,
        }
    }
}

/// `ceil(3/4 alpha norm)`, with alpha to the billionth, so that 0.002 of 100,000 is exactly 200.
pub(crate) fn three_quarters(alpha: f64, norm: i64) -> u64 {
    (3 * u128::from(billionths(alpha)) * norm.max(0) as u128).div_ceil(4_000_000_000) as u64
}

/// Alpha in billionths.
pub(crate) fn billionths(alpha: f64) -> u64 {
    (alpha * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::release::test_oracle::{laplace, quantile, sketch, times};

    /// The norm of counts 3 and 4 is 5. Its noise has sensitivity 1, and its bounds are those of the
    /// noise: 1 more above, because the norm was rounded down; never below 0.
    #[test]
    fn the_norm_of_exact_counts_has_noise_of_sensitivity_one() {
        for epsilon in [0.05, 0.5, 4.0] {
            for (squares, norm) in [(25_u128, 5), (24, 4), (0, 0), (1 << 80, 1 << 40)] {
                for seed in 0..40 {
                    let noise = laplace(1, epsilon).sample(&mut InsecureSeededEntropy::new(seed)).unwrap();
                    let spread = quantile(1.0, epsilon, 1, 0.02) as i64;
                    let found = NormEstimate::of_exact_counts(
                        squares,
                        Unit::Event,
                        Epsilon::new(epsilon).unwrap(),
                        0.02,
                        &mut InsecureSeededEntropy::new(seed),
                    )
                    .unwrap();
                    let value: i64 = norm + noise;
                    assert_eq!(found.value, value);
                    assert_eq!(found.low, (value - spread).max(0) as f64);
                    assert_eq!(found.high, (value + spread + 1).max(0) as f64);
                    assert!(!found.by_sketch);
                }
            }
        }
        let below = NormEstimate::around_exact(-5_000, Unit::Event, Epsilon::new(1.0).unwrap(), 0.02);
        assert_eq!((below.low, below.high), (0.0, 0.0));
    }

    /// The same by a sketch, with sensitivity 2: a third of the failure probability is for the noise,
    /// and the rest for the sketch, whose error is one of the squared norm.
    #[test]
    fn the_norm_by_a_sketch_has_noise_of_sensitivity_two() {
        let dimensions = Dimensions { rows: 3, width: 1 << 12 };
        let events = || times(1, 300).chain(times(2, 400));
        let error = dimensions.squared_error(0.02 * 2.0 / 3.0);
        assert!((0.05..0.5).contains(&error), "{error}");
        for epsilon in [0.05, 0.5] {
            for seed in 0..40 {
                let noise = laplace(2, epsilon).sample(&mut InsecureSeededEntropy::new(seed)).unwrap();
                let spread = quantile(2.0, epsilon, 1, 0.02 / 3.0) as i64;
                let found = NormEstimate::of_sketch(
                    &sketch(events(), dimensions),
                    Unit::Event,
                    Epsilon::new(epsilon).unwrap(),
                    0.02,
                    &mut InsecureSeededEntropy::new(seed),
                )
                .unwrap();
                let value = 500 + noise;
                assert_eq!(found.value, value);
                let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
                close(found.low, (value - spread).max(0) as f64 / (1.0 + error).sqrt());
                close(found.high, (value + spread + 1).max(0) as f64 / (1.0 - error).sqrt());
                assert!(found.by_sketch);
            }
        }
        let narrow = Dimensions { rows: 3, width: 2 };
        let nothing = NormEstimate::around_sketch(500, narrow, Unit::Event, Epsilon::new(1.0).unwrap(), 0.02);
        assert_eq!(nothing.high, f64::INFINITY);
        let below =
            NormEstimate::around_sketch(-5_000, dimensions, Unit::Event, Epsilon::new(1.0).unwrap(), 0.02);
        assert_eq!((below.low, below.high), (0.0, 0.0));
    }

    #[test]
    fn thresholds_are_rounded_up_and_not_by_a_float() {
        assert_eq!(three_quarters(0.002, 100_000), 150);
        assert_eq!(three_quarters(0.002, 100_001), 151);
        assert_eq!(three_quarters(0.1, 1), 1);
        assert_eq!(three_quarters(0.5, -8), 0);
    }
}
