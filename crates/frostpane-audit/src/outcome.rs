//! Outcomes of runs on two neighbouring streams.

/// One of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighbourSide {
    /// The stream.
    One,
    /// The neighbour: another key in one event, or without the events of one user in one epoch.
    Other,
}

impl NeighbourSide {
    /// Both neighbours.
    pub const BOTH: [Self; 2] = [Self::One, Self::Other];
}

/// The observed output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialOutcome {
    /// Runs with equal labels are counted together.
    pub label: i64,
    /// A number for plots.
    pub shown: i64,
}

impl TrialOutcome {
    /// The same number for both.
    pub fn number(value: i64) -> Self {
        Self { label: value, shown: value }
    }
}
