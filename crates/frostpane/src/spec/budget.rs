use serde::{Deserialize, Serialize};

use crate::privacy::{Delta, Epsilon};

/// The largest total loss of a pane, or of a user's epoch, over all releases of a stored stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The privacy loss.
    pub epsilon: Epsilon,
    /// The probability that the loss exceeds epsilon.
    pub delta: Delta,
}

impl Budget {
    /// Half of delta: the slack that lets many small releases be accounted by their rho.
    pub(crate) fn slack(&self) -> Delta {
        Delta::new(self.delta.as_f64() / 2.0)
    }
}
