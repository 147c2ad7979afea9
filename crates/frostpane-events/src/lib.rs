//! Bytes become events, in one way for the program, the service and Python.
//!
//! The way to read input follows from its name and from the [`Schema`], never from its content, and every
//! line is one event: so one changed key changes one event. `docs/events.md` has a table of what every odd
//! thing is. (Times are public: whether whole numbers are dates follows from the first of them. Where events
//! have users, times are private, and each is read by itself.)

#[cfg(feature = "arrow")]
mod arrow;
mod compression;
mod csv;
mod error;
mod find;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod guard;
mod json;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod pattern;
mod printable;
mod records;
mod schema;
mod sink;
mod source;
mod stream;
mod time;
mod time_format;

#[cfg(all(test, feature = "parquet"))]
mod hostile;
#[cfg(test)]
mod testing;

pub use compression::Compression;
pub use error::Error;
pub use pattern::Pattern;
pub use printable::{cut, is_unseen, printable};
pub use schema::{Column, Delimiter, Format, OnInvalid, Schema};
pub use sink::{EventFault, FaultPlace, LONGEST_USER, ReadTally, valid_user};
pub use source::{FilePart, ReadReport, Source, read_bytes};
pub use time::Times;
pub use time_format::{TimeFormat, UnixUnit};

/// An event as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef<'a> {
    /// In microseconds since 1970, if a time was asked for.
    pub time: Option<i64>,
    /// None if it is missing, empty, null or unreadable: the event took place all the same.
    pub key: Option<&'a [u8]>,
    /// The user, if one was asked for. None if it is missing, empty, null or longer than [`LONGEST_USER`],
    /// and where the event cannot be read: nobody has the events of somebody else.
    pub user: Option<&'a [u8]>,
}

impl EventRef<'_> {
    /// An event of which no more is known than its time, if that.
    pub fn at(time: Option<i64>) -> Self {
        Self { time, key: None, user: None }
    }

    /// The event, without its time unless `by_clock`.
    #[inline]
    pub fn timed(self, by_clock: bool) -> Self {
        let time = self.time.filter(|_| by_clock);
        Self { time, ..self }
    }
}
