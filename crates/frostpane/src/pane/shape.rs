//! Public parameters of panes.

use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::key::Key;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;

/// Longer blocks are not listed: their lists would take more memory than counters.
pub(crate) const LONGEST_LIST: usize = 1 << 19;

/// The parameters of a pane, of which every pane has a copy. Panes can be added only if theirs are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Seed of all hashes.
    seed: u64,
    /// The most keys that a closed pane keeps: `k`.
    entries: u32,
    /// Rows of the sketch of panes that are not exact, 0 without one, and the logarithm of its width.
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
        (self.rows > 0).then(|| Dimensions { rows: usize::from(self.rows), width: 1 << self.width_bits })
    }

    /// Seed of all hashes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The amount subtracted from the counts of a block of this many events.
    pub fn cut(&self, events: u64) -> u64 {
        events / (self.entries() + 1)
    }

    pub(crate) fn empty_sketch(&self) -> Option<CountSketch> {
        self.sketch().map(|dimensions| CountSketch::new(dimensions, self.seed))
    }

    pub(crate) fn sketch_of<'a, K: Key>(
        &self,
        counts: impl Iterator<Item = (K::Ref<'a>, u64)>,
    ) -> Option<CountSketch> {
        let mut sketch = self.empty_sketch()?;
        sketch.extend(counts.map(|(key, count)| (K::hash(key, self.seed), count)));
        Some(sketch)
    }
}

/// Parameters of panes, and memory of open ones. Nothing about it depends on the events.
#[derive(Clone, Copy, Debug)]
pub struct PaneShape {
    parameters: Parameters,
    /// Counters of the open pane: `c`, at least `entries`.
    pub(super) capacity: usize,
    /// The expected number of events of a block. Affects memory alone.
    pub(super) expected: usize,
    /// True if the keys of a block are listed, and counted when it ends, where possible.
    pub(super) listed: bool,
    pub(super) fault: Fault,
}

impl PaneShape {
    /// Panes that keep at most `entries` keys, and count at least as many while open.
    pub fn new(entries: u32, capacity: usize, sketch: Option<Dimensions>, seed: u64) -> Result<Self> {
        if entries == 0 {
            return Err(Error::parameter("entries is 0, but a pane must keep at least 1 key"));
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

    /// For blocks of about this many events: initial memory is for no more of them.
    pub fn for_blocks_of(self, events: u64) -> Self {
        Self { expected: usize::try_from(events).unwrap_or(usize::MAX), ..self }
    }

    /// For blocks of about this many events: a short list of keys can be counted, exactly, when the block ends.
    pub fn listing(self, events: u64) -> Self {
        Self { listed: events <= LONGEST_LIST as u64, ..self.for_blocks_of(events) }
    }

    /// The parameters of the panes.
    pub fn parameters(&self) -> Parameters {
        self.parameters
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
