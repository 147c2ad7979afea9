//! The counts of the latest window, carried on from one to the next.

use std::collections::VecDeque;
use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::key::{Footprint, Key};
use crate::pane::Pane;

type SumIndex = u32;

/// What a table takes for a key while it grows to twice its size: seven eighths of the old slots and as many of the new ones are in
/// use, each with a byte of its own.
const SLOTS_A_KEY: (u64, u64) = (24, 7);
/// The same of a vector, whose old slots are all in use.
const ROOMS_A_KEY: u64 = 3;
/// Overhead of an allocation, in bytes.
const ALLOCATION: u64 = 16;

/// The sums of the counts of all panes of a window: a pane that comes is added, one that leaves is taken away, and what does not fit is
/// added up anew. Keys are looked up when they come alone. How many there are decides how long this takes, and nothing else.
pub(crate) struct WindowSums<K> {
    places: HashTable<SumIndex>,
    /// Those of 0 are free.
    sums: Vec<(K, u64)>,
    free: Vec<SumIndex>,
    /// Indices of the keys of each pane, in its order; the first pane is the next to leave.
    panes: VecDeque<Vec<SumIndex>>,
    pub squares: u128,
    /// The positions that it stands for.
    pub window: Range<i64>,
    most_bytes: u64,
    bytes_a_sum: u64,
    seed: u64,
}

impl<K: Key> WindowSums<K> {
    pub fn new(bytes: u64, key: &Footprint, seed: u64) -> Self {
        Self {
            places: HashTable::new(),
            sums: Vec::new(),
            free: Vec::new(),
            panes: VecDeque::new(),
            squares: 0,
            window: i64::MIN..i64::MIN,
            most_bytes: bytes,
            bytes_a_sum: Self::bytes_a_sum(key),
            seed,
        }
    }

    fn bytes_a_sum(key: &Footprint) -> u64 {
        let (slots, of) = SLOTS_A_KEY;
        let place = size_of::<SumIndex>() as u64;
        let rooms = ROOMS_A_KEY * (size_of::<(K, u64)>() as u64 + place);
        (place + 1) * slots / of + rooms + key.packed + ALLOCATION
    }

    pub fn most_bytes(keys: u64, key: &Footprint) -> u64 {
        keys.saturating_mul(Self::bytes_a_sum(key) + size_of::<SumIndex>() as u64)
    }

    /// Adds a pane, after all others. Whether there was room for its keys: where there was not, this stands for nothing any more.
    pub fn add(&mut self, pane: &Pane<K>) -> bool {
        let others = self.panes.iter().map(Vec::len).sum::<usize>() + pane.counts().len();
        let room = self.most_bytes.saturating_sub((others * size_of::<SumIndex>()) as u64);
        let most_keys = room / self.bytes_a_sum;
        let mut places = Vec::with_capacity(pane.counts().len());
        for (key, count) in pane.counts().iter() {
            let place = self.place(key);
            let sum = &mut self.sums[place as usize].1;
            self.squares += u128::from(count) * u128::from(2 * *sum + count);
            *sum += count;
            places.push(place);
            if self.sums.len() as u64 > most_keys {
                return false;
            }
        }
        self.panes.push_back(places);
        true
    }

    #[inline]
    fn place(&mut self, key: K::Ref<'_>) -> SumIndex {
        let (sums, seed) = (&mut self.sums, self.seed);
        let rehash = |place: &SumIndex| K::hash(sums[*place as usize].0.borrowed(), seed);
        let is_same = |place: &SumIndex| sums[*place as usize].0.is(key);
        match self.places.entry(K::hash(key, seed), is_same, rehash) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let new = (K::owned(key), 0);
                let place = self.free.pop().unwrap_or(sums.len() as SumIndex);
                match sums.get_mut(place as usize) {
                    Some(free) => *free = new,
                    None => sums.push(new),
                }
                entry.insert(place);
                place
            }
        }
    }

    pub fn take_away(&mut self, pane: &Pane<K>) {
        let places = self.panes.pop_front().unwrap_or_default();
        debug_assert_eq!(places.len(), pane.counts().len());
        for (place, (_, count)) in places.into_iter().zip(pane.counts().iter()) {
            let (key, sum) = &mut self.sums[place as usize];
            *sum -= count;
            self.squares -= u128::from(count) * u128::from(2 * *sum + count);
            if *sum == 0 {
                let hash = K::hash(key.borrowed(), self.seed);
                if let Ok(entry) = self.places.find_entry(hash, |held| *held == place) {
                    entry.remove();
                }
                self.free.push(place);
            }
        }
    }

    /// The count of a key.
    pub fn get(&self, key: K::Ref<'_>) -> u64 {
        let found = self.places.find(K::hash(key, self.seed), |place| self.sums[*place as usize].0.is(key));
        found.map_or(0, |place| self.sums[*place as usize].1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (K::Ref<'_>, u64)> {
        self.sums.iter().filter(|(_, sum)| *sum > 0).map(|(key, sum)| (key.borrowed(), *sum))
    }

    pub fn bytes(&self) -> u64 {
        let places: usize = self.panes.iter().map(Vec::len).sum();
        self.sums.len() as u64 * self.bytes_a_sum + (places * size_of::<SumIndex>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::key::mix::mix;
    use crate::pane::{OpenPane, PaneShape};

    const PANES: usize = 5;

    fn pane(number: u64) -> Pane<u64> {
        let mut open = OpenPane::new(PaneShape::new(100, 0, None, 1).unwrap());
        (0..40).for_each(|event| open.update(Some(number / 3 + mix(number * 40 + event) % 20)));
        open.close()
    }

    fn added_up(panes: &VecDeque<Pane<u64>>) -> BTreeMap<u64, u64> {
        let mut sums = BTreeMap::new();
        for (key, count) in panes.iter().flat_map(|pane| pane.counts().iter()) {
            *sums.entry(key).or_insert(0) += count;
        }
        sums
    }

    #[test]
    fn sums_are_those_of_the_window_and_room_is_used_again() {
        let mut running = WindowSums::<u64>::new(u64::MAX, &u64::footprint(8), 3);
        let (mut window, mut most) = (VecDeque::new(), 0);
        for number in 0..200 {
            if window.len() == PANES {
                running.take_away(&window.pop_front().unwrap());
            }
            window.push_back(pane(number));
            assert!(running.add(&window[window.len() - 1]));
            let expected = added_up(&window);
            assert_eq!(running.iter().collect::<BTreeMap<_, _>>(), expected);
            assert_eq!(running.iter().count(), expected.len());
            let squares: u64 = expected.values().map(|sum| sum * sum).sum();
            assert_eq!(running.squares, u128::from(squares));
            most = most.max(expected.len());
        }
        assert!(running.sums.len() <= most && running.places.len() <= most);
        window.iter().for_each(|pane| running.take_away(pane));
        assert_eq!((running.iter().count(), running.squares), (0, 0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let footprint = u64::footprint(8);
        let (first, second) = (pane(0), pane(1));
        let bytes = WindowSums::<u64>::most_bytes(first.counts().len() as u64, &footprint);
        let mut running = WindowSums::new(bytes, &footprint, 3);
        assert!(running.add(&first) && !running.add(&second));
        assert!(!WindowSums::new(bytes - 1, &footprint, 3).add(&first));
    }
}
