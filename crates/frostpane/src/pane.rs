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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::key::Bytes;
    use crate::noise::{AboveThreshold, Answer, Epsilon, InsecureSeededEntropy};

    const SEED: u64 = 7;
    const SKETCH: Dimensions = Dimensions { rows: 3, width: 32 };

    type Event = Option<u64>;

    /// Twelve keys, rarer ones among frequent ones, and some events without any.
    fn events(length: u64) -> Vec<Event> {
        let mixed = |event: u64| crate::sketch::count_sketch::mix(event + 1);
        (0..length)
            .map(|event| (mixed(event) % 7 > 0).then(|| mixed(event) % (1 + mixed(event) / 1_000 % 12)))
            .collect()
    }

    /// Misra-Gries in its plainest form: counters, and how often all were lowered.
    fn misra_gries(events: &[Event], capacity: usize) -> (BTreeMap<u64, u64>, u64) {
        let (mut counters, mut decrements) = (BTreeMap::new(), 0);
        for key in events.iter().flatten() {
            if counters.contains_key(key) || counters.len() < capacity {
                *counters.entry(*key).or_insert(0) += 1;
            } else {
                decrements += 1;
                counters.values_mut().for_each(|count| *count -= 1);
                counters.retain(|_, count| *count > 0);
            }
        }
        (counters, decrements)
    }

    fn sketch_of(events: &[Event]) -> CountSketch {
        let mut sketch = CountSketch::new(SKETCH, SEED);
        let keys = events.iter().flatten();
        keys.for_each(|key| sketch.add(u64::hash(*key, SEED), 1));
        sketch
    }

    fn open(events: &[Event], shape: PaneShape) -> OpenPane<u64> {
        let mut open = OpenPane::new(shape);
        events.iter().for_each(|event| open.update(*event));
        open
    }

    fn kept(pane: &Pane<u64>) -> BTreeMap<u64, u64> {
        pane.counts().iter().collect()
    }

    fn cut_by(counts: impl IntoIterator<Item = (u64, u64)>, cut: u64) -> BTreeMap<u64, u64> {
        let kept = counts.into_iter().filter(|(_, count)| *count > cut);
        kept.map(|(key, count)| (key, count - cut)).collect()
    }

    fn shape(entries: u32, capacity: usize) -> PaneShape {
        PaneShape::new(entries, capacity, Some(SKETCH), SEED).unwrap()
    }

    /// `v(x) = C(x) + D - floor(n / (k+1))`, where that is above 0, and the sketch of all events where there is a cut.
    #[test]
    fn a_pane_is_misra_gries_raised_and_cut() {
        for length in [0, 1, 7, 40, 300] {
            let events = events(length);
            for (entries, capacity) in [(1, 0), (3, 0), (3, 5), (8, 20), (400, 0)] {
                let shape = shape(entries, capacity);
                let pane = open(&events, shape).close();
                let cut = length / (u64::from(entries) + 1);
                let (counters, decrements) = misra_gries(&events, capacity.max(entries as usize));
                let raised = counters.into_iter().map(|(key, count)| (key, count + decrements));
                assert_eq!(
                    (pane.events(), pane.cut(), pane.mass),
                    (length, cut, length - cut)
                );
                assert_eq!(kept(&pane), cut_by(raised, cut), "{entries} {capacity} {length}");
                assert_eq!(pane.sketch().is_some(), cut > 0);
                let exact = misra_gries(&events, 99).0;
                let listed = open(&events, shape.listing(length)).close();
                assert_eq!(kept(&listed), cut_by(exact, cut));
                assert_eq!(
                    (listed.events(), listed.cut(), listed.mass),
                    (length, cut, length - cut)
                );
                for pane in [pane, listed] {
                    assert!(pane.sketch().is_none_or(|sketch| *sketch == sketch_of(&events)));
                    let mut sum = sketch_of(&[Some(3)]);
                    pane.add_to(&mut sum, &shape);
                    let all = [&events[..], &[Some(3)]].concat();
                    assert_eq!(
                        sum,
                        sketch_of(&all),
                        "a sketch of all events, with a cut or without"
                    );
                }
                assert_eq!(shape.most_entries(length), length.min(u64::from(entries)));
            }
        }
        assert!(
            open(&events(300), PaneShape::new(3, 0, None, SEED).unwrap())
                .close()
                .sketch()
                .is_none()
        );
        assert!(PaneShape::new(0, 5, None, SEED).is_err());
    }

    /// Counts add up and are cut by `floor(M / (k+1))`, which is taken from `M`; cuts add up; sketches too, where there is
    /// a cut.
    #[test]
    fn merged_panes_are_added_up_and_cut_again() {
        let events = events(400);
        for (entries, ends) in [(2, [100, 150, 400]), (9, [3, 5, 400]), (500, [1, 200, 400])] {
            let shape = shape(entries, 40);
            let parts = [
                &events[..ends[0]],
                &events[ends[0]..ends[1]],
                &events[ends[1]..ends[2]],
            ];
            let panes = parts.map(|part| open(part, shape).close());
            let mass: u64 = panes.iter().map(|pane| pane.events() - pane.cut()).sum();
            let cut = mass / (u64::from(entries) + 1);
            let cut_before: u64 = panes.iter().map(|pane| pane.cut()).sum();
            let mut sums = BTreeMap::new();
            for (key, count) in panes.iter().flat_map(kept) {
                *sums.entry(key).or_insert(0) += count;
            }
            let merged = Pane::merge(panes, &shape);
            assert_eq!(merged.events(), 400);
            assert_eq!((merged.cut(), merged.mass), (cut + cut_before, mass - cut));
            assert_eq!(kept(&merged), cut_by(sums, cut));
            assert_eq!(merged.sketch().is_some(), cut + cut_before > 0);
            assert!(merged.sketch().is_none_or(|sketch| *sketch == sketch_of(&events)));
            let twice = Pane::merge([merged.clone()], &shape);
            let again = (mass - cut) / (u64::from(entries) + 1);
            assert_eq!(
                (twice.cut(), twice.mass),
                (merged.cut() + again, mass - cut - again)
            );
        }
    }

    #[test]
    fn many_events_at_once_are_the_same_one_by_one() {
        for length in [0, 1, 31, 32, 33, 64, 300] {
            let events = events(length);
            for shape in [shape(4, 0), shape(4, 0).listing(10)] {
                let single = open(&events, shape);
                let mut many = OpenPane::<u64>::new(shape);
                let without_key = many.extend(events.iter().copied());
                assert_eq!(
                    without_key,
                    events.iter().filter(|event| event.is_none()).count() as u64
                );
                assert_eq!(many.events(), length);
                let [single, many] = [single, many].map(|open| open.close());
                assert_eq!(kept(&single), kept(&many));
                assert_eq!(single.sketch(), many.sketch());
            }
        }
    }

    /// A pane with a cut of 1 in all has a sketch, wherever the cut was made.
    #[test]
    fn the_least_cut_makes_a_sketch() {
        let events = events(14);
        let shape = shape(9, 40);
        for parts in [[&events[..10], &[]], [&events[..5], &events[5..11]]] {
            let panes = parts.map(|part| open(part, shape).close());
            let merged = Pane::merge(panes, &shape);
            assert_eq!(merged.cut(), 1);
            assert_eq!(merged.sketch(), Some(&sketch_of(&parts.concat())));
        }
    }

    /// Keys are compared as a whole, also where they are bytes.
    #[test]
    fn keys_of_bytes_are_counted_like_integers() {
        let events = events(300);
        let text = |event: &Event| event.map(|key| "fig".repeat(key as usize));
        for (entries, capacity) in [(3, 0), (3, 5), (400, 0)] {
            let shape = PaneShape::new(entries, capacity, None, SEED).unwrap();
            let mut texts = OpenPane::<Bytes>::new(shape.listing(300));
            assert!(texts.list.is_none(), "their hashes cannot be undone");
            for event in &events {
                texts.update(text(event).as_deref().map(str::as_bytes));
            }
            let texts = texts.close();
            let found = texts
                .counts()
                .iter()
                .map(|(key, count)| (key.len() as u64 / 3, count));
            assert_eq!(
                found.collect::<BTreeMap<_, _>>(),
                kept(&open(&events, shape).close())
            );
        }
    }

    /// A list takes its place and next to nothing for counters; up to half a million events it takes less than those would.
    #[test]
    fn short_blocks_are_listed_and_memory_is_told_as_it_is() {
        let shape = shape(5_000, 0);
        let listed = |events| shape.listing(events).listed;
        assert!(listed(1 << 19) && !listed((1 << 19) + 1));

        let list = OpenPane::<u64>::new(shape.listing(1_000));
        let (words, slots) = (8 * list.list.as_ref().unwrap().capacity() as u64, 16 * 16);
        assert!(words >= 8_000);
        assert_eq!(list.bytes(), words + slots);

        let counted = open(&events(20_000), shape.for_blocks_of(0));
        assert!(counted.sketch.is_none());
        let bytes = counted.bytes();
        assert_eq!(bytes, counted.counts.bytes());
        let sketched = OpenPane {
            sketch: Some(sketch_of(&[])),
            ..counted
        };
        assert_eq!(sketched.bytes(), bytes + SKETCH.bytes());

        let block = open(&[Some(3); 300], self::shape(3, 0));
        let mut closer = Closer::default();
        let before = closer.bytes();
        assert_eq!(before, Tally::default().bytes());
        let pane = block.close_with(&mut closer);
        assert_eq!(closer.bytes(), before + closer.packer.bytes());
        assert!(closer.packer.bytes() > 0);
        let of_counts = size_of::<Pane<u64>>() as u64 + pane.counts().bytes();
        assert_eq!(pane.bytes(), of_counts + SKETCH.bytes());
        let exact = open(&events(3), self::shape(3, 0)).close();
        assert_eq!(
            exact.bytes(),
            size_of::<Pane<u64>>() as u64 + exact.counts().bytes()
        );
    }

    /// A norm can only be asked about: here without noise, whether it reaches this number and the next.
    fn assert_norm(block: &OpenPane<u64>, norm: u64) {
        let reaches = |least: u64| {
            let (epsilon, entropy) = (Epsilon::new(1e5).unwrap(), &mut InsecureSeededEntropy::new(1));
            let question = AboveThreshold::new(least, 1, epsilon, entropy).unwrap();
            matches!(question.ask(block.norm(), entropy), Answer::Above)
        };
        assert!(reaches(norm) && !reaches(norm + 1), "{norm}");
    }

    /// And a block that was emptied is a new one.
    #[test]
    fn the_norm_of_an_open_block_is_that_of_its_counts() {
        let events = events(200);
        let squares: u64 = misra_gries(&events, 99)
            .0
            .values()
            .map(|count| count * count)
            .sum();
        for shape in [shape(300, 0), shape(300, 0).listing(10)] {
            let mut block = open(&events, shape);
            assert_norm(&block, squares.isqrt());
            let mut sum = sketch_of(&events[..50]);
            block.add_to(&mut sum);
            assert_eq!(sum, sketch_of(&[&events[..], &events[..50]].concat()));
            block.clear();
            assert_eq!(block.events(), 0);
            assert_norm(&block, 0);
            assert!(block.close().counts().is_empty());
            events.iter().for_each(|event| block.update(*event));
            assert_eq!(kept(&block.close()), misra_gries(&events, 99).0);
            block.clear();
            (0..100).for_each(|key| block.update(Some(key)));
            assert_norm(&block, 10);
        }
        let mut crowded = open(&events, shape(3, 0));
        assert!(crowded.sketch.is_some());
        crowded.clear();
        events[..50].iter().for_each(|event| crowded.update(*event));
        assert_eq!(crowded.close().sketch(), Some(&sketch_of(&events[..50])));
    }
}
