#![doc = include_str!("misra_gries.md")]

use hashbrown::HashTable;

use crate::key::Key;

/// Tables up to this size are made at once, larger ones grow.
const PRESIZED: usize = 1 << 16;

/// Misra-Gries with a fixed capacity and the number of decrements it has made.
#[derive(Clone, Debug)]
pub struct MisraGries<K> {
    /// Keys with counters of at least 1; never more than `capacity` of them.
    counters: HashTable<(K, u64)>,
    capacity: usize,
    decrements: u64,
    /// The sum of all squared counters, as long as there was no decrement. It stays at its most: wrapped around,
    /// the norm would move by more than 1 between neighbours.
    squares: u64,
    seed: u64,
}

impl<K: Key> MisraGries<K> {
    /// An empty table. `seed` is that of the hashes given to [`update`](Self::update).
    pub fn new(capacity: usize, seed: u64) -> Self {
        Self {
            counters: HashTable::with_capacity(capacity.min(PRESIZED)),
            capacity,
            decrements: 0,
            squares: 0,
            seed,
        }
    }

    /// Counts one event if its key has a counter or there is room for one; otherwise leaves the
    /// table as it is and returns `false`: the caller must [`decrement`](Self::decrement).
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>, hash: u64) -> bool {
        if let Some((_, count)) = self.counters.find_mut(hash, |(held, _)| held.is(key)) {
            self.squares = self.squares.saturating_add(2 * *count + 1);
            *count += 1;
            return true;
        }
        if self.counters.len() == self.capacity {
            return false;
        }
        let seed = self.seed;
        self.squares = self.squares.saturating_add(1);
        self.counters
            .insert_unique(hash, (K::owned(key), 1), |(held, _)| {
                K::hash(held.borrowed(), seed)
            });
        true
    }

    /// Takes one from every counter. A counter at zero gives up its slot.
    #[cold]
    pub fn decrement(&mut self) {
        self.decrements += 1;
        self.counters.retain(|(_, count)| {
            *count -= 1;
            *count > 0
        });
    }

    /// How often every counter was decremented.
    pub fn decrements(&self) -> u64 {
        self.decrements
    }

    /// The Euclidean length of the counters, rounded down, if there was no decrement.
    pub fn norm(&self) -> u64 {
        self.squares.isqrt()
    }

    /// Forgets all counters, and keeps their memory.
    pub fn clear(&mut self) {
        self.counters.clear();
        self.decrements = 0;
        self.squares = 0;
    }

    /// How many bytes the table takes, without what its keys hold elsewhere.
    pub fn bytes(&self) -> u64 {
        self.counters.allocation_size() as u64
    }

    /// The keys and their counters, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (K::Ref<'_>, u64)> {
        self.counters.iter().map(|(key, count)| (key.borrowed(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_of_a_huge_block_does_not_wrap_around() {
        let mut table = MisraGries::<u64>::new(4, 0);
        let count = u64::from(u32::MAX);
        table
            .counters
            .insert_unique(u64::hash(9, 0), (9, count), |(key, _)| u64::hash(*key, 0));
        table.squares = count * count;
        for _ in 0..3 {
            assert!(table.update(9, u64::hash(9, 0)));
            assert!(table.norm().abs_diff(count) <= 1, "{}", table.norm());
        }
    }
}
