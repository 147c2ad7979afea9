//! The keys that a release may name: declared or open.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::codec::{damaged, pack_number, unpack_number};
use crate::error::{Error, Result};
use crate::key::{Key, LONGEST_KEY};

/// The keys a release may name. Declare them where they can be known without looking at the events:
/// that costs no delta, and fewer keys have less noise.
///
/// ```
/// use frostpane::{Bytes, Keys};
///
/// # fn main() -> frostpane::Result<()> {
/// let ports = Keys::range(0..65_536)?;
/// let pages = Keys::list(["/", "/about", "/jobs"].map(|page| Bytes::from(page.as_bytes())))?;
/// let searches = Keys::<Bytes>::open();
/// assert!(Keys::range(5..5).is_err(), "no keys at all");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub enum Keys<K: Key> {
    /// Any key that occurs. A release then needs a `delta` above zero.
    Open,
    /// The keys of a universe fixed before any data. Every one of them receives noise, including those
    /// that never occur. Releases are pure: `delta` is zero.
    #[non_exhaustive]
    Declared(Arc<dyn Universe<K>>),
}

impl<K: Key> Keys<K> {
    /// Any key that occurs.
    pub fn open() -> Self {
        Keys::Open
    }

    /// A list of keys that is known without looking at the events. Repeated keys count once.
    pub fn list(keys: impl IntoIterator<Item = K>) -> Result<Self> {
        Ok(Keys::Declared(Arc::new(KeyList::new(keys)?)))
    }

    /// Returns true if a release may name the key: a declared one or, of open keys, one that is short enough.
    #[inline]
    pub(crate) fn may_name(&self, key: K::Ref<'_>) -> bool {
        match self {
            Keys::Open => K::fits(key),
            Keys::Declared(universe) => universe.rank(key).is_some(),
        }
    }

    /// Encodes the declared keys themselves, so that they can be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Keys::Declared(universe) = self else {
            return bytes;
        };
        match universe.range() {
            Some(range) => {
                bytes.push(RANGE);
                pack_number(range.start, &mut bytes);
                pack_number(range.end, &mut bytes);
            }
            None => {
                bytes.push(LIST);
                universe.for_each(&mut |key| K::pack(key, &mut bytes));
            }
        }
        bytes
    }

    /// Decodes stored keys.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = |kind: u8, mut rest: &[u8]| match kind {
            RANGE => {
                let range = unpack_number(&mut rest)?..unpack_number(&mut rest)?;
                K::of_range(range).filter(|_| rest.is_empty())
            }
            LIST => {
                let mut keys = Vec::new();
                while !rest.is_empty() {
                    keys.push(K::owned(K::unpack(&mut rest)?));
                }
                Self::list(keys).ok()
            }
            _ => None,
        };
        match bytes.split_first() {
            None => Ok(Keys::Open),
            Some((kind, rest)) => {
                read(*kind, rest).ok_or_else(|| damaged("the declared keys cannot be read"))
            }
        }
    }
}

const RANGE: u8 = 0;
const LIST: u8 = 1;

impl Keys<u64> {
    /// The integers of a range.
    pub fn range(range: Range<u64>) -> Result<Self> {
        if range.is_empty() {
            return Err(Error::parameter(format!(
                "the range of keys {}..{} is empty: its end must be above its start",
                range.start, range.end
            )));
        }
        Ok(Keys::Declared(Arc::new(range)))
    }
}

/// A fixed set of keys, numbered from 0. Implemented in this crate only: a set that changes over time would break privacy.
pub trait Universe<K: Key>: Send + Sync {
    fn size(&self) -> u64;
    /// The number of a key, if it is in the universe.
    fn rank(&self, key: K::Ref<'_>) -> Option<u64>;
    /// The key of a number below `size`.
    fn key(&self, rank: u64) -> K;
    fn for_each(&self, visit: &mut dyn FnMut(K::Ref<'_>));
    /// The range of integers that it consists of, if it does.
    fn range(&self) -> Option<Range<u64>> {
        None
    }
    /// Its largest memory use in bytes, including while it was read.
    fn bytes(&self) -> u64 {
        0
    }
    /// A bound on the mean length of the keys of any pane; `None` if all keys have the same length.
    fn key_bytes(&self) -> Option<u64> {
        None
    }
}

impl Universe<u64> for Range<u64> {
    fn size(&self) -> u64 {
        self.end - self.start
    }

    fn rank(&self, key: u64) -> Option<u64> {
        self.contains(&key).then(|| key - self.start)
    }

    fn key(&self, rank: u64) -> u64 {
        self.start + rank
    }

    fn for_each(&self, visit: &mut dyn FnMut(u64)) {
        self.clone().for_each(visit)
    }

    fn range(&self) -> Option<Range<u64>> {
        Some(self.clone())
    }
}

struct KeyList<K> {
    keys: Vec<K>,
    index: HashTable<usize>,
    bytes: u64,
    key_bytes: u64,
}

/// The mean length of this many of the longest keys bounds that of any pane: panes keep no fewer.
const LONGEST: usize = 64;

impl<K: Key> KeyList<K> {
    fn new(keys: impl IntoIterator<Item = K>) -> Result<Self> {
        let mut keys: Vec<K> = keys.into_iter().collect();
        let bytes = Self::most_bytes(&keys);
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            return Err(Error::parameter(
                "the list of declared keys is empty: give at least one key, or leave the keys open",
            ));
        }
        if let Some(long) = keys.iter().position(|key| !K::fits(key.borrowed())) {
            return Err(Error::parameter(format!(
                "a declared key is longer than {LONGEST_KEY} bytes (number {long} of the sorted list): such keys are not counted, leave it out"
            )));
        }
        let hash = |&i: &usize| K::hash(keys[i].borrowed(), 0);
        let mut index = HashTable::with_capacity(keys.len());
        for i in 0..keys.len() {
            index.insert_unique(hash(&i), i, hash);
        }
        Ok(Self { key_bytes: Self::mean_of_longest(&keys), keys, index, bytes })
    }

    fn mean_of_longest(keys: &[K]) -> u64 {
        let mut lengths: Vec<u64> = keys.iter().map(|key| K::length(key.borrowed())).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.truncate(LONGEST);
        lengths.iter().sum::<u64>().div_ceil(lengths.len() as u64)
    }

    fn most_bytes(keys: &[K]) -> u64 {
        let blocks = keys.iter().map(|key| K::footprint(K::length(key.borrowed())).block);
        // While a list grows, its previous allocation still exists.
        let rooms = size_of_val(keys) / 2 * 3;
        let slots = (keys.len() / 7 * 8 + 8).next_power_of_two() * (size_of::<usize>() + 1);
        blocks.sum::<u64>() + (rooms + slots) as u64
    }
}

impl<K: Key> Universe<K> for KeyList<K> {
    fn size(&self) -> u64 {
        self.keys.len() as u64
    }

    fn rank(&self, key: K::Ref<'_>) -> Option<u64> {
        self.index.find(K::hash(key, 0), |&i| self.keys[i].is(key)).map(|&i| i as u64)
    }

    fn key(&self, rank: u64) -> K {
        self.keys[rank as usize].clone()
    }

    fn for_each(&self, visit: &mut dyn FnMut(K::Ref<'_>)) {
        self.keys.iter().for_each(|key| visit(key.borrowed()))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn key_bytes(&self) -> Option<u64> {
        Some(self.key_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;

    fn assert_numbered<K: Key>(keys: Keys<K>, expected: &[K]) {
        let Keys::Declared(universe) = keys else { panic!("open keys") };
        assert_eq!(universe.size(), expected.len() as u64);
        let mut visited = 0;
        universe.for_each(&mut |key| {
            assert!(expected[visited].is(key));
            visited += 1;
        });
        assert_eq!(visited, expected.len());
        for (rank, key) in (0..).zip(expected) {
            assert!(universe.key(rank) == *key);
            assert_eq!(universe.rank(key.borrowed()), Some(rank));
        }
    }

    #[test]
    fn a_list_numbers_its_keys_in_order_and_repeated_ones_once() {
        let texts = ["pear", "fig", "pear", "", "plum", "fig", "pear"];
        let list = Keys::list(texts.map(|text| Bytes::from(text.as_bytes()))).unwrap();
        assert_numbered(list.clone(), &["", "fig", "pear", "plum"].map(|text| Bytes::from(text.as_bytes())));
        let Keys::Declared(universe) = list else { panic!() };
        assert_eq!(universe.rank(b"quince"), None);

        let many: Vec<u64> = (0..1_000).map(|i| i * i % 1_009).collect();
        let mut sorted = many.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(sorted.len() < many.len());
        assert_numbered(Keys::list(many).unwrap(), &sorted);
    }

    /// Memory includes repeated keys; the mean key length is that of the longest 64.
    #[test]
    fn a_list_says_what_it_takes_and_how_long_its_keys_are() {
        let known = |keys: Vec<Bytes>| {
            let Keys::Declared(universe) = Keys::list(keys).unwrap() else { panic!() };
            (universe.bytes(), universe.key_bytes())
        };
        let key = |number: usize, length: usize| Bytes::from(format!("{number:0length$}").as_bytes());
        // Entries of 16 bytes, and half as much again while growing; blocks of 32 bytes; slots of 9.
        let once: Vec<Bytes> = (0..1_000).map(|number| key(number, 10)).collect();
        assert_eq!(known(once), (1_000 * (24 + 32) + 2_048 * 9, Some(10)));
        let again = (0..2_000).map(|number| key(number / 2, 10)).collect();
        assert_eq!(known(again), (2_000 * (24 + 32) + 4_096 * 9, Some(10)));
        let mixed = (0..1_000).map(|number| key(number, if number < 32 { 110 } else { 10 }));
        assert_eq!(known(mixed.collect()).1, Some(60));
        let Keys::Declared(range) = Keys::range(0..9).unwrap() else { panic!() };
        assert_eq!((range.bytes(), range.key_bytes()), (0, None));
    }

    #[test]
    fn a_range_numbers_its_keys_from_its_start() {
        assert_numbered(Keys::range(5..9).unwrap(), &[5, 6, 7, 8]);
        let Keys::Declared(universe) = Keys::range(5..9).unwrap() else { panic!() };
        assert_eq!([4, 9].map(|key| universe.rank(key)), [None, None]);
    }
}
