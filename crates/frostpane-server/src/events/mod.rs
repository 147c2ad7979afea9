//! Events of requests: limits, turns of the processor, the clock, and refusals that never show a part of a line.

pub mod format;
mod refusal;
mod unpack;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod neighbours;

use std::thread;

use frostpane::{Batch, Bytes, Event, Tally};
use frostpane_events::{Column, Error, Format, OnInvalid, Schema, read_bytes};
use frostpane_store::KeyKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::key::{AnyBatch, ServedKey};
use crate::problem::{Problem, Result};
use crate::stream::EventColumns;
pub use unpack::{too_large, unpack};

/// The treatment of events that are wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wrong {
    /// The first refuses the request as a whole.
    #[default]
    Refuse,
    /// Those that cannot be read are events without a key and without a user; those without a time to be had
    /// are left out. All are counted.
    Skip,
}

/// Events that are read before threads that answer requests may have the processor.
const TURN: u64 = 512;

/// The format and the columns of events, and the clock.
#[derive(Clone, Debug)]
pub struct ParseRules {
    pub format: Format,
    pub columns: EventColumns,
    pub keys: KeyKind,
    /// An event has a time of its own.
    pub has_time: bool,
    pub has_user: bool,
    pub wrong: Wrong,
    /// Events before this moment are left out.
    pub since: Option<i64>,
    /// Because clocks differ, some events are a little later: they count as of the present or, with users, as of
    /// their own time. Those later still are left out, as wrong.
    pub present: i64,
    /// Events before this moment are in no window any more, and left out too.
    pub earliest: i64,
    /// Microseconds that count as a little later than the present.
    pub tolerance: i64,
    pub most: usize,
}

#[derive(Debug)]
pub struct ParsedEvents {
    pub batch: AnyBatch,
    pub counts: EventCounts,
}

/// Numbers of events of a request by their outcome, as they are answered and stored with its id; null if an
/// earlier version of the service took the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct EventCounts {
    /// Events of the request.
    pub events: Option<u64>,
    /// Events that count for a key, before bounds of users.
    counted: Option<u64>,
    /// Events whose pane, or epoch, had ended. They do not count when they are sent again.
    late: Option<u64>,
    /// Events later than the clock by more than the tolerance. They do not count when they are sent again.
    ahead: Option<u64>,
    /// Events in time without a key that counts.
    without_key: Option<u64>,
    /// Events in time without a user, where users are protected.
    without_user: Option<u64>,
    /// Events that could not be read: with a time they are events without a key, and else they are left out.
    pub wrong: Option<u64>,
}

impl EventCounts {
    /// Adds the outcome of the events that were in time when they were parsed.
    pub fn with(self, tally: &Tally) -> Self {
        let add = |parsed: Option<u64>, more: u64| Some(parsed.unwrap_or(0) + more);
        let (late, ahead) = (add(self.late, tally.late), add(self.ahead, tally.ahead));
        let parsed = [self.late, self.ahead].into_iter().flatten().sum::<u64>();
        let counted = self.events.map(|events| events.saturating_sub(parsed + tally.not_counted()));
        Self {
            counted,
            late,
            ahead,
            without_key: Some(tally.without_key),
            without_user: Some(tally.without_user),
            ..self
        }
    }
}

#[cfg(test)]
impl ParseRules {
    /// Rules that leave no time out, of keys that are bytes, without times or users.
    fn all_of(format: Format, wrong: Wrong) -> Self {
        Self {
            format,
            wrong,
            columns: EventColumns::default(),
            keys: KeyKind::Bytes,
            has_time: false,
            has_user: false,
            since: None,
            present: i64::MAX,
            earliest: i64::MIN,
            tolerance: 0,
            most: usize::MAX,
        }
    }
}

impl ParseRules {
    fn schema(&self) -> Schema {
        let EventColumns { key, time, user } = &self.columns;
        let column = |name: &str| Column::Name(name.to_owned());
        Schema {
            key: (self.format != Format::Text).then(|| column(key)),
            time: time.as_deref().filter(|_| self.has_time).map(column),
            by_clock: self.has_time,
            user: self.has_user.then(|| column(user)),
            on_invalid: match self.wrong {
                Wrong::Refuse => OnInvalid::Refuse,
                Wrong::Skip => OnInvalid::Count,
            },
            most_events: self.most as u64,
            ..Schema::default()
        }
    }
}

pub fn read(body: &[u8], rules: &ParseRules) -> Result<ParsedEvents> {
    match rules.keys {
        KeyKind::Bytes => read_as::<Bytes>(body, rules),
        KeyKind::Integers => read_as::<u64>(body, rules),
    }
}

fn read_as<K: ServedKey>(body: &[u8], rules: &ParseRules) -> Result<ParsedEvents> {
    if rules.format == Format::Text && (rules.has_time || rules.has_user) {
        return Err(Problem::invalid(
            "a line of text is a key alone, but events of this stream have a time or a user too",
            "send JSON Lines, CSV or Arrow; or have events take the time of their arrival, by creating the stream with ?time=arrival",
        ));
    }
    let latest = rules.present.saturating_add(rules.tolerance);
    // With users an event belongs to the epoch of its own time, and waits for it. Without, times are public,
    // and no key is moved.
    let latest_counted = if rules.has_user { latest } else { rules.present };
    let (mut batch, mut seen, mut late, mut ahead) = (Batch::<K>::new(), 0_u64, 0, 0);
    let tally = read_bytes(body, rules.format, &rules.schema(), |event| {
        seen += 1;
        if seen.is_multiple_of(TURN) {
            thread::yield_now();
        }
        // No release can reach an event before this: the library need not see it.
        let earliest = rules.since.map_or(rules.earliest, |since| since.max(rules.earliest));
        if event.time.is_some_and(|time| time > latest) {
            ahead += 1;
        } else if event.time.is_some_and(|time| time < earliest) {
            late += 1;
        } else {
            let time = event.time.map(|time| time.min(latest_counted));
            batch.push(Event { time, key: event.key.and_then(K::parse), user: event.user });
        }
        Ok::<_, Error>(())
    })
    .map_err(|error| refusal::of(error, rules))?;
    let counts = EventCounts {
        events: Some(seen),
        late: Some(late),
        ahead: Some(ahead),
        wrong: Some(tally.unreadable - tally.not_text),
        ..EventCounts::default()
    };
    Ok(ParsedEvents { batch: K::any(batch), counts })
}
