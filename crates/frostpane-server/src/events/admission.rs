//! Which events are taken, by the clock of the service.

use std::thread;

use frostpane::{Batch, Event};
use frostpane_events::EventRef;

use super::Reading;
use crate::key::ServedKey;

/// Events that are read before threads that answer requests may have the processor.
const TURN: usize = 512;

/// Gathers the events of a request.
pub struct Admission<'a, K> {
    reading: &'a Reading,
    batch: Batch<K>,
    events: usize,
    left_out: u64,
}

impl<'a, K: ServedKey> Admission<'a, K> {
    pub fn new(reading: &'a Reading) -> Self {
        Self { reading, batch: Batch::new(), events: 0, left_out: 0 }
    }

    /// Takes an event, unless it lies before or after those that count: no other event is refused for it.
    #[inline]
    pub fn take(&mut self, event: EventRef<'_>) {
        self.events += 1;
        if self.events.is_multiple_of(TURN) {
            thread::yield_now();
        }
        let Reading { since, present, tolerance, earliest, .. } = *self.reading;
        let latest = present.saturating_add(tolerance);
        // An event that no release can reach any more is counted as left out, rather than dropped silently.
        if event.time.is_some_and(|time| time > latest || time < earliest) {
            self.left_out += 1;
            return;
        }
        // With users an event belongs to the epoch of its own time, and waits for it. Without, times are
        // public, and no key is moved.
        let time = if self.reading.has.user { event.time } else { event.time.map(|time| time.min(present)) };
        let is_before = |time: i64| since.is_some_and(|since| time < since);
        if !time.is_some_and(is_before) {
            self.batch.push(Event { time, key: event.key.and_then(K::parse), user: event.user });
        }
    }

    /// The events that were taken, and the number of those left out.
    pub fn finish(self) -> (Batch<K>, u64) {
        (self.batch, self.left_out)
    }
}
