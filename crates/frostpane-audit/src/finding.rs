//! What a check found.

use serde::{Serialize, Serializer};

use crate::check::Check;
use crate::tally::Tally;

/// Whether a claim stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing was found against it.
    Stood,
    /// It does not hold.
    Violated,
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// What it tests.
    pub tests: &'static str,
    /// Whether the claim is that of the published algorithms.
    pub published: bool,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
    /// Epsilon is at least this; none if no epsilon would do.
    #[serde(serialize_with = "finite")]
    pub at_least: f64,
    /// Whether that was calculated.
    pub exact: bool,
    /// How many runs there were on each stream.
    pub runs: u64,
    /// Whether the claim stood.
    pub verdict: Verdict,
    /// The two neighbours that are worst, where all were gone through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<String>,
    /// All runs, for the picture.
    #[serde(skip)]
    pub tally: Tally,
}

/// A calculated bound exceeds the claim by rounding.
const ROUNDING: f64 = 1e-9;

impl Finding {
    /// What is known after a check.
    pub fn new(check: &Check, at_least: f64) -> Self {
        let epsilon = check.claimed_epsilon();
        Self {
            check: check.name,
            tests: check.about,
            published: check.whose == crate::check::Whose::Published,
            epsilon,
            delta: check.setting.delta,
            at_least,
            exact: !check.is_sampled(),
            runs: 0,
            verdict: if at_least > epsilon * (1.0 + ROUNDING) {
                Verdict::Violated
            } else {
                Verdict::Stood
            },
            streams: None,
            tally: Tally::default(),
        }
    }
}

fn finite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(serializer)
}
