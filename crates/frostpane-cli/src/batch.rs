//! Events that go from one thread to another together.

use std::iter;

use crate::input::Event;

/// Events and bytes of a batch, about.
const EVENTS: usize = 1 << 12;
const BYTES: usize = 1 << 16;

/// Events, with their keys one after the other.
#[derive(Default)]
pub struct Batch {
    keys: Vec<u8>,
    /// Where the key of each event ends, or [`NO_KEY`].
    ends: Vec<u32>,
    /// Of each event; none at all as long as no event has one.
    times: Vec<Option<i64>>,
    /// Of the file that all events are from, by the end of the batch.
    pub bytes_read: u64,
}

const NO_KEY: u32 = u32::MAX;

/// Where an event stands in a batch: at first, the first one.
#[derive(Clone, Copy, Default)]
pub struct Place {
    index: usize,
    /// Of its key.
    start: usize,
}

impl Batch {
    #[inline]
    pub fn push(&mut self, event: Event<'_>) {
        if event.time.is_some() || !self.times.is_empty() {
            self.times.resize(self.ends.len(), None);
            self.times.push(event.time);
        }
        self.keys.extend_from_slice(event.key.unwrap_or_default());
        self.ends
            .push(event.key.map_or(NO_KEY, |_| self.keys.len() as u32));
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.ends.len() >= EVENTS || self.keys.len() >= BYTES
    }

    /// The event at a place, and the place of the next one.
    #[inline]
    pub fn at(&self, place: Place) -> Option<(Event<'_>, Place)> {
        let end = *self.ends.get(place.index)?;
        let (key, start) = match end {
            NO_KEY => (None, place.start),
            end => (Some(&self.keys[place.start..end as usize]), end as usize),
        };
        let time = self.times.get(place.index).copied().flatten();
        let next = Place {
            index: place.index + 1,
            start,
        };
        Some((Event { time, key }, next))
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let mut place = Place::default();
        iter::from_fn(move || {
            let (event, next) = self.at(place)?;
            place = next;
            Some(event)
        })
    }

    pub fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_back_its_events() {
        let event = |time, key| Event { time, key };
        let events = [
            event(Some(5), Some(b"elm".as_slice())),
            event(None, None),
            event(Some(-1), Some(b"")),
            event(None, Some(b"oak")),
        ];
        let mut batch = Batch::default();
        for _ in 0..2 {
            events.iter().for_each(|event| batch.push(*event));
            assert!(batch.events().eq(events));
            batch.clear();
        }
    }
}
