//! Counting of the words of a complete list.
//!
//! Very frequent words are counted in a first pass. The rest is grouped by first bits, so that equal
//! words are counted together in a table that stays in the nearest cache.

mod frequent;
mod table;

use std::slice;

use frequent::Frequent;
use table::WordTable;

/// Expected words of a bucket, and the most buckets.
const BUCKET: usize = 700;
const MOST_BUCKETS: usize = 1 << 9;

/// A word and its count.
pub type WordCount = (u64, u64);

/// Counts lists one after the other in the same memory.
#[derive(Clone, Debug, Default)]
pub struct ListCounter {
    frequent: Frequent,
    buckets: Buckets,
    table: WordTable,
}

impl ListCounter {
    /// Visits, in batches, each word that occurs more than `times` times in a list of fewer than `2^32` words, once. Fast if words look
    /// random. `whole` sees the list first: the frequent words with their counts, and all others one by one.
    pub fn count(
        &mut self,
        list: &[u64],
        times: u64,
        whole: impl FnOnce(&[WordCount], &[u64]),
        mut visit: impl FnMut(&[WordCount]),
    ) {
        let Self { frequent, buckets, table } = self;
        let (often, rest) = frequent.count(list);
        whole(often, rest);
        let more = often.iter().filter(|(_, count)| *count > times);
        more.for_each(|word| visit(slice::from_ref(word)));
        let known = buckets.split(rest);
        buckets.for_each(|bucket| table.count(bucket, known, times, &mut visit));
    }

    pub fn bytes(&self) -> u64 {
        self.frequent.bytes() + self.buckets.bytes() + self.table.bytes()
    }

    /// The most memory, in bytes, for lists of this many words.
    pub fn most_bytes(words: u64) -> u64 {
        Self::default().bytes().saturating_add(words.saturating_mul(2 * size_of::<u64>() as u64))
    }
}

/// A list split by the first bits of its words.
#[derive(Clone, Debug)]
struct Buckets {
    /// The words, bucket by bucket.
    words: Vec<u64>,
    /// The end of each bucket.
    ends: Box<[u32; MOST_BUCKETS]>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { words: Vec::new(), ends: Box::new([0; MOST_BUCKETS]) }
    }
}

impl Buckets {
    /// Splits a list, replacing the previous one. Returns how many bits all words of a bucket share.
    fn split(&mut self, list: &[u64]) -> u32 {
        let bits = list.len().div_ceil(BUCKET).next_power_of_two().min(MOST_BUCKETS).trailing_zeros();
        let bucket = |word: u64| word.unbounded_shr(u64::BITS - bits) as usize % MOST_BUCKETS;
        let next = &mut self.ends;
        next.fill(0);
        list.iter().for_each(|word| next[bucket(*word)] += 1);
        let mut start = 0;
        for next in next.iter_mut() {
            start += std::mem::replace(next, start);
        }
        let words = room(&mut self.words, list.len());
        for word in list {
            let place = &mut next[bucket(*word)];
            words[*place as usize] = *word;
            *place += 1;
        }
        bits
    }

    fn for_each(&mut self, mut visit: impl FnMut(&mut [u64])) {
        let mut start = 0;
        for end in self.ends.iter().map(|end| *end as usize) {
            visit(&mut self.words[start..end]);
            start = end;
        }
    }

    fn bytes(&self) -> u64 {
        (MOST_BUCKETS * size_of::<u32>() + self.words.capacity() * size_of::<u64>()) as u64
    }
}

/// The first `length` elements, after growing the list if needed.
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
    use crate::key::mix::mix;

    /// Lists of all kinds, including words with the same first bits, which overflow the table.
    #[test]
    fn every_word_is_visited_once_with_its_count() {
        let mut tally = ListCounter::default();
        let mixed = |distinct: u64| move |i: u64| mix(mix(i) % distinct);
        let skewed = |i: u64| mix(1e4_f64.powf(mix(i) as f64 / 2_f64.powi(64)) as u64);
        let close = |i: u64| mix(i) % 5_000;
        let both = |i: u64| if i.is_multiple_of(2) { skewed(i) } else { close(i) };
        let long = std::env::var_os("FROSTPANE_LONG").is_some();
        let lengths = [0, 1, 5, 700, 5_000, 20_000, if long { 600_000 } else { 30_000 }];
        for length in lengths {
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
                list.iter().for_each(|word| *expected.entry(*word).or_insert(0_u64) += 1);
                for times in [0, 1, 7, 1 << 33] {
                    let mut counted = BTreeMap::new();
                    let mut whole = BTreeMap::<u64, u64>::new();
                    let add_up = |often: &[WordCount], rest: &[u64]| {
                        let rest = rest.iter().map(|word| (*word, 1));
                        let parts = often.iter().copied().chain(rest);
                        parts.for_each(|(word, count)| *whole.entry(word).or_default() += count);
                    };
                    tally.count(&list, times, add_up, |found| {
                        for (word, count) in found {
                            assert!(counted.insert(*word, *count).is_none());
                        }
                    });
                    whole.retain(|_, count| *count > times);
                    expected.retain(|_, count| *count > times);
                    assert_eq!(whole, expected);
                    assert_eq!(counted, expected, "{length} words, more than {times} times");
                }
                assert!(tally.bytes() <= ListCounter::most_bytes(lengths[6]));
            }
        }
    }

    #[test]
    fn long_lists_are_counted_in_all_buckets() {
        let list: Vec<u64> = (0..390_000).map(|i| mix(i / 3)).collect();
        let mut sum = 0_u64;
        ListCounter::default().count(
            &list,
            2,
            |_, _| (),
            |found| {
                assert!(found.iter().all(|(_, count)| *count == 3));
                sum = found.iter().fold(sum, |sum, (word, _)| sum.wrapping_add(*word));
            },
        );
        assert_eq!(sum, (0..130_000).fold(0, |sum: u64, i| sum.wrapping_add(mix(i))));
    }

    /// Slots of 8 + 4 + 16 bytes for frequent words, of 8 + 4 + 2 + 16 in the table, which sets 1,024
    /// words aside; the end of each bucket; and each word twice.
    #[test]
    fn memory_is_that_of_the_tables_and_of_two_copies_of_the_list() {
        let empty = 1_024 * (8 + 4 + 16) + 2_048 * (8 + 4 + 2 + 16) + 1_024 * 8 + 512 * 4;
        assert_eq!(ListCounter::default().bytes(), empty);
        assert_eq!(ListCounter::most_bytes(1_000), empty + 2 * 8 * 1_000);
        let mut tally = ListCounter::default();
        // Half of the words are frequent: each copy holds as many words as it received.
        let list: Vec<u64> = (0..1_000).map(|i| if i % 2 == 0 { mix(2_000) } else { mix(i) }).collect();
        tally.count(&list, 0, |_, _| (), |_| ());
        assert_eq!(tally.bytes(), empty + 8 * (1_000 + 500));
    }
}
