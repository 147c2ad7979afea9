//! The mechanism as an auditor sees it: run as users run it, looked into, or broken on purpose.
//!
//! This module needs the feature `internals`. With the feature `mutants` its types, and no others, can carry a
//! [`Mutant`]: they wrap what the [`Builder`] builds, hand out releases, and never the broken thing itself.
//!
//! ```
//! # #[cfg(feature = "mutants")]
//! # fn main() -> frostpane::Result<()> {
//! use frostpane::testing::audit::{Audit, Mutant};
//! use frostpane::{HeavyHitters, Keys};
//!
//! let builder = HeavyHitters::<u64>::builder(Keys::range(0..3)?);
//! let mut broken = Audit::of(builder, Some(Mutant::SilentAbsentKeys)).build()?;
//! assert!(broken.release()?.heavy.is_empty());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mutants"))]
//! # fn main() {}
//! ```
//!
//! There is no other way to one:
//!
//! ```compile_fail
//! use frostpane::{HeavyHitters, Keys, testing::audit::Mutant};
//!
//! let broken = HeavyHitters::<u64>::builder(Keys::open()).broken(Mutant::HalfNoise);
//! ```

use jiff::Timestamp;

use crate::counting::Event;
use crate::error::Result;
#[cfg(feature = "mutants")]
use crate::fault::Fault;
#[cfg(feature = "mutants")]
pub use crate::fault::Mutant;
use crate::key::Key;
use crate::noise::Entropy;
use crate::plan::Plan;
use crate::release::Release;
pub use crate::release::Unnoised;
use crate::spec::Edge;
use crate::stream::{Builder, Continual, HeavyHitters, History};

/// A way to break the mechanism: without the feature `mutants` there is none, and an `Option` of one is `None`.
#[cfg(not(feature = "mutants"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {}

#[cfg(not(feature = "mutants"))]
impl Mutant {
    /// All of them.
    pub const ALL: [Self; 0] = [];

    pub fn name(self) -> &'static str {
        match self {}
    }
}

/// A builder under audit, sound or broken.
#[derive(Clone)]
pub struct Audit<K: Key> {
    builder: Builder<K>,
}

impl<K: Key> Audit<K> {
    /// What the builder builds, broken by a mutant if there is one.
    pub fn of(builder: Builder<K>, mutant: Option<Mutant>) -> Self {
        #[cfg(feature = "mutants")]
        let builder = builder.broken(Fault::of(mutant));
        #[cfg(not(feature = "mutants"))]
        let None = mutant;
        Self { builder }
    }

    pub fn plan(&self) -> Result<Plan> {
        self.builder.plan()
    }

    pub fn build(self) -> Result<Audited<K>> {
        Ok(Audited(self.builder.build()?))
    }

    pub fn continual(self) -> Result<AuditedContinual<K>> {
        Ok(AuditedContinual(self.builder.continual()?))
    }

    pub fn history(self, from: Edge, until: Edge) -> Result<AuditedHistory<K>> {
        Ok(AuditedHistory(self.builder.history(from, until)?))
    }
}

/// A moment, in microseconds since 1970, where a window may end.
pub fn moment(micros: i64) -> Edge {
    Edge::Instant(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}

/// [`HeavyHitters`] under audit.
pub struct Audited<K: Key>(HeavyHitters<K>);

impl<K: Key> Audited<K> {
    pub fn update(&mut self, key: Option<K::Ref<'_>>) -> Result<()> {
        self.0.push(Event { time: None, key, user: None })
    }

    pub fn update_all<'a>(&mut self, keys: impl IntoIterator<Item = Option<K::Ref<'a>>>) -> Result<()> {
        self.0.extend(keys.into_iter().map(|key| Event { time: None, key, user: None }))
    }

    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        self.0.push(event)
    }

    pub fn release(&mut self) -> Result<Release<K>> {
        self.0.release()
    }

    pub fn release_over(&mut self, events: u64) -> Result<Release<K>> {
        self.0.release_over(events)
    }

    pub fn panes(&self) -> usize {
        self.0.panes()
    }

    /// The same, with noise from a source that is known: it protects nobody.
    pub fn release_with_entropy(&mut self, entropy: &mut impl Entropy) -> Result<Release<K>> {
        self.0.release_with_entropy(self.0.longest(), entropy)
    }

    /// The numbers that a release adds noise to, and that noise: charged like a release.
    pub fn inside(&mut self) -> Result<Unnoised<K>> {
        self.0.pay(self.0.longest())?.inside()
    }
}

/// [`Continual`] under audit.
pub struct AuditedContinual<K: Key>(Continual<K>);

impl<K: Key> AuditedContinual<K> {
    pub fn update(&mut self, key: Option<K::Ref<'_>>) -> Result<Vec<Release<K>>> {
        self.push(Event { time: None, key, user: None })
    }

    pub fn push(&mut self, event: Event<'_, K>) -> Result<Vec<Release<K>>> {
        let mut releases = Vec::new();
        self.0.push(event, |continual| releases.push(continual.release()))?;
        releases.into_iter().collect()
    }

    pub fn advance_to(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        self.0.advance_to(time)
    }

    pub fn release(&self) -> Result<Release<K>> {
        self.0.release()
    }
}

/// [`History`] under audit.
pub struct AuditedHistory<K: Key>(History<K>);

impl<K: Key> AuditedHistory<K> {
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        self.0.push(event)
    }

    pub fn finish(self) -> Result<Vec<Release<K>>> {
        let mut releases = Vec::new();
        self.0.finish(|continual| releases.push(continual.release()))?;
        releases.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Keys;
    use crate::noise::discrete_laplace::tests::laplace;
    use crate::spec::Norm;

    #[test]
    fn without_a_mutant_an_audited_release_is_an_ordinary_one() {
        let mut audited =
            Audit::of(HeavyHitters::<u64>::builder(Keys::open()).epsilon(1e5), None).build().unwrap();
        let mut ordinary = HeavyHitters::<u64>::builder(Keys::open()).epsilon(1e5).build().unwrap();
        for event in 0..1_000 {
            audited.update(Some(event % 7)).unwrap();
            ordinary.update(event % 7).unwrap();
        }
        assert_eq!(audited.release().unwrap(), ordinary.release().unwrap());
    }

    /// What is looked into is what noise is added to, and which noise.
    #[test]
    fn inside_are_the_counts_the_norm_and_their_noise() {
        for norm in [Norm::L1, Norm::L2] {
            let builder = HeavyHitters::<u64>::builder(Keys::open()).norm(norm).epsilon(1.0);
            let mut audited = Audit::of(builder, None).build().unwrap();
            audited.update_all((0..700).map(|event| Some(u64::from(event < 400)))).unwrap();
            let mut inside = audited.inside().unwrap();
            inside.counts.sort_unstable();
            assert_eq!(inside.counts, [(0, 300), (1, 400)]);
            let share = if norm == Norm::L2 { 0.9 } else { 1.0 };
            assert_eq!(*inside.threshold.noise(), laplace(2, share).into());
            assert_eq!(inside.norm, (norm == Norm::L2).then(|| (500, laplace(1, 0.1))));
        }
    }
}

#[cfg(all(test, feature = "mutants"))]
mod tests_of_mutants {
    use std::time::Duration;

    use super::*;
    use crate::key::Keys;
    use crate::spec::{Bounds, Policy, Unit, Window};

    /// Whatever the public builder is asked for, what it builds asks every question about faults in vain.
    #[test]
    fn an_ordinary_builder_builds_no_mutant() {
        for keys in [Keys::open(), Keys::range(0..9).unwrap()] {
            for policy in [Policy::Uniform, Policy::Exponential, Policy::Smooth] {
                let builder = HeavyHitters::<u64>::builder(keys.clone())
                    .window(Window::events(100_000))
                    .policy(policy)
                    .releases(2)
                    .program(1);
                let fault = builder.request_with(1).unwrap().1.fault;
                assert!(Mutant::ALL.into_iter().all(|mutant| !fault.is(mutant)));
                let broken = builder.broken(Fault::of(Some(Mutant::TableOrder)));
                assert!(broken.request_with(1).unwrap().1.fault.is(Mutant::TableOrder));
            }
        }
    }

    /// Someone with a thousand events, beside ten people with one.
    #[test]
    fn what_a_mutant_cuts_of_people_follows_from_how_much_they_did() {
        let counts = |mutant| {
            let day = 86_400;
            let builder = HeavyHitters::<u64>::builder(Keys::open())
                .unit(Unit::User(Bounds::new(1)))
                .window(Window::clock(Duration::from_secs(day)))
                .until(moment(1_000_000 * day as i64));
            let mut audited = Audit::of(builder, mutant).build().unwrap();
            for user in 0..10 {
                audited.push(Event::by(&[user], 0, 0)).unwrap();
            }
            for time in 0..1_000 {
                audited.push(Event::by(&[10], time, 1)).unwrap();
            }
            let mut counts = audited.inside().unwrap().counts;
            counts.sort_unstable();
            counts
        };
        assert_eq!(counts(None), [(0, 10), (1, 1)]);
        assert_eq!(counts(Some(Mutant::DataDependentCut)), []);
    }
}
