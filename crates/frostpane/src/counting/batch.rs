//! Events that are taken together, or not at all.

use std::marker::PhantomData;

use super::event::{Event, check_time};
use crate::codec::{Reader, damaged};
use crate::error::Result;
use crate::key::{Bytes, Key};

/// Flags of what an event has.
const TIME: u8 = 1;
const USER: u8 = 2;
const KEY: u8 = 4;

/// Events in the order of their arrival, as they are written down: what an event is does not depend on those before it.
#[derive(Clone, Debug)]
pub struct Batch<K> {
    bytes: Vec<u8>,
    events: usize,
    /// Number of events with a time; true if all times lie in the calendar.
    pub(super) timed: usize,
    pub(super) in_calendar: bool,
    keys: PhantomData<K>,
}

impl<K> Default for Batch<K> {
    fn default() -> Self {
        Self { bytes: Vec::new(), events: 0, timed: 0, in_calendar: true, keys: PhantomData }
    }
}

impl<K: Key> Batch<K> {
    /// Without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more event.
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) {
        // A key that is too long is none, here as in memory.
        let key = event.key.filter(|key| K::fits(*key));
        let has = |given, flag| if given { flag } else { 0 };
        let what =
            has(event.time.is_some(), TIME) | has(event.user.is_some(), USER) | has(key.is_some(), KEY);
        self.bytes.push(what);
        if let Some(time) = event.time {
            self.see(time);
            self.bytes.extend_from_slice(&time.to_le_bytes());
        }
        if let Some(user) = event.user {
            Bytes::pack(user, &mut self.bytes);
        }
        if let Some(key) = key {
            K::pack(key, &mut self.bytes);
        }
        self.events += 1;
    }

    #[inline]
    fn see(&mut self, time: i64) {
        self.timed += 1;
        self.in_calendar &= check_time(time).is_ok();
    }

    /// The events of another batch, after these.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes);
        self.events += other.events;
        self.timed += other.timed;
        self.in_calendar &= other.in_calendar;
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = Event<'_, K>> {
        let mut rest = &*self.bytes;
        std::iter::from_fn(move || next(&mut rest))
    }

    /// As they are written down.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Events that were written down.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let mut batch = Self::new();
        let mut rest = &*bytes;
        while !rest.is_empty() {
            let event = next::<K>(&mut rest).ok_or_else(|| damaged("an event ends early"))?;
            batch.events += 1;
            event.time.into_iter().for_each(|time| batch.see(time));
        }
        Ok(Self { bytes, ..batch })
    }

    /// Forgets the events, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.events, self.timed, self.in_calendar) = (0, 0, true);
    }
}

/// Takes an event from the front; none if there is no whole one.
#[inline]
fn next<'a, K: Key>(rest: &mut &'a [u8]) -> Option<Event<'a, K>> {
    let (what, after) = rest.split_first()?;
    let mut from = Reader::new(after);
    let time = (what & TIME != 0).then(|| from.array().map(i64::from_le_bytes));
    let time = time.transpose().ok()?;
    let user = (what & USER != 0).then(|| Bytes::unpack(from.rest()));
    let key = (what & KEY != 0).then(|| K::unpack(from.rest()).filter(|key| K::fits(*key)));
    if *what > TIME | USER | KEY || user == Some(None) || key.is_some_and(|key| key.is_none()) {
        return None;
    }
    *rest = from.rest();
    Some(Event { time, key: key.flatten(), user: user.flatten() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::LONGEST_KEY;

    #[test]
    fn events_are_read_as_they_were_written() {
        let long = vec![b'x'; LONGEST_KEY + 1];
        let events = [
            Event::of(b"".as_slice()),
            Event::at(-5, b"\xff".as_slice()),
            Event::by(b"", 9, b"key".as_slice()),
            Event::by(b"someone", i64::MAX, long.as_slice()),
            Event { time: None, key: None, user: None },
        ];
        let mut batch = Batch::<Bytes>::new();
        events.into_iter().for_each(|event| batch.push(event));
        let read = Batch::<Bytes>::from_bytes(batch.as_bytes().to_vec()).unwrap();
        assert_eq!((read.len(), batch.len()), (5, 5));
        for (read, mut event) in read.events().zip(events) {
            event.key = event.key.filter(|key| key.len() <= LONGEST_KEY);
            assert_eq!((read.time, read.user, read.key), (event.time, event.user, event.key));
        }
        for length in 1..batch.as_bytes().len() {
            let part = Batch::<Bytes>::from_bytes(batch.as_bytes()[..length].to_vec());
            assert!(part.is_err() || part.unwrap().len() < 5);
        }
    }
}
