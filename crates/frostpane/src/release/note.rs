//! Why a release says less than was asked for, and the sentences for it.

use serde::{Serialize, Serializer};

/// Why nothing is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The window lies within one pane that began before it.
    WithinOnePane,
    /// The window has no events.
    NoEvents,
    /// No noisy count reached the least threshold that privacy allows.
    BelowFloor {
        /// That threshold.
        threshold: u64,
    },
    /// No noisy count reached the threshold that alpha asks for.
    BelowThreshold {
        /// That threshold.
        threshold: u64,
        /// Every key with this count would be listed.
        complete_above: u64,
    },
}

/// Why the three promises are not made, and what to change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shortfall {
    /// What is in the way.
    pub obstacle: Obstacle,
    /// What to change.
    pub remedy: Remedy,
    /// The least larger alpha at which they hold, if there is one, and the least count of the keys that they hold for.
    pub holds: Option<(f64, u64)>,
}

/// Which promise cannot be made, with the number that is in the way and the one it must not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Obstacle {
    /// A listed count may be off by more than a quarter of alpha times the norm.
    Inaccurate(u64, f64),
    /// Keys with more than alpha times the norm may be missing.
    Incomplete(u64, f64),
    /// Keys with no more than half of alpha times the norm may be listed.
    Unclean(u64, f64),
    /// So many events of the window came too late to be counted.
    Missed(u64),
}

/// What would help most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// The window begins too far from where it was asked to.
    ShorterSlide,
    /// The norm is too uncertain.
    WiderSketch,
    /// Too much of each count may be missing.
    SmallerCut,
    /// There is too much noise for so few events.
    LessNoise,
    /// Events came after their time.
    InTime,
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Shortfall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
