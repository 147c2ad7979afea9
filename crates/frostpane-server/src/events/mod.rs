//! Events as producers send them: read as a whole, or refused with the line that is wrong and never with what is in it.

mod arrow;
mod csv;
mod format;
mod json;
mod packing;
mod sink;
mod text;
pub mod time;

#[cfg(test)]
mod neighbours;

use frostpane::Bytes;
use frostpane_store::KeyKind;

use crate::key::{AnyBatch, ServedKey};
use crate::problem::Result;
use crate::stream::Columns;
pub use format::Format;
pub use packing::{Packing, too_large, unpack};
use sink::Sink;
pub use sink::Wrong;

/// How events are to be read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// In which form they are.
    pub format: Format,
    /// Where they have their parts.
    pub columns: Columns,
    /// Of which type the keys are.
    pub keys: KeyKind,
    /// What an event of this stream has.
    pub has: Has,
    /// What becomes of those that are wrong.
    pub wrong: Wrong,
    /// Those before this moment are left out.
    pub since: Option<i64>,
    /// When they came. Because clocks differ some are a little later: those are of this moment or, of users, of their own. Those later
    /// still are left out, as wrong.
    pub present: i64,
    /// Those before this moment are in no window any more, and left out too.
    pub earliest: i64,
    /// How much later than the present is a little, in microseconds.
    pub tolerance: i64,
    /// How many there may be.
    pub most: usize,
}

/// What an event of a stream has beside its key.
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
    /// How many they are.
    pub events: u64,
    /// How many were wrong, and left out.
    pub wrong: u64,
}

/// Reads all events.
pub fn read(body: &[u8], reading: &Reading) -> Result<Read> {
    match reading.keys {
        KeyKind::Bytes => read_as::<Bytes>(body, reading),
        KeyKind::Integers => read_as::<u64>(body, reading),
    }
}

fn read_as<K: ServedKey>(body: &[u8], reading: &Reading) -> Result<Read> {
    let mut sink = Sink::<K>::new(reading);
    match reading.format {
        Format::JsonLines => json::lines(body, &mut sink)?,
        Format::JsonArray => json::array(body, &mut sink)?,
        Format::Text => text::lines(body, &mut sink)?,
        Format::Csv => csv::rows(body, b',', &mut sink)?,
        Format::Tsv => csv::rows(body, b'\t', &mut sink)?,
        Format::Arrow => arrow::batches(body, &mut sink)?,
    }
    Ok(sink.finish())
}
