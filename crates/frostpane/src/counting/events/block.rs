//! Panes where they lie.

use std::collections::VecDeque;

use super::schedule::{Outline, Outlines};
use crate::error::Result;
use crate::key::Key;
use crate::pane::{Pane, Parameters};

/// A pane and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Block<P> {
    pub start: i64,
    pub end: i64,
    /// The level of its end.
    pub level: u8,
    pub pane: P,
}

impl<P> Block<P> {
    pub fn new(start: i64, end: i64, pane: P) -> Self {
        Self { start, end, level: 0, pane }
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

/// All panes that do not wait for events any more.
pub(super) struct Past<'a, K> {
    pub closed: &'a VecDeque<Block<Pane<K>>>,
    pub closing: &'a VecDeque<Block<PendingPane<K>>>,
}

impl<K: Key> Outlines for Past<'_, K> {
    fn count(&self) -> usize {
        self.closed.len() + self.closing.len()
    }

    fn outline(&self, index: usize) -> Outline {
        match self.closed.get(index) {
            Some(block) => block.outline(block.pane.events()),
            None => {
                let block = &self.closing[index - self.closed.len()];
                block.outline(block.pane.events)
            }
        }
    }
}

impl<K: Key> Block<Pane<K>> {
    /// Panes next to each other as one. Its end stands for all ends that are gone, and so has their highest level.
    pub fn merge(run: Vec<Self>, made_with: Parameters) -> Result<Self> {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let level = run.iter().map(|block| block.level).max().unwrap_or(0);
        Ok(Self { start, end, level, pane: Pane::merge(run.into_iter().map(|block| block.pane), made_with)? })
    }
}
