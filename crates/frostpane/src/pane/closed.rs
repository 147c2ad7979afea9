//! Closed panes.

use hashbrown::HashTable;

use super::packed::PackedCounts;
use super::shape::Parameters;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::sketch::CountSketch;

/// A closed pane: the summary of a block of events that has ended.
#[derive(Clone, Debug)]
pub struct Pane<K> {
    pub(super) made_with: Parameters,
    /// Number of events of the block.
    pub(super) events: u64,
    /// Total amount subtracted: `f - cut <= v <= f` for every key.
    pub(super) cut: u64,
    /// A public bound on the sum of `v`.
    pub(super) mass: u64,
    /// The keys with `v >= 1`.
    pub(super) counts: PackedCounts<K>,
    /// A sketch of all events, if the shape has one and the counts are not exact.
    pub(super) sketch: Option<CountSketch>,
}

impl<K: Key> Pane<K> {
    /// A pane of a block of `events` events after its cut.
    pub(super) fn new(
        made_with: Parameters,
        events: u64,
        counts: PackedCounts<K>,
        sketch: Option<CountSketch>,
    ) -> Self {
        debug_assert!(counts.len() as u64 <= made_with.entries());
        let cut = made_with.cut(events);
        Self { made_with, events, cut, mass: events - cut, counts, sketch }
    }

    /// A pane of exact counts, from which nothing is cut.
    pub fn exact(made_with: Parameters, counts: PackedCounts<K>) -> Self {
        let events = counts.iter().map(|(_, count)| count).sum();
        Self { made_with, events, cut: 0, mass: events, counts, sketch: None }
    }

    /// The public parameters of the pane.
    #[cfg(any(test, feature = "internals"))]
    pub fn made_with(&self) -> Parameters {
        self.made_with
    }

    /// Checks that the pane can be added to panes with these parameters.
    pub fn check(&self, others: Parameters) -> Result<()> {
        if self.made_with == others {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Pane,
            format!(
                "a pane was made with {:?}, and cannot be added up with panes that were made with {others:?}: make all panes of a \
                 window with the same specification and seed",
                self.made_with
            ),
        ))
    }

    /// Number of events of the block.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The most that a count may lie below the true count.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The keys whose count is at least 1, in no order.
    pub fn counts(&self) -> &PackedCounts<K> {
        &self.counts
    }

    /// The sketch of all events, if there is one.
    pub fn sketch(&self) -> Option<&CountSketch> {
        self.sketch.as_ref()
    }

    /// Adds all events to a sketch with the same seed, and of the same dimensions unless the pane is exact.
    pub fn add_to(&self, sum: &mut CountSketch) -> Result<()> {
        match &self.sketch {
            Some(sketch) => sum.merge(sketch),
            None => {
                sum.check_seed(self.made_with.seed())?;
                sum.extend(self.hashed());
                Ok(())
            }
        }
    }

    fn hashed(&self) -> impl Iterator<Item = (u64, u64)> {
        let hash = |key| K::hash(key, self.made_with.seed());
        self.counts.iter().map(move |(key, count)| (hash(key), count))
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.counts.bytes() + self.sketch.as_ref().map_or(0, CountSketch::bytes)
    }

    /// Merges panes with the same parameters.
    pub fn merge(panes: impl IntoIterator<Item = Self>, made_with: Parameters) -> Result<Self> {
        let panes: Vec<Self> = panes.into_iter().collect();
        panes.iter().try_for_each(|pane| pane.check(made_with))?;
        let mass: u64 = panes.iter().map(|pane| pane.mass).sum();
        let cut = made_with.cut(mass);
        let total_cut = cut + panes.iter().map(|pane| pane.cut).sum::<u64>();
        let mut sketch = (total_cut > 0).then(|| made_with.empty_sketch()).flatten();
        if let Some(sketch) = &mut sketch {
            panes.iter().try_for_each(|pane| pane.add_to(sketch))?;
        }
        let counts = merge_counts(panes.iter().collect(), cut, made_with.seed());
        Ok(Self {
            made_with,
            events: panes.iter().map(|pane| pane.events).sum(),
            cut: total_cut,
            mass: mass - cut,
            counts,
            sketch,
        })
    }
}

/// The counts of all panes together, reduced by `cut`. The largest pane is only looked up in a table of
/// the others: a key that none of them has is kept or dropped by its own count.
fn merge_counts<K: Key>(mut panes: Vec<&Pane<K>>, cut: u64, seed: u64) -> PackedCounts<K> {
    panes.sort_by_key(|pane| pane.counts.len());
    let largest = panes.pop();
    let mut sums = HashTable::with_capacity(panes.iter().map(|pane| pane.counts.len()).sum());
    for pane in panes {
        add_up::<K>(&mut sums, pane.counts.iter(), seed);
    }
    let mut alone = Vec::new();
    for (key, count) in largest.iter().flat_map(|pane| pane.counts.iter()) {
        match sums.find_mut(K::hash(key, seed), |(held, _)| *held == key) {
            Some((_, sum)) => *sum += count,
            None if count > cut => alone.push((key, count)),
            None => {}
        }
    }
    let kept = alone.iter().chain(sums.iter().filter(|(_, sum)| *sum > cut));
    PackedCounts::collect(kept.map(|(key, count)| (*key, count - cut)))
}

/// Adds counts to the sums of their keys.
pub fn add_up<'a, K: Key>(
    sums: &mut HashTable<(K::Ref<'a>, u64)>,
    counts: impl Iterator<Item = (K::Ref<'a>, u64)>,
    seed: u64,
) {
    for (key, count) in counts {
        sums.entry(K::hash(key, seed), |(held, _)| *held == key, |(held, _)| K::hash(*held, seed))
            .and_modify(|(_, sum)| *sum += count)
            .or_insert((key, count));
    }
}
