//! The sum of independent values of one noise distribution.

use crate::noise::gaussian_sum::GaussianSum;
use crate::noise::{LaplaceSum, Noise};

/// The noise of a window that adds up the noise of its parts.
#[derive(Clone, Debug)]
pub enum NoiseSum {
    Laplace(LaplaceSum),
    Gaussian(GaussianSum),
}

impl NoiseSum {
    /// The sum of `terms` values; `terms` is at least 1.
    pub fn new(noise: impl Into<Noise>, terms: u64) -> Self {
        match noise.into() {
            Noise::Laplace(laplace) => Self::Laplace(LaplaceSum::new(laplace, terms)),
            Noise::Gaussian(gaussian) => Self::Gaussian(GaussianSum::new(gaussian, terms)),
        }
    }

    pub fn noise(&self) -> Noise {
        match self {
            Self::Laplace(sum) => (*sum.laplace()).into(),
            Self::Gaussian(sum) => (*sum.gaussian()).into(),
        }
    }

    /// The scale of each value, or its standard deviation if it is Gaussian, for display.
    pub fn scale(&self) -> f64 {
        self.noise().scale()
    }

    pub fn terms(&self) -> u64 {
        match self {
            Self::Laplace(sum) => sum.terms(),
            Self::Gaussian(sum) => sum.terms(),
        }
    }

    /// A tight upper bound on `Pr[sum >= m]`.
    pub fn tail(&self, m: u64) -> f64 {
        match self {
            Self::Laplace(sum) => sum.tail(m),
            Self::Gaussian(sum) => sum.tail(m),
        }
    }

    /// The least `m >= 0` with [`tail`](Self::tail) at most `chance`, for a chance of at least
    /// [`LEAST_CHANCE`](crate::noise::laplace_sum::LEAST_CHANCE).
    pub fn reach(&self, chance: f64) -> u64 {
        match self {
            Self::Laplace(sum) => sum.reach(chance),
            Self::Gaussian(sum) => sum.reach(chance),
        }
    }

    /// The standard deviation of the sum, for display.
    pub fn deviation(&self) -> f64 {
        (self.terms() as f64 * self.noise().variance()).sqrt()
    }

    /// The memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Laplace(sum) => sum.bytes(),
            Self::Gaussian(_) => 0,
        }
    }
}
