//! The choice of a policy.

use serde::Serialize;

use super::policy::Policy;

/// Most streams have a norm of at least this part of their events.
const USUAL_NORM: u64 = 100;
/// The factor by which a private histogram must lower the least norm to be worth its epsilon.
const WORTH_ITS_EPSILON: u64 = 2;

/// A policy, and the reason for it. It depends on public numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The policy of the panes.
    pub policy: Policy,
    /// The reason for it.
    pub reason: Reason,
}

/// The reason for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It was given.
    Given,
    /// The end of the windows is known.
    KnownEnd,
    /// There is one window.
    OneWindow,
    /// There are windows of several lengths.
    SeveralWindows,
    /// The promises are expected for the whole window, and not with uniform panes.
    WholeWindow,
}

impl Choice {
    pub(crate) const KNOWN_END: Self = Self { policy: Policy::Fixed, reason: Reason::KnownEnd };
    pub(crate) const ONE_WINDOW: Self = Self { policy: Policy::Uniform, reason: Reason::OneWindow };
    pub(crate) const SEVERAL_WINDOWS: Self =
        Self { policy: Policy::Exponential, reason: Reason::SeveralWindows };

    /// Returns true if the policy was given.
    pub fn is_given(&self) -> bool {
        self.reason == Reason::Given
    }

    /// The choice for one window by count, from the least norms at which each policy should keep the promises over all of it.
    pub(crate) fn between(events: u64, uniform: Option<u64>, smooth: Option<u64>) -> Self {
        match smooth.filter(|norm: &u64| *norm <= events / USUAL_NORM) {
            Some(smooth) if uniform.is_none_or(|uniform| uniform / WORTH_ITS_EPSILON > smooth) => {
                Self { policy: Policy::Smooth, reason: Reason::WholeWindow }
            }
            _ => Self::ONE_WINDOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_histogram_must_be_worth_its_epsilon() {
        let policy = |uniform, smooth| Choice::between(1_000_000, uniform, smooth).policy;
        assert_eq!(policy(None, None), Policy::Uniform);
        assert_eq!(policy(None, Some(10_001)), Policy::Uniform, "few streams have it");
        assert_eq!(policy(None, Some(10_000)), Policy::Smooth);
        assert_eq!(policy(Some(20_000), Some(10_000)), Policy::Uniform, "too little gained");
        assert_eq!(policy(Some(20_002), Some(10_000)), Policy::Smooth);
        assert_eq!(policy(Some(900), None), Policy::Uniform);
    }
}
