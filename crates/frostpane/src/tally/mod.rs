//! The counts of a list of words that is there as a whole.
//!
//! Words that come all the time are counted on the way. What is left is put in the order of its first bits, so
//! that what may be the same is counted together, in a table that stays in the nearest cache.

mod frequent;
mod parts;
mod table;

use frequent::Frequent;
use parts::Parts;
use table::Table;

/// A word, and how often it came.
pub type Counted = (u64, u64);

/// Counts lists one after the other in the same memory.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    frequent: Frequent,
    parts: Parts,
    table: Table,
}

impl Tally {
    /// Visits each word of a list of fewer than `2^32` that came more than so many times, once, some of them at a
    /// time. It is fast where the words look random in all their bits.
    pub fn count(&mut self, list: &[u64], times: u64, mut visit: impl FnMut(&[Counted])) {
        let Self {
            frequent,
            parts,
            table,
        } = self;
        let rest = frequent.count(list, times, &mut visit);
        let known = parts.split(rest);
        parts.for_each(|part| table.count(part, known, times, &mut visit));
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.frequent.bytes() + self.parts.bytes() + self.table.bytes()
    }

    /// The most bytes that it takes for lists of so many words.
    pub fn most_bytes(words: u64) -> u64 {
        Self::default()
            .bytes()
            .saturating_add(words.saturating_mul(2 * size_of::<u64>() as u64))
    }
}

/// The first places of a list, with as many more as are needed.
fn room(list: &mut Vec<u64>, length: usize) -> &mut [u64] {
    if list.len() < length {
        list.reserve_exact(length - list.len());
        list.resize(length, 0);
    }
    &mut list[..length]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sketch::count_sketch::mix;

    /// Lists of all kinds, also of words with the same first bits, for which the table is too small.
    #[test]
    fn every_word_is_visited_once_with_its_count() {
        let mut tally = Tally::default();
        let mixed = |distinct: u64| move |i: u64| mix(mix(i) % distinct);
        let skewed = |i: u64| mix(1e4_f64.powf(mix(i) as f64 / 2_f64.powi(64)) as u64);
        let close = |i: u64| mix(i) % 5_000;
        let both = |i: u64| if i.is_multiple_of(2) { skewed(i) } else { close(i) };
        for length in [0, 1, 5, 700, 5_000, 20_000, 600_000] {
            let lists: [Vec<u64>; 6] = [
                (0..length).map(mixed(1)).collect(),
                (0..length).map(mixed(900)).collect(),
                (0..length).map(mixed(1 << 40)).collect(),
                (0..length).map(skewed).collect(),
                (0..length).map(close).collect(),
                (0..length).map(both).collect(),
            ];
            for list in lists {
                let mut expected = BTreeMap::new();
                list.iter()
                    .for_each(|word| *expected.entry(*word).or_insert(0_u64) += 1);
                for times in [0, 1, 7, 1 << 33] {
                    let mut counted = BTreeMap::new();
                    tally.count(&list, times, |found| {
                        for (word, count) in found {
                            assert!(counted.insert(*word, *count).is_none());
                        }
                    });
                    expected.retain(|_, count| *count > times);
                    assert_eq!(counted, expected, "{length} words, more than {times} times");
                }
                assert!(tally.bytes() <= Tally::most_bytes(600_000));
            }
        }
    }
}
