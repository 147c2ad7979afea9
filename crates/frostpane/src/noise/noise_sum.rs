//! The sum of independent values of one noise distribution.

use crate::noise::Noise;
use crate::noise::discrete_gaussian::reach_by;
use crate::noise::gaussian_delta::of_sum;
use crate::noise::gaussian_tail::tail_between;
use crate::noise::laplace_sum::LaplaceSum;

/// The noise of a window that adds up the noise of its parts.
#[derive(Clone, Debug)]
pub struct NoiseSum {
    noise: Noise,
    terms: u64,
    /// `None` for Gaussian noise: its sum is close to one Gaussian value of the total variance
    /// ([why](crate::proofs::discrete_gaussian#sums)).
    laplace: Option<LaplaceSum>,
}

impl NoiseSum {
    /// The sum of `terms` values; `terms` is at least 1.
    pub fn new(noise: impl Into<Noise>, terms: u64) -> Self {
        let noise = noise.into();
        let laplace = match noise {
            Noise::Laplace(laplace) => Some(LaplaceSum::new(laplace.scale(), terms)),
            Noise::Gaussian(_) => None,
        };
        Self { noise, terms, laplace }
    }

    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// The scale of each value, or its standard deviation if it is Gaussian, for display.
    pub fn scale(&self) -> f64 {
        self.noise.scale()
    }

    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// A tight upper bound on `Pr[sum >= m]`.
    pub fn tail(&self, m: u64) -> f64 {
        match &self.laplace {
            Some(sum) => sum.tail(m),
            None => tail_between(self.variance(), m as f64)[1] * (1.0 + of_sum(self.terms)),
        }
    }

    /// The least `m >= 0` with [`tail`](Self::tail) at most `chance`, for a chance of at least
    /// [`LEAST_CHANCE`](crate::noise::laplace_sum::LEAST_CHANCE).
    pub fn reach(&self, chance: f64) -> u64 {
        match &self.laplace {
            Some(sum) => sum.reach(chance),
            None => reach_by(|m| self.tail(m), self.deviation(), chance),
        }
    }

    fn variance(&self) -> f64 {
        self.terms as f64 * self.noise.variance()
    }

    /// The standard deviation of the sum, for display.
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        self.laplace.as_ref().map_or(0, LaplaceSum::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::DiscreteLaplace;
    use crate::noise::discrete_gaussian::tests::{gaussian, mass};
    use crate::privacy::Epsilon;

    fn laplace(epsilon: f64) -> Noise {
        DiscreteLaplace::new(2, Epsilon::new(epsilon).unwrap()).into()
    }

    #[test]
    fn one_term_is_the_distribution_itself() {
        for (noise, excess) in [(laplace(1.0), 1e-8), (gaussian(30.25).into(), 2e-10)] {
            let sum = NoiseSum::new(noise, 1);
            for m in [0, 1, 7, 40, 90] {
                let above = sum.tail(m) / noise.tail(m, 256).approximate() - 1.0;
                assert!((0.0..excess).contains(&above), "{noise:?} {m}: {above}");
            }
            assert_eq!(sum.reach(1e-9), noise.reach(1e-9));
        }
    }

    /// By full convolution, down to the least variance of Gaussian noise.
    #[test]
    fn more_terms_are_the_convolution() {
        let of_scale_1 = |x: i64| {
            let q = (-1.0_f64).exp();
            (1.0 - q) / (1.0 + q) * q.powi(x.abs() as i32)
        };
        let far = 70_i64;
        let masses = |mass: &dyn Fn(i64) -> f64| (-far..=far).map(mass).collect::<Vec<f64>>();
        for (noise, one, excess) in [
            (laplace(2.0), masses(&of_scale_1), 1e-6),
            (gaussian(4.0).into(), masses(&|x| mass(4.0, x)), 3e-10),
            (gaussian(9.0).into(), masses(&|x| mass(9.0, x)), 3e-10),
        ] {
            let mut sum = one.clone();
            for terms in 2..=5 {
                sum = (-far..=far)
                    .map(|value| {
                        let within = (-far..=far).filter(|other| (value - other).abs() <= far);
                        let pairs = within.map(|other| [value - other + far, other + far]);
                        pairs.map(|[first, second]| sum[first as usize] * one[second as usize]).sum()
                    })
                    .collect();
                let found = NoiseSum::new(noise, terms);
                for m in [0, 1, 4, 12, 25] {
                    let tail: f64 = sum[(m + far) as usize..].iter().sum();
                    let above = found.tail(m as u64) / tail - 1.0;
                    assert!((0.0..excess).contains(&above), "{noise:?} {terms} {m}: {above}");
                }
            }
        }
    }

    #[test]
    fn a_reach_is_the_least_that_the_chance_allows() {
        for (terms, noise) in [
            (1, laplace(1.0)),
            (4, laplace(0.1)),
            (32, laplace(1.0)),
            (32, laplace(50.0)),
            (1, gaussian(4.0).into()),
            (4, gaussian(30.25).into()),
            (32, gaussian(625.0).into()),
            (32, gaussian(1e6).into()),
        ] {
            let sum = NoiseSum::new(noise, terms);
            assert_eq!((sum.terms(), sum.noise()), (terms, noise));
            for exponent in 0..=50 {
                let chance = 10_f64.powi(-exponent);
                let reach = sum.reach(chance);
                assert!(sum.tail(reach) <= chance, "{terms} {noise:?} {exponent}");
                assert!(reach == 0 || sum.tail(reach - 1) > chance, "{terms} {noise:?} {exponent}");
            }
        }
    }
}
