//! The counts of the latest window, carried on from one to the next.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::key::{Footprint, Key};
use crate::pane::Pane;

/// What a table takes for a key while it grows to twice its size: seven eighths of the old slots and as many of the new ones are in
/// use, each with a byte of its own.
const SLOTS_A_KEY: (u64, u64) = (24, 7);
/// What an allocation takes beside its bytes.
const ALLOCATION: u64 = 16;

/// The sums of the counts of all panes of a window. A pane that comes is added and one that leaves is taken away, so that
/// a window costs what changed since the one before it. How many keys there are decides how long this takes, and nothing else:
/// what does not fit is added up anew.
pub(crate) struct Running<K> {
    sums: HashTable<(K, u64)>,
    squares: u128,
    /// The positions that it stands for.
    window: Range<i64>,
    most_keys: u64,
    bytes_a_key: u64,
    seed: u64,
}

impl<K: Key> Running<K> {
    /// Of no panes so far, in so much memory.
    pub fn new(bytes: u64, key: &Footprint, seed: u64) -> Self {
        Self {
            sums: HashTable::new(),
            squares: 0,
            window: i64::MIN..i64::MIN,
            most_keys: bytes / Self::bytes_a_key(key),
            bytes_a_key: Self::bytes_a_key(key),
            seed,
        }
    }

    fn bytes_a_key(key: &Footprint) -> u64 {
        let (slots, of) = SLOTS_A_KEY;
        (size_of::<(K, u64)>() as u64 + 1) * slots / of + key.packed + ALLOCATION
    }

    /// The most memory for so many keys.
    pub fn most_bytes(keys: u64, key: &Footprint) -> u64 {
        keys.saturating_mul(Self::bytes_a_key(key))
    }

    /// Whether it stands for this window.
    pub fn is_of(&self, window: &Range<i64>) -> bool {
        self.window == *window
    }

    /// Where it begins and ends.
    pub fn window(&self) -> &Range<i64> {
        &self.window
    }

    /// All panes of this window have been added, and no others.
    pub fn set_window(&mut self, window: Range<i64>) {
        self.window = window;
    }

    /// Adds a pane. Whether there was room for its keys: where there was not, this stands for nothing any more.
    pub fn add(&mut self, pane: &Pane<K>) -> bool {
        let (seed, keys) = (self.seed, self.sums.len() as u64);
        let mut room = self.most_keys.saturating_sub(keys);
        for (key, count) in pane.counts().iter() {
            let (hash, rehash) = (K::hash(key, seed), |(held, _): &(K, u64)| {
                K::hash(held.borrowed(), seed)
            });
            match self.sums.entry(hash, |(held, _)| held.is(key), rehash) {
                Entry::Occupied(mut entry) => {
                    let sum = &mut entry.get_mut().1;
                    self.squares += u128::from(count) * u128::from(2 * *sum + count);
                    *sum += count;
                }
                Entry::Vacant(_) if room == 0 => return false,
                Entry::Vacant(entry) => {
                    room -= 1;
                    self.squares += u128::from(count) * u128::from(count);
                    entry.insert((K::owned(key), count));
                }
            }
        }
        true
    }

    /// Takes a pane away that was added.
    pub fn take_away(&mut self, pane: &Pane<K>) {
        for (key, count) in pane.counts().iter() {
            let found = self
                .sums
                .find_entry(K::hash(key, self.seed), |(held, _)| held.is(key));
            let Ok(mut entry) = found else { continue };
            let sum = &mut entry.get_mut().1;
            *sum -= count;
            self.squares -= u128::from(count) * u128::from(2 * *sum + count);
            if *sum == 0 {
                entry.remove();
            }
        }
    }

    /// Every key with its sum.
    pub fn iter(&self) -> impl Iterator<Item = (K::Ref<'_>, u64)> {
        self.sums.iter().map(|(key, sum)| (key.borrowed(), *sum))
    }

    /// The sum of all squared sums.
    pub fn squares(&self) -> u128 {
        self.squares
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.sums.len() as u64 * self.bytes_a_key
    }
}
