//! What a release is asked to be.

use crate::key::Key;
use crate::noise::{DiscreteLaplace, Epsilon, Threshold};
use crate::pane::PaneShape;
use crate::release::guarantee::Guarantee;
use crate::release::norm::{Norm, NormEstimate, three_quarters};
use crate::universe::Keys;

/// The share of epsilon that the L2 norm receives: one part in ten.
const NORM_PART: u64 = 1;
const COUNTS_PART: u64 = 9;
const PARTS: u64 = NORM_PART + COUNTS_PART;

/// The share of the chance of an untrue statement that the L2 norm receives.
const NORM_FAILURE: f64 = 0.3;

/// What a release is asked to be: all of it public.
#[derive(Clone)]
pub(crate) struct Terms<K: Key> {
    pub norm: Norm,
    pub alpha: f64,
    pub epsilon: Epsilon,
    pub delta: f64,
    pub confidence: f64,
    pub keys: Keys<K>,
    pub shape: PaneShape,
}

impl<K: Key> Terms<K> {
    /// What the norm may spend.
    pub fn norm_epsilon(&self) -> Epsilon {
        self.epsilon.share(NORM_PART, PARTS)
    }

    fn counts_epsilon(&self) -> Epsilon {
        match self.norm {
            Norm::L1 => self.epsilon,
            Norm::L2 => self.epsilon.share(COUNTS_PART, PARTS),
        }
    }

    /// The chance that the norm lies outside its bounds.
    pub fn norm_failure(&self) -> f64 {
        (1.0 - self.confidence) * NORM_FAILURE
    }

    fn counts_failure(&self) -> f64 {
        match self.norm {
            Norm::L1 => 1.0 - self.confidence,
            Norm::L2 => (1.0 - self.confidence) * (1.0 - NORM_FAILURE),
        }
    }

    /// The threshold before the norm is known, with the noise of the counts.
    pub fn floor(&self) -> Threshold {
        let noise = DiscreteLaplace::new(2, self.counts_epsilon());
        match &self.keys {
            Keys::Open => Threshold::for_open_keys(noise, self.delta),
            Keys::Declared(universe) => Threshold::for_declared_keys(noise, universe.size()),
        }
    }

    /// The threshold.
    pub fn threshold(&self, norm: &NormEstimate) -> Threshold {
        self.floor().raised_to(three_quarters(self.alpha, norm.value))
    }

    /// A public bound on how many keys receive noise, from how many panes have how many events each.
    pub fn keys_with_noise(&self, loads: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        let most = |(panes, events): (u64, u64)| panes.saturating_mul(self.shape.most_entries(events));
        match &self.keys {
            Keys::Open => loads.into_iter().map(most).fold(0, u64::saturating_add),
            Keys::Declared(universe) => universe.size(),
        }
    }

    /// What can be said of a release with these numbers.
    pub fn guarantee(&self, events: u64, cut: u64, norm: NormEstimate, keys_with_noise: u64) -> Guarantee {
        let floor = self.floor();
        Guarantee {
            alpha: self.alpha,
            events,
            cut,
            norm,
            threshold: floor.raised_to(three_quarters(self.alpha, norm.value)),
            floor: floor.value(),
            keys_with_noise,
            failure: self.counts_failure(),
        }
    }
}
