//! What a run on one of two neighbouring streams comes to.

/// Which of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The stream.
    One,
    /// The stream with another key in one event, or without what one user did in an epoch.
    Other,
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::One, Self::Other];
}

/// What a check looks at in a run: everything that it counts, and a number to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Runs with equal labels are counted together.
    pub label: i64,
    /// For the picture.
    pub shown: i64,
}

impl Outcome {
    /// One number for both.
    pub fn number(value: i64) -> Self {
        Self {
            label: value,
            shown: value,
        }
    }
}
