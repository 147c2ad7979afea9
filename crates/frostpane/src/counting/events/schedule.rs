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
    pub start: i64,
    pub end: i64,
    pub events: u64,
    pub level: u8,
}

/// Where panes end. A schedule sees outlines, and of the events only what a private mechanism tells it about a
/// [`Secret`](crate::mechanism::Secret): its decisions are public or private, and the panes are as good as fixed in advance.
#[derive(Debug)]
pub enum Schedule {
    /// Panes of equal length: each ends at the next tick, and none are merged.
    Uniform,
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

    pub fn level(&mut self, levels: &mut LevelSketches, draws: &mut dyn Draws) -> Result<u8> {
        match self {
            Schedule::Uniform | Schedule::Exponential(_) => Ok(0),
            Schedule::Smooth(smooth) => smooth.level(levels, draws),
        }
    }

    /// Which runs of closed panes become one pane each, in order, now that the latest position is `latest`.
    pub fn merges(&mut self, closed: impl Iterator<Item = Outline>, latest: i64) -> Vec<Range<usize>> {
        match self {
            Schedule::Uniform => Vec::new(),
            Schedule::Exponential(exponential) => exponential.merges(closed, latest),
            Schedule::Smooth(smooth) => smooth.merges(closed, latest),
        }
    }
}
