//! An instance of Algorithm 6 from a timestamp on: Misra-Gries, and a Counter for each key that it reports.
//!
//! A key is reported while Misra-Gries has a counter for it, so both are in one table and an event needs one
//! lookup. [`PublishedMisraGries`](crate::PublishedMisraGries) is the same algorithm in its plain form, and
//! a test compares them.
//!
//! An instance may lag behind the stream and catch up on a run of events at once. There are hundreds of
//! instances: one after the other they stay in the processor's cache, and most are deleted before they begin.

use super::L1Constants;
use crate::answer::AlgorithmForm;
use crate::counter::PublishedCounter;
use crate::smooth_histogram::Instance;

/// Misra-Gries with Counters.
#[derive(Clone, Debug)]
pub(crate) struct ReportingSketch {
    /// Counters of Misra-Gries.
    capacity: usize,
    decrements: u64,
    entries: Vec<ReportedEntry>,
    /// Indices into `entries` by the hash of the key; [`NONE`] in free places.
    index: Vec<u32>,
    /// `t - t_i + 1`.
    length: u64,
    /// The number of these events that it has seen.
    seen: u64,
}

#[derive(Clone, Debug)]
struct ReportedEntry {
    key: u64,
    /// The counter of Misra-Gries, plus all decrements so far.
    count: u64,
    occurrences: Occurrences,
}

/// A Counter that needs no allocation for its first timestamp: most keys are dropped after one event.
#[derive(Clone, Debug)]
enum Occurrences {
    One(u64),
    More(PublishedCounter),
}

impl Occurrences {
    fn update(&mut self, t: u64, error: f64) {
        match self {
            Self::One(first) => {
                let mut counter = PublishedCounter::new(error);
                counter.update(*first);
                counter.update(t);
                *self = Self::More(counter);
            }
            Self::More(counter) => counter.update_within(t, error),
        }
    }

    fn estimate(&self, start: u64) -> u64 {
        match self {
            Self::One(t) => u64::from(*t >= start),
            Self::More(counter) => counter.estimate(start, AlgorithmForm::Intended),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::One(_) => size_of::<Self>() as u64,
            Self::More(counter) => counter.bytes(),
        }
    }
}

const NONE: u32 = u32::MAX;

impl ReportingSketch {
    pub(crate) fn new(constants: &L1Constants) -> Self {
        Self {
            capacity: constants.keys(),
            decrements: 0,
            entries: Vec::new(),
            index: Vec::new(),
            length: 0,
            seen: 0,
        }
    }

    /// Records that an event took place, to be seen later.
    pub(crate) fn defer(&mut self) {
        self.length += 1;
    }

    /// Sees the deferred events, which are the last of `recent`. The last event took place at time `t`;
    /// `error` is Counter's, over the length.
    pub(crate) fn catch_up(&mut self, recent: &[u64], t: u64, error: f64) {
        let deferred = self.length - self.seen;
        for (key, left) in recent[recent.len() - deferred as usize..].iter().zip((0..deferred).rev()) {
            self.see(*key, t - left, error);
        }
    }

    fn see(&mut self, key: u64, t: u64, error: f64) {
        self.seen += 1;
        let error = error * self.seen as f64;
        match self.find(key) {
            Ok(entry) => {
                let entry = &mut self.entries[entry];
                entry.count += 1;
                entry.occurrences.update(t, error);
            }
            Err(_) if self.entries.len() == self.capacity => self.decrement(),
            Err(place) => self.insert(place, key, t),
        }
        if self.seen.is_power_of_two() {
            for entry in &mut self.entries {
                if let Occurrences::More(counter) = &mut entry.occurrences {
                    counter.set_error(error);
                }
            }
        }
    }

    fn insert(&mut self, place: usize, key: u64, t: u64) {
        self.entries.push(ReportedEntry {
            key,
            count: self.decrements + 1,
            occurrences: Occurrences::One(t),
        });
        if 2 * self.entries.len() > self.index.len() {
            self.index = vec![NONE; (4 * self.entries.len()).next_power_of_two()];
            self.reindex();
        } else {
            self.index[place] = self.entries.len() as u32 - 1;
        }
    }

    fn decrement(&mut self) {
        self.decrements += 1;
        self.entries.retain(|entry| entry.count > self.decrements);
        if self.entries.len() < self.capacity {
            self.reindex();
        }
    }

    fn reindex(&mut self) {
        self.index.fill(NONE);
        for entry in 0..self.entries.len() {
            if let Err(place) = self.find(self.entries[entry].key) {
                self.index[place] = entry as u32;
            }
        }
    }

    /// Returns the entry of a key, or the place in the index for it.
    fn find(&self, key: u64) -> Result<usize, usize> {
        if self.index.is_empty() {
            return Err(0);
        }
        let mask = self.index.len() - 1;
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        loop {
            match self.index[place] {
                NONE => return Err(place),
                entry if self.entries[entry as usize].key == key => return Ok(entry as usize),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Each reported key with its Counter's estimate from `start` on.
    pub(crate) fn estimates(&self, start: u64) -> Vec<(u64, u64)> {
        self.entries.iter().map(|entry| (entry.key, entry.occurrences.estimate(start))).collect()
    }
}

impl Instance for ReportingSketch {
    fn value(&self) -> f64 {
        self.length as f64
    }

    fn clear(&mut self) {
        if self.seen > 0 {
            self.entries.clear();
            self.index.fill(NONE);
        }
        (self.decrements, self.length, self.seen) = (0, 0, 0);
    }

    fn bytes(&self) -> u64 {
        const BESIDE: usize = size_of::<ReportedEntry>() - size_of::<Occurrences>();
        let counters: u64 = self.entries.iter().map(|entry| entry.occurrences.bytes()).sum();
        let table = self.entries.len() * BESIDE + size_of_val(&self.index[..]);
        counters + (table + size_of::<Self>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::misra_gries::PublishedMisraGries;

    #[test]
    fn it_reports_what_misra_gries_reports() {
        let constants =
            L1Constants { misra_gries: 1.0 / 7.0, ..L1Constants::published(0.5, 1.0, 1_000).unwrap() };
        let mut reported = ReportingSketch::new(&constants);
        for round in 1..4 {
            let mut plain = PublishedMisraGries::new(7);
            let mut recent = Vec::new();
            for t in 1..=3_000_u64 {
                let key = (t * t * round + t / 7) % 31 % (2 + t % 29);
                plain.update(key);
                recent.push(key);
                reported.defer();
                if t % 5 != 0 {
                    continue;
                }
                reported.catch_up(&recent, t, 0.01);
                recent.clear();
                let mut table: Vec<_> =
                    reported.entries.iter().map(|e| (e.key, e.count - reported.decrements)).collect();
                table.sort_unstable();
                assert_eq!(table, plain.iter().collect::<Vec<_>>(), "time {t}");
            }
            assert!(plain.decrements() > 100);
            reported.clear();
        }
    }
}
