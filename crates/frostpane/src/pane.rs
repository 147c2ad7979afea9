#![doc = include_str!("pane.md")]

use hashbrown::HashTable;

use crate::key::Key;
use crate::sketch::count_sketch::Dimensions;
use crate::sketch::{CountSketch, MisraGries};

/// The public numbers that fix how a pane is built. Nothing about it depends on the events.
#[derive(Clone, Copy, Debug)]
pub struct PaneShape {
    /// Counters of the open pane; at least `entries`.
    pub capacity: usize,
    /// The most keys that a closed pane keeps: `k`.
    pub entries: u64,
    /// The sketch, where the norm is asked for and panes may be inexact.
    pub sketch: Option<Dimensions>,
    /// Seed of all hashes.
    pub seed: u64,
}

impl PaneShape {
    /// What is subtracted from the counts of a block of `events` events.
    pub fn cut(&self, events: u64) -> u64 {
        events / (self.entries + 1)
    }
}

/// The block that still receives events.
#[derive(Clone, Debug)]
pub struct OpenPane<K> {
    shape: PaneShape,
    events: u64,
    counts: MisraGries<K>,
    sketch: Option<CountSketch>,
    /// Whether the sketch has the events so far. While the table is exact it can wait.
    sketched: bool,
}

impl<K: Key> OpenPane<K> {
    /// A block without events.
    pub fn new(shape: PaneShape) -> Self {
        Self {
            shape,
            events: 0,
            counts: MisraGries::new(shape.capacity, shape.seed),
            sketch: shape
                .sketch
                .map(|dimensions| CountSketch::new(dimensions, shape.seed)),
            sketched: false,
        }
    }

    /// One event with its key, or without one.
    #[inline]
    pub fn update(&mut self, key: Option<&K::Borrowed>) {
        self.events += 1;
        let Some(key) = key else { return };
        let hash = K::hash(key, self.shape.seed);
        if self.sketched {
            self.sketch_event(hash);
        }
        if !self.counts.update(key, hash) {
            if !self.sketched {
                self.sketch_table();
                self.sketch_event(hash);
            }
            self.counts.decrement();
        }
    }

    /// How many events came, with and without keys.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Closes the block. The cut follows from the number of events alone.
    pub fn close(mut self) -> Pane<K> {
        if !self.sketched {
            self.sketch_table();
        }
        let cut = self.shape.cut(self.events);
        let raise = self.counts.decrements();
        let mut counts: Vec<(K, u64)> = Vec::new();
        for (key, counter) in self.counts {
            if counter + raise > cut {
                counts.push((key, counter + raise - cut));
            }
        }
        debug_assert!(counts.len() as u64 <= self.shape.entries);
        counts.shrink_to_fit();
        Pane {
            events: self.events,
            cut,
            mass: self.events - cut,
            counts,
            sketch: self.sketch,
        }
    }

    /// Puts the table into the sketch; only before the first decrement, when it is exact.
    fn sketch_table(&mut self) {
        self.sketched = true;
        let Some(sketch) = &mut self.sketch else {
            return;
        };
        for (key, count) in self.counts.iter() {
            sketch.add(K::hash(key.borrowed(), self.shape.seed), count as i64);
        }
    }

    fn sketch_event(&mut self, hash: u64) {
        if let Some(sketch) = &mut self.sketch {
            sketch.add(hash, 1);
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
    counts: Vec<(K, u64)>,
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
    pub fn counts(&self) -> &[(K, u64)] {
        &self.counts
    }

    /// The sketch, if the shape has one.
    pub fn sketch(&self) -> Option<&CountSketch> {
        self.sketch.as_ref()
    }

    /// Two panes of one shape as one pane with at most `entries` keys.
    pub fn merge(mut self, other: Self, shape: &PaneShape) -> Self {
        let mass = self.mass + other.mass;
        let cut = mass / (shape.entries + 1);
        let counts = sum_by_key(
            [self.counts.iter(), other.counts.iter()].into_iter().flatten(),
            shape.seed,
        )
        .into_iter()
        .filter(|(_, count)| *count > cut)
        .map(|(key, count)| (key.clone(), count - cut))
        .collect();
        if let (Some(sketch), Some(more)) = (&mut self.sketch, &other.sketch) {
            sketch.merge(more);
        }
        Self {
            events: self.events + other.events,
            cut: self.cut + other.cut + cut,
            mass: mass - cut,
            counts,
            sketch: self.sketch,
        }
    }
}

/// Adds up the counts of each key.
pub fn sum_by_key<'a, K: Key + 'a>(
    counts: impl Iterator<Item = &'a (K, u64)>,
    seed: u64,
) -> HashTable<(&'a K, u64)> {
    let mut sums: HashTable<(&K, u64)> = HashTable::with_capacity(counts.size_hint().0);
    let hash = |key: &K| K::hash(key.borrowed(), seed);
    for (key, count) in counts {
        sums.entry(hash(key), |(held, _)| *held == key, |(held, _)| hash(held))
            .and_modify(|(_, sum)| *sum += count)
            .or_insert((key, *count));
    }
    sums
}
