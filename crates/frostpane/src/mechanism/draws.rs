//! Where the random choices of a mechanism come from.

use crate::error::Result;
use crate::noise::DiscreteLaplace;
use crate::noise::Entropy;

/// The random choices of a mechanism. Every source of entropy makes them; a test may make all of them in
/// turn, and so compute the exact probability of every output.
pub trait Draws {
    /// One value of this distribution.
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64>;

    /// Whether a fresh value of this distribution is at least `least`.
    fn reaches(&mut self, laplace: &DiscreteLaplace, least: i64) -> Result<bool> {
        Ok(self.noise(laplace)? >= least)
    }
}

impl<E: Entropy> Draws for E {
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
        laplace.sample(self)
    }
}
