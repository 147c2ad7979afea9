//! A check: a pair of neighbouring streams, a distinguisher, and a claim about both.

use std::error::Error;

use frostpane::testing::audit::Mutant;

use crate::exact::Loss;
use crate::outcome::{NeighbourSide, TrialOutcome};
use crate::setting::Setting;

/// A result of running a mechanism.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs a mechanism on one of the two streams.
pub type Trial = Box<dyn Fn(NeighbourSide) -> Result<TrialOutcome> + Send + Sync>;

/// The method of a check.
#[derive(Clone, Copy)]
pub enum Method {
    /// Runs the mechanism.
    Sampled {
        /// Prepares what all runs share.
        prepare: fn(&Setting, Option<Mutant>) -> Result<Trial>,
        /// The number of runs, relative to a cheap check.
        effort: f64,
    },
    /// Calculates the loss.
    Exact(fn(&Setting, Option<Mutant>) -> Result<Loss>),
}

/// The author of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimant {
    /// Frostpane.
    Frostpane,
    /// The paper, about its algorithms as printed.
    Published,
}

/// A check.
#[derive(Clone, Copy)]
pub struct Check {
    /// The name.
    pub name: &'static str,
    /// The streams and the property that it tests.
    pub about: &'static str,
    /// The author of the claim.
    pub whose: Claimant,
    /// The parameters.
    pub setting: Setting,
    /// The share of epsilon that the observed output may cost.
    pub share: f64,
    /// The method.
    pub method: Method,
}

/// A check of Frostpane by running it, with so many runs relative to a cheap check.
pub const fn sampled(
    name: &'static str,
    about: &'static str,
    setting: Setting,
    effort: f64,
    prepare: fn(&Setting, Option<Mutant>) -> Result<Trial>,
) -> Check {
    let method = Method::Sampled { prepare, effort };
    Check { name, about, whose: Claimant::Frostpane, setting, share: 1.0, method }
}

/// A check of Frostpane by calculation.
pub const fn exact(
    name: &'static str,
    about: &'static str,
    setting: Setting,
    calculate: fn(&Setting, Option<Mutant>) -> Result<Loss>,
) -> Check {
    let method = Method::Exact(calculate);
    Check { name, about, whose: Claimant::Frostpane, setting, share: 1.0, method }
}

impl Check {
    /// Sets the share of epsilon that the observed output may cost.
    pub const fn costing(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// Marks a claim of the paper.
    pub const fn published(self) -> Self {
        Self { whose: Claimant::Published, ..self }
    }

    /// Returns true if it runs the mechanism.
    pub fn is_sampled(&self) -> bool {
        matches!(self.method, Method::Sampled { .. })
    }

    /// The claimed epsilon of the observed output.
    pub fn claimed_epsilon(&self) -> f64 {
        self.share * self.setting.epsilon
    }
}
