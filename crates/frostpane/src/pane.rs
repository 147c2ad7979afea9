#![doc = include_str!("pane.md")]

use hashbrown::HashTable;

use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::Key;
use crate::noise::Secret;
use crate::sketch::count_sketch::Dimensions;
use crate::sketch::{CountSketch, MisraGries};

/// The public numbers that fix how a pane is built. Nothing about it depends on the events.
#[derive(Clone, Copy, Debug)]
pub struct PaneShape {
    /// Counters of the open pane; at least `entries`, or as many as it can have events.
    capacity: usize,
    /// The most keys that a closed pane keeps: `k`.
    entries: u64,
    /// The sketch of panes that are not exact, where the norm is asked for.
    sketch: Option<Dimensions>,
    /// Seed of all hashes.
    seed: u64,
    fault: Fault,
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
            capacity: capacity.max(entries as usize),
            entries: u64::from(entries),
            sketch,
            seed,
            fault: Fault::default(),
        })
    }

    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// For blocks that have at most so many events: a table of as many counters is exact.
    pub fn for_blocks_of(self, events: u64) -> Self {
        Self {
            capacity: self.capacity.min(usize::try_from(events).unwrap_or(usize::MAX)),
            ..self
        }
    }

    /// What is subtracted from the counts of a block of `events` events.
    pub fn cut(&self, events: u64) -> u64 {
        events / (self.entries + 1)
    }

    /// The most keys that a pane of `events` events keeps.
    pub fn most_entries(&self, events: u64) -> u64 {
        events.min(self.entries)
    }

    /// The sketch of panes that are not exact.
    pub fn sketch(&self) -> Option<Dimensions> {
        self.sketch
    }

    /// Seed of all hashes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The sketch of a table that is exact.
    fn sketch_of<'a, K: Key>(&self, counts: impl Iterator<Item = (K::Ref<'a>, u64)>) -> Option<CountSketch> {
        let mut sketch = CountSketch::new(self.sketch?, self.seed);
        counts.for_each(|(key, count)| sketch.add(K::hash(key, self.seed), count as i64));
        Some(sketch)
    }
}

/// The block that still receives events.
#[derive(Clone, Debug)]
pub struct OpenPane<K> {
    shape: PaneShape,
    events: u64,
    counts: MisraGries<K>,
    /// All events so far; made when the table ceases to be exact.
    sketch: Option<CountSketch>,
}

impl<K: Key> OpenPane<K> {
    /// A block without events.
    pub fn new(shape: PaneShape) -> Self {
        Self {
            shape,
            events: 0,
            counts: MisraGries::new(shape.capacity, shape.seed),
            sketch: None,
        }
    }

    /// One event with its key, or without one.
    #[inline]
    pub fn update(&mut self, key: Option<K::Ref<'_>>) {
        self.events += 1;
        let Some(key) = key else { return };
        let hash = K::hash(key, self.shape.seed);
        let counted = self.counts.update(key, hash);
        if let Some(sketch) = &mut self.sketch {
            sketch.add(hash, 1);
        }
        if !counted {
            self.make_room(hash);
        }
    }

    /// The table is full and the event's key is not in it.
    #[cold]
    fn make_room(&mut self, hash: u64) {
        if self.sketch.is_none() {
            self.sketch = self.shape.sketch_of::<K>(self.counts.iter());
            if let Some(sketch) = &mut self.sketch {
                sketch.add(hash, 1);
            }
        }
        self.counts.decrement();
    }

    /// Forgets the events, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.events = 0;
        self.counts.clear();
        self.sketch = None;
    }

    /// The norm of the events so far, for a private mechanism. Exact while there were no more events than
    /// counters; it then moves by at most 1 between neighbours.
    pub fn norm(&self) -> Secret<u64> {
        Secret::new(self.counts.norm())
    }

    /// Adds all events of the block, whose table must be exact, to a sketch.
    pub fn add_to(&self, sum: &mut CountSketch) {
        debug_assert!(self.counts.decrements() == 0);
        self.counts
            .iter()
            .for_each(|(key, count)| sum.add(K::hash(key, self.shape.seed), count as i64));
    }

    /// How many bytes it takes, without what its keys hold elsewhere.
    pub fn bytes(&self) -> u64 {
        self.counts.bytes() + self.sketch.as_ref().map_or(0, CountSketch::bytes)
    }

    /// How many events came, with and without keys.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The block as a closed pane. The cut follows from the number of events alone.
    pub fn close(&self) -> Pane<K> {
        let cut = self.shape.cut(self.events);
        let sketch = match &self.sketch {
            None if cut > 0 => self.shape.sketch_of::<K>(self.counts.iter()),
            sketch => sketch.clone(),
        };
        let raise = self.counts.decrements();
        let cut_off = match self.shape.fault.is(Mutant::DataDependentCut) {
            true => raise,
            false => cut,
        };
        let kept = self
            .counts
            .iter()
            .filter(|(_, counter)| counter + raise > cut_off);
        let counts = Counts::collect(kept.map(|(key, counter)| (key, counter + raise - cut_off)));
        debug_assert!(counts.len() as u64 <= self.shape.entries);
        Pane {
            events: self.events,
            cut,
            mass: self.events - cut,
            counts,
            sketch,
        }
    }
}

/// A closed block: what is kept of its events.
#[derive(Clone, Debug)]
pub struct Pane<K> {
    /// How many events the block had.
    events: u64,
    /// What was subtracted in all: `f - cut <= v <= f` for every key.
    cut: u64,
    /// A public bound on the sum of `v`.
    mass: u64,
    /// The keys with `v >= 1`.
    counts: Counts<K>,
    /// All events, if the shape has a sketch and the counts are not exact.
    sketch: Option<CountSketch>,
}

impl<K: Key> Pane<K> {
    /// How many events the block had.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How far a count may lie below the truth.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The keys whose count is at least 1, in no order.
    pub fn counts(&self) -> &Counts<K> {
        &self.counts
    }

    /// The sketch of all events, if there is one.
    pub fn sketch(&self) -> Option<&CountSketch> {
        self.sketch.as_ref()
    }

    /// Adds all events of the block to a sketch.
    pub fn add_to(&self, sum: &mut CountSketch, shape: &PaneShape) {
        match &self.sketch {
            Some(sketch) => sum.merge(sketch),
            None => self
                .counts
                .iter()
                .for_each(|(key, count)| sum.add(K::hash(key, shape.seed), count as i64)),
        }
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.counts.bytes() + self.sketch.as_ref().map_or(0, CountSketch::bytes)
    }

    /// Panes of one shape as one pane with at most `entries` keys.
    pub fn merge(panes: impl IntoIterator<Item = Self>, shape: &PaneShape) -> Self {
        let panes: Vec<Self> = panes.into_iter().collect();
        let mass: u64 = panes.iter().map(|pane| pane.mass).sum();
        let cut = mass / (shape.entries + 1);
        let total_cut = cut + panes.iter().map(|pane| pane.cut).sum::<u64>();
        let mut sketch = shape
            .sketch
            .filter(|_| total_cut > 0)
            .map(|dimensions| CountSketch::new(dimensions, shape.seed));
        if let Some(sketch) = &mut sketch {
            panes.iter().for_each(|pane| pane.add_to(sketch, shape));
        }
        let mut counts = HashTable::new();
        for pane in &panes {
            add_up::<K>(&mut counts, pane.counts.iter(), shape.seed);
        }
        let kept = counts.iter().filter(|(_, count)| *count > cut);
        let counts = Counts::collect(kept.map(|(key, count)| (*key, count - cut)));
        Self {
            events: panes.iter().map(|pane| pane.events).sum(),
            cut: total_cut,
            mass: mass - cut,
            counts,
            sketch,
        }
    }
}

/// Adds counts to the sums of their keys.
pub fn add_up<'a, K: Key>(
    sums: &mut HashTable<(K::Ref<'a>, u64)>,
    counts: impl Iterator<Item = (K::Ref<'a>, u64)>,
    seed: u64,
) {
    for (key, count) in counts {
        sums.entry(
            K::hash(key, seed),
            |(held, _)| *held == key,
            |(held, _)| K::hash(*held, seed),
        )
        .and_modify(|(_, sum)| *sum += count)
        .or_insert((key, count));
    }
}
