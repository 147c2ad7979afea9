use serde::{Deserialize, Serialize};

/// The norm that frequency is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// The number of events.
    L1,
    /// The Euclidean length of the vector of counts.
    L2,
}
