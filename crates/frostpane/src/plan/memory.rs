//! What panes and releases take, at the most.

use serde::Serialize;

use crate::release::parts;
use crate::sketch::count_sketch::Dimensions;

/// What a key takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Within a table of the open pane.
    pub inline: u64,
    /// Beside that table.
    pub heap: u64,
    /// In a closed pane.
    pub packed: u64,
    /// As a reference while a release is made.
    pub reference: u64,
}

/// The most memory that each part takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// The counts of closed panes.
    pub closed: u64,
    /// The tables of open panes.
    pub open: u64,
    /// The sketches.
    pub sketches: u64,
    /// What a release needs beside them.
    pub release: u64,
    /// What the program around them takes.
    pub program: u64,
}

const COUNT: u64 = size_of::<u64>() as u64;
/// Most packed counts of full panes are below 128.
const PACKED_COUNT: u64 = 1;

impl Memory {
    pub(crate) fn new(
        panes: u64,
        open: u64,
        entries: u64,
        key: &Footprint,
        sketch: Option<Dimensions>,
        declared: bool,
    ) -> Self {
        let pane = entries * (key.packed + PACKED_COUNT);
        let all = panes * entries;
        let part = all / parts(all);
        // A table of the keys, and lists of them that grow by doubling.
        let summed =
            hash_table(part, key.reference + COUNT) + part.next_power_of_two() * (key.reference + COUNT);
        let ranks = if declared { all * COUNT } else { 0 };
        Self {
            closed: panes.saturating_sub(1) * pane,
            open: open * (hash_table(entries, key.inline + COUNT) + entries * key.heap),
            sketches: sketch.map_or(0, |sketch| (panes + open) * sketch.bytes()),
            // The open pane is packed for the release as if it were closed.
            release: open * pane + summed + ranks,
            program: 0,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.closed + self.open + self.sketches + self.release + self.program
    }
}

/// A table that grows by doubling and is at most seven eighths full, with a byte of its own for every slot.
fn hash_table(entries: u64, entry: u64) -> u64 {
    (entries * 8 / 7 + 1).next_power_of_two() * (entry + 1)
}
