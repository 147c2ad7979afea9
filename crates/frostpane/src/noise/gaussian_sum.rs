//! The sum of independent values of one discrete Gaussian distribution.

use crate::noise::DiscreteGaussian;
use crate::noise::discrete_gaussian::reach_by;
use crate::noise::gaussian_delta::of_sum;
use crate::noise::gaussian_tail::tail_between;

/// Close to one Gaussian value of the total variance ([why](crate::proofs::discrete_gaussian#sums)).
#[derive(Clone, Copy, Debug)]
pub struct GaussianSum {
    gaussian: DiscreteGaussian,
    terms: u64,
}

impl GaussianSum {
    pub fn new(gaussian: DiscreteGaussian, terms: u64) -> Self {
        Self { gaussian, terms }
    }

    pub fn gaussian(&self) -> &DiscreteGaussian {
        &self.gaussian
    }

    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// A tight upper bound on `Pr[sum >= m]`.
    pub fn tail(&self, m: u64) -> f64 {
        let [_, high] = tail_between(self.variance(), m as f64);
        high * (1.0 + of_sum(self.terms))
    }

    /// The least `m >= 0` with [`tail`](Self::tail) at most `chance`, for a chance of at least
    /// [`LEAST_CHANCE`](crate::noise::laplace_sum::LEAST_CHANCE).
    pub fn reach(&self, chance: f64) -> u64 {
        reach_by(|m| self.tail(m), self.variance().sqrt(), chance)
    }

    pub fn variance(&self) -> f64 {
        self.terms as f64 * self.gaussian.variance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::discrete_gaussian::tests::{gaussian, mass};

    #[test]
    fn one_term_is_the_distribution_itself() {
        let sum = GaussianSum::new(gaussian(30.25), 1);
        for m in [0, 1, 7, 40] {
            let exact = gaussian(30.25).tail(m, 256).approximate();
            let above = sum.tail(m) / exact - 1.0;
            assert!((0.0..2e-10).contains(&above), "{m}: {above}");
        }
        assert_eq!(sum.reach(1e-9), gaussian(30.25).reach(1e-9));
    }

    /// By full convolution, down to the least variance.
    #[test]
    fn more_terms_are_the_convolution() {
        let reach = 70_i64;
        for variance in [4.0, 9.0] {
            let mut sum: Vec<f64> = (-reach..=reach).map(|x| mass(variance, x)).collect();
            for terms in 2..=4 {
                sum = (-reach..=reach)
                    .map(|value| {
                        (-reach..=reach)
                            .filter(|other| (value - other).abs() <= reach)
                            .map(|other| sum[(value - other + reach) as usize] * mass(variance, other))
                            .sum()
                    })
                    .collect();
                let expected = GaussianSum::new(gaussian(variance), terms);
                for m in [0, 1, 4, 12, 25] {
                    let tail: f64 = sum[(m + reach) as usize..].iter().sum();
                    let above = expected.tail(m as u64) / tail - 1.0;
                    assert!((0.0..3e-10).contains(&above), "{terms} {m}: {above}");
                }
                assert_eq!(expected.variance(), terms as f64 * variance);
            }
        }
    }

    #[test]
    fn a_reach_is_the_least_that_the_chance_allows() {
        for (terms, variance) in [(1, 4.0), (4, 30.25), (32, 625.0), (32, 1e6)] {
            let sum = GaussianSum::new(gaussian(variance), terms);
            assert_eq!((sum.terms(), sum.gaussian()), (terms, &gaussian(variance)));
            for exponent in 0..=50 {
                let chance = 10_f64.powi(-exponent);
                let reach = sum.reach(chance);
                assert!(sum.tail(reach) <= chance, "{terms} {variance} {exponent}");
                assert!(reach == 0 || sum.tail(reach - 1) > chance, "{terms} {variance} {exponent}");
            }
        }
    }
}
