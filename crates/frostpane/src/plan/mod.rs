#![doc = include_str!("plan.md")]

mod forecast;
mod memory;
mod published;

pub use forecast::Forecast;
use memory::Load;
pub use memory::{Footprint, Memory};
pub use published::Published;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::sketch::count_sketch::Dimensions;
use crate::timeline::window::Grid;

/// More entries than this in a pane help nobody.
const MOST_ENTRIES: u64 = 1 << 26;
/// Fewer than this leave nothing worth releasing.
const FEWEST_ENTRIES: u64 = 64;
/// A small alpha asks for more, but where panes have few events these are exact.
const ENOUGH_ENTRIES: u64 = 1_024;
const ROWS: usize = 5;
const WIDTHS: [usize; 5] = [4_096, 2_048, 1_024, 512, 256];
/// The share of the memory that sketches may take.
const SKETCH_SHARE: u64 = 8;

/// How a window is cut into panes, and what they keep. It follows from public numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// How many panes cover the longest window.
    pub panes: u64,
    /// The length of a pane in events, or in microseconds.
    pub slide: u64,
    /// Whether that is in events.
    pub by_count: bool,
    /// The most keys that a pane keeps. A pane of no more events is exact.
    pub entries: u32,
    /// Whether every pane is exact, whatever comes.
    pub always_exact: bool,
    /// The sketch for the L2 norm, where panes may be inexact.
    pub sketch: Option<Dimensions>,
    /// The most memory that this takes.
    pub memory: Memory,
}

/// What a plan is made from.
pub(crate) struct Wishes {
    pub grid: Grid,
    pub by_count: bool,
    pub alpha: f64,
    pub l2: bool,
    pub declared: bool,
    pub footprint: Footprint,
    pub memory: u64,
    pub program: u64,
    pub entries: Option<u32>,
    pub sketch: Option<Dimensions>,
}

impl Plan {
    pub(crate) fn new(wishes: &Wishes) -> Result<Self> {
        let sketch = wishes.sketch.or_else(|| wishes.widest_sketch());
        let with = |entries: u64| wishes.plan(entries, sketch);
        if let Some(entries) = wishes.entries {
            return Ok(with(u64::from(entries)));
        }
        let fits = |entries: u64| with(entries).memory.total() <= wishes.memory;
        let (mut low, most) = (wishes.fewest_entries(), wishes.most_entries());
        if fits(most) {
            return Ok(with(most));
        }
        if !fits(low) {
            return Err(Error::parameter(format!(
                "a memory of {} is too small for this window and alpha: give at least {}, or slide by more",
                megabytes(wishes.memory),
                megabytes(with(low).memory.total().min(with(most).memory.total()))
            )));
        }
        let mut high = most;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        Ok(with(low))
    }
}

impl Plan {
    /// How many panes of a window with so many events have how many each; by the clock, evenly spread.
    pub(crate) fn loads(&self, events: u64) -> [(u64, u64); 2] {
        if self.by_count {
            return [(events / self.slide, self.slide), (1, events % self.slide)];
        }
        let (each, more) = (events / self.panes, events % self.panes);
        [(more, each + 1), (self.panes - more, each)]
    }
}

impl Wishes {
    fn plan(&self, entries: u64, sketch: Option<Dimensions>) -> Plan {
        let always_exact = self.by_count && self.grid.slide as u64 <= entries;
        let sketch = sketch.filter(|_| self.l2 && !always_exact);
        Plan {
            panes: self.panes(),
            slide: self.grid.slide as u64,
            by_count: self.by_count,
            entries: u32::try_from(entries).unwrap_or(u32::MAX),
            always_exact,
            sketch,
            memory: self.memory_of(entries, sketch),
        }
    }

    fn panes(&self) -> u64 {
        (self.grid.length as u64).div_ceil(self.grid.slide as u64)
    }

    fn memory_of(&self, entries: u64, sketch: Option<Dimensions>) -> Memory {
        let open = 1 + if self.by_count {
            0
        } else {
            1 + self.grid.lateness as u64 / self.grid.slide as u64
        };
        let most_a_pane = if self.by_count {
            entries.min(self.grid.slide as u64)
        } else {
            entries
        };
        let own = Memory::new(
            &Load {
                panes: self.panes(),
                open,
                entries: most_a_pane,
                exact: self.by_count && self.grid.slide as u64 <= entries,
                sketch,
                declared: self.declared,
            },
            &self.footprint,
        );
        Memory {
            program: self.program,
            ..own
        }
    }

    /// By count a pane has no more keys than events.
    fn most_entries(&self) -> u64 {
        let useful = if self.by_count {
            self.grid.slide as u64
        } else {
            MOST_ENTRIES
        };
        useful.min(MOST_ENTRIES)
    }

    /// As many as keep the cut below an eighth of alpha times the number of events, within reason.
    fn fewest_entries(&self) -> u64 {
        let wanted = (8.0 / self.alpha).ceil() as u64;
        wanted
            .clamp(FEWEST_ENTRIES, ENOUGH_ENTRIES)
            .min(self.most_entries())
    }

    fn widest_sketch(&self) -> Option<Dimensions> {
        let sketch = |width| Dimensions { rows: ROWS, width };
        let panes = self.panes().saturating_add(1);
        let fits = |width: &usize| panes.saturating_mul(sketch(*width).bytes()) <= self.memory / SKETCH_SHARE;
        let width = WIDTHS.into_iter().find(fits).unwrap_or(WIDTHS[WIDTHS.len() - 1]);
        Some(sketch(width))
    }
}

/// A number of bytes as people say it.
pub fn megabytes(bytes: u64) -> String {
    match bytes as f64 / 1e6 {
        few if few < 10.0 => format!("{:.1} MB", (few * 10.0).ceil() / 10.0),
        many => format!("{:.0} MB", many.ceil()),
    }
}
