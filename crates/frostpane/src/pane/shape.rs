//! The public numbers of a pane.

use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::key::Key;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;

/// Blocks of more events are not listed: their lists would take more memory than counters.
pub(crate) const LONGEST_LIST: usize = 1 << 19;

/// What a pane is made with: panes add up only if these are the same. As small as can be, because each pane has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Seed of all hashes.
    seed: u64,
    /// The most keys that a closed pane keeps: `k`.
    entries: u32,
    /// The sketch of panes that are not exact, where the norm is asked for: its rows, 0 without one, and the logarithm of
    /// its width.
    rows: u8,
    width_bits: u8,
}

impl Parameters {
    fn new(entries: u32, sketch: Option<Dimensions>, seed: u64) -> Self {
        Self {
            seed,
            entries,
            rows: sketch.map_or(0, |sketch| sketch.rows as u8),
            width_bits: sketch.map_or(0, |sketch| sketch.width.trailing_zeros() as u8),
        }
    }

    /// The most keys that a closed pane keeps.
    pub fn entries(&self) -> u64 {
        u64::from(self.entries)
    }

    /// The sketch of panes that are not exact.
    pub fn sketch(&self) -> Option<Dimensions> {
        (self.rows > 0).then(|| Dimensions {
            rows: usize::from(self.rows),
            width: 1 << self.width_bits,
        })
    }

    /// Seed of all hashes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What is subtracted from the counts of a block of so many events.
    pub fn cut(&self, events: u64) -> u64 {
        events / (self.entries() + 1)
    }

    /// A sketch without events, where there is one.
    pub(crate) fn empty_sketch(&self) -> Option<CountSketch> {
        self.sketch()
            .map(|dimensions| CountSketch::new(dimensions, self.seed))
    }

    /// The sketch of counts that are exact.
    pub(crate) fn sketch_of<'a, K: Key>(
        &self,
        counts: impl Iterator<Item = (K::Ref<'a>, u64)>,
    ) -> Option<CountSketch> {
        let mut sketch = self.empty_sketch()?;
        sketch.extend(counts.map(|(key, count)| (K::hash(key, self.seed), count)));
        Some(sketch)
    }
}

/// How panes are built: what they are made with, and what an open one takes in memory. Nothing about it depends on the
/// events.
#[derive(Clone, Copy, Debug)]
pub struct PaneShape {
    parameters: Parameters,
    /// Counters of the open pane: `c`, at least `entries`.
    pub(super) capacity: usize,
    /// How many events a block is expected to have: a question of memory alone.
    pub(super) expected: usize,
    /// Whether the keys of a block are listed, and counted when it ends, if they can be.
    pub(super) listed: bool,
    pub(super) fault: Fault,
}

impl PaneShape {
    /// Panes that keep at most `entries` keys, and count at least as many while they are open.
    pub fn new(entries: u32, capacity: usize, sketch: Option<Dimensions>, seed: u64) -> Result<Self> {
        if entries == 0 {
            return Err(Error::parameter(
                "entries is 0, but a pane must keep at least 1 key",
            ));
        }
        Ok(Self {
            parameters: Parameters::new(entries, sketch, seed),
            capacity: capacity.max(entries as usize),
            expected: usize::MAX,
            listed: false,
            fault: Fault::default(),
        })
    }

    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// For blocks of about so many events: memory is taken for no more of them, until more come.
    pub fn for_blocks_of(self, events: u64) -> Self {
        Self {
            expected: usize::try_from(events).unwrap_or(usize::MAX),
            ..self
        }
    }

    /// For blocks of about so many events: a short list of the keys can be counted, exactly, when the block
    /// ends.
    pub fn listing(self, events: u64) -> Self {
        Self {
            listed: events <= LONGEST_LIST as u64,
            ..self.for_blocks_of(events)
        }
    }

    /// What panes are made with.
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// What is subtracted from the counts of a block of `events` events.
    pub fn cut(&self, events: u64) -> u64 {
        self.parameters.cut(events)
    }

    /// The most keys that a pane of `events` events keeps.
    pub fn most_entries(&self, events: u64) -> u64 {
        events.min(self.parameters.entries())
    }

    /// The sketch of panes that are not exact.
    pub fn sketch(&self) -> Option<Dimensions> {
        self.parameters.sketch()
    }

    /// Seed of all hashes.
    pub fn seed(&self) -> u64 {
        self.parameters.seed
    }
}
