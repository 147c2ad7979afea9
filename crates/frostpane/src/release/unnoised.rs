//! The values that a release adds noise to.

use crate::mechanism::Threshold;
use crate::noise::DiscreteLaplace;

/// The values that a release adds noise to, without noise: **they must not be published**.
#[derive(Clone, Debug)]
pub struct Unnoised<K> {
    /// The keys of the window with a count of at least 1.
    pub counts: Vec<(K, u64)>,
    /// Draws the noise of the counts and decides which are listed, unless the norm asks for more.
    pub threshold: Threshold,
    /// With user-level privacy the number of counted events, and its noise.
    pub total: Option<(u64, DiscreteLaplace)>,
    /// For L2 the norm, and its noise.
    pub norm: Option<(u64, DiscreteLaplace)>,
}
