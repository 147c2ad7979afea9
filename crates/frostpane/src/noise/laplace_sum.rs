#![doc = include_str!("laplace_sum.md")]

use crate::search::first;

/// The table ends at this probability. The rest is added to every tail in full.
const NEGLIGIBLE: f64 = 1e-60;
/// Smaller chances are refused.
pub const LEAST_CHANCE: f64 = 1e-50;
/// Bounds the relative error of one step of the calculation.
const STEP_ROUNDING: f64 = 4e-15;

/// The sum of independent values of one discrete Laplace distribution.
#[derive(Clone, Debug)]
pub struct LaplaceSum {
    /// A sum of geometric values: the probability of each value from 0 on, and of at least that value.
    halves: Vec<f64>,
    beyond: Vec<f64>,
    /// A factor that exceeds the total effect of rounding.
    rounding: f64,
}

impl LaplaceSum {
    pub fn new(scale: f64, terms: u64) -> Self {
        let halves = half_sums(scale, terms);
        let mut beyond = vec![0.0; halves.len()];
        let mut sum = 0.0;
        for (beyond, half) in beyond.iter_mut().zip(&halves).rev() {
            sum += half;
            *beyond = sum;
        }
        Self { rounding: 1.0 + 1e-9 + STEP_ROUNDING * halves.len() as f64, halves, beyond }
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
        first(0, self.halves.len() as u64, |m| self.tail(m) <= chance)
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

    /// Values beyond the table count in full: no tail is 0, and the table ends only where the rest is
    /// negligible.
    #[test]
    fn what_is_left_out_is_negligible_and_counted() {
        let sum = LaplaceSum::new(2.0, 8);
        let far = sum.halves.len() as u64;
        for m in [far, far + 1, u64::MAX] {
            assert!(sum.tail(m) >= 4.0 * NEGLIGIBLE && sum.tail(m) < 5.0 * NEGLIGIBLE);
        }
        let rest: f64 = sum.halves[sum.halves.len() - 1] * 10.0;
        assert!(rest < NEGLIGIBLE / 1e6 && sum.halves[sum.halves.len() - 20] > NEGLIGIBLE / 1e12);
        assert_eq!(sum.bytes(), 16 * far);
        let total: f64 = sum.halves.iter().sum();
        assert!((total - 1.0).abs() < 1e-12 && (sum.beyond[0] - 1.0).abs() < 1e-12);
        let steps = sum.halves.len() as f64;
        assert_eq!(sum.rounding, 1.0 + 1e-9 + 4e-15 * steps);
    }

    #[test]
    fn a_chance_that_a_tail_has_exactly_is_enough() {
        let sum = LaplaceSum::new(2.0, 8);
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
        let sum = LaplaceSum::new(scale, terms as u64);
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
