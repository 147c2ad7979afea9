//! The mechanism as an auditor sees it: run as users run it, looked into, or broken on purpose.
//!
//! This module needs the feature `audit`. Its types are the only ones that can carry a [`Mutant`]: they wrap
//! what the [`Builder`] builds, hand out releases, and never the broken thing itself. There is no other way to one:
//!
//! ```compile_fail
//! use frostpane::{HeavyHitters, Keys, audit::Mutant};
//!
//! let broken = HeavyHitters::<u64>::builder(Keys::open()).broken(Mutant::HalfNoise);
//! ```
//!
//! ```
//! use frostpane::audit::{Audit, Mutant};
//! use frostpane::{HeavyHitters, Keys};
//!
//! # fn main() -> frostpane::Result<()> {
//! let builder = HeavyHitters::<u64>::builder(Keys::range(0..3)?);
//! let mut broken = Audit::of(builder, Some(Mutant::SilentAbsentKeys)).build()?;
//! assert!(broken.release()?.heavy.is_empty());
//! # Ok(())
//! # }
//! ```

use crate::builder::Builder;
use crate::continual::Continual;
use crate::error::Result;
use crate::fault::Fault;
pub use crate::fault::Mutant;
use crate::hitters::HeavyHitters;
use crate::key::Key;
use crate::noise::{DiscreteLaplace, Threshold};
use crate::plan::Plan;
use crate::release::Release;

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::HalfNoise,
        Self::ThresholdLessOne,
        Self::DataDependentCut,
        Self::RedrawnNoise,
        Self::SilentAbsentKeys,
        Self::TableOrder,
        Self::OtherThreshold,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfNoise => "half-noise",
            Self::ThresholdLessOne => "threshold-less-one",
            Self::DataDependentCut => "data-dependent-cut",
            Self::RedrawnNoise => "redrawn-noise",
            Self::SilentAbsentKeys => "silent-absent-keys",
            Self::TableOrder => "table-order",
            Self::OtherThreshold => "other-threshold",
        }
    }
}

/// What is to be audited, sound or broken.
#[derive(Clone)]
pub struct Audit<K: Key> {
    builder: Builder<K>,
}

impl<K: Key> Audit<K> {
    /// What the builder builds, broken by a mutant if there is one.
    pub fn of(builder: Builder<K>, mutant: Option<Mutant>) -> Self {
        Self {
            builder: builder.broken(Fault::of(mutant)),
        }
    }

    /// How its window is cut into panes.
    pub fn plan(&self) -> Result<Plan> {
        self.builder.plan()
    }

    /// For single releases.
    pub fn build(self) -> Result<Audited<K>> {
        Ok(Audited(self.builder.build()?))
    }

    /// For a release at every slide.
    pub fn continual(self) -> Result<AuditedContinual<K>> {
        Ok(AuditedContinual(self.builder.continual()?))
    }
}

/// [`HeavyHitters`] under audit.
pub struct Audited<K: Key>(HeavyHitters<K>);

impl<K: Key> Audited<K> {
    /// One event, with its key or without.
    pub fn update(&mut self, key: Option<K::Ref<'_>>) -> Result<()> {
        self.0.update_all([key])
    }

    /// Many events, in order.
    pub fn update_all<'a>(&mut self, keys: impl IntoIterator<Item = Option<K::Ref<'a>>>) -> Result<()> {
        self.0.update_all(keys)
    }

    /// Releases the longest window.
    pub fn release(&mut self) -> Result<Release<K>> {
        self.0.release()
    }

    /// Releases the last so many events.
    pub fn release_over(&mut self, events: u64) -> Result<Release<K>> {
        self.0.release_over(events)
    }

    /// How many closed panes there are.
    pub fn panes(&self) -> usize {
        self.0.panes()
    }

    /// What the next release would add noise to, and which noise.
    pub fn inside(&self) -> Result<Inside<K>> {
        self.0.inside()
    }
}

/// [`Continual`] under audit.
pub struct AuditedContinual<K: Key>(Continual<K>);

impl<K: Key> AuditedContinual<K> {
    /// One event, with its key or without. Returns the release that it brings about, if it ends a pane.
    pub fn update(&mut self, key: Option<K::Ref<'_>>) -> Result<Vec<Release<K>>> {
        match key {
            Some(key) => self.0.update(key),
            None => self.0.update_without_key(),
        }
    }

    /// The latest release again.
    pub fn release(&self) -> Result<Release<K>> {
        self.0.release()
    }
}

/// What a release adds noise to, before it does: **it must not be published**.
#[derive(Clone, Debug)]
pub struct Inside<K> {
    /// The keys of the window with a count of at least 1.
    pub counts: Vec<(K, u64)>,
    /// Draws the noise of the counts and decides which are listed, unless the norm asks for more.
    pub threshold: Threshold,
    /// For L2 the norm, and its noise.
    pub norm: Option<(u64, DiscreteLaplace)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Norm;
    use crate::timeline::{Policy, Window};
    use crate::universe::Keys;

    /// Whatever the public builder is asked for, what it builds asks every question about faults in vain.
    #[test]
    fn an_ordinary_builder_builds_no_mutant() {
        for keys in [Keys::open(), Keys::range(0..9).unwrap()] {
            for policy in [Policy::Uniform, Policy::Exponential, Policy::Smooth] {
                let builder = HeavyHitters::<u64>::builder(keys.clone())
                    .norm(Norm::L2)
                    .alpha(0.2)
                    .epsilon(0.5)
                    .delta(1e-7)
                    .window(Window::events(100_000))
                    .policy(policy)
                    .confidence(0.9)
                    .releases(2)
                    .horizon(10)
                    .memory(32_000_000)
                    .program(1)
                    .key_bytes(8)
                    .entries(1_000)
                    .sketch(3, 64);
                let plan = builder.plan().unwrap();
                let fault = builder.terms(&plan, 1).unwrap().fault;
                assert!(Mutant::ALL.into_iter().all(|mutant| !fault.is(mutant)));
                let broken = builder.broken(Fault::of(Some(Mutant::TableOrder)));
                assert!(broken.terms(&plan, 1).unwrap().fault.is(Mutant::TableOrder));
            }
        }
    }

    #[test]
    fn without_a_mutant_an_audited_release_is_an_ordinary_one() {
        let mut audited = Audit::of(HeavyHitters::<u64>::builder(Keys::open()).epsilon(1e5), None)
            .build()
            .unwrap();
        let mut ordinary = HeavyHitters::<u64>::builder(Keys::open())
            .epsilon(1e5)
            .build()
            .unwrap();
        for event in 0..1_000 {
            audited.update(Some(event % 7)).unwrap();
            ordinary.update(event % 7).unwrap();
        }
        assert_eq!(audited.release().unwrap(), ordinary.release().unwrap());
    }

    #[test]
    fn names_are_all_different() {
        let mut names = Mutant::ALL.map(Mutant::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Mutant::ALL.len());
    }
}
