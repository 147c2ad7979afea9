//! Panes where they lie.

use std::ops::Range;

use super::schedule::Outline;
use crate::error::Result;
use crate::key::Key;
use crate::pane::{Pane, Parameters};

#[derive(Clone, Debug)]
pub(super) struct PlacedPane<P> {
    pub start: i64,
    pub end: i64,
    pub level: u8,
    pub pane: P,
}

impl<P> PlacedPane<P> {
    pub fn new(start: i64, end: i64, pane: P) -> Self {
        Self { start, end, level: 0, pane }
    }

    pub fn bounds(&self) -> Range<i64> {
        self.start..self.end
    }

    pub fn outline(&self, events: u64) -> Outline {
        Outline { start: self.start, end: self.end, events, level: self.level }
    }
}

/// A pane that may not be there yet, and how many events it has.
pub(super) struct PendingPane<K> {
    pub events: u64,
    pub pane: Option<Pane<K>>,
}

impl<K: Key> PlacedPane<Pane<K>> {
    /// Panes next to each other as one. Its end stands for all ends that are gone, and so has their highest level.
    pub fn merge(run: Vec<Self>, made_with: Parameters) -> Result<Self> {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let level = run.iter().map(|block| block.level).max().unwrap_or(0);
        Ok(Self { start, end, level, pane: Pane::merge(run.into_iter().map(|block| block.pane), made_with)? })
    }
}
