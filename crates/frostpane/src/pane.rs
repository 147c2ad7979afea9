#![doc = include_str!("pane.md")]

use hashbrown::HashTable;

use crate::counts::{Counts, Packer};
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::Key;
use crate::noise::Secret;
use crate::sketch::count_sketch::Dimensions;
use crate::sketch::{CountSketch, MisraGries};
use crate::tally::Tally;

/// Blocks of more events are not listed: their lists would take more memory than counters.
pub(crate) const LONGEST_LIST: usize = 1 << 19;

/// Events that are looked up before the first of them is counted.
const AHEAD: usize = 32;

/// The public numbers that fix how a pane is built. Nothing about it depends on the events.
#[derive(Clone, Copy, Debug)]
pub struct PaneShape {
    /// Counters of the open pane: `c`, at least `entries`.
    capacity: usize,
    /// How many events a block is expected to have: a question of memory alone.
    expected: usize,
    /// Whether the keys of a block are listed, and counted when it ends, if they can be.
    listed: bool,
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
            expected: usize::MAX,
            listed: false,
            entries: u64::from(entries),
            sketch,
            seed,
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
        sketch.extend(counts.map(|(key, count)| (K::hash(key, self.seed), count)));
        Some(sketch)
    }
}

/// What closing a pane needs beside it, kept for the next.
#[derive(Clone, Debug)]
pub struct Closer<K> {
    tally: Tally,
    packer: Packer<K>,
}

impl<K> Default for Closer<K> {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            packer: Packer::default(),
        }
    }
}

impl<K: Key> Closer<K> {
    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.tally.bytes() + self.packer.bytes()
    }
}

/// The block that still receives events.
#[derive(Clone, Debug)]
pub struct OpenPane<K> {
    shape: PaneShape,
    events: u64,
    /// The hashes of all keys, where they can be undone and the block is short.
    list: Option<Vec<u64>>,
    /// Counters of the keys, where there is no list.
    counts: MisraGries<K>,
    /// All events so far; made when the table ceases to be exact.
    sketch: Option<CountSketch>,
}

impl<K: Key> OpenPane<K> {
    /// A block without events.
    pub fn new(shape: PaneShape) -> Self {
        // A cut by decrements needs counters that are decremented.
        let counted = shape.fault.is(Mutant::DataDependentCut) || K::unhash(0, shape.seed).is_none();
        let listed = shape.listed && !counted;
        let capacity = if listed { 0 } else { shape.capacity };
        Self {
            shape,
            events: 0,
            list: listed.then(|| Vec::with_capacity(shape.expected.min(LONGEST_LIST))),
            counts: MisraGries::new(capacity, shape.expected, shape.seed),
            sketch: None,
        }
    }

    /// One event with its key, or without one.
    #[inline]
    pub fn update(&mut self, key: Option<K::Ref<'_>>) {
        self.events += 1;
        let Some(key) = key else { return };
        let hash = K::hash(key, self.shape.seed);
        match &mut self.list {
            Some(list) => list.push(hash),
            None => self.count(key, hash),
        }
    }

    #[inline]
    fn count(&mut self, key: K::Ref<'_>, hash: u64) {
        let counted = self.counts.update(key, hash);
        if let Some(sketch) = &mut self.sketch {
            sketch.add(hash, 1);
        }
        if !counted {
            self.make_room(hash);
        }
    }

    /// Many events, in order. Returns how many were without a key.
    pub fn extend<'a>(&mut self, keys: impl Iterator<Item = Option<K::Ref<'a>>>) -> u64 {
        let seed = self.shape.seed;
        let mut without_key = 0;
        match &mut self.list {
            Some(list) => {
                let before = list.len() as u64;
                list.extend(keys.filter_map(|key| {
                    without_key += u64::from(key.is_none());
                    key.map(|key| K::hash(key, seed))
                }));
                self.events += list.len() as u64 - before + without_key;
            }
            None => {
                let mut keys = keys.peekable();
                while keys.peek().is_some() {
                    without_key += self.extend_some(keys.by_ref().take(AHEAD));
                }
            }
        }
        without_key
    }

    /// The same for a few events that are counted one by one. All their slots are looked up first: the memory then
    /// comes while others are waited for.
    fn extend_some<'a>(&mut self, keys: impl Iterator<Item = Option<K::Ref<'a>>>) -> u64 {
        let mut hashed = [None; AHEAD];
        let mut events = 0;
        for (key, hashed) in keys.zip(&mut hashed) {
            *hashed = key.map(|key| (key, K::hash(key, self.shape.seed)));
            events += 1;
        }
        let some = &hashed[..events];
        self.counts.look_up(some.iter().flatten().map(|(_, hash)| *hash));
        self.events += events as u64;
        some.iter()
            .flatten()
            .for_each(|(key, hash)| self.count(*key, *hash));
        some.iter().filter(|key| key.is_none()).count() as u64
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
        self.list.as_mut().map(Vec::clear);
        self.counts.clear();
        self.sketch = None;
    }

    /// The norm of the events so far, for a private mechanism. Exact while there were no more events than
    /// counters; it then moves by at most 1 between neighbours.
    pub fn norm(&self) -> Secret<u64> {
        let Some(list) = &self.list else {
            return Secret::new(self.counts.norm());
        };
        let mut squares = 0_u64;
        Tally::default().count(list, 0, |found| {
            squares = found
                .iter()
                .fold(squares, |sum, (_, count)| sum.saturating_add(count * count));
        });
        Secret::new(squares.isqrt())
    }

    /// Adds all events of the block, whose table must be exact, to a sketch.
    pub fn add_to(&self, sum: &mut CountSketch) {
        debug_assert!(self.counts.decrements() == 0);
        if let Some(list) = &self.list {
            sum.extend(list.iter().map(|hash| (*hash, 1)));
        }
        let counts = self.counts.iter();
        sum.extend(counts.map(|(key, count)| (K::hash(key, self.shape.seed), count)));
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        let list = self
            .list
            .as_ref()
            .map_or(0, |list| list.capacity() * size_of::<u64>());
        list as u64 + self.counts.bytes() + self.sketch.as_ref().map_or(0, CountSketch::bytes)
    }

    /// How many events came, with and without keys.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The block as a closed pane. The cut follows from the number of events alone.
    pub fn close(&self) -> Pane<K> {
        self.close_with(&mut Closer::default())
    }

    /// The same, in memory that is kept.
    pub fn close_with(&self, closer: &mut Closer<K>) -> Pane<K> {
        let cut = self.shape.cut(self.events);
        let sketch = match &self.list {
            Some(list) => self.close_list(list, cut, closer),
            None => self.close_counters(cut, closer),
        };
        let counts = closer.packer.finish();
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

impl<K: Key> OpenPane<K> {
    /// What is cut from every count: as much as the events say, unless that is to be broken.
    fn cut_off(&self, cut: u64, decrements: u64) -> u64 {
        match self.shape.fault.is(Mutant::DataDependentCut) {
            true => decrements,
            false => cut,
        }
    }

    /// Packs what is kept of the counters, and returns the sketch, if there is one.
    fn close_counters(&self, cut: u64, closer: &mut Closer<K>) -> Option<CountSketch> {
        let raise = self.counts.decrements();
        let cut_off = self.cut_off(cut, raise);
        for (key, counter) in self.counts.iter() {
            if counter + raise > cut_off {
                closer.packer.push(key, counter + raise - cut_off);
            }
        }
        match &self.sketch {
            None if cut > 0 => self.shape.sketch_of::<K>(self.counts.iter()),
            sketch => sketch.clone(),
        }
    }

    /// The same for a list.
    fn close_list(&self, list: &[u64], cut: u64, closer: &mut Closer<K>) -> Option<CountSketch> {
        let Closer { tally, packer } = closer;
        let seed = self.shape.seed;
        let mut sketch = self
            .shape
            .sketch
            .filter(|_| cut > 0)
            .map(|dimensions| CountSketch::new(dimensions, seed));
        let seen = if sketch.is_some() { 0 } else { cut };
        tally.count(list, seen, |found| {
            if let Some(sketch) = &mut sketch {
                sketch.add_all(found);
            }
            for (hash, count) in found.iter().filter(|(_, count)| *count > cut) {
                if let Some(key) = K::unhash(*hash, seed) {
                    packer.push(key, count - cut);
                }
            }
        });
        sketch
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
            None => sum.extend(
                self.counts
                    .iter()
                    .map(|(key, count)| (K::hash(key, shape.seed), count)),
            ),
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
        let longest = panes.iter().map(|pane| pane.counts.len()).max();
        let mut counts = HashTable::with_capacity(longest.unwrap_or(0));
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
