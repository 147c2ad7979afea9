#![doc = include_str!("discrete_laplace.md")]

use crate::enclosure::Enclosure;
use crate::error::Result;
use crate::noise::Entropy;
use crate::privacy::Epsilon;
use crate::search::first_near;

const FIRST_BITS: usize = 128;

/// The discrete Laplace distribution with a rational scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteLaplace {
    /// The scale is `numerator / denominator`, in lowest terms.
    numerator: u64,
    denominator: u64,
}

impl DiscreteLaplace {
    /// The noise that makes an integer vector of this L1 sensitivity `epsilon`-private: scale
    /// `sensitivity / epsilon`.
    pub fn new(sensitivity: u32, epsilon: Epsilon) -> Self {
        let numerator = u64::from(sensitivity) * epsilon.denominator();
        let denominator = epsilon.numerator();
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// The scale, for display.
    pub fn scale(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The variance, for display.
    pub fn variance(&self) -> f64 {
        let q = (-1.0 / self.scale()).exp();
        2.0 * q / (1.0 - q).powi(2)
    }

    /// Draws `x` with probability exactly `(1-p)/(1+p) p^|x|`, `p = exp(-1 / scale)`, independent of all
    /// other draws ([why](crate::proofs::discrete_laplace#sampling)). Fails only if the entropy source fails.
    pub fn sample(&self, entropy: &mut impl Entropy) -> Result<i64> {
        loop {
            let magnitude = self.magnitude(entropy)? as i64;
            if bernoulli(1, 2, entropy)? {
                return Ok(magnitude);
            }
            if magnitude > 0 {
                return Ok(-magnitude);
            }
        }
    }

    /// Draws `g >= 0` with exactly `Pr[g >= m] = exp(-m / scale)`. This is also the distribution of the
    /// excess over `m` of a value known to be at least `m >= 0`. Fails only if the entropy source fails.
    pub fn magnitude(&self, entropy: &mut impl Entropy) -> Result<u64> {
        let low = loop {
            let low = entropy.below(self.numerator)?;
            if bernoulli_exp(low, self.numerator, entropy)? {
                break low;
            }
        };
        let mut high = 0;
        while bernoulli_exp(1, 1, entropy)? {
            high += 1;
        }
        Ok((low + self.numerator * high) / self.denominator)
    }

    /// Returns true with probability exactly `exp(-distance / scale)`, independent of all other draws:
    /// the probability that a value which has reached some `m >= 0` also reaches `m + distance`. Fails
    /// only if the entropy source fails.
    pub fn survives(&self, distance: u64, entropy: &mut impl Entropy) -> Result<bool> {
        let product = u128::from(distance) * u128::from(self.denominator);
        let numerator = u128::from(self.numerator);
        for _ in 0..product / numerator {
            if !bernoulli_exp(1, 1, entropy)? {
                return Ok(false);
            }
        }
        bernoulli_exp((product % numerator) as u64, self.numerator, entropy)
    }

    /// `Pr[X >= m]` for `m >= 0`.
    pub fn tail(&self, m: u64, bits: usize) -> Enclosure {
        self.power(m, bits).over(&self.decay(bits).plus(&Enclosure::one(bits)))
    }

    /// `exp(-1 / scale)`: the ratio of the probabilities of `x + 1` and `x`, for `x >= 0`.
    pub fn decay(&self, bits: usize) -> Enclosure {
        self.power(1, bits)
    }

    fn power(&self, m: u64, bits: usize) -> Enclosure {
        Enclosure::exp_of_minus(
            u128::from(m) * u128::from(self.denominator),
            u128::from(self.numerator),
            bits,
        )
    }

    /// The least `m >= 0` with `Pr[X >= m] <= chance`. A chance of 0 counts as the smallest float.
    pub fn reach(&self, chance: f64) -> u64 {
        let chance = chance.max(f64::MIN_POSITIVE);
        let about = -self.scale() * (chance * (1.0 + (-1.0 / self.scale()).exp())).ln();
        // The cast turns a float below 0 into 0.
        first_near(about.ceil() as u64, |m| self.tail_at_most(m, chance))
    }

    /// `Pr[X >= m]` in floats: for statements, not for privacy.
    pub fn tail_in_floats(&self, m: u64) -> f64 {
        let p = -1.0 / self.scale();
        (p * m as f64).exp() / (1.0 + p.exp())
    }

    /// [`reach`](Self::reach), or 1 more where floats do not decide: for statements, not for privacy.
    /// Takes nanoseconds.
    pub fn reach_in_floats(&self, chance: f64) -> u64 {
        const ROUNDING: f64 = 1e-12;
        let chance = chance.max(f64::MIN_POSITIVE);
        let about = -self.scale() * (chance * (1.0 + (-1.0 / self.scale()).exp())).ln();
        // The cast turns a float below 0 into 0.
        (about * (1.0 + ROUNDING) + ROUNDING).ceil() as u64
    }

    /// The least `q` such that all of `keys` values lie within `-q..=q`, except with probability `failure`.
    pub fn quantile(&self, keys: u64, failure: f64) -> u64 {
        self.reach(failure / (2.0 * keys.max(1) as f64)).saturating_sub(1)
    }

    /// The least bound found on the absolute value of a sum of `terms` values, except with probability
    /// `failure`: for statements. Minimizes the Chernoff bound `E[exp(t sum)] exp(-t m)` over a grid of
    /// rates `t`.
    pub fn sum_within(&self, terms: u64, failure: f64) -> u64 {
        if terms == 1 {
            return self.quantile(1, failure);
        }
        let decay = (-1.0 / self.scale()).exp();
        let bound = |part: u32| {
            let rate = f64::from(part) / 100.0 / self.scale();
            let moment = (1.0 - decay).powi(2) / ((1.0 - decay * rate.exp()) * (1.0 - decay * (-rate).exp()));
            (terms as f64 * moment.ln() - (failure / 2.0).ln()) / rate
        };
        let least = (1..100).map(bound).fold(f64::INFINITY, f64::min);
        (least * (1.0 + 1e-9)).ceil() as u64
    }

    /// The tail is transcendental and the chance rational, so some precision always decides.
    fn tail_at_most(&self, m: u64, chance: f64) -> bool {
        let mut bits = FIRST_BITS;
        loop {
            if let Some(answer) = self.tail(m, bits).at_most(chance) {
                return answer;
            }
            bits *= 2;
        }
    }
}

/// A coin from a uniform integer: true with probability exactly `numerator / denominator`; always if that is 1 or more.
/// `denominator` must not be 0.
fn bernoulli(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    Ok(entropy.below(denominator)? < numerator)
}

/// Returns true with probability exactly `exp(-numerator / denominator)`: one coin of `exp(-1)` for
/// each whole, and one of the fraction that remains.
fn bernoulli_exp(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    for _ in 0..numerator / denominator {
        if !bernoulli_exp_fraction(1, 1, entropy)? {
            return Ok(false);
        }
    }
    bernoulli_exp_fraction(numerator % denominator, denominator, entropy)
}

/// The same for a fraction of at most 1. Flips coins of probability `x/1, x/2, x/3, ...` until one
/// shows false: the `i`-th is the first with probability `x^(i-1)/(i-1)! - x^i/i!`, so `i` is odd with
/// probability `exp(-x)` (Canonne, Kamath and Steinke 2020, Algorithm 1). The `i`-th coin is reached
/// with probability at most `1/i!`, so no denominator exceeds 64 bits.
fn bernoulli_exp_fraction(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    let mut trial = 1;
    while bernoulli(numerator, denominator.saturating_mul(trial), entropy)? {
        trial += 1;
    }
    Ok(trial % 2 == 1)
}

pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::noise::InsecureSeededEntropy;

    pub fn laplace(sensitivity: u32, epsilon: f64) -> DiscreteLaplace {
        DiscreteLaplace::new(sensitivity, Epsilon::new(epsilon).unwrap())
    }

    /// `Pr[X = x] = (1 - p) / (1 + p) p^|x|`.
    fn mass(scale: f64, x: i64) -> f64 {
        let p = (-1.0 / scale).exp();
        (1.0 - p) / (1.0 + p) * p.powi(x.unsigned_abs() as i32)
    }

    #[test]
    fn the_scale_is_the_sensitivity_over_epsilon() {
        for (sensitivity, epsilon, scale) in
            [(1, 1.0, 1.0), (2, 0.5, 4.0), (10, 0.9, 100.0 / 9.0), (2, 4.0, 0.5)]
        {
            let laplace = laplace(sensitivity, epsilon);
            assert!((laplace.scale() / scale - 1.0).abs() < 1e-15);
            let variance: f64 = (-2_000..=2_000).map(|x| (x * x) as f64 * mass(scale, x)).sum();
            assert!((laplace.variance() / variance - 1.0).abs() < 1e-9, "{} {variance}", laplace.variance());
        }
        assert_eq!(laplace(2, 1.0), laplace(1, 0.5));
        let share = Epsilon::new(1.0).unwrap().share(9, 10);
        assert_eq!(DiscreteLaplace::new(2, share), laplace(2, 0.9), "in lowest terms");
    }

    #[test]
    fn reach_and_quantile_are_the_least_that_the_tail_allows() {
        for scale in [0.25, 1.0, 2.5, 40.0] {
            let laplace = laplace(1, 1.0 / scale);
            let p = (-1.0 / scale).exp();
            let tail = |m: u64| p.powi(m as i32) / (1.0 + p);
            let summed: f64 = (3..2_000).map(|x| mass(scale, x)).sum();
            assert!((tail(3) / summed - 1.0).abs() < 1e-9);
            for chance in [0.9, 0.5, 0.3, 0.01, 1e-6] {
                let least = (0..).find(|m| tail(*m) <= chance).unwrap();
                assert_eq!(laplace.reach(chance), least, "{scale} {chance}");
                let enclosed = laplace.tail(least, 128).approximate();
                assert!((enclosed / tail(least) - 1.0).abs() < 1e-9);
            }
            for (keys, failure) in [(0, 0.05), (1, 0.05), (100, 0.05), (1_000, 1e-3)] {
                let outside = |q: u64| 2.0 * (keys.max(1) as f64) * tail(q + 1);
                let least = (0..).find(|q| outside(*q) <= failure).unwrap();
                assert_eq!(laplace.quantile(keys, failure), least, "{scale} {keys}");
            }
        }
        // A chance of 0 is allowed.
        assert_eq!(laplace(1, 1.0).reach(0.0), laplace(1, 1.0).reach(f64::MIN_POSITIVE));
        assert_eq!((laplace(1, 1.0).reach(1.0), laplace(1, 1.0).quantile(1, 2.0)), (0, 0));
    }

    /// 20,000 values, their magnitudes and their survivals, each frequency within 6 standard
    /// deviations. Seeded: deterministic.
    #[test]
    fn values_magnitudes_and_survivals_have_their_probabilities() {
        const DRAWS: u32 = 20_000;
        for (sensitivity, epsilon) in [(1, 2.0), (3, 2.0), (2, 0.7)] {
            let laplace = laplace(sensitivity, epsilon);
            let scale = f64::from(sensitivity) / epsilon;
            let p = (-1.0 / scale).exp();
            let entropy = &mut InsecureSeededEntropy::new(7);
            let (mut values, mut magnitudes, mut survived) = (BTreeMap::new(), BTreeMap::new(), [0; 9]);
            for _ in 0..DRAWS {
                *values.entry(laplace.sample(entropy).unwrap()).or_insert(0) += 1;
                *magnitudes.entry(laplace.magnitude(entropy).unwrap()).or_insert(0) += 1;
                for (distance, times) in survived.iter_mut().enumerate() {
                    *times += u32::from(laplace.survives(distance as u64, entropy).unwrap());
                }
            }
            let check = |found: u32, chance: f64| {
                let expected = f64::from(DRAWS) * chance;
                let spread = 6.0 * (expected * (1.0 - chance)).sqrt();
                assert!((f64::from(found) - expected).abs() <= spread, "{found}, {expected} expected");
            };
            for x in -4..=4 {
                check(values.get(&x).copied().unwrap_or(0), mass(scale, x));
            }
            for m in 0..6_u64 {
                check(magnitudes.get(&m).copied().unwrap_or(0), (1.0 - p) * p.powi(m as i32));
            }
            for (distance, times) in survived.into_iter().enumerate() {
                check(times, p.powi(distance as i32));
            }
        }
    }
}
