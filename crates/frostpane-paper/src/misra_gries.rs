//! Misra-Gries, the deterministic algorithm for `L_1`-heavy hitters of Section 4.
//!
//! `c` counters. An event increments its key's counter, or takes a free one; if none is free, all counters
//! are decremented and the event is dropped.
//!
//! # Accuracy
//!
//! After `n` events, `f - n/(c+1) <= estimate <= f`: each round of decrements takes `c + 1` events away. With
//! `c = 1/alpha` the error is below `alpha n`.
//!
//! # Error in the paper
//!
//! It states without proof that the table has `L_1` sensitivity `alpha m`. One event can decide whether all `c` counters
//! are decremented, and two tables then differ by `c + 1`.

use std::collections::BTreeMap;

/// Misra-Gries with `c` counters.
#[derive(Clone, Debug)]
pub struct PublishedMisraGries {
    counters: usize,
    table: BTreeMap<u64, u64>,
    decrements: u64,
    events: u64,
}

impl PublishedMisraGries {
    /// An empty table of `c` counters. Panics if `counters` is zero.
    pub fn new(counters: usize) -> Self {
        assert!(counters > 0, "Misra-Gries needs at least one counter");
        Self { counters, table: BTreeMap::new(), decrements: 0, events: 0 }
    }

    /// Counts one event.
    pub fn update(&mut self, key: u64) {
        self.events += 1;
        if let Some(count) = self.table.get_mut(&key) {
            *count += 1;
        } else if self.table.len() < self.counters {
            self.table.insert(key, 1);
        } else {
            self.decrements += 1;
            self.table.retain(|_, count| {
                *count -= 1;
                *count > 0
            });
        }
    }

    /// The estimated frequency: zero for a key without a counter.
    pub fn estimate(&self, key: u64) -> u64 {
        self.table.get(&key).copied().unwrap_or(0)
    }

    /// The keys that have a counter, in increasing order, with their estimates.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.table.iter().map(|(&key, &count)| (key, count))
    }

    /// The number of decrements of all counters: the most that an estimate is below the frequency.
    pub fn decrements(&self) -> u64 {
        self.decrements
    }

    /// `n`, the number of events.
    pub fn events(&self) -> u64 {
        self.events
    }
}
