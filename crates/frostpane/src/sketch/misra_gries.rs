#![doc = include_str!("misra_gries.md")]

use std::hint::black_box;
use std::marker::PhantomData;
use std::mem;

use crate::key::Key;

/// Tables for up to this many keys are allocated at once; larger ones grow.
const PRESIZED: usize = 1 << 16;
const FEWEST_SLOTS: usize = 16;

/// Misra-Gries with a fixed capacity, and its number of decrements.
#[derive(Clone, Debug)]
pub struct MisraGries<K> {
    slots: Vec<Slot>,
    /// Occupied slots, in the order in which keys arrived.
    places: Vec<u32>,
    /// Bytes of keys that do not fit into a slot.
    store: Vec<u8>,
    /// Emptied slots, kept for their memory.
    spare: Vec<Slot>,
    capacity: usize,
    decrements: u64,
    /// The sum of all squared counters, as long as there was no decrement. It saturates: if it wrapped
    /// around, the norm would move by more than 1 between neighbours.
    squares: u64,
    seed: u64,
    keys: PhantomData<K>,
}

/// The representation of a key, and its counter: 0 in an empty slot.
type Slot = (u64, u64);
const EMPTY: Slot = (0, 0);

impl<K: Key> MisraGries<K> {
    /// An empty table, allocated for the expected number of keys, up to a limit. `seed` is that of the
    /// hashes given to [`update`](Self::update).
    pub fn new(capacity: usize, expected: usize, seed: u64) -> Self {
        Self {
            slots: vec![EMPTY; slots_for(capacity.min(expected).min(PRESIZED))],
            places: Vec::new(),
            store: Vec::new(),
            spare: Vec::new(),
            capacity,
            decrements: 0,
            squares: 0,
            seed,
            keys: PhantomData,
        }
    }

    /// Counts one event if its key has a counter or there is space for one; otherwise leaves the table
    /// unchanged and returns `false`: the caller must then [`decrement`](Self::decrement).
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let slot = &mut self.slots[place];
            let free = slot.1 == 0;
            // One branch for present and for new keys: which of them an event has cannot be predicted.
            if K::holds(slot.0, key, hash, &self.store) | free {
                if free && self.places.len() == self.capacity {
                    return false;
                }
                self.squares = self.squares.saturating_add(2 * slot.1 + 1);
                slot.1 += 1;
                if free {
                    slot.0 = K::hold(key, hash, &mut self.store);
                    self.places.push(place as u32);
                    if self.places.len() * 2 > self.slots.len() {
                        self.grow();
                    }
                }
                return true;
            }
            place = (place + 1) & mask;
        }
    }

    /// Prefetches the slots that keys with these hashes are likely to have, and the stored bytes of
    /// their keys.
    #[inline]
    pub fn look_up(&self, hashes: impl Iterator<Item = u64> + Clone) {
        let mask = self.slots.len() - 1;
        let held = hashes.clone().map(|hash| self.slots[hash as usize & mask].0);
        black_box(held.fold(0, |all, held| all ^ held));
        let held = hashes.map(|hash| self.slots[hash as usize & mask].0);
        black_box(held.fold(0, |all, held| all ^ K::first_byte(held, &self.store)));
    }

    /// Subtracts one from every counter. A counter at zero frees its slot.
    #[cold]
    pub fn decrement(&mut self) {
        self.decrements += 1;
        self.rebuild(self.slots.len(), 1);
    }

    #[cold]
    fn grow(&mut self) {
        self.spare = Vec::new();
        self.rebuild(2 * self.slots.len(), 0);
    }

    /// Moves all keys into a table of `slots` slots and subtracts `less` from their counters.
    fn rebuild(&mut self, slots: usize, less: u64) {
        let mut fresh = mem::take(&mut self.spare);
        fresh.resize(slots, EMPTY);
        let old = mem::replace(&mut self.slots, fresh);
        let places = mem::take(&mut self.places);
        let store = mem::take(&mut self.store);
        for (held, count) in places.iter().map(|place| old[*place as usize]) {
            if count > less
                && let Some(key) = K::held(held, &store)
            {
                self.put(key, count - less);
            }
        }
        if less > 0 {
            self.spare = old;
            self.spare.fill(EMPTY);
        }
    }

    /// Gives a slot to a key that has none.
    fn put(&mut self, key: K::Ref<'_>, count: u64) {
        let hash = K::hash(key, self.seed);
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place].1 > 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = (K::hold(key, hash, &mut self.store), count);
        self.places.push(place as u32);
    }

    /// Restores distinct counters from another table into this one, which must be empty.
    pub fn restore<'a>(&mut self, counters: impl Iterator<Item = (K::Ref<'a>, u64)>, decrements: u64) {
        debug_assert!(self.places.is_empty());
        self.decrements = decrements;
        for (key, count) in counters {
            self.put(key, count);
            self.squares = self.squares.saturating_add(count.saturating_mul(count));
            if self.places.len() * 2 > self.slots.len() {
                self.grow();
            }
        }
    }

    /// Number of decrements.
    pub fn decrements(&self) -> u64 {
        self.decrements
    }

    /// The Euclidean length of the counters, rounded down, if there was no decrement.
    pub fn norm(&self) -> u64 {
        self.squares.isqrt()
    }

    /// Clears all counters and keeps their memory.
    pub fn clear(&mut self) {
        for place in self.places.drain(..) {
            self.slots[place as usize] = EMPTY;
        }
        self.store.clear();
        self.decrements = 0;
        self.squares = 0;
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let slots = (self.slots.capacity() + self.spare.capacity()) * size_of::<Slot>();
        (slots + self.places.capacity() * size_of::<u32>() + self.store.capacity()) as u64
    }

    /// Keys and counters, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (K::Ref<'_>, u64)> {
        self.places.iter().filter_map(|place| {
            let (held, count) = self.slots[*place as usize];
            Some((K::held(held, &self.store)?, count))
        })
    }
}

/// At most half of the slots are taken, so that most keys are found at the first or second.
fn slots_for(keys: usize) -> usize {
    (2 * keys).next_power_of_two().max(FEWEST_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_of_a_huge_block_does_not_wrap_around() {
        let mut table = MisraGries::<u64>::new(4, 4, 0);
        let count = u64::from(u32::MAX);
        assert!(table.update(9, u64::hash(9, 0)));
        let place = table.places[0] as usize;
        table.slots[place].1 = count;
        table.squares = count * count;
        for _ in 0..3 {
            assert!(table.update(9, u64::hash(9, 0)));
            assert!(table.norm().abs_diff(count) <= 1, "{}", table.norm());
        }
    }

    /// Two slots of 16 bytes for each expected key, in a power of two; as many spare ones once a
    /// decrement has emptied some; and four bytes for the place of each key.
    #[test]
    fn a_table_takes_what_its_slots_and_places_take() {
        for (capacity, expected, slots) in [(1_000, 1_000, 2_048), (1_000, 5, 16), (3, 1_000, 16), (9, 9, 32)]
        {
            let mut table = MisraGries::<u64>::new(capacity, expected, 0);
            assert_eq!(table.bytes(), 16 * slots);
            for key in 1..=3 {
                assert!(table.update(key, u64::hash(key, 0)));
            }
            let places = 4 * table.places.capacity() as u64;
            assert!(places >= 12);
            assert_eq!(table.bytes(), 16 * slots + places);
            table.decrement();
            assert_eq!(table.iter().count(), 0);
            let places = 4 * table.places.capacity() as u64;
            assert_eq!(table.bytes(), 2 * 16 * slots + places);
        }
    }

    #[test]
    fn a_table_counts_as_misra_and_gries_do() {
        for (capacity, keys) in [(1, 3), (4, 6), (40, 90), (200, 150)] {
            let mut table = MisraGries::<u64>::new(capacity, 5, 3);
            for _ in 0..2 {
                let mut expected = std::collections::BTreeMap::<u64, u64>::new();
                let mut decrements = 0;
                for i in 0..3_000_u64 {
                    let key = crate::key::mix::mix(i) % keys * (i % 3) / 2;
                    let counted = table.update(key, u64::hash(key, 3));
                    assert_eq!(counted, expected.contains_key(&key) || expected.len() < capacity);
                    if counted {
                        *expected.entry(key).or_default() += 1;
                    } else {
                        table.decrement();
                        decrements += 1;
                        expected.values_mut().for_each(|count| *count -= 1);
                        expected.retain(|_, count| *count > 0);
                    }
                }
                let found: std::collections::BTreeMap<u64, u64> = table.iter().collect();
                assert_eq!((found, table.decrements()), (expected, decrements));
                if decrements == 0 {
                    let squares: u64 = table.iter().map(|(_, count)| count * count).sum();
                    assert_eq!(table.norm(), squares.isqrt());
                }
                table.clear();
                assert_eq!((table.iter().count(), table.decrements(), table.norm()), (0, 0, 0));
            }
        }
    }
}
