#![doc = include_str!("discrete_gaussian.md")]

use dashu_int::UBig;

use crate::enclosure::Enclosure;
use crate::noise::discrete_laplace::greatest_common_divisor;
use crate::noise::gaussian_tail;
use crate::search::{first, first_near};

/// At smaller variances the sum of values is not close enough to a Gaussian.
pub const LEAST_VARIANCE: u64 = 4;
/// At larger variances a table would have millions of entries.
pub const GREATEST_VARIANCE: u64 = 1 << 32;
/// Bounds the relative error of computations in floats.
pub const ROUNDING: f64 = 1e-10;

const FIRST_BITS: usize = 128;
/// A comparison that is still open at this precision counts as false.
const MOST_BITS: usize = 4_096;
/// Extra bits that absorb the rounding of intermediate steps.
const GUARD: usize = 64;
/// Weights below this many units are summed by a bound instead of one by one.
const SMALL: u64 = 1 << 32;
const GREATEST_DENOMINATOR: u64 = 1 << 20;
/// Values beyond this have a probability below every chance in use.
const FAR: u64 = 1 << 50;

/// The discrete Gaussian distribution with a rational variance parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteGaussian {
    /// The variance parameter is `numerator / denominator`, in lowest terms.
    pub(super) numerator: u64,
    pub(super) denominator: u64,
}

impl DiscreteGaussian {
    /// The distribution with `Pr[X = x]` proportional to `exp(-x^2 / (2 variance))`, where the variance
    /// is `numerator / denominator`. `None` unless that lies between 4 and `2^32`, with a denominator
    /// of at most `2^20`.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if !(1..=GREATEST_DENOMINATOR).contains(&denominator) {
            return None;
        }
        let range = LEAST_VARIANCE * denominator..=GREATEST_VARIANCE * denominator;
        let divisor = greatest_common_divisor(numerator, denominator);
        range
            .contains(&numerator)
            .then(|| Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The variance parameter, as a fraction.
    pub fn fraction(&self) -> [u64; 2] {
        [self.numerator, self.denominator]
    }

    /// The standard deviation, for display.
    pub fn sigma(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The variance, for display. It differs from the parameter by less than a float can tell.
    pub fn variance(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// `Pr[X >= m]` for `m >= 0`.
    pub fn tail(&self, m: u64, bits: usize) -> Enclosure {
        let precise = bits + GUARD;
        let all = twice(&self.sum(1, precise)).plus(&Enclosure::one(precise));
        self.sum(m, precise).over(&all).rounded_to(bits)
    }

    /// `Pr[|X| >= m]` for every `m` from 1 on, until it is far below `2^-bits`.
    pub(crate) fn outside(&self, bits: usize) -> Vec<Enclosure> {
        let precise = bits + GUARD;
        let mut weights = Weights::new(self, 1, precise);
        let mut sums = Vec::new();
        while !weights.are_small() {
            sums.push(weights.weight.clone());
            weights.step();
        }
        let mut sum = weights.rest();
        for weight in sums.iter_mut().rev() {
            sum = sum.plus(weight);
            *weight = sum.clone();
        }
        let all = twice(&sum).plus(&Enclosure::one(precise));
        let part = Enclosure::one(precise).scaled(2, 1).over(&all);
        sums.iter().map(|sum| sum.times(&part).rounded_to(bits)).collect()
    }

    /// `sum over x >= from of exp(-x^2 / (2 variance))`.
    fn sum(&self, from: u64, bits: usize) -> Enclosure {
        let mut weights = Weights::new(self, from.min(FAR), bits);
        let mut sum = Enclosure::of_float(0.0, bits);
        while !weights.are_small() {
            sum = sum.plus(&weights.weight);
            weights.step();
        }
        sum.plus(&weights.rest())
    }

    /// The least `m >= 0` with `Pr[X >= m] <= chance`; one more where 4,096 bits do not decide. A
    /// chance of 0 counts as the smallest float.
    pub fn reach(&self, chance: f64) -> u64 {
        let chance = chance.max(f64::MIN_POSITIVE);
        first_near(self.reach_in_floats(chance), |m| surely_at_most(|bits| self.tail(m, bits), chance))
    }

    /// A tight upper bound on `Pr[X >= m]`: for statements, not for privacy.
    pub fn tail_in_floats(&self, m: u64) -> f64 {
        gaussian_tail::tail_at_most(self.variance(), m as f64)
    }

    /// [`reach`](Self::reach), or 1 more where floats do not decide: for statements, not for privacy.
    pub fn reach_in_floats(&self, chance: f64) -> u64 {
        let chance = chance.max(f64::MIN_POSITIVE);
        reach_by(|m| self.tail_in_floats(m), self.sigma(), chance)
    }
}

/// Returns true if the enclosed number is certainly at most `most`; false where 4,096 bits do not decide.
pub fn surely_at_most(number: impl Fn(usize) -> Enclosure, most: f64) -> bool {
    let mut bits = FIRST_BITS;
    while bits <= MOST_BITS {
        if let Some(answer) = number(bits).at_most(most) {
            return answer;
        }
        bits *= 2;
    }
    false
}

/// The least `m >= 0` with a tail of at most `chance`, which must be a positive float.
pub fn reach_by(tail: impl Fn(u64) -> f64, sigma: f64, chance: f64) -> u64 {
    // Tails fall at least as fast as exp(-x^2 / (2 variance)), which bounds the search.
    let mut high = (sigma * (2.0 * -chance.min(1.0).ln()).sqrt()).ceil() as u64 + 1;
    while tail(high) > chance && chance > 2.0 * f64::MIN_POSITIVE {
        high *= 2;
    }
    first(0, high, |m| tail(m) <= chance)
}

fn twice(number: &Enclosure) -> Enclosure {
    number.plus(number)
}

/// `exp(-x^2 / (2 variance))` for consecutive `x`.
struct Weights {
    weight: Enclosure,
    /// The next weight divided by this one.
    ratio: Enclosure,
    /// The next ratio divided by this one.
    decay: Enclosure,
}

impl Weights {
    fn new(gaussian: &DiscreteGaussian, from: u64, bits: usize) -> Self {
        let exp = |number: u128| {
            let number = number * u128::from(gaussian.denominator);
            Enclosure::exp_of_minus(number, 2 * u128::from(gaussian.numerator), bits)
        };
        let from = u128::from(from);
        Self { weight: exp(from * from), ratio: exp(2 * from + 1), decay: exp(2) }
    }

    fn step(&mut self) {
        self.weight = self.weight.times(&self.ratio);
        self.ratio = self.ratio.times(&self.decay);
    }

    fn are_small(&self) -> bool {
        self.weight.high <= UBig::from(SMALL)
    }

    /// This weight and all that follow, bounded by the geometric series of the next ratio.
    fn rest(&self) -> Enclosure {
        let most = self.weight.over(&self.ratio.complement());
        Enclosure { low: self.weight.low.clone(), ..most }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn gaussian(variance: f64) -> DiscreteGaussian {
        DiscreteGaussian::new((variance * 64.0) as u64, 64).unwrap()
    }

    /// `Pr[X = x]` by the formula, in floats.
    pub fn mass(variance: f64, x: i64) -> f64 {
        let weight = |x: i64| (-((x * x) as f64) / (2.0 * variance)).exp();
        let furthest = (20.0 * variance.sqrt()) as i64;
        weight(x) / (-furthest..=furthest).map(weight).sum::<f64>()
    }

    /// All tails from 0 on, summed from the far end.
    fn tails(variance: f64) -> Vec<f64> {
        let masses = (0..=(20.0 * variance.sqrt()) as i64).rev().map(|x| mass(variance, x));
        let mut tails: Vec<f64> = masses
            .scan(0.0, |sum, mass| {
                *sum += mass;
                Some(*sum)
            })
            .collect();
        tails.reverse();
        tails
    }

    #[test]
    fn only_variances_that_sums_and_tables_can_be_made_of_are_offered() {
        for (numerator, denominator, offered) in [
            (4, 1, true),
            (255, 64, false),
            (256, 64, true),
            (1 << 32, 1, true),
            ((1 << 32) + 1, 1, false),
            (5, 0, false),
            (5 << 20, 1 << 20, true),
            (5 << 21, 1 << 21, false),
        ] {
            assert_eq!(
                DiscreteGaussian::new(numerator, denominator).is_some(),
                offered,
                "{numerator}/{denominator}"
            );
        }
        assert_eq!(DiscreteGaussian::new(640, 64), DiscreteGaussian::new(10, 1));
        let found = DiscreteGaussian::new(961, 64).unwrap();
        assert_eq!((found.variance(), found.sigma()), (961.0 / 64.0, 31.0 / 8.0));
    }

    #[test]
    fn tails_are_those_of_the_sum() {
        for variance in [4.0, 6.25, 30.25, 625.0, 1e4] {
            let gaussian = gaussian(variance);
            let tails = tails(variance);
            for m in [0, 1, 2, 5, 11, 30] {
                let (found, floats) = (gaussian.tail(m, 512), gaussian.tail_in_floats(m));
                let expected = tails[m as usize];
                assert!((found.approximate() / expected - 1.0).abs() < 1e-9, "{variance} {m}");
                assert!(&found.high - &found.low <= UBig::from(4_u8), "{variance} {m}");
                assert!(floats >= expected * (1.0 - 1e-13), "{variance} {m}");
                // An integral in place of the sum is off by (x / variance)^2 / 24, or a part of 1 / variance.
                let allowed = if variance < 256.0 { 2.1e-10 } else { 0.2 / variance };
                assert!(floats / expected - 1.0 < allowed, "{variance} {m}: {floats} {expected}");
            }
            let second: f64 = (1..tails.len()).map(|m| 2.0 * (2 * m - 1) as f64 * tails[m]).sum();
            assert!((second / gaussian.variance() - 1.0).abs() < 1e-9, "{variance}");
        }
    }

    /// An enclosure with more bits lies inside one with fewer.
    #[test]
    fn closer_enclosures_lie_inside() {
        for variance in [4.0, 19.5, 1e6] {
            for m in [0, 1, 17, 300, 1 << 20, u64::MAX] {
                let (coarse, fine) = (gaussian(variance).tail(m, 64), gaussian(variance).tail(m, 300));
                assert!(coarse.low.clone() << 236_usize <= fine.low, "{variance} {m}");
                assert!(fine.high <= coarse.high.clone() << 236_usize, "{variance} {m}");
            }
        }
    }

    #[test]
    fn a_reach_is_the_least_that_the_tail_allows() {
        for variance in [4.0, 30.25, 151.5, 625.0, 1e4] {
            let (gaussian, tails) = (gaussian(variance), tails(variance));
            for chance in [1.0, 0.51, 0.5, 0.3, 0.01, 1e-6, 1e-9, 1e-30] {
                let least = tails.iter().position(|tail| *tail <= chance).unwrap() as u64;
                assert_eq!(gaussian.reach(chance), least, "{variance} {chance}");
                let floats = gaussian.reach_in_floats(chance);
                assert!((least..=least + 1).contains(&floats), "{variance} {chance}");
            }
            assert_eq!(gaussian.reach(0.0), gaussian.reach(f64::MIN_POSITIVE));
        }
    }

    /// A number equal to its bound is never decided.
    #[test]
    fn what_no_bits_decide_counts_as_more() {
        let around_half = |bits: usize| Enclosure {
            low: (UBig::ONE << (bits - 1)) - UBig::ONE,
            high: (UBig::ONE << (bits - 1)) + UBig::ONE,
            bits,
        };
        assert!(!surely_at_most(around_half, 0.5));
        assert!(surely_at_most(around_half, 0.5_f64.next_up()));
        assert!(!surely_at_most(around_half, 0.5_f64.next_down()));
    }
}
