//! Where readers hand over what they find. What stands in a line is an event, whatever stands there: were it not,
//! a key could decide how many events there are.

use std::fmt;
use std::io;
use std::mem;

use super::Event;
use super::files::unreadable;
use super::time::is_in_calendar;
use crate::failure::{Failure, Result};
use crate::text::{cut, printable};
use crate::warnings::tell;

/// Columns of what is shown of a line.
const SHOWN: usize = 200;
/// Bytes of a user at most. What is longer is nobody's name, and has no place in the memory that was promised to the window.
pub const LONGEST_USER: usize = 1 << 16;

/// Why a line counts as an event without a key. None of this shows what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    TooLong,
    FewColumns,
    OpenQuote,
    NoObject,
    NoMatch,
    NoTime,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::TooLong => "it is longer than 16 MB",
            Fault::FewColumns => "it has too few columns; if another character separates them, use --delimiter",
            Fault::OpenQuote => {
                "a quote in it does not end; if fields go on over several lines, use --multiline"
            }
            Fault::NoObject => "it is no JSON object",
            Fault::NoMatch => "it does not match --pattern",
            Fault::NoTime => {
                "no time can be read in it, be it a Unix time or a date such as 2026-01-31T12:00:00Z; --time-format tells how others are written"
            }
        })
    }
}

/// The first line of all files that could not be read.
#[derive(Clone, Debug)]
pub struct Place {
    pub file: String,
    pub unit: &'static str,
    pub number: u64,
    pub fault: Fault,
    /// What stands there, if the operator has asked to see it.
    pub text: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} {}: {}", self.file, self.unit, self.number, self.fault)?;
        match &self.text {
            Some(text) => write!(f, "; there stands: {text}"),
            None => Ok(()),
        }
    }
}

/// How many there were of what.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub events: u64,
    pub with_key: u64,
    pub with_user: u64,
    /// Those that could not be read.
    pub unreadable: u64,
    pub first: Option<Place>,
    /// Whether the key of an event was a part of the path of its file.
    pub key_of_path: bool,
    /// Lines that are the first line of their file once more, which names the columns.
    pub repeated_headers: u64,
    /// Of the event before.
    time: Option<i64>,
    /// Events at the start for which no time is known yet.
    pub waiting: u64,
}

impl Tally {
    /// Adds what there was in a file that was read by itself.
    pub fn add(&mut self, other: Self) {
        self.events += other.events;
        self.with_key += other.with_key;
        self.with_user += other.with_user;
        self.unreadable += other.unreadable;
        self.first = self.first.take().or(other.first);
        self.key_of_path |= other.key_of_path;
        self.repeated_headers += other.repeated_headers;
        self.time = self.time.max(other.time);
        self.waiting += other.waiting;
    }

    /// The events that still wait for a time, now with the latest that another file ended with, if there is one.
    pub fn timed(&mut self) -> impl Iterator<Item = Event<'static>> + use<> {
        let event = Event::at(self.time);
        let events = event.time.map_or(0, |_| mem::take(&mut self.waiting));
        self.events += events;
        (0..events).map(move |_| event)
    }
}

/// Takes the events of one file and counts them.
pub struct Sink<'a> {
    /// What to call the file in a message.
    pub file: &'a str,
    /// What an event stands in.
    pub unit: &'static str,
    /// Whether events need a time.
    pub by_clock: bool,
    /// Whether the operator should know at once what cannot be read.
    pub live: bool,
    /// Whether the operator wants to see it.
    pub show_input: bool,
    pub tally: &'a mut Tally,
    pub visit: &'a mut dyn FnMut(Event<'_>) -> Result<()>,
}

impl Sink<'_> {
    /// Takes what stands in the line or row with this number, which reads so.
    #[inline]
    pub fn event(&mut self, number: u64, event: Event<'_>, text: &[u8]) -> Result<()> {
        if self.by_clock {
            let Some(time) = event.time.filter(|time| is_in_calendar(*time)) else {
                return self.unreadable(number, None, Fault::NoTime, text);
            };
            if self.tally.time.is_none() {
                self.begin(number, time)?;
            }
            self.tally.time = event.time;
        }
        let user = event.user.filter(|user| (1..=LONGEST_USER).contains(&user.len()));
        self.hand_over(number, Event { user, ..event })
    }

    /// Takes what cannot be read, as an event without a key and without a user. Where its time cannot be read either, it has that of
    /// the event before; where there is none before, that of the first that has one.
    #[cold]
    pub fn unreadable(&mut self, number: u64, time: Option<i64>, fault: Fault, text: &[u8]) -> Result<()> {
        self.note(number, fault, text);
        self.without_key(number, time)
    }

    /// Takes a line that names the columns once more, as an event without a key: a key may have made it so.
    #[cold]
    pub fn repeated_header(&mut self, number: u64, time: Option<i64>) -> Result<()> {
        self.tally.repeated_headers += 1;
        self.without_key(number, time)
    }

    fn without_key(&mut self, number: u64, time: Option<i64>) -> Result<()> {
        let time = time.filter(|time| is_in_calendar(*time));
        match (self.by_clock, time.or(self.tally.time)) {
            (true, None) => {
                self.tally.waiting += 1;
                Ok(())
            }
            (_, time) => self.event(number, Event::at(time), b""),
        }
    }

    /// Hands over the events that have waited for a time.
    #[cold]
    fn begin(&mut self, number: u64, time: i64) -> Result<()> {
        let event = Event::at(Some(time));
        (0..mem::take(&mut self.tally.waiting)).try_for_each(|_| self.hand_over(number, event))
    }

    #[inline]
    fn hand_over(&mut self, number: u64, event: Event<'_>) -> Result<()> {
        (self.visit)(event).map_err(|failure| self.at(number, failure))?;
        self.tally.events += 1;
        self.tally.with_key += u64::from(event.key.is_some());
        self.tally.with_user += u64::from(event.user.is_some());
        Ok(())
    }

    fn note(&mut self, number: u64, fault: Fault, text: &[u8]) {
        self.tally.unreadable += 1;
        if self.tally.first.is_none() {
            let place = Place {
                file: self.file.to_owned(),
                unit: self.unit,
                number,
                fault,
                text: self.show_input.then(|| shown(text)),
            };
            if self.live {
                tell(format_args!("{place}; it counts as an event without a key"));
            }
            self.tally.first = Some(place);
        }
    }

    #[cold]
    fn at(&self, number: u64, failure: Failure) -> Failure {
        match failure {
            Failure::Message(wrong) => {
                Failure::Message(format!("{}, {} {number}: {wrong}", self.file, self.unit))
            }
            other => other,
        }
    }

    /// The file could not be read on.
    pub fn broken(&self, cause: io::Error) -> String {
        unreadable(self.file, &cause)
    }

    /// The file as a whole is not what was asked for.
    pub fn unfit(&self, wrong: String) -> Failure {
        Failure::Message(format!("{}: {wrong}", self.file))
    }
}

/// Text of a file for the operator, as much as fits into a few lines.
pub fn shown(text: &[u8]) -> String {
    cut(
        &printable(&String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)])),
        SHOWN,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    type Times = Vec<Option<i64>>;

    /// The times that events are handed over with, of those that lines have; of one that cannot be read, none.
    fn handed(by_clock: bool, lines: &[Option<i64>]) -> (Times, Tally) {
        let (mut tally, mut times) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            unit: "line",
            by_clock,
            live: false,
            show_input: false,
            tally: &mut tally,
            visit: &mut |event| {
                times.push(event.time);
                Ok(())
            },
        };
        for (line, time) in lines.iter().enumerate() {
            sink.event(line as u64 + 1, Event::at(*time), b"").unwrap();
        }
        (times, tally)
    }

    #[test]
    fn an_event_without_a_time_has_that_of_its_neighbour() {
        let lines = [None, None, Some(5), None, Some(3), Some(i64::MAX)];
        let (times, tally) = handed(true, &lines);
        assert_eq!(times, [5, 5, 5, 5, 3, 3].map(Some));
        assert_eq!((tally.events, tally.unreadable, tally.waiting), (6, 4, 0));
        assert_eq!(tally.first.unwrap().number, 1);
        assert_eq!(handed(false, &lines).0, lines, "nobody asks for times");
        let (times, tally) = handed(true, &[None, None]);
        assert_eq!((times.len(), tally.waiting), (0, 2));
    }
    /// Whether events were handed over with their user.
    fn are_of_somebody(by_clock: bool, events: &[Event<'_>]) -> (Vec<bool>, u64) {
        let (mut tally, mut found) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            unit: "line",
            by_clock,
            live: false,
            show_input: false,
            tally: &mut tally,
            visit: &mut |event| {
                found.push(event.user.is_some());
                Ok(())
            },
        };
        for event in events {
            sink.event(1, *event, b"").unwrap();
        }
        (found, tally.with_user)
    }

    #[test]
    fn a_user_has_at_least_one_byte_and_no_more_than_so_many() {
        let long = vec![b'x'; LONGEST_USER + 1];
        let events = [
            None,
            Some(&long[..0]),
            Some(&long[..1]),
            Some(&long[1..]),
            Some(&long),
        ]
        .map(|user| Event {
            user,
            ..Event::at(None)
        });
        let somebody = [false, false, true, true, false];
        assert_eq!(are_of_somebody(false, &events), (somebody.to_vec(), 2));
    }

    #[test]
    fn an_event_without_a_time_is_nobodys() {
        let events = [None, Some(5), None, Some(i64::MAX), Some(6)].map(|time| Event {
            key: Some(b"elm"),
            user: Some(b"u1"),
            time,
        });
        let somebody = [false, true, false, false, true];
        assert_eq!(are_of_somebody(true, &events), (somebody.to_vec(), 2));
    }
}
