//! The end of every reader. What stands in a line is an event, whatever stands there: were it not, a key
//! could decide how many events there are.

use std::fmt;
use std::io;
use std::mem;
use std::thread;

use crate::EventRef;
use crate::error::{Error, Halt, Result};
use crate::printable::{cut, printable};
use crate::schema::Schema;
use crate::source::unreadable;
use crate::time::is_in_calendar;

const SHOWN: usize = 200;
/// Events that wait for a time before other threads have the processor: no visitor sees them.
const TURN: u64 = 512;
/// The most bytes of a user: longer ones would take the memory that was promised to the window.
pub const LONGEST_USER: usize = 1 << 16;

/// The user, unless it is empty or too long.
#[inline]
pub fn valid_user(user: Option<&[u8]>) -> Option<&[u8]> {
    user.filter(|user| (1..=LONGEST_USER).contains(&user.len()))
}

/// Why an event is invalid, as the messages say. It never shows a part of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EventFault {
    TooLong,
    FewColumns,
    OpenQuote,
    NoObject,
    /// A line of JSON is a whole object but for bytes that are not UTF-8.
    NotText,
    NoMatch,
    NoTime,
    NoArray,
    NoStream,
    /// Only where invalid events [refuse](crate::OnInvalid::Refuse), as the following.
    OtherColumns,
    MissingKey,
    MissingTime,
    MissingUser,
    Twice,
}

impl fmt::Display for EventFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventFault::TooLong => "it is longer than 16 MB",
            EventFault::FewColumns => "it has too few columns; if another character separates them, use --delimiter",
            EventFault::OpenQuote => {
                "a quote in it does not end; if fields go on over several lines, use --multiline"
            }
            EventFault::NoObject => "it is no JSON object",
            EventFault::NotText => "it is not UTF-8",
            EventFault::NoMatch => "it does not match --pattern",
            EventFault::NoTime => {
                "no time can be read in it, be it a Unix time or a date such as 2026-01-31T12:00:00Z; --time-format tells how others are written"
            }
            EventFault::NoArray => "it is no array of JSON",
            EventFault::NoStream => "it is no Arrow stream",
            EventFault::OtherColumns => "it has not as many columns as the header",
            EventFault::MissingKey => "it has no field for its key",
            EventFault::MissingTime => "it has no field for its time",
            EventFault::MissingUser => "it has no field for its user",
            EventFault::Twice => "it has a field twice",
        })
    }
}

/// An invalid event: the first of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// The name of the file.
    pub file: String,
    /// The part of the file that is an event.
    pub unit: &'static str,
    /// From 1; 0 for the file as a whole.
    pub number: u64,
    /// Why it is invalid.
    pub fault: EventFault,
    /// The event, if the operator has asked to see it.
    pub text: Option<String>,
}

impl fmt::Display for FaultPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => write!(f, "{}: {}", self.file, self.fault)?,
            number => write!(f, "{}, {} {number}: {}", self.file, self.unit, self.fault)?,
        }
        self.text.as_ref().map_or(Ok(()), |text| write!(f, "; there stands: {text}"))
    }
}

/// Numbers of events that were read.
#[derive(Clone, Debug, Default)]
pub struct ReadTally {
    /// All events that were handed over.
    pub events: u64,
    /// Those with a key.
    pub with_key: u64,
    /// Those with a user.
    pub with_user: u64,
    /// Those that could not be read.
    pub unreadable: u64,
    /// Those of them that are whole objects of JSON, but not UTF-8.
    pub not_text: u64,
    /// The first that could not be read.
    pub first: Option<FaultPlace>,
    /// The key of an event was a part of the path of its file.
    pub key_of_path: bool,
    /// Lines that repeat the header of their file.
    pub repeated_headers: u64,
    time: Option<i64>,
    /// Events at the start for which no time is known yet, and which were not handed over.
    pub waiting: u64,
}

impl ReadTally {
    /// All events that were read.
    pub fn read(&self) -> u64 {
        self.events + self.waiting
    }

    /// Adds the numbers of a file that was read by itself.
    pub(crate) fn add(&mut self, other: Self) {
        self.events += other.events;
        self.with_key += other.with_key;
        self.with_user += other.with_user;
        self.unreadable += other.unreadable;
        self.not_text += other.not_text;
        self.first = self.first.take().or(other.first);
        self.key_of_path |= other.key_of_path;
        self.repeated_headers += other.repeated_headers;
        self.time = self.time.max(other.time);
        self.waiting += other.waiting;
    }

    /// The events that still wait for a time, with the latest of another file, if there is one.
    pub(crate) fn timed(&mut self) -> impl Iterator<Item = EventRef<'static>> + use<> {
        let event = EventRef::at(self.time);
        let events = event.time.map_or(0, |_| mem::take(&mut self.waiting));
        self.events += events;
        (0..events).map(move |_| event)
    }
}

pub struct EventSink<'a> {
    pub file: &'a str,
    pub unit: &'static str,
    pub schema: &'a Schema,
    pub tally: &'a mut ReadTally,
    pub visit: &'a mut dyn FnMut(EventRef<'_>) -> Result<()>,
}

impl EventSink<'_> {
    /// Takes the event of the line or row with this number; `text` is what the operator may see of it.
    #[inline]
    pub fn event(&mut self, number: u64, event: EventRef<'_>, text: &[u8]) -> Result<()> {
        if self.schema.by_clock {
            let Some(time) = event.time.filter(|time| is_in_calendar(*time)) else {
                return self.unreadable(number, None, EventFault::NoTime, text);
            };
            if self.tally.time.is_none() {
                self.begin(time)?;
            }
            self.tally.time = event.time;
        }
        self.hand_over(EventRef { user: valid_user(event.user), ..event })
    }

    /// Takes an event that cannot be read, without a key and without a user. Where its time cannot be read
    /// either, it has that of the event before; where there is none before, that of the first that has one.
    #[cold]
    pub fn unreadable(
        &mut self,
        number: u64,
        time: Option<i64>,
        fault: EventFault,
        text: &[u8],
    ) -> Result<()> {
        // Bytes that are not UTF-8 may be those of a key or a user, which refuse nothing.
        if self.schema.is_strict() && fault != EventFault::NotText {
            return Err(self.invalid(number, fault).into());
        }
        self.note(number, fault, text);
        self.without_key(number, time)
    }

    /// Takes a line that repeats the header, as an event without a key: a key may have made it so.
    #[cold]
    pub fn repeated_header(&mut self, number: u64, time: Option<i64>) -> Result<()> {
        self.tally.repeated_headers += 1;
        self.without_key(number, time)
    }

    fn without_key(&mut self, number: u64, time: Option<i64>) -> Result<()> {
        let time = time.filter(|time| is_in_calendar(*time));
        match (self.schema.by_clock, time.or(self.tally.time)) {
            (true, None) => {
                self.check_number(self.tally.waiting)?;
                self.tally.waiting += 1;
                if self.tally.waiting.is_multiple_of(TURN) {
                    thread::yield_now();
                }
                Ok(())
            }
            (_, time) => self.event(number, EventRef::at(time), b""),
        }
    }

    #[cold]
    fn begin(&mut self, time: i64) -> Result<()> {
        let event = EventRef::at(Some(time));
        (0..mem::take(&mut self.tally.waiting)).try_for_each(|_| self.hand_over(event))
    }

    #[inline]
    fn hand_over(&mut self, event: EventRef<'_>) -> Result<()> {
        self.check_number(self.tally.events)?;
        (self.visit)(event)?;
        self.tally.events += 1;
        self.tally.with_key += u64::from(event.key.is_some());
        self.tally.with_user += u64::from(event.user.is_some());
        Ok(())
    }

    #[inline]
    fn check_number(&self, events: u64) -> Result<()> {
        if events >= self.schema.most_events {
            return Err(Error::TooMany(self.schema.most_events).into());
        }
        Ok(())
    }

    fn note(&mut self, number: u64, fault: EventFault, text: &[u8]) {
        self.tally.unreadable += 1;
        self.tally.not_text += u64::from(fault == EventFault::NotText);
        if self.tally.first.is_none() {
            let place = self.place(number, fault, self.schema.show_input.then(|| shown(text)));
            if self.schema.live {
                (self.schema.tell)(format_args!("{place}; it counts as an event without a key"));
            }
            self.tally.first = Some(place);
        }
    }

    fn place(&self, number: u64, fault: EventFault, text: Option<String>) -> FaultPlace {
        FaultPlace { file: self.file.to_owned(), unit: self.unit, number, fault, text }
    }

    /// The error that an event is invalid, or with number 0 the input.
    pub fn invalid(&self, number: u64, fault: EventFault) -> Error {
        Error::Invalid(self.place(number, fault, None))
    }

    /// The error that the file could not be read on.
    pub fn broken(&self, cause: io::Error) -> Halt {
        unreadable(self.file, &cause).into()
    }

    /// The error that the file as a whole is not what was asked for.
    pub fn unfit(&self, wrong: impl Into<Error>) -> Halt {
        let at_file = |wrong| format!("{}: {wrong}", self.file);
        Halt::Error(match wrong.into() {
            Error::Input(wrong) => Error::Input(at_file(wrong)),
            Error::Column { column, message } => Error::Column { column, message: at_file(message) },
            other => other,
        })
    }
}

/// Text of a file for the operator, as much as fits into a few lines.
fn shown(text: &[u8]) -> String {
    cut(&printable(&String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)])), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::events;

    #[test]
    fn no_more_events_are_taken_than_may_be() {
        let most = |most_events, times: &[Option<i64>]| {
            let schema = Schema { most_events, by_clock: true, ..Schema::default() };
            let (found, _) = events(&schema, |sink| {
                times.iter().try_for_each(|time| sink.event(1, EventRef::at(*time), b""))
            });
            found.is_ok()
        };
        for times in [[None; 3], [Some(1); 3], [None, None, Some(1)]] {
            assert!(most(3, &times) && !most(2, &times));
        }
    }
}
