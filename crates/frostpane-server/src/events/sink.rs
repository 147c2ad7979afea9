//! Where events go when they have been read.

use std::thread;

use axum::http::StatusCode;
use frostpane::{Batch, Event};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{Has, Read, Reading};
use crate::key::ServedKey;
use crate::problem::{Problem, Result};
use crate::stream::Columns;

/// What becomes of events that are wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wrong {
    /// The first refuses the request as a whole.
    #[default]
    Refuse,
    /// They are left out, and counted.
    Skip,
}

/// Why an event cannot be read: by its form alone, never by what its key or user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not in the form that was said.
    Syntax,
    /// It has no field for its key.
    NoKey,
    /// It has no time.
    NoTime,
    /// Its time is none.
    NotATime,
    /// It has no field for its user.
    NoUser,
    /// A field is there twice.
    Twice,
}

/// Events that are read before threads that answer requests may have the processor.
const TURN: usize = 512;
/// Bytes of a user at most: what is longer is nobody's name.
const LONGEST_USER: usize = 1 << 16;

fn is_name(user: &&[u8]) -> bool {
    (1..=LONGEST_USER).contains(&user.len())
}

/// Gathers events of a request.
pub struct Sink<'a, K> {
    reading: &'a Reading,
    batch: Batch<K>,
    wrong: u64,
    /// How many more may come.
    left: usize,
}

/// The parts of an event as they were found. What was not there is not the same as what was empty.
#[derive(Default)]
pub struct Parts<'a> {
    /// The key; within, none if the event has none that counts.
    pub key: Option<Option<&'a [u8]>>,
    /// The time, if it is one.
    pub time: Option<Option<i64>>,
    /// The user.
    pub user: Option<Option<&'a [u8]>>,
}

impl<'a, K: ServedKey> Sink<'a, K> {
    /// Without events.
    pub fn new(reading: &'a Reading) -> Self {
        Self {
            reading,
            batch: Batch::new(),
            wrong: 0,
            left: reading.most,
        }
    }

    /// Where events have their parts.
    pub fn columns(&self) -> &'a Columns {
        &self.reading.columns
    }

    /// What an event has.
    pub fn has(&self) -> Has {
        self.reading.has
    }

    /// One more event, of this line.
    pub fn push(&mut self, line: u64, parts: std::result::Result<Parts<'_>, Fault>) -> Result<()> {
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return Err(too_many(self.reading.most)),
        };
        if self.left.is_multiple_of(TURN) {
            thread::yield_now();
        }
        match parts.and_then(|parts| self.check(parts)) {
            Ok(event) => {
                self.admit(event);
                Ok(())
            }
            Err(_) if self.reading.wrong == Wrong::Skip => {
                self.wrong += 1;
                Ok(())
            }
            Err(fault) => Err(self.refusal(fault).at(line)),
        }
    }

    /// Takes an event, unless it lies before or after those that count: nobody else's is refused for it.
    #[inline]
    fn admit(&mut self, mut event: Event<'_, K>) {
        let Reading {
            since,
            present,
            tolerance,
            earliest,
            ..
        } = *self.reading;
        let latest = present.saturating_add(tolerance);
        // What no list can reach any more is said to be left out, rather than dropped silently.
        if event.time.is_some_and(|time| time > latest || time < earliest) {
            self.wrong += 1;
            return;
        }
        // Of users an event belongs to the epoch of its own time, and waits for it. Of events the time is no secret, and no key is moved.
        if !self.reading.has.user {
            event.time = event.time.map(|time| time.min(present));
        }
        let is_before = |time: i64| since.is_some_and(|since| time < since);
        if !event.time.is_some_and(is_before) {
            self.batch.push(event);
        }
    }

    #[inline]
    fn check<'b>(&self, parts: Parts<'b>) -> std::result::Result<Event<'b, K>, Fault> {
        let has = self.reading.has;
        Ok(Event {
            key: parts
                .key
                .ok_or(Fault::NoKey)?
                .filter(|key| !key.is_empty())
                .and_then(K::parse),
            time: match has.time {
                true => Some(parts.time.ok_or(Fault::NoTime)?.ok_or(Fault::NotATime)?),
                false => None,
            },
            user: match has.user {
                true => parts.user.ok_or(Fault::NoUser)?.filter(is_name),
                false => None,
            },
        })
    }

    /// What whoever sent it is told.
    pub fn refusal(&self, fault: Fault) -> Problem {
        let Columns { key, time, user } = &self.reading.columns;
        let time = time.as_deref().unwrap_or("time");
        let (error, then) = match fault {
            Fault::Syntax => (
                "an event is not written as Content-Type says".to_owned(),
                "correct it".to_owned(),
            ),
            Fault::NoKey => (
                format!("an event has no field {key:?} for its key"),
                "give it one; null if it has no key".to_owned(),
            ),
            Fault::NoTime => (
                format!("an event has no field {time:?} for its time"),
                "give it one: as in RFC 3339, with Z or an offset, or a number since 1970; or have the time of arrival taken, by creating the stream with ?time=arrival".to_owned(),
            ),
            Fault::NotATime => (
                format!("the field {time:?} of an event is no time"),
                "give one as in RFC 3339, with Z or an offset, or a number since 1970".to_owned(),
            ),
            Fault::NoUser => (
                format!("people are protected, but an event has no field {user:?} for its user"),
                "give it one".to_owned(),
            ),
            Fault::Twice => (
                "an event has a field twice".to_owned(),
                "give each once".to_owned(),
            ),
        };
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("{error}: nothing of the request was taken"),
            format!("{then}, or leave out what is wrong with ?wrong=skip"),
        )
    }

    /// All that were read.
    pub fn finish(self) -> Read {
        Read {
            events: self.batch.len() as u64,
            batch: K::any(self.batch),
            wrong: self.wrong,
        }
    }
}

/// That a request has too many events.
fn too_many(most: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the request has more than {most} events: nothing of it was taken"),
        "send them in several requests, each with an Idempotency-Key of its own",
    )
}
