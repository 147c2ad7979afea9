#![doc = include_str!("laplace_sum.md")]

use crate::noise::DiscreteLaplace;

/// The table ends at this probability. The rest is added to every tail in full.
const NEGLIGIBLE: f64 = 1e-60;
/// Smaller chances are refused.
pub const LEAST_CHANCE: f64 = 1e-50;
/// Bounds the relative error of one step of the calculation.
const STEP_ROUNDING: f64 = 4e-15;

/// The sum of independent values of one discrete Laplace distribution.
#[derive(Clone, Debug)]
pub struct LaplaceSum {
    laplace: DiscreteLaplace,
    terms: u64,
    /// A sum of geometric values: the probability of each value from 0 on, and of at least that value.
    halves: Vec<f64>,
    beyond: Vec<f64>,
    /// A factor that exceeds the total effect of rounding.
    rounding: f64,
}

impl LaplaceSum {
    pub fn new(laplace: DiscreteLaplace, terms: u64) -> Self {
        let halves = half_sums(laplace.scale(), terms);
        let mut beyond = vec![0.0; halves.len()];
        let mut sum = 0.0;
        for (beyond, half) in beyond.iter_mut().zip(&halves).rev() {
            sum += half;
            *beyond = sum;
        }
        Self { laplace, terms, rounding: 1.0 + 1e-9 + STEP_ROUNDING * halves.len() as f64, halves, beyond }
    }

    pub fn laplace(&self) -> &DiscreteLaplace {
        &self.laplace
    }

    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// A tight upper bound on `Pr[sum >= m]`.
    pub fn tail(&self, m: u64) -> f64 {
        // X - Y >= m where Y = y and X >= m + y.
        let first = (m as usize).min(self.beyond.len());
        let pairs = self.halves.iter().zip(&self.beyond[first..]);
        (pairs.map(|(y, x)| y * x).sum::<f64>() + 4.0 * NEGLIGIBLE) * self.rounding
    }

    /// The least `m >= 0` with [`tail`](Self::tail) at most `chance`, for a chance of at least
    /// [`LEAST_CHANCE`].
    pub fn reach(&self, chance: f64) -> u64 {
        let (mut low, mut high) = (0, self.halves.len() as u64);
        while low < high {
            let middle = (low + high) / 2;
            if self.tail(middle) <= chance { high = middle } else { low = middle + 1 }
        }
        low
    }

    pub fn bytes(&self) -> u64 {
        (2 * self.halves.len() * size_of::<f64>()) as u64
    }
}

/// The probabilities of a sum of geometric values, from 0 on. Computed relative to the mode, which
/// neither underflows nor cancels.
fn half_sums(scale: f64, terms: u64) -> Vec<f64> {
    let q = (-1.0 / scale).exp();
    let terms = terms as f64;
    let growth = |m: f64| q * (m + terms - 1.0) / m;
    let mode = ((terms - 1.0) * q / (1.0 - q)).floor();
    let mut below = vec![1.0];
    let mut m = mode;
    while m > 0.0 {
        below.push(below[below.len() - 1] / growth(m));
        m -= 1.0;
    }
    let mut sums: Vec<f64> = below.into_iter().rev().collect();
    let mut relative = 1.0;
    while relative > NEGLIGIBLE / 1e9 {
        relative *= growth(sums.len() as f64);
        sums.push(relative);
    }
    let total: f64 = sums.iter().sum();
    sums.iter_mut().for_each(|sum| *sum /= total);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{InsecureSeededEntropy, Inversion};
    use crate::privacy::Epsilon;

    fn laplace(epsilon: f64) -> DiscreteLaplace {
        DiscreteLaplace::new(2, Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn one_term_is_the_distribution_itself() {
        let sum = LaplaceSum::new(laplace(1.0), 1);
        for m in [0, 1, 7, 40, 90] {
            let exact = laplace(1.0).tail(m, 256).approximate();
            assert!((sum.tail(m) / exact - 1.0).abs() < 1e-8 && sum.tail(m) >= exact, "{m}");
        }
        assert_eq!(sum.reach(1e-9), laplace(1.0).reach(1e-9));
    }

    /// By full convolution.
    #[test]
    fn more_terms_are_the_convolution() {
        let pmf = |laplace: DiscreteLaplace, value: i64| {
            let q = (-1.0 / laplace.scale()).exp();
            (1.0 - q) / (1.0 + q) * q.powi(value.abs() as i32)
        };
        let (laplace, reach) = (laplace(2.0), 60_i64);
        let mut sum: Vec<f64> = (-reach..=reach).map(|value| f64::from(u8::from(value == 0))).collect();
        for terms in 1..=5 {
            sum = (-reach..=reach)
                .map(|value| {
                    (-reach..=reach)
                        .filter(|other| (value - other).abs() <= reach)
                        .map(|other| sum[(value - other + reach) as usize] * pmf(laplace, other))
                        .sum()
                })
                .collect();
            let expected = LaplaceSum::new(laplace, terms);
            for m in [0, 1, 4, 12, 25] {
                let tail: f64 = sum[(m + reach) as usize..].iter().sum();
                let above = expected.tail(m as u64) / tail - 1.0;
                assert!((0.0..1e-6).contains(&above), "{terms} {m}: {above}");
            }
        }
    }

    /// The least value whose tail is at most the chance.
    #[test]
    fn a_reach_is_the_least_that_the_chance_allows() {
        for (terms, epsilon) in [(1, 1.0), (4, 0.1), (32, 1.0), (32, 50.0)] {
            let sum = LaplaceSum::new(laplace(epsilon), terms);
            assert_eq!((sum.terms(), sum.laplace()), (terms, &laplace(epsilon)));
            for exponent in 0..=50 {
                let chance = 10_f64.powi(-exponent);
                let reach = sum.reach(chance);
                assert!(sum.tail(reach) <= chance, "{terms} {epsilon} {exponent}");
                assert!(reach == 0 || sum.tail(reach - 1) > chance, "{terms} {epsilon} {exponent}");
            }
            assert_eq!(sum.bytes(), 16 * sum.halves.len() as u64);
        }
    }

    /// Values beyond the table count in full: no tail is 0, and the table ends only where the rest is
    /// negligible.
    #[test]
    fn what_is_left_out_is_negligible_and_counted() {
        let sum = LaplaceSum::new(laplace(1.0), 8);
        let far = sum.halves.len() as u64;
        for m in [far, far + 1, u64::MAX] {
            assert!(sum.tail(m) >= 4.0 * NEGLIGIBLE && sum.tail(m) < 5.0 * NEGLIGIBLE);
        }
        let rest: f64 = sum.halves[sum.halves.len() - 1] * 10.0;
        assert!(rest < NEGLIGIBLE / 1e6 && sum.halves[sum.halves.len() - 20] > NEGLIGIBLE / 1e12);
        let total: f64 = sum.halves.iter().sum();
        assert!((total - 1.0).abs() < 1e-12 && (sum.beyond[0] - 1.0).abs() < 1e-12);
        let steps = sum.halves.len() as f64;
        assert_eq!(sum.rounding, 1.0 + 1e-9 + 4e-15 * steps);
    }

    /// 400,000 sums of 32 values; tails of about 1 in 100 and 1 in 1,000, each within five standard
    /// deviations.
    #[test]
    fn simulated_sums_pass_as_often_as_calculated() {
        let sum = LaplaceSum::new(laplace(1.0), 32);
        let sampler = Inversion::new(laplace(1.0));
        let mut entropy = InsecureSeededEntropy::new(3);
        let runs = 400_000;
        let drawn: Vec<i64> =
            (0..runs).map(|_| (0..32).map(|_| sampler.sample(&mut entropy).unwrap()).sum()).collect();
        for chance in [0.01, 0.001] {
            let m = sum.reach(chance);
            let expected = f64::from(runs) * sum.tail(m);
            let passed = drawn.iter().filter(|value| **value >= m as i64).count() as f64;
            assert!((passed - expected).abs() < 5.0 * expected.sqrt(), "{passed} against {expected}");
        }
        let mean_square = drawn.iter().map(|value| (*value as f64).powi(2)).sum::<f64>() / f64::from(runs);
        assert!((mean_square / (32.0 * laplace(1.0).variance()) - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_chance_that_a_tail_has_exactly_is_enough() {
        let sum = LaplaceSum::new(laplace(1.0), 8);
        for m in [0, 1, 5, 40] {
            assert_eq!(sum.reach(sum.tail(m)), m);
            assert_eq!(sum.reach(sum.tail(m).next_down()), m + 1);
        }
    }

    /// The sum of 100 values of scale 100 is 0 with probability about 10^-200. The table begins there
    /// and ends with the first value that is at most `NEGLIGIBLE / 1e9` times as likely as the mode.
    #[test]
    fn every_chance_is_that_of_a_sum_of_geometric_values() {
        let (scale, terms) = (100.0, 100_usize);
        let sum = LaplaceSum::new(laplace(0.02), terms as u64);
        let q: f64 = (-1.0_f64 / scale).exp();
        // C(m + B - 1, m) (1 - q)^B q^m, by logarithms.
        let mut expected = terms as f64 * (1.0 - q).ln();
        for (m, found) in sum.halves.iter().enumerate() {
            if m > 0 {
                expected += q.ln() + ((m + terms - 1) as f64 / m as f64).ln();
            }
            assert!((found / expected.exp() - 1.0).abs() < 1e-8, "{m}");
        }
        let likeliest = sum.halves.iter().copied().fold(0.0, f64::max);
        let [.., last_but_one, last] = sum.halves[..] else {
            panic!("a table of hardly anything");
        };
        assert!(last <= 1e-69 * likeliest && last_but_one > 1e-69 * likeliest);
    }
}
