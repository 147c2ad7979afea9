//! What may be lost by all releases together.

use serde::{Deserialize, Serialize};

use crate::budget::{Delta, Epsilon};

/// The most that a pane, or an epoch of people, may lose by all releases of a stream that is kept.
///
/// ```
/// use frostpane::Spec;
///
/// let spec: Spec = serde_json::from_str(r#"{ "epsilon": 0.1, "budget": { "epsilon": 3, "delta": 1e-6 } }"#)?;
/// assert_eq!(spec.budget.unwrap().epsilon.as_f64(), 3.0);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The privacy loss.
    pub epsilon: Epsilon,
    /// The chance with which it may be larger.
    pub delta: Delta,
}

impl Budget {
    /// The part of delta that lets many small releases pass by their rho: half of it.
    pub(crate) fn slack(&self) -> Delta {
        Delta::new(self.delta.as_f64() / 2.0)
    }
}
