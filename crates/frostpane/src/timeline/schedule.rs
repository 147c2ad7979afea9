//! What decides where panes end, and what it may see.

use std::ops::Range;

use crate::error::Result;
use crate::noise::Secret;
use crate::timeline::norms::Norms;

/// What a schedule may see of a block: all of it public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Where it begins.
    pub start: i64,
    /// The first position after it.
    pub end: i64,
    /// How many events it has.
    pub events: u64,
    /// The level of its end.
    pub level: u8,
}

/// The outlines of closed panes, from the oldest to the newest.
pub trait Outlines {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them.
    fn outline(&self, index: usize) -> Outline;
}

/// Where panes end. A schedule sees outlines, and of the events only what a private mechanism tells it about
/// a [`Secret`]: so its decisions are public or private themselves, and the panes are as good as fixed in
/// advance.
pub trait Schedule: Send {
    /// Whether the open block, which has this norm, ends at this tick.
    fn ends(&mut self, block: Outline, norm: &dyn Fn() -> Secret<u64>) -> Result<bool>;

    /// The level of the end of the block that has just been added to the norms.
    fn level(&mut self, norms: &mut Norms) -> Result<u8>;

    /// Which runs of closed panes become one pane each, in order, now that the latest position is `latest`.
    fn merges(&mut self, closed: &dyn Outlines, latest: i64) -> Vec<Range<usize>>;
}
