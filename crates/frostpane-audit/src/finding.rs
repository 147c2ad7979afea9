//! Findings of checks.

use serde::{Serialize, Serializer};

use crate::check::Check;
use crate::tally::OutcomeTally;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No evidence against the claim.
    Stood,
    /// The claim does not hold.
    Violated,
}

/// Findings of checks.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// The streams and the property that it tests.
    pub tests: &'static str,
    /// The claim is of the published algorithms.
    pub published: bool,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
    /// A lower bound on epsilon; null in JSON if no epsilon suffices.
    #[serde(serialize_with = "finite")]
    pub at_least: f64,
    /// The bound is calculated, not sampled.
    pub exact: bool,
    /// Runs on each stream.
    pub runs: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The worst pair of neighbours, if all were enumerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<String>,
    /// All runs, for plots.
    #[serde(skip)]
    pub tally: OutcomeTally,
}

/// Rounding of a calculated bound.
const ROUNDING: f64 = 1e-9;

impl Finding {
    /// The finding of a check with this lower bound.
    pub fn new(check: &Check, at_least: f64) -> Self {
        let epsilon = check.claimed_epsilon();
        Self {
            check: check.name,
            tests: check.about,
            published: check.whose == crate::check::Claimant::Published,
            epsilon,
            delta: check.setting.delta,
            at_least,
            exact: !check.is_sampled(),
            runs: 0,
            verdict: if at_least > epsilon * (1.0 + ROUNDING) { Verdict::Violated } else { Verdict::Stood },
            streams: None,
            tally: OutcomeTally::default(),
        }
    }
}

fn finite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(serializer)
}
