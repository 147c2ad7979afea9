//! Events that go from one thread to another together.

use std::iter;

use crate::feed::Gathers;
use crate::input::Event;

/// Events and bytes of a batch, about.
const EVENTS: usize = 1 << 12;
const BYTES: usize = 1 << 16;

/// Events, with their keys one after the other.
#[derive(Default)]
pub struct Batch {
    /// Keys, each of them with the user of its event after it.
    bytes: Vec<u8>,
    /// Where the key of each event ends, or [`NOWHERE`] if it has none.
    keys: Vec<u32>,
    /// The same of its user; none at all as long as no event has one.
    users: Vec<u32>,
    /// Of each event; none at all as long as no event has one.
    times: Vec<Option<i64>>,
    /// Of the file that all events are from, by the end of the batch.
    pub bytes_read: u64,
}

const NOWHERE: u32 = u32::MAX;

/// Where an event stands in a batch: at first, the first one.
#[derive(Clone, Copy, Default)]
pub struct Place {
    index: usize,
    /// Of its key, or else of its user.
    start: usize,
}

impl Gathers for Batch {
    const WAITING: usize = 10;

    #[inline]
    fn push(&mut self, event: Event<'_>) {
        if event.time.is_some() || !self.times.is_empty() {
            self.times.resize(self.keys.len(), None);
            self.times.push(event.time);
        }
        let key = self.append(event.key);
        if event.user.is_some() || !self.users.is_empty() {
            self.users.resize(self.keys.len(), NOWHERE);
            let user = self.append(event.user);
            self.users.push(user);
        }
        self.keys.push(key);
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.keys.len() >= EVENTS || self.bytes.len() >= BYTES
    }

    fn clear(&mut self) {
        Batch::clear(self);
    }
}

impl Batch {
    /// Where it ends.
    #[inline]
    fn append(&mut self, bytes: Option<&[u8]>) -> u32 {
        self.bytes.extend_from_slice(bytes.unwrap_or_default());
        bytes.map_or(NOWHERE, |_| self.bytes.len() as u32)
    }

    /// The event at a place, and the place of the next one.
    #[inline]
    pub fn at(&self, place: Place) -> Option<(Event<'_>, Place)> {
        let (key, start) = self.part(place.start, *self.keys.get(place.index)?);
        let user = self.users.get(place.index).copied();
        let (user, start) = self.part(start, user.unwrap_or(NOWHERE));
        let time = self.times.get(place.index).copied().flatten();
        let next = Place {
            index: place.index + 1,
            start,
        };
        Some((Event { time, key, user }, next))
    }

    /// What stands from one place to the other, if it stands anywhere, and where the next begins.
    #[inline]
    fn part(&self, start: usize, end: u32) -> (Option<&[u8]>, usize) {
        match end {
            NOWHERE => (None, start),
            end => (Some(&self.bytes[start..end as usize]), end as usize),
        }
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
        self.bytes.clear();
        self.keys.clear();
        self.users.clear();
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_back_its_events() {
        let event = |time, key, user| Event { time, key, user };
        let (elm, oak) = (Some(b"elm".as_slice()), Some(b"oak".as_slice()));
        let events = [
            event(Some(5), elm, None),
            event(None, None, None),
            event(Some(-1), Some(b""), None),
            event(None, oak, Some(b"u1")),
            event(None, None, Some(b"u2")),
            event(None, oak, None),
            event(Some(7), elm, Some(b"u1")),
        ];
        let mut batch = Batch::default();
        for first in 0..events.len() {
            events[first..].iter().for_each(|event| batch.push(*event));
            assert!(batch.events().eq(events[first..].iter().copied()));
            batch.clear();
        }
    }

    #[test]
    fn a_batch_without_users_has_no_room_for_them() {
        let mut batch = Batch::default();
        let event = Event {
            key: Some(b"elm"),
            ..Event::at(Some(5))
        };
        (0..9).for_each(|_| batch.push(event));
        assert_eq!((batch.users.capacity(), batch.bytes.len()), (0, 27));
    }
}
