//! A batch of events, handed from one thread to another.

use std::iter;

use super::feed::Gather;
use frostpane_events::EventRef;

/// A batch is full from so many events, or bytes, on.
const EVENTS: usize = 1 << 12;
const BYTES: usize = 1 << 16;

#[derive(Default)]
pub struct EventBatch {
    /// Keys, each followed by the user of its event.
    bytes: Vec<u8>,
    /// The end of the key of each event, or [`NOWHERE`] if it has none.
    keys: Vec<u32>,
    /// The same of users; empty as long as no event has one.
    users: Vec<u32>,
    /// Empty as long as no event has one.
    times: Vec<Option<i64>>,
    /// Bytes of the file read by the end of the batch, if all events are from one file.
    pub bytes_read: u64,
}

const NOWHERE: u32 = u32::MAX;

/// The position of an event in a batch: by default, of the first.
#[derive(Clone, Copy, Default)]
pub struct BatchCursor {
    index: usize,
    /// The beginning of its key, or of its user if it has no key.
    start: usize,
}

impl Gather for EventBatch {
    const WAITING: usize = 10;

    #[inline]
    fn push(&mut self, event: EventRef<'_>) {
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
        self.bytes.clear();
        self.keys.clear();
        self.users.clear();
        self.times.clear();
    }
}

impl EventBatch {
    /// Returns the end of what was appended.
    #[inline]
    fn append(&mut self, bytes: Option<&[u8]>) -> u32 {
        self.bytes.extend_from_slice(bytes.unwrap_or_default());
        bytes.map_or(NOWHERE, |_| self.bytes.len() as u32)
    }

    /// The event at a position, and the position of the next one.
    #[inline]
    pub fn at(&self, at: BatchCursor) -> Option<(EventRef<'_>, BatchCursor)> {
        let (key, start) = self.part(at.start, *self.keys.get(at.index)?);
        let user = self.users.get(at.index).copied();
        let (user, start) = self.part(start, user.unwrap_or(NOWHERE));
        let time = self.times.get(at.index).copied().flatten();
        let next = BatchCursor { index: at.index + 1, start };
        Some((EventRef { time, key, user }, next))
    }

    #[inline]
    fn part(&self, start: usize, end: u32) -> (Option<&[u8]>, usize) {
        match end {
            NOWHERE => (None, start),
            end => (Some(&self.bytes[start..end as usize]), end as usize),
        }
    }

    pub fn events(&self) -> impl Iterator<Item = EventRef<'_>> {
        let mut cursor = BatchCursor::default();
        iter::from_fn(move || {
            let (event, next) = self.at(cursor)?;
            cursor = next;
            Some(event)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_back_its_events() {
        let event = |time, key, user| EventRef { time, key, user };
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
        let mut batch = EventBatch::default();
        for first in 0..events.len() {
            events[first..].iter().for_each(|event| batch.push(*event));
            assert!(batch.events().eq(events[first..].iter().copied()));
            batch.clear();
        }
    }

    #[test]
    fn a_batch_without_users_has_no_room_for_them() {
        let mut batch = EventBatch::default();
        let event = EventRef { key: Some(b"elm"), ..EventRef::at(Some(5)) };
        (0..9).for_each(|_| batch.push(event));
        assert_eq!((batch.users.capacity(), batch.bytes.len()), (0, 27));
    }
}
