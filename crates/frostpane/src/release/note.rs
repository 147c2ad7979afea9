//! The reasons for which a release says less than was asked for, as its JSON has them.

/// The reason for an empty list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The window lies within one pane that began before it.
    WithinOnePane,
    /// The window has no events.
    NoEvents,
    /// No noisy count reached the least threshold that privacy allows.
    BelowFloor {
        /// The threshold.
        threshold: u64,
    },
    /// No noisy count reached the threshold that alpha asks for.
    BelowThreshold {
        /// The threshold.
        threshold: u64,
        /// Every key with this count would be listed.
        complete_above: u64,
    },
}

/// The obstacle to the three promises, and the remedy.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shortfall {
    /// The obstacle.
    pub obstacle: Obstacle,
    /// The remedy.
    pub remedy: Remedy,
    /// The least larger alpha at which they hold, if there is one, with the least count of the keys
    /// that they hold for.
    pub holds: Option<(f64, u64)>,
}

/// The promise that cannot be made, with the number that is too large or too small and its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The error of a listed count may exceed a quarter of alpha times the norm.
    Inaccurate(u64, f64),
    /// Keys with more than alpha times the norm may be missing.
    Incomplete(u64, f64),
    /// Keys with at most half of alpha times the norm may be listed.
    Unclean(u64, f64),
    /// This many events of the window came too late to be counted.
    Missed(u64),
}

/// The change that would help most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// A shorter slide: the window begins too far from the start that was asked for.
    ShorterSlide,
    /// A wider sketch: the norm is too uncertain.
    WiderSketch,
    /// A smaller cut: too much of each count may be missing.
    SmallerCut,
    /// Less noise, or more events.
    LessNoise,
    /// Events that arrive in time.
    InTime,
}
