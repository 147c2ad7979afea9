//! Random choices of a mechanism.

use crate::error::Result;
use crate::noise::DiscreteLaplace;
use crate::noise::Entropy;

/// The random choices of a mechanism. Every entropy source implements it; a test may instead enumerate
/// all choices, and so compute the exact probability of every output.
pub trait Draws {
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64>;

    /// Returns true if a fresh value of this distribution is at least `least`, which is computed only
    /// if the value is at least `bound <= least`.
    fn reaches(
        &mut self,
        laplace: &DiscreteLaplace,
        bound: i64,
        least: &mut dyn FnMut() -> i64,
    ) -> Result<bool> {
        let value = self.noise(laplace)?;
        Ok(value >= bound && value >= least())
    }
}

impl<E: Entropy> Draws for E {
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
        laplace.sample(self)
    }
}
