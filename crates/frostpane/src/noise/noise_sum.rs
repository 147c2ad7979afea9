//! The sum of independent noise values of either law.

use crate::noise::gaussian_sum::GaussianSum;
use crate::noise::{LaplaceSum, Noise};

/// The noise of a window that adds up the noise of its parts.
#[derive(Clone, Debug)]
pub enum NoiseSum {
    /// Of discrete Laplace values.
    Laplace(LaplaceSum),
    /// Of discrete Gaussian values.
    Gaussian(GaussianSum),
}

impl NoiseSum {
    /// Of so many values, at least one.
    pub fn new(noise: impl Into<Noise>, terms: u64) -> Self {
        match noise.into() {
            Noise::Laplace(laplace) => Self::Laplace(LaplaceSum::new(laplace, terms)),
            Noise::Gaussian(gaussian) => Self::Gaussian(GaussianSum::new(gaussian, terms)),
        }
    }

    /// The distribution of each value.
    pub fn noise(&self) -> Noise {
        match self {
            Self::Laplace(sum) => (*sum.laplace()).into(),
            Self::Gaussian(sum) => (*sum.gaussian()).into(),
        }
    }

    /// The scale of each value, or its standard deviation if it is Gaussian, to show.
    pub fn scale(&self) -> f64 {
        self.noise().scale()
    }

    /// How many values there are.
    pub fn terms(&self) -> u64 {
        match self {
            Self::Laplace(sum) => sum.terms(),
            Self::Gaussian(sum) => sum.terms(),
        }
    }

    /// An upper bound on `Pr[sum >= m]`, and hardly more.
    pub fn tail(&self, m: u64) -> f64 {
        match self {
            Self::Laplace(sum) => sum.tail(m),
            Self::Gaussian(sum) => sum.tail(m),
        }
    }

    /// The least `m >= 0` with `Pr[sum >= m] <= chance` by that bound, for a chance of at least
    /// [`LEAST_CHANCE`](crate::noise::laplace_sum::LEAST_CHANCE).
    pub fn reach(&self, chance: f64) -> u64 {
        match self {
            Self::Laplace(sum) => sum.reach(chance),
            Self::Gaussian(sum) => sum.reach(chance),
        }
    }

    /// The standard deviation of the sum, to show.
    pub fn deviation(&self) -> f64 {
        (self.terms() as f64 * self.noise().variance()).sqrt()
    }

    /// How much memory tables take.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Laplace(sum) => sum.bytes(),
            Self::Gaussian(_) => 0,
        }
    }
}
