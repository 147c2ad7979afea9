//! Events of requests: what HTTP adds to [`frostpane_events`]. That is limits, turns of the processor, the
//! clock, and refusals that name the line and never show a part of it.

mod admission;
pub mod format;
mod refusal;
mod unpack;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod neighbours;

use frostpane::Bytes;
use frostpane_events::{Column, Error, Format, OnInvalid, Schema, read_bytes};
use frostpane_store::KeyKind;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::key::{AnyBatch, ServedKey};
use crate::problem::{Problem, Result};
use crate::stream::Columns;
use admission::Admission;
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

/// The format and the columns of events, and the clock.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Their format.
    pub format: Format,
    /// The names of their columns.
    pub columns: Columns,
    /// The type of the keys.
    pub keys: KeyKind,
    /// The columns that an event of this stream has.
    pub has: Has,
    /// The treatment of those that are wrong.
    pub wrong: Wrong,
    /// Those before this moment are left out.
    pub since: Option<i64>,
    /// The present. Because clocks differ some are a little later: those are of this moment or, of users, of
    /// their own. Those later still are left out, as wrong.
    pub present: i64,
    /// Those before this moment are in no window any more, and left out too.
    pub earliest: i64,
    /// Microseconds that count as a little later than the present.
    pub tolerance: i64,
    /// The largest number of events.
    pub most: usize,
}

/// The columns of an event beside its key.
#[derive(Clone, Copy, Debug)]
pub struct Has {
    /// A time of its own.
    pub time: bool,
    /// A user.
    pub user: bool,
}

/// Events that were read.
#[derive(Debug)]
pub struct Read {
    /// Those that can be taken.
    pub batch: AnyBatch,
    /// The number of those.
    pub events: u64,
    /// The number of those that could not be read, or were left out.
    pub wrong: u64,
}

impl Reading {
    fn schema(&self) -> Schema {
        let Columns { key, time, user } = &self.columns;
        let column = |name: &str| Column::Name(name.to_owned());
        Schema {
            key: (self.format != Format::Text).then(|| column(key)),
            time: time.as_deref().filter(|_| self.has.time).map(column),
            by_clock: self.has.time,
            user: self.has.user.then(|| column(user)),
            on_invalid: match self.wrong {
                Wrong::Refuse => OnInvalid::Refuse,
                Wrong::Skip => OnInvalid::Count,
            },
            most_events: self.most as u64,
            ..Schema::default()
        }
    }
}

/// Reads all events.
pub fn read(body: &[u8], reading: &Reading) -> Result<Read> {
    match reading.keys {
        KeyKind::Bytes => read_as::<Bytes>(body, reading),
        KeyKind::Integers => read_as::<u64>(body, reading),
    }
}

fn read_as<K: ServedKey>(body: &[u8], reading: &Reading) -> Result<Read> {
    if reading.format == Format::Text && (reading.has.time || reading.has.user) {
        return Err(Problem::invalid(
            "a line of text is a key alone, but events of this stream have a time or a user too",
            "send JSON Lines, CSV or Arrow; or have events take the time of their arrival, by creating the stream with ?time=arrival",
        ));
    }
    let mut admission = Admission::<K>::new(reading);
    let tally = read_bytes(body, reading.format, &reading.schema(), |event| {
        admission.take(event);
        Ok::<_, Error>(())
    })
    .map_err(|error| refusal::of(error, reading))?;
    let (batch, left_out) = admission.finish();
    Ok(Read {
        events: batch.len() as u64,
        batch: K::any(batch),
        wrong: tally.unreadable - tally.not_text + left_out,
    })
}
