//! A check: a pair of neighbouring streams, a distinguisher, and a claim about both.

use std::error::Error;

use frostpane::Norm;
use frostpane::testing::audit::Mutant;

use crate::exact::Loss;
use crate::setting::{Setting, declared};
use crate::tally::{NeighbourSide, TrialOutcome};

/// A result of running a mechanism.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs a mechanism on one of the two streams.
pub type Trial = Box<dyn Fn(NeighbourSide) -> Result<TrialOutcome> + Send + Sync>;

/// The method of a check.
#[derive(Clone, Copy)]
pub enum Method {
    /// Runs the mechanism, with what this prepares for all runs.
    Sampled(fn(&Setting, Option<Mutant>) -> Result<Trial>),
    /// Calculates the loss.
    Exact(fn(&Setting, Option<Mutant>) -> Result<Loss>),
}

/// A check.
#[derive(Clone, Copy)]
pub struct Check {
    /// The name.
    pub name: &'static str,
    /// The streams and the property that it tests.
    pub about: &'static str,
    /// The claim is of the paper, about its algorithms as printed.
    pub is_published: bool,
    /// The parameters.
    pub setting: Setting,
    /// The share of epsilon that the observed output may cost.
    pub share: f64,
    /// The number of runs if it is sampled, relative to a cheap check.
    pub effort: f64,
    /// The method.
    pub method: Method,
}

/// A check of Frostpane by running it: with declared keys, L1 and epsilon 1 unless [`Check::under`] says so.
pub const fn sampled(
    name: &'static str,
    about: &'static str,
    prepare: fn(&Setting, Option<Mutant>) -> Result<Trial>,
) -> Check {
    Check::by(name, about, Method::Sampled(prepare))
}

/// A check of Frostpane by calculation, with the same parameters.
pub const fn exact(
    name: &'static str,
    about: &'static str,
    calculate: fn(&Setting, Option<Mutant>) -> Result<Loss>,
) -> Check {
    Check::by(name, about, Method::Exact(calculate))
}

impl Check {
    const fn by(name: &'static str, about: &'static str, method: Method) -> Self {
        let setting = declared(Norm::L1, 1.0);
        Self { name, about, is_published: false, setting, share: 1.0, effort: 1.0, method }
    }

    /// Sets the parameters.
    pub const fn under(self, setting: Setting) -> Self {
        Self { setting, ..self }
    }

    /// Sets the number of runs, relative to a cheap check.
    pub const fn with_effort(self, effort: f64) -> Self {
        Self { effort, ..self }
    }

    /// Sets the share of epsilon that the observed output may cost.
    pub const fn costing(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// Marks a claim of the paper.
    pub const fn published(self) -> Self {
        Self { is_published: true, ..self }
    }

    /// Returns true if it runs the mechanism.
    pub fn is_sampled(&self) -> bool {
        matches!(self.method, Method::Sampled(_))
    }
}
