//! What a release is asked to be.

use crate::fault::{Fault, Mutant};
use crate::key::Key;
use crate::noise::{DiscreteLaplace, Epsilon, Threshold};
use crate::pane::PaneShape;
use crate::release::guarantee::{Guarantee, Reach};
use crate::release::norm::{Norm, NormEstimate, three_quarters};
use crate::timeline::Policy;
use crate::universe::Keys;

/// The share of epsilon that the L2 norm receives: one part in ten.
const NORM_PART: u64 = 1;
const COUNTS_PART: u64 = 9;
const PARTS: u64 = NORM_PART + COUNTS_PART;

/// The share that private boundaries receive: one part in four.
const BOUNDARIES_PART: u64 = 1;
const BOUNDARIES_PARTS: u64 = 4;

/// The shares of the chance of an untrue statement: of the L2 norm, and of what the window leaves out.
const NORM_FAILURE: f64 = 0.3;
const SLACK_FAILURE: f64 = 0.1;

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
    pub policy: Policy,
    /// The most keys that are added up at a time: a question of memory.
    pub part: u64,
    pub fault: Fault,
}

/// The epsilon that noise is drawn for: what was asked for.
pub(crate) fn drawn(epsilon: Epsilon, fault: Fault) -> Epsilon {
    match fault.is(Mutant::HalfNoise) {
        true => epsilon.doubled(),
        false => epsilon,
    }
}

/// What private boundaries spend of an epsilon.
pub(crate) fn boundaries_epsilon(epsilon: Epsilon, policy: Policy) -> Option<Epsilon> {
    (policy == Policy::Smooth).then(|| epsilon.share(BOUNDARIES_PART, BOUNDARIES_PARTS))
}

impl<K: Key> Terms<K> {
    /// What the boundaries spend, if they are private.
    pub fn boundaries_epsilon(&self) -> Option<Epsilon> {
        boundaries_epsilon(self.epsilon, self.policy)
    }

    /// What is left for everything but the boundaries.
    fn release_epsilon(&self) -> Epsilon {
        match self.policy {
            Policy::Smooth => self
                .drawn_epsilon()
                .share(BOUNDARIES_PARTS - BOUNDARIES_PART, BOUNDARIES_PARTS),
            _ => self.drawn_epsilon(),
        }
    }

    /// The epsilon that all noise together is drawn for.
    pub fn drawn_epsilon(&self) -> Epsilon {
        drawn(self.epsilon, self.fault)
    }

    /// What the norm may spend.
    pub fn norm_epsilon(&self) -> Epsilon {
        self.release_epsilon().share(NORM_PART, PARTS)
    }

    /// What each measurement of the pane that is left out may spend.
    pub fn slack_epsilon(&self) -> Epsilon {
        match self.norm {
            Norm::L1 => self.release_epsilon(),
            Norm::L2 => self.release_epsilon().share(1, 2),
        }
    }

    pub fn counts_epsilon(&self) -> Epsilon {
        match self.norm {
            Norm::L1 => self.release_epsilon(),
            Norm::L2 => self.release_epsilon().share(COUNTS_PART, PARTS),
        }
    }

    /// The chance that the norm lies outside its bounds.
    pub fn norm_failure(&self) -> f64 {
        (1.0 - self.confidence) * NORM_FAILURE
    }

    /// The chance that the window leaves out more than is said.
    pub fn slack_failure(&self) -> f64 {
        (1.0 - self.confidence) * SLACK_FAILURE
    }

    pub fn counts_failure(&self) -> f64 {
        let rest = match self.norm {
            Norm::L1 => 1.0 - SLACK_FAILURE,
            Norm::L2 => 1.0 - SLACK_FAILURE - NORM_FAILURE,
        };
        (1.0 - self.confidence) * rest
    }

    /// The threshold before the norm is known, with the noise of the counts.
    pub fn floor(&self) -> Threshold {
        let noise = DiscreteLaplace::new(2, self.counts_epsilon());
        match &self.keys {
            Keys::Open if self.fault.is(Mutant::ThresholdLessOne) => {
                Threshold::for_open_keys(noise, self.delta).less_one()
            }
            Keys::Open if self.fault.is(Mutant::OtherThreshold) => {
                Threshold::of_continuous(noise, self.delta)
            }
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

    /// What can be said of a release by counts with these numbers.
    pub fn by_counts(&self, events: u64, cut: u64, norm: NormEstimate, keys_with_noise: u64) -> Guarantee {
        let floor = self.floor();
        let threshold = self.threshold(&norm);
        let frequent = events / (threshold.value() + cut);
        Guarantee {
            alpha: self.alpha,
            cut,
            slack: 0,
            norm,
            threshold: threshold.value(),
            floor: floor.value(),
            reach: Reach::of_noise(floor.noise(), keys_with_noise, frequent, self.counts_failure()),
        }
    }
}
