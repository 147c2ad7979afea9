//! Upper bounds on the memory of panes and releases.

use serde::Serialize;

use crate::key::Footprint;
use crate::pane::list_count::ListCounter;
use crate::pane::norm_bound::NormBound;
use crate::plan::layout::LEVEL_SKETCH;
use crate::plan::listing::Listing;
use crate::release::keys_at_a_time;
use crate::sketch::count_sketch::Dimensions;

/// The most memory that each part takes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// The counts of closed panes.
    pub closed: u64,
    /// The tables of open panes.
    pub open: u64,
    /// The sketches.
    pub sketches: u64,
    /// The additional memory of a release.
    pub release: u64,
    /// The noise tables of continual release.
    pub noise: u64,
    /// The list of declared keys.
    pub keys: u64,
    /// Contributions of users while they are counted, with user-level privacy; the rest goes to disk.
    pub users: u64,
    /// Spare memory used to save time: the counts of a window, carried over to the next.
    pub running: u64,
    /// The program itself.
    pub program: u64,
    #[serde(skip)]
    pub(crate) keys_at_a_time: u64,
}

const COUNT: u64 = size_of::<u64>() as u64;
/// A slot of an open pane's table is two of these.
const WORD: u64 = size_of::<u64>() as u64;
const PLACE: u64 = size_of::<u32>() as u64;
/// Most packed counts of full panes are below 128.
const PACKED_COUNT: u64 = 1;
/// A closed pane in a queue that grows by doubling, with the header of its counts but without them.
const CLOSED_PANE: u64 = 256;
/// A pane as a release refers to it.
const COVERED_PANE: u64 = 112;

pub(crate) struct MemoryInputs {
    pub panes: u64,
    /// The most open panes at a time.
    pub open: u64,
    /// The threads that close panes, besides the one that fills them.
    pub others: u64,
    /// The most keys of an open pane that lists its keys.
    pub list: Option<u64>,
    /// The most keys of an open pane.
    pub capacity: u64,
    /// The most keys of all closed panes together.
    pub entries: u64,
    /// True if counters are never decremented.
    pub exact: bool,
    pub sketch: Option<Dimensions>,
    /// The levels of a histogram.
    pub levels: u64,
    /// The number of declared keys.
    pub universe: Option<u64>,
    /// Bytes for the number of a declared key that occurs.
    pub rank: u64,
    /// The number of releases held at a time.
    pub lists: u64,
    pub listing: Listing,
}

impl Memory {
    pub(crate) fn new(load: &MemoryInputs, key: &Footprint) -> Self {
        let MemoryInputs { panes, open, capacity, entries, .. } = *load;
        let packed = key.packed.saturating_add(PACKED_COUNT);
        let all = entries.saturating_add(times(open, capacity));
        let keys_at_a_time = keys_at_a_time(all);
        let ranks = times(load.universe.map_or(0, |size| size.min(all)), load.rank);
        let kept = times(capacity, packed);
        let (block, closer) = match load.list {
            Some(events) => {
                let closer = ListCounter::most_bytes(events).saturating_add(kept);
                // Panes that end by their norm: its bound, and the counts from which it is computed.
                let norm = if load.levels > 0 { kept.saturating_add(NormBound::BYTES) } else { 0 };
                (times(events, WORD).saturating_add(norm), closer)
            }
            None => {
                // A decrement moves all keys to another table.
                let tables = if load.exact { 1 } else { 2 };
                let table = times(2 * WORD, power_of_two_from(times(2, capacity)));
                let held = times(capacity, PLACE.saturating_add(key.held));
                (times(tables, table.saturating_add(held)), kept)
            }
        };
        // Each thread has one block in work, two waiting and one returning empty.
        let blocks = open.saturating_add(times(4, load.others));
        Self {
            closed: times(panes, CLOSED_PANE).saturating_add(times(entries, packed)),
            open: times(blocks, block).saturating_add(times(1 + load.others, closer)),
            sketches: load
                .sketch
                .map_or(0, |sketch| times(panes.saturating_add(2 * open), sketch.bytes()))
                .saturating_add(times(load.levels, load.sketch.unwrap_or(LEVEL_SKETCH).bytes())),
            // The open panes are packed for the release as if they were closed.
            release: [
                times(open, times(capacity, packed)),
                times(panes, COVERED_PANE),
                selected(load, keys_at_a_time, key),
                ranks,
            ]
            .into_iter()
            .fold(0, u64::saturating_add),
            keys_at_a_time,
            ..Self::default()
        }
    }

    pub(crate) fn panes(&self) -> u64 {
        self.closed.saturating_add(self.open).saturating_add(self.sketches)
    }

    /// The total of all parts.
    pub fn total(&self) -> u64 {
        [
            self.closed,
            self.open,
            self.sketches,
            self.release,
            self.noise,
            self.keys,
            self.users,
            self.running,
            self.program,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

/// A table and a list of the keys that are added up at a time, with their previous allocations while they grow.
fn summed(keys: u64, key: &Footprint) -> u64 {
    // More keys fall into the largest part than on average.
    let keys = keys.saturating_add(8 * keys.isqrt());
    let entry = key.reference + COUNT;
    let grown = hash_table(keys, entry).saturating_add(times(power_of_two_from(keys), entry));
    grown.saturating_add(grown / 2)
}

fn drawn(absent: u64) -> u64 {
    match absent {
        0 => 0,
        absent => hash_table(absent, COUNT).saturating_add(times(absent, 2 * COUNT)),
    }
}

/// For the keys that pass: the larger of the memory while they are selected and while a list is made of
/// them. All lists are written at the end.
fn selected(load: &MemoryInputs, keys_at_a_time: u64, key: &Footprint) -> u64 {
    let Listing { keys, absent } = load.listing;
    let passed = key.reference + COUNT;
    let before = times(load.lists - 1, times(keys, key.in_list()));
    let finding = summed(keys_at_a_time, key)
        .max(drawn(absent))
        .saturating_add(times(keys, passed.saturating_add(key.block)));
    let listing = times(keys, passed.saturating_add(key.in_list()));
    before.saturating_add(finding.max(listing))
}

fn times(a: u64, b: u64) -> u64 {
    a.saturating_mul(b)
}

fn power_of_two_from(number: u64) -> u64 {
    number.checked_next_power_of_two().unwrap_or(u64::MAX)
}

/// A table that grows by doubling and is at most seven eighths full, with one more byte for each slot.
fn hash_table(entries: u64, entry: u64) -> u64 {
    times(power_of_two_from((entries / 7).saturating_mul(8).saturating_add(8)), entry + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Footprint = Footprint { held: 21, listed: false, packed: 20, reference: 16, block: 32 };

    fn load() -> MemoryInputs {
        MemoryInputs {
            panes: 10,
            open: 3,
            others: 2,
            list: None,
            capacity: 1_000,
            entries: 5_000,
            exact: false,
            sketch: Some(Dimensions { rows: 5, width: 256 }),
            levels: 4,
            universe: Some(7_000),
            rank: 8,
            lists: 1,
            listing: Listing { keys: 900, absent: 300 },
        }
    }

    /// Every part by itself, from the contents of its tables and lists.
    #[test]
    fn memory_is_that_of_all_tables_and_lists() {
        let memory = Memory::new(&load(), &KEY);
        assert_eq!(memory.closed, 10 * 256 + 5_000 * 21);
        // Slots of two words for twice as many keys, a power of two; the place of a slot; the key.
        // Twice, for decrements.
        let block = 2_048 * 16 + 1_000 * (4 + 21);
        assert_eq!(memory.open, (3 + 4 * 2) * 2 * block + 3 * 1_000 * 21);
        assert_eq!(memory.sketches, (10 + 2 * 3 + 4) * 5 * 256 * 8);
        // 8,000 keys and some more are in 16,384 slots; plus the allocation before they grew.
        let summed = (16_384 * (16 + 8 + 1) + 16_384 * (16 + 8)) / 2 * 3;
        assert_eq!(memory.keys_at_a_time, 8_000);
        let passed = 900 * (16 + 8 + 32);
        assert_eq!(memory.release, 3 * 1_000 * 21 + 10 * 112 + summed + passed + 7_000 * 8);
        let all = memory.closed + memory.open + memory.sketches + memory.release;
        assert_eq!(Memory { keys: 1_000, program: 99, ..memory }.total(), all + 1_099);
    }

    /// Absent keys are drawn in a table after the others are done; a list has its counts beside its keys.
    #[test]
    fn long_lists_take_more_than_the_tables_that_they_come_from() {
        let release = |keys, absent, lists| {
            let listing = Listing { keys, absent };
            let memory = Memory::new(&MemoryInputs { listing, lists, ..load() }, &KEY);
            memory.release
                - Memory::new(&MemoryInputs { listing: Listing { keys: 0, absent: 0 }, ..load() }, &KEY)
                    .release
        };
        let summed = summed(8_000, &KEY);
        // 100,000 keys are in 131,072 slots of 9 bytes, each with its number and its count.
        let drawn = 131_072 * 9 + 100_000 * 16;
        assert_eq!(release(1_000, 100_000, 1) + summed, drawn + 1_000 * 56);
        let one = 100_000 * (24 + 72);
        assert_eq!(release(100_000, 0, 1) + summed, one);
        assert_eq!(release(100_000, 0, 3) + summed, one + 2 * 100_000 * 72);
    }

    #[test]
    fn exact_blocks_have_one_table_and_lists_none() {
        let exact = MemoryInputs { exact: true, universe: None, sketch: None, ..load() };
        let list = |levels| MemoryInputs { list: Some(700), levels, ..load() };
        let [inexact, exact, by_norm, list] =
            [load(), exact, list(4), list(0)].map(|load| Memory::new(&load, &KEY));
        let block = 2_048 * 16 + 1_000 * (4 + 21);
        assert_eq!(exact.open, 11 * block + 3 * 1_000 * 21);
        assert_eq!(inexact.release - exact.release, 7_000 * 8);
        assert_eq!(exact.sketches, 4 * 5 * 512 * 8);
        let closer = ListCounter::default().bytes() + 2 * 8 * 700 + 1_000 * 21;
        assert_eq!(list.open, 11 * 8 * 700 + 3 * closer);
        assert_eq!(by_norm.open - list.open, 11 * (4_096 * 4 + 1_000 * 21));
    }

    /// Seven eighths of the slots are enough for all keys; half as many slots would not be.
    #[test]
    fn a_table_has_slots_for_an_eighth_more() {
        for entries in [0, 1, 7, 13, 14, 55, 56, 447, 448, 100_000] {
            let slots = hash_table(entries, 9) / 10;
            assert!(slots.is_power_of_two() && slots / 8 * 7 >= entries, "{entries}: {slots}");
            assert!(slots <= 8 || slots / 2 / 8 * 7 <= entries, "{entries}: {slots}");
        }
        assert_eq!(hash_table(u64::MAX, 9), u64::MAX);
    }
}
