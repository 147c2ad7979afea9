//! Requests: the properties of a release, its keys and its panes.

use std::borrow::Cow;

use crate::error::Result;
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::mechanism::Threshold;
use crate::noise::DiscreteLaplace;
use crate::pane::{Pane, PaneShape};
use crate::privacy::{Epsilon, Split};
use crate::release::guarantee::Guarantee;
use crate::release::noise_bounds::{CountLimits, PriorBounds};
use crate::release::norm::{NormEstimate, three_quarters};
use crate::release::total::Total;
use crate::spec::{Bounds, Norm, Policy, Unit, ValidSpec};

/// Shares of the failure probability: of a measured norm, and of a measured slack.
const NORM_FAILURE: f64 = 0.2;
const SLACK_FAILURE: f64 = 0.1;
/// The share of a measured number of events.
const TOTAL_FAILURE: f64 = 0.05;

/// The properties of a release, all of them public.
#[derive(Clone)]
pub(crate) struct Request<K: Key> {
    pub spec: ValidSpec,
    pub keys: Keys<K>,
    pub shape: PaneShape,
    /// The most keys that are added up at a time: a matter of memory.
    pub keys_at_a_time: u64,
    /// The confidence of each release: higher than the given one where many must hold together.
    pub confidence: f64,
    /// True if a window may begin within a pane.
    pub may_leave_out: bool,
    /// The split of the epsilon that noise is drawn for: all of it, unless a fault is injected.
    pub split: Split,
    pub fault: Fault,
}

impl<K: Key> Request<K> {
    pub fn new(spec: ValidSpec, keys: Keys<K>, shape: PaneShape, keys_at_a_time: u64, fault: Fault) -> Self {
        Self {
            split: if fault.is(Mutant::ForgottenWindows) && spec.unit.is_user() {
                spec.split_over(drawn(spec.epsilon, fault), spec.panes())
            } else {
                spec.split(drawn(spec.epsilon, fault))
            },
            confidence: spec.confidence,
            may_leave_out: spec.policy() != Policy::Fixed,
            shape: shape.with_fault(fault),
            spec,
            keys,
            keys_at_a_time,
            fault,
        }
    }

    pub fn unit(&self) -> Unit {
        self.spec.unit
    }

    /// The unit that noise is drawn for.
    pub fn noise_unit(&self) -> Unit {
        noise_unit(self.unit(), self.fault)
    }

    /// Checks that the panes have the public numbers of this request.
    pub fn check(&self, panes: &[Cow<'_, Pane<K>>]) -> Result<()> {
        let made_with = self.shape.parameters();
        panes.iter().try_for_each(|pane| pane.check(made_with))
    }

    /// The epsilon of one measurement of the norm.
    pub fn norm_epsilon(&self) -> Epsilon {
        // Nothing is spent on a public norm.
        self.split.norm.unwrap_or(self.split.counts)
    }

    /// The failure probability of the bounds of the norm.
    pub fn norm_failure(&self) -> f64 {
        (1.0 - self.confidence) * NORM_FAILURE
    }

    /// The failure probability of the bounds of the number of events, where it is private.
    pub fn total_failure(&self) -> f64 {
        (1.0 - self.confidence) * TOTAL_FAILURE
    }

    /// The failure probability of the bounds of the slack.
    pub fn slack_failure(&self) -> f64 {
        (1.0 - self.confidence) * SLACK_FAILURE
    }

    /// The failure probability of the bounds of the noise of counts.
    pub fn counts_failure(&self) -> f64 {
        let norm = if self.spec.norm == Norm::L2 { NORM_FAILURE } else { 0.0 };
        let slack = if self.may_leave_out { SLACK_FAILURE } else { 0.0 };
        let total = if self.unit().is_user() { TOTAL_FAILURE } else { 0.0 };
        (1.0 - self.confidence) * (1.0 - norm - slack - total)
    }

    /// The threshold before the norm is limits, with the noise of the counts.
    pub fn floor(&self) -> Threshold {
        let unit = self.noise_unit();
        let noise = DiscreteLaplace::new(unit.counts(), self.split.counts);
        let delta = self.spec.delta().as_f64();
        let threshold = match (&self.keys, unit) {
            (Keys::Declared(universe), _) => return Threshold::for_declared_keys(noise, universe.size()),
            (Keys::Open, Unit::User(bounds)) => Threshold::for_users(bounds, self.split.counts, delta),
            (Keys::Open, Unit::Event) if self.fault.is(Mutant::OtherThreshold) => {
                Threshold::of_continuous(noise, delta)
            }
            (Keys::Open, Unit::Event) => Threshold::for_open_keys(noise, delta),
        };
        if self.fault.is(Mutant::ThresholdLessOne) { threshold.less_one() } else { threshold }
    }

    /// The threshold that is asked for, whatever privacy asks for.
    pub fn asked_of(&self, norm: &NormEstimate) -> u64 {
        self.alpha().map_or(0, |alpha| three_quarters(alpha, norm.value))
    }

    /// Alpha, if it decides what is listed.
    pub fn alpha(&self) -> Option<f64> {
        self.spec.lists_heavy().then_some(self.spec.alpha)
    }

    /// A public bound on the number of keys that receive noise, from pairs of a number of panes and the
    /// events of each.
    pub fn keys_with_noise(&self, loads: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        let most = |(panes, events): (u64, u64)| panes.saturating_mul(self.shape.most_entries(events));
        match &self.keys {
            Keys::Open => loads.into_iter().map(most).fold(0, u64::saturating_add),
            Keys::Declared(universe) => universe.size(),
        }
    }

    /// The same with user-level privacy, where events are not public: each open key with noise occurred.
    pub fn keys_of_users(&self, total: &Total) -> u64 {
        match &self.keys {
            Keys::Open => total.high,
            Keys::Declared(universe) => universe.size(),
        }
    }

    /// The guarantee of a release by counts with these numbers, before their noise is drawn.
    pub fn by_counts(
        &self,
        floor: Threshold,
        total: &Total,
        cut: u64,
        norm: NormEstimate,
        keys_with_noise: u64,
    ) -> (Guarantee, PriorBounds) {
        let limits = CountLimits {
            events: total.high,
            norm: self.split.norm.map(|_| norm.high).filter(|high| high.is_finite()),
            keys: keys_with_noise,
            declared: matches!(self.keys, Keys::Declared(_)),
        };
        // The cut is added to noisy counts, so the threshold is lowered by it.
        let threshold = floor.raised_to(self.asked_of(&norm).saturating_sub(cut)).value();
        let levels = [floor.value(), threshold];
        let top = self.spec.top;
        let prior = PriorBounds::new(*floor.noise(), &limits, levels, top, self.counts_failure());
        let guarantee = Guarantee {
            alpha: self.alpha(),
            cut,
            slack: 0,
            norm,
            threshold,
            floor: floor.value(),
            bounds: prior.bounds,
        };
        (guarantee, prior)
    }
}

/// The epsilon that noise is drawn for: the given one, unless a fault is injected.
pub(crate) fn drawn(epsilon: Epsilon, fault: Fault) -> Epsilon {
    if fault.is(Mutant::HalfNoise) { epsilon.times(2) } else { epsilon }
}

/// The unit that noise is drawn for: the one that is protected, unless a fault is injected.
pub(crate) fn noise_unit(unit: Unit, fault: Fault) -> Unit {
    match unit {
        Unit::User(bounds) if fault.is(Mutant::ForgottenKeys) => Unit::User(Bounds { per_user: 1, ..bounds }),
        unit => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::test_oracle::{DELTA, reach, request, request_of, shape, spec};
    use crate::spec::{Policy, Spec};

    #[test]
    fn epsilon_is_split_by_what_is_measured() {
        let measured = [(Norm::L1, false), (Norm::L2, true)];
        let private = [(Policy::Uniform, false), (Policy::Exponential, false), (Policy::Smooth, true)];
        for ((norm, measures_norm), (policy, private)) in
            measured.into_iter().flat_map(|norm| private.map(|policy| (norm, policy)))
        {
            let asked = Spec { policy: Some(policy), ..spec(norm, 0.3) };
            let split = request_of(asked, Keys::Open, shape(10, 64)).split;
            assert_eq!(split, Split::one_shot(Epsilon::new(0.3).unwrap(), measures_norm, private));
        }
    }

    #[test]
    fn the_chance_of_an_untrue_statement_is_divided_too() {
        for (norm, of_norm, of_counts) in [(Norm::L1, 0.0, 0.9), (Norm::L2, 0.2, 0.7)] {
            let request = Request { confidence: 0.8, ..request(norm, 1.0, Keys::Open, shape(10, 64)) };
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
            close(request.counts_failure(), 0.2 * of_counts);
            close(request.slack_failure(), 0.2 * 0.1);
            if norm == Norm::L2 {
                close(request.norm_failure(), 0.2 * of_norm);
            }
            close(of_norm + of_counts + 0.1, 1.0);
            let nothing_left_out = Request { may_leave_out: false, ..request };
            close(nothing_left_out.counts_failure(), 0.2 * (of_counts + 0.1));
        }
    }

    /// For open keys the least threshold that one event reaches with probability at most delta; for declared
    /// ones the least that at most a million absent keys are expected to reach. By the noise of the counts.
    #[test]
    fn the_floor_follows_the_noise_of_the_counts() {
        for (norm, share) in [(Norm::L1, 1.0), (Norm::L2, 0.9)] {
            for epsilon in [0.1, 1.0, 3.0] {
                let noise = share * epsilon;
                let open = request(norm, epsilon, Keys::Open, shape(10, 64));
                assert_eq!(open.floor().value(), 1 + reach(2.0, noise, DELTA));
                assert_eq!(*open.floor().noise(), crate::release::test_oracle::laplace(2, noise).into());
                for size in [1, 1_000_000, 3_000_000, 1 << 40] {
                    let keys = Keys::range(0..size).unwrap();
                    let declared = request(norm, epsilon, keys, shape(10, 64));
                    let expected = reach(2.0, noise, 1e6 / size as f64).max(1);
                    assert_eq!(declared.floor().value(), expected, "{size}");
                }
            }
        }
    }

    #[test]
    fn the_threshold_is_three_quarters_of_alpha_times_the_norm_but_no_less_than_the_floor() {
        let request = request(Norm::L1, 1.0, Keys::Open, shape(10, 64));
        let floor = request.floor().value();
        assert_eq!(floor, 28);
        for (events, expected) in [(0, 28), (373, 28), (374, 29), (400, 30), (401, 31), (100_000, 7_500)] {
            let norm = NormEstimate::of_events(events);
            let with_cut = |cut| {
                request.by_counts(request.floor(), &Total::public(events), cut, norm, events).0.threshold
            };
            assert_eq!(with_cut(0), expected, "{events}");
            // The cut is added to a noisy count before it is compared.
            assert_eq!(with_cut(7), (expected.max(35) - 7).max(28), "{events}");
        }
    }

    /// A pane of `n` events has noise at most at `min(n, k)` keys; declared keys all have noise.
    #[test]
    fn as_many_keys_have_noise_as_panes_can_keep_or_are_declared() {
        let open = request(Norm::L1, 1.0, Keys::Open, shape(10, 64));
        assert_eq!(open.keys_with_noise([(1, 7), (1, 10), (3, 11), (2, 0)]), 7 + 10 + 30);
        assert_eq!(open.keys_with_noise([(u64::MAX, 11)]), u64::MAX);
        let declared = request(Norm::L1, 1.0, Keys::range(0..77).unwrap(), shape(10, 64));
        assert_eq!(declared.keys_with_noise([(1, 7), (1, 10)]), 77);
    }
}
