//! The pane that still receives events.

use super::closed::Pane;
use super::list_count::{ListCounter, WordCount};
use super::norm_bound::NormBound;
use super::packed::{PackedCounts, Packer};
use super::shape::{LONGEST_LIST, PaneShape};
use crate::fault::Mutant;
use crate::key::Key;
use crate::mechanism::{Bounded, Secret};
use crate::sketch::{CountSketch, MisraGries};

/// Events looked up before the first of them is counted.
const AHEAD: usize = 32;

/// Working memory for closing panes, kept between them.
#[derive(Clone, Debug)]
pub struct Closer<K> {
    counter: ListCounter,
    pub(super) packer: Packer<K>,
}

impl<K> Default for Closer<K> {
    fn default() -> Self {
        Self { counter: ListCounter::default(), packer: Packer::default() }
    }
}

impl<K: Key> Closer<K> {
    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.counter.bytes() + self.packer.bytes()
    }
}

/// A block that still receives events.
#[derive(Clone, Debug)]
pub struct OpenPane<K> {
    pub(super) shape: PaneShape,
    pub(super) events: u64,
    /// The hashes of all keys, if hashes can be inverted and the block is short.
    pub(super) list: Option<Vec<u64>>,
    /// Counters of the keys, where there is no list.
    pub(super) counts: MisraGries<K>,
    /// A bound on the norm of the list, once it was asked for.
    pub(super) bound: Option<NormBound>,
    /// The pane when the norm of the list was last counted: if no event follows, it is the closed one.
    pub(super) counted: Option<Pane<K>>,
    /// A sketch of all events, from when the table ceases to be exact.
    pub(super) sketch: Option<CountSketch>,
}

impl<K: Key> OpenPane<K> {
    /// A block without events.
    pub fn new(shape: PaneShape) -> Self {
        // The fault cuts by decrements, which only counters have.
        let counted = shape.fault.is(Mutant::DataDependentCut) || K::unhash(0, shape.seed()).is_none();
        let listed = shape.listed && !counted;
        let capacity = if listed { 0 } else { shape.capacity };
        Self {
            shape,
            events: 0,
            list: listed.then(|| Vec::with_capacity(shape.expected.min(LONGEST_LIST))),
            counts: MisraGries::new(capacity, shape.expected, shape.seed()),
            bound: None,
            counted: None,
            sketch: None,
        }
    }

    /// Adds one event, with a key or without.
    #[inline]
    pub fn update(&mut self, key: Option<K::Ref<'_>>) {
        self.events += 1;
        let Some(key) = key else { return };
        let hash = K::hash(key, self.shape.seed());
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

    /// Adds events in order. Returns the number of events without a key.
    pub fn extend<'a>(&mut self, keys: impl Iterator<Item = Option<K::Ref<'a>>>) -> u64 {
        let seed = self.shape.seed();
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

    /// The same for a few events that are counted one by one, after all their slots were prefetched.
    fn extend_some<'a>(&mut self, keys: impl Iterator<Item = Option<K::Ref<'a>>>) -> u64 {
        let mut hashed = [None; AHEAD];
        let mut events = 0;
        for (key, hashed) in keys.zip(&mut hashed) {
            *hashed = key.map(|key| (key, K::hash(key, self.shape.seed())));
            events += 1;
        }
        let some = &hashed[..events];
        self.counts.look_up(some.iter().flatten().map(|(_, hash)| *hash));
        self.events += events as u64;
        some.iter().flatten().for_each(|(key, hash)| self.count(*key, *hash));
        some.iter().filter(|key| key.is_none()).count() as u64
    }

    /// For a full table without the event's key.
    #[cold]
    fn make_room(&mut self, hash: u64) {
        if self.sketch.is_none() {
            self.sketch = self.shape.parameters().sketch_of::<K>(self.counts.iter());
            if let Some(sketch) = &mut self.sketch {
                sketch.add(hash, 1);
            }
        }
        self.counts.decrement();
    }

    /// Removes all events and keeps the memory.
    pub fn clear(&mut self) {
        self.events = 0;
        self.list.as_mut().map(Vec::clear);
        self.counts.clear();
        self.bound.iter_mut().for_each(NormBound::clear);
        self.counted = None;
        self.sketch = None;
    }

    /// Adds all events of the block, whose table must be exact, to a sketch.
    pub fn add_to(&self, sum: &mut CountSketch) {
        debug_assert!(self.counts.decrements() == 0);
        if let Some(list) = &self.list {
            sum.add_each(list);
        }
        let counts = self.counts.iter();
        sum.extend(counts.map(|(key, count)| (K::hash(key, self.shape.seed()), count)));
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let list = self.list.as_ref().map_or(0, |list| list.capacity() * size_of::<u64>());
        [
            list as u64,
            self.counts.bytes(),
            self.bound.as_ref().map_or(0, |_| NormBound::BYTES),
            self.counted.as_ref().map_or(0, Pane::bytes),
            self.sketch.as_ref().map_or(0, CountSketch::bytes),
        ]
        .into_iter()
        .sum()
    }

    /// Number of events, with and without keys.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Closes the block. The cut follows from the number of events alone.
    pub fn close(&self) -> Pane<K> {
        self.close_with(&mut Closer::default())
    }

    /// The same, with reused memory.
    pub fn close_with(&self, closer: &mut Closer<K>) -> Pane<K> {
        let cut = self.shape.parameters().cut(self.events);
        match &self.list {
            Some(list) => self.close_list(list, closer, cut, |_| ()),
            None => self.close_counters(cut, closer),
        }
    }

    /// The same for a block that has ended.
    pub fn end(&mut self, closer: &mut Closer<K>) -> Pane<K> {
        let counted = self.counted.take().filter(|pane| pane.events() == self.events);
        counted.unwrap_or_else(|| self.close_with(closer))
    }

    fn pane(&self, counts: PackedCounts<K>, sketch: Option<CountSketch>) -> Pane<K> {
        Pane::new(self.shape.parameters(), self.events, counts, sketch)
    }

    fn close_counters(&self, cut: u64, closer: &mut Closer<K>) -> Pane<K> {
        let raise = self.counts.decrements();
        let cut_off = if self.shape.fault.is(Mutant::DataDependentCut) { raise } else { cut };
        for (key, counter) in self.counts.iter() {
            if counter + raise > cut_off {
                closer.packer.push(key, counter + raise - cut_off);
            }
        }
        let sketch = match &self.sketch {
            None if cut > 0 => self.shape.parameters().sketch_of::<K>(self.counts.iter()),
            sketch => sketch.clone(),
        };
        self.pane(closer.packer.finish(), sketch)
    }

    /// Closes a list and visits all words that occur more than `times` times, which must be at most the cut.
    fn close_list(
        &self,
        list: &[u64],
        closer: &mut Closer<K>,
        times: u64,
        mut show: impl FnMut(&[WordCount]),
    ) -> Pane<K> {
        let Closer { counter, packer } = closer;
        let made_with = self.shape.parameters();
        let (cut, seed) = (made_with.cut(self.events), made_with.seed());
        let mut sketch = (cut > 0).then(|| made_with.empty_sketch()).flatten();
        let add_up = |often: &[WordCount], rest: &[u64]| {
            if let Some(sketch) = &mut sketch {
                sketch.add_all(often);
                sketch.add_each(rest);
            }
        };
        counter.count(list, times, add_up, |found| {
            show(found);
            for (hash, count) in found.iter().filter(|(_, count)| *count > cut) {
                if let Some(key) = K::unhash(*hash, seed) {
                    packer.push(key, count - cut);
                }
            }
        });
        self.pane(packer.finish(), sketch)
    }
}

/// The norm of the events of a block so far, for a private mechanism. Exact while there are no more
/// events than counters; it then moves by at most 1 between neighbours.
pub struct OpenNorm<'a, K> {
    pub block: &'a mut OpenPane<K>,
    pub closer: &'a mut Closer<K>,
}

impl<K: Key> Bounded for OpenNorm<'_, K> {
    fn at_most(&mut self) -> Secret<u64> {
        Secret::new(match &self.block.list {
            Some(list) => self.block.bound.get_or_insert_default().of(list),
            None => self.block.counts.norm(),
        })
    }

    fn exactly(&mut self) -> Secret<u64> {
        let Self { block, closer } = self;
        let Some(list) = &block.list else {
            return Secret::new(block.counts.norm());
        };
        block.counted = None;
        let mut squares = 0_u64;
        block.counted = Some(block.close_list(list, closer, 0, |found| {
            let more = found.iter().map(|(_, count)| count * count);
            squares = more.fold(squares, u64::saturating_add);
        }));
        Secret::new(squares.isqrt())
    }
}
