//! One check: a pair of neighbouring streams, what it looks at, and what is claimed about it.

use std::error::Error;

use frostpane::audit::Mutant;

use crate::exact::Loss;
use crate::outcome::{Outcome, Side};
use crate::setting::Setting;

/// A result of a run of some mechanism.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs a mechanism on one of the two streams.
pub type Trial = Box<dyn Fn(Side) -> Result<Outcome> + Send + Sync>;

/// How a check finds out.
#[derive(Clone, Copy)]
pub enum Method {
    /// By running.
    Sampled {
        /// Makes ready what all runs have in common.
        prepare: fn(&Setting, Option<Mutant>) -> Result<Trial>,
        /// How many runs, relative to a check that is cheap.
        effort: f64,
    },
    /// By calculating.
    Exact(fn(&Setting, Option<Mutant>) -> Result<Loss>),
}

/// Whose claim is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Frostpane's.
    Frostpane,
    /// The paper's, of its algorithms as printed.
    Published,
}

/// One check.
#[derive(Clone, Copy)]
pub struct Check {
    /// What it is called.
    pub name: &'static str,
    /// What it tests.
    pub about: &'static str,
    /// Whose claim.
    pub whose: Whose,
    /// The parameters.
    pub setting: Setting,
    /// Which share of epsilon what it looks at may cost.
    pub share: f64,
    /// How it finds out.
    pub method: Method,
}

impl Check {
    /// A check of Frostpane by running it.
    pub const fn sampled(
        name: &'static str,
        about: &'static str,
        setting: Setting,
        prepare: fn(&Setting, Option<Mutant>) -> Result<Trial>,
    ) -> Self {
        Self {
            name,
            about,
            whose: Whose::Frostpane,
            setting,
            share: 1.0,
            method: Method::Sampled { prepare, effort: 1.0 },
        }
    }

    /// A check of Frostpane by calculation.
    pub const fn exact(
        name: &'static str,
        about: &'static str,
        setting: Setting,
        calculate: fn(&Setting, Option<Mutant>) -> Result<Loss>,
    ) -> Self {
        Self {
            method: Method::Exact(calculate),
            ..Self::sampled(name, about, setting, |_, _| Err("nothing to run".into()))
        }
    }

    /// So many times the runs of a cheap check.
    pub const fn with_effort(self, effort: f64) -> Self {
        match self.method {
            Method::Sampled { prepare, .. } => Self {
                method: Method::Sampled { prepare, effort },
                ..self
            },
            Method::Exact(_) => self,
        }
    }

    /// What it looks at may cost this share of epsilon.
    pub const fn costing(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// A claim of the paper.
    pub const fn published(self) -> Self {
        Self {
            whose: Whose::Published,
            ..self
        }
    }

    /// Whether it runs the mechanism.
    pub fn is_sampled(&self) -> bool {
        matches!(self.method, Method::Sampled { .. })
    }

    /// The epsilon that is claimed for what it looks at.
    pub fn claimed_epsilon(&self) -> f64 {
        self.share * self.setting.epsilon
    }
}
