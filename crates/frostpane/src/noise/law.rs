//! Laplace or Gaussian noise.

use serde::Serialize;

use crate::enclosure::Enclosure;
use crate::noise::{DiscreteGaussian, DiscreteLaplace};

/// The distribution of the noise of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Smaller where one user moves few counts.
    Laplace(DiscreteLaplace),
    /// Smaller where one user moves many.
    Gaussian(DiscreteGaussian),
}

impl From<DiscreteLaplace> for Noise {
    fn from(laplace: DiscreteLaplace) -> Self {
        Self::Laplace(laplace)
    }
}

impl From<DiscreteGaussian> for Noise {
    fn from(gaussian: DiscreteGaussian) -> Self {
        Self::Gaussian(gaussian)
    }
}

/// The family of a noise distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NoiseLaw {
    /// Two-sided geometric: discrete Laplace.
    Laplace,
    /// Discrete Gaussian.
    Gaussian,
}

macro_rules! of_either {
    ($noise:expr, $law:ident => $value:expr) => {
        match $noise {
            Noise::Laplace($law) => $value,
            Noise::Gaussian($law) => $value,
        }
    };
}

impl Noise {
    /// The family of this distribution.
    pub fn law(&self) -> NoiseLaw {
        match self {
            Self::Laplace(_) => NoiseLaw::Laplace,
            Self::Gaussian(_) => NoiseLaw::Gaussian,
        }
    }

    /// The scale of a Laplace distribution or the standard deviation of a Gaussian one, for display.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Laplace(laplace) => laplace.scale(),
            Self::Gaussian(gaussian) => gaussian.sigma(),
        }
    }

    /// The variance, for display.
    pub fn variance(&self) -> f64 {
        of_either!(self, law => law.variance())
    }

    /// `Pr[X >= m]` for `m >= 0`.
    pub fn tail(&self, m: u64, bits: usize) -> Enclosure {
        of_either!(self, law => law.tail(m, bits))
    }

    /// `Pr[X >= m]` in floats: for statements, not for privacy.
    pub fn tail_in_floats(&self, m: u64) -> f64 {
        of_either!(self, law => law.tail_in_floats(m))
    }

    /// The least `m >= 0` with `Pr[X >= m] <= chance`. A chance of 0 counts as the smallest float.
    pub fn reach(&self, chance: f64) -> u64 {
        of_either!(self, law => law.reach(chance))
    }

    /// [`reach`](Self::reach), or 1 more where floats do not decide: for statements, not for privacy.
    pub fn reach_in_floats(&self, chance: f64) -> u64 {
        of_either!(self, law => law.reach_in_floats(chance))
    }

    #[cfg(any(test, feature = "internals"))]
    /// The least `q` such that all of `keys` values lie within `-q..=q`, except with probability `failure`.
    pub fn quantile(&self, keys: u64, failure: f64) -> u64 {
        of_either!(self, law => law.quantile(keys, failure))
    }

    /// From this distance on, raising a count by one lowers the bound on its noise by at most one,
    /// where each count gets a part of the failure proportional to its square
    /// ([why](crate::proofs::noise_bounds#by-count)).
    pub(crate) fn steady(&self) -> u64 {
        match self {
            Self::Laplace(laplace) => (2.0 * laplace.scale()).ceil() as u64 + 1,
            Self::Gaussian(gaussian) => (3.0 * gaussian.sigma()).ceil() as u64 + 1,
        }
    }

    /// `Pr[|X| >= m]` for every `m` from 1 on, at least until it is below `2^-63`.
    pub(crate) fn outside(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure>> {
        match self {
            Self::Laplace(laplace) => {
                let (tail, ratio) = (laplace.tail(1, bits), laplace.decay(bits));
                // Pr[|X| >= 1] = 2q/(1+q); each further m costs a factor q.
                let first = Some(tail.plus(&tail));
                Box::new(std::iter::successors(first, move |last| Some(last.times(&ratio))))
            }
            Self::Gaussian(gaussian) => Box::new(gaussian.outside(bits).into_iter()),
        }
    }
}
