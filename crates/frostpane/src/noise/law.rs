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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::discrete_gaussian::GREATEST_VARIANCE;
    use crate::noise::discrete_gaussian::tests::gaussian;
    use crate::privacy::Epsilon;

    /// The least float that a tail does not exceed, and the one below, which it does exceed: their reaches are one
    /// apart, wherever the first guess in floats lies. For 0.086 and 0.399 it lies one above a reach of 0.
    #[test]
    fn a_reach_is_exact_to_the_last_bit_of_the_chance() {
        let is_exact = |noise: Noise, m: u64| {
            let tail = noise.tail(m, 1_024);
            let mut chance = tail.approximate().next_down().next_down();
            while tail.at_most(chance) == Some(false) {
                chance = chance.next_up();
            }
            assert_eq!(tail.at_most(chance), Some(true));
            assert_eq!(noise.reach(chance), m, "{noise:?}");
            assert_eq!(noise.reach(chance.next_down()), m + 1, "{noise:?}");
        };
        for epsilon in [3.0, 1.0, 0.399, 0.3, 0.1, 0.086, 0.001, 0.000081, 0.000001] {
            let laplace = DiscreteLaplace::new(1, Epsilon::new(epsilon).unwrap());
            let likely = (0..40).chain([1_000, 100_000]).filter(|m| *m as f64 * epsilon <= 500.0);
            likely.for_each(|m| is_exact(laplace.into(), m));
        }
        for (noise, chance) in [
            (DiscreteGaussian::new(GREATEST_VARIANCE, 1).unwrap().into(), 1e-9),
            (DiscreteLaplace::new(u32::MAX, Epsilon::new(1e-6).unwrap()).into(), 0.3),
            (DiscreteLaplace::new(u32::MAX, Epsilon::new(1e-6).unwrap()).into(), 1e-80),
        ] {
            let reach = Noise::reach(&noise, chance);
            assert_eq!(noise.tail(reach, 512).at_most(chance), Some(true), "{noise:?}");
            assert_eq!(noise.tail(reach - 1, 512).at_most(chance), Some(false), "{noise:?}");
        }
        for (variance, m) in
            [4.0, 30.25, 625.0].into_iter().flat_map(|variance| [0, 1, 2, 9, 30].map(|m| (variance, m)))
        {
            is_exact(gaussian(variance).into(), m);
        }
    }
}
