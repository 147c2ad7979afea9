//! What an epsilon is spent on.

use std::fmt;

use serde::Serialize;

use super::builder::Builder;
use crate::error::Result;
use crate::key::Key;
use crate::privacy::Epsilon;

/// One of the things that are measured, and what it may spend.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stage {
    /// What is measured.
    pub what: Measured,
    /// Epsilon of all of its measurements together.
    pub epsilon: f64,
    /// In how many of them it is.
    pub times: u64,
}

/// Measurements that cost privacy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Measured {
    /// The ends of panes, where they are private.
    Boundaries,
    /// The number of events counted, where it is private.
    Total,
    /// The L2 norm.
    Norm,
    /// The count of each key.
    Counts,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measured::Boundaries => "where panes end",
            Measured::Total => "how much was counted in all",
            Measured::Norm => "the norm that heavy is relative to",
            Measured::Counts => "how often each key occurred",
        })
    }
}

impl<K: Key> Builder<K> {
    /// All that epsilon is spent on: by one release, or by continual release for ever.
    pub fn stages(&self) -> Result<Vec<Stage>> {
        let spec = self.checked()?;
        let (split, windows) = (self.split(&spec), spec.windows_of_unit());
        let parts = [
            (Measured::Boundaries, split.boundaries, 1),
            (Measured::Total, split.total, 1),
            (Measured::Norm, split.norm, windows),
            (Measured::Counts, Some(split.counts), 1),
        ];
        let stage = |(what, part, times): (Measured, Option<Epsilon>, u64)| {
            let epsilon = part?.times(times).as_f64();
            Some(Stage { what, epsilon, times })
        };
        Ok(parts.into_iter().filter_map(stage).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::key::Keys;
    use crate::spec::{Bounds, Norm, Policy, Spec, Unit, Window};

    fn stages(change: impl FnOnce(Builder<u64>) -> Builder<u64>) -> Vec<Stage> {
        change(Builder::from_spec(Spec::default(), Keys::open()).epsilon(0.8)).stages().unwrap()
    }

    #[test]
    fn stages_add_up_to_epsilon_and_nothing_is_measured_that_is_public() {
        use Measured::{Boundaries, Counts, Norm as OfNorm, Total};
        let day = Duration::from_secs(86_400);
        let people = |builder: Builder<u64>| {
            builder.unit(Unit::User(Bounds::new(3))).window(Window::clock(7 * day).slide(day))
        };
        let at_every_slide = |mut builder: Builder<u64>| {
            builder.spec.continual = true;
            builder.window(Window::events(32_000).slide(1_000))
        };
        for (found, measured) in [
            (stages(|builder| builder.norm(Norm::L1)), &[Counts][..]),
            (stages(|builder| builder.top(5)), &[Counts]),
            (stages(|builder| builder.norm(Norm::L2)), &[OfNorm, Counts]),
            (stages(|builder| builder.policy(Policy::Smooth)), &[Boundaries, OfNorm, Counts]),
            (stages(|builder| people(builder).top(5)), &[Total, Counts]),
            (stages(people), &[Total, OfNorm, Counts]),
            (stages(at_every_slide), &[OfNorm, Counts]),
        ] {
            assert_eq!(found.iter().map(|stage| stage.what).collect::<Vec<_>>(), measured);
            let sum: f64 = found.iter().map(|stage| stage.epsilon).sum();
            assert!((sum - 0.8).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(stages(at_every_slide)[0].times, 32, "what is in several norms pays for each");
    }
}
