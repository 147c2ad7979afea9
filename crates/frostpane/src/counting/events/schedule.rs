//! Schedules: they decide where panes end.

use std::ops::Range;

use super::exponential::Exponential;
use super::levels::LevelSketches;
use super::smooth::Smooth;
use crate::error::Result;
use crate::mechanism::{Bounded, Draws};

/// The view of a block that a schedule has: all of it public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Its start.
    pub start: i64,
    /// The first position after it.
    pub end: i64,
    /// Its number of events.
    pub events: u64,
    /// The level of its end.
    pub level: u8,
}

/// The outlines of closed panes, from the oldest to the newest.
pub trait Outlines {
    /// The number of them.
    fn count(&self) -> usize;
    /// One of them.
    fn outline(&self, index: usize) -> Outline;
}

/// Where panes end. A schedule sees outlines, and of the events only what a private mechanism tells it about
/// a [`Secret`](crate::mechanism::Secret): so its decisions are public or private themselves, and the panes are as good as fixed in
/// advance.
#[derive(Debug)]
pub enum Schedule {
    /// Panes of equal length: each ends at the next tick, and none are merged.
    Uniform,
    /// Panes that are merged as they age.
    Exponential(Exponential),
    /// Panes that end where the norm has grown enough.
    Smooth(Smooth),
}

impl Schedule {
    /// Returns true if the open block, which has this norm, ends at this tick.
    pub fn ends(&mut self, block: Outline, norm: impl Bounded, draws: &mut dyn Draws) -> Result<bool> {
        match self {
            Schedule::Uniform | Schedule::Exponential(_) => Ok(true),
            Schedule::Smooth(smooth) => smooth.ends(block, norm, draws),
        }
    }

    /// The level of the end of the block that has just been added to the levels.
    pub fn level(&mut self, levels: &mut LevelSketches, draws: &mut dyn Draws) -> Result<u8> {
        match self {
            Schedule::Uniform | Schedule::Exponential(_) => Ok(0),
            Schedule::Smooth(smooth) => smooth.level(levels, draws),
        }
    }

    /// Which runs of closed panes become one pane each, in order, now that the latest position is `latest`.
    pub fn merges(&mut self, closed: &dyn Outlines, latest: i64) -> Vec<Range<usize>> {
        match self {
            Schedule::Uniform => Vec::new(),
            Schedule::Exponential(exponential) => exponential.merges(closed, latest),
            Schedule::Smooth(smooth) => smooth.merges(closed, latest),
        }
    }
}
