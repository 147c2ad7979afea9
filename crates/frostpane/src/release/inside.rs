//! What a release adds noise to.

use crate::mechanism::Threshold;
use crate::noise::DiscreteLaplace;

/// What a release adds noise to, before it does: **it must not be published**.
#[derive(Clone, Debug)]
pub struct Inside<K> {
    /// The keys of the window with a count of at least 1.
    pub counts: Vec<(K, u64)>,
    /// Draws the noise of the counts and decides which are listed, unless the norm asks for more.
    pub threshold: Threshold,
    /// Of people the number of events that count, and its noise.
    pub total: Option<(u64, DiscreteLaplace)>,
    /// For L2 the norm, and its noise.
    pub norm: Option<(u64, DiscreteLaplace)>,
}
