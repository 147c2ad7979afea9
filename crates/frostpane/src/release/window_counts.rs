//! Sums of the counts of a window by key.

use std::borrow::Cow;

use hashbrown::HashTable;

use crate::counting::events::WindowSums;
use crate::error::Result;
use crate::key::Key;
use crate::pane::{Pane, add_up};
use crate::release::request::Request;
use crate::sketch::count_sketch::sum_of_squares;

/// The smallest table that is worth a pass of its own, in keys, and the most passes.
const SMALL_TABLE: u64 = 1 << 14;
const MOST_PASSES: u64 = 16;

/// The number of keys to add up at a time, for at most this many entries.
pub(crate) fn keys_at_a_time(entries: u64) -> u64 {
    entries / passes(entries, SMALL_TABLE)
}

/// The number of passes over the panes: each takes memory for its own keys only.
fn passes(entries: u64, keys_at_a_time: u64) -> u64 {
    entries.div_ceil(keys_at_a_time.max(SMALL_TABLE)).next_power_of_two().min(MOST_PASSES)
}

/// The panes of a window, to be added up in several passes.
pub(crate) struct WindowCounts<'a, K: Key> {
    panes: &'a [Cow<'a, Pane<K>>],
    passes: u64,
    seed: u64,
}

impl<'a, K: Key> WindowCounts<'a, K> {
    pub fn new(panes: &'a [Cow<'a, Pane<K>>], request: &Request<K>) -> Self {
        let entries: usize = panes.iter().map(|pane| pane.counts().len()).sum();
        Self { panes, passes: passes(entries as u64, request.keys_at_a_time), seed: request.shape.seed() }
    }

    /// Visits every key once with the sum of its counts, in tables of keys.
    pub fn for_each_table(
        &self,
        mut visit: impl FnMut(&HashTable<(K::Ref<'a>, u64)>) -> Result<()>,
    ) -> Result<()> {
        let mut sums = HashTable::new();
        for pass in 0..self.passes {
            let is_now = |key| self.passes == 1 || (K::hash(key, self.seed) >> 32) % self.passes == pass;
            sums.clear();
            for pane in self.panes {
                let counts = pane.counts().iter().filter(|(key, _)| is_now(*key));
                add_up::<K>(&mut sums, counts, self.seed);
            }
            visit(&sums)?;
        }
        Ok(())
    }
}

/// Every key of a window once, with its count.
pub(crate) enum CountSource<'a, K: Key> {
    /// Carried over from the previous window.
    WindowSums(&'a WindowSums<K>),
    /// Panes to be added up.
    Panes(WindowCounts<'a, K>),
}

impl<'a, K: Key> CountSource<'a, K> {
    pub fn of_panes(panes: &'a [Cow<'a, Pane<K>>], request: &Request<K>) -> Self {
        CountSource::Panes(WindowCounts::new(panes, request))
    }

    /// Visits every key.
    pub fn for_each(&self, mut visit: impl FnMut(K::Ref<'_>, u64) -> Result<()>) -> Result<()> {
        match self {
            CountSource::WindowSums(sums) => sums.iter().try_for_each(|(key, sum)| visit(key, sum)),
            CountSource::Panes(panes) => {
                panes.for_each_table(|table| table.iter().try_for_each(|(key, sum)| visit(*key, *sum)))
            }
        }
    }

    /// The counts of some keys, in their order.
    pub fn counts_of(&self, keys: &[K]) -> Result<Vec<u64>> {
        let mut counts = vec![0; keys.len()];
        match self {
            CountSource::WindowSums(sums) => {
                counts.iter_mut().zip(keys).for_each(|(count, key)| *count = sums.get(key.borrowed()));
            }
            CountSource::Panes(panes) => panes.for_each_table(|table| {
                for (count, key) in counts.iter_mut().zip(keys) {
                    let hash = K::hash(key.borrowed(), panes.seed);
                    *count += table.find(hash, |(held, _)| key.is(*held)).map_or(0, |(_, sum)| *sum);
                }
                Ok(())
            })?,
        }
        Ok(counts)
    }

    /// The sum of all squared counts.
    pub fn squares(&self) -> Result<u128> {
        match self {
            CountSource::WindowSums(sums) => Ok(sums.squares),
            CountSource::Panes(panes) => {
                let mut squares = 0;
                panes.for_each_table(|table| {
                    squares += sum_of_squares(table.iter().map(|(_, sum)| *sum));
                    Ok(())
                })?;
                Ok(squares)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::key::Keys;
    use crate::pane::PaneShape;
    use crate::release::test_oracle::{pane, request};
    use crate::spec::Norm;

    /// A power of two of at most sixteen, each pass of about 16,384 keys or of as many as the memory allows.
    #[test]
    fn there_are_as_many_passes_as_keep_the_tables_small_up_to_sixteen() {
        for (entries, expected) in [
            (0, 1),
            (1, 1),
            (16_384, 1),
            (16_385, 2),
            (32_768, 2),
            (32_769, 4),
            (100_000, 8),
            (262_144, 16),
            (1 << 40, 16),
        ] {
            assert_eq!(passes(entries, 0), expected, "{entries}");
            assert_eq!(keys_at_a_time(entries), entries / expected, "{entries}");
        }
        assert_eq!([40_000, 40_001].map(|entries| passes(entries, 40_000)), [1, 2]);
    }

    /// 20,000 keys in each of three panes, two thirds of them in the next one too: the expected number
    /// of tables, none empty and none with nearly all keys.
    #[test]
    fn many_entries_are_added_up_in_several_passes() {
        let shape = PaneShape::new(1 << 20, 0, None, 5).unwrap();
        let panes: Vec<_> =
            (0..3).map(|number| pane((0..20_000).map(|i| Some(number * 6_667 + i)), shape)).collect();
        let request = request(Norm::L1, 1.0, Keys::Open, shape);
        let (mut all, mut tables) = (BTreeMap::new(), 0);
        WindowCounts::new(&panes, &request)
            .for_each_table(|table| {
                tables += 1;
                assert!((7_000..10_000).contains(&table.len()), "{}", table.len());
                table.iter().for_each(|(key, sum)| assert!(all.insert(*key, *sum).is_none()));
                Ok(())
            })
            .unwrap();
        assert_eq!(tables, 4);
        for (key, sum) in &all {
            let expected = (0..3).filter(|number| (number * 6_667..number * 6_667 + 20_000).contains(key));
            assert_eq!(*sum, expected.count() as u64, "{key}");
        }
        assert_eq!(all.len(), 2 * 6_667 + 20_000);
    }
}
