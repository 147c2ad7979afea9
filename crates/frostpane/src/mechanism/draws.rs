//! Where the random choices of a mechanism come from.

use crate::error::Result;
use crate::noise::DiscreteLaplace;
use crate::noise::Entropy;

/// The random choices of a mechanism. Every source of entropy makes them; a test may make all of them in
/// turn, and so compute the exact probability of every output.
pub trait Draws {
    /// One value of this distribution.
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64>;

    /// Whether a fresh value of this distribution is at least `least`, which is not asked for where the value is below `bound`, a
    /// number that is no more.
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
