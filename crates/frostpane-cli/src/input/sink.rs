//! Where readers hand over what they find.

use std::io;

use super::Event;
use crate::failure::{Failure, Result};

/// How many there were of what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub events: u64,
    pub with_key: u64,
    /// Lines that could not be read and were left out.
    pub skipped: u64,
}

/// Takes the events of one file, counts them, and says where something is wrong.
pub struct Sink<'a> {
    /// What to call the file in a message.
    pub file: &'a str,
    pub skip_bad_lines: bool,
    pub tally: &'a mut Tally,
    pub visit: &'a mut dyn FnMut(Event<'_>) -> Result<()>,
}

impl Sink<'_> {
    /// Takes what stands in the line with this number: an event, or what is wrong.
    #[inline]
    pub fn line(&mut self, number: u64, event: std::result::Result<Event<'_>, String>) -> Result<()> {
        self.take("line", number, event)
    }

    /// The same, for files that have rows.
    #[inline]
    pub fn row(&mut self, number: u64, event: std::result::Result<Event<'_>, String>) -> Result<()> {
        self.take("row", number, event)
    }

    #[inline]
    fn take(&mut self, unit: &str, number: u64, event: std::result::Result<Event<'_>, String>) -> Result<()> {
        let outcome = event.map_err(Failure::Message).and_then(|event| {
            (self.visit)(event)?;
            self.tally.events += 1;
            self.tally.with_key += u64::from(event.key.is_some());
            Ok(())
        });
        outcome.or_else(|failure| self.fault(unit, number, failure))
    }

    #[cold]
    fn fault(&mut self, unit: &str, number: u64, failure: Failure) -> Result<()> {
        match failure {
            Failure::Message(_) if self.skip_bad_lines => {
                self.tally.skipped += 1;
                Ok(())
            }
            Failure::Message(wrong) => Err(format!(
                "{}, {unit} {number}: {wrong}; to leave such {unit}s out, use --skip-bad-lines",
                self.file
            )
            .into()),
            other => Err(other),
        }
    }

    /// The file could not be read on.
    pub fn unreadable(&self, cause: io::Error) -> String {
        format!("cannot read {}: {cause}", self.file)
    }

    /// The file as a whole is not what was asked for.
    pub fn unfit(&self, wrong: String) -> Failure {
        Failure::Message(format!("{}: {wrong}", self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_with_a_line_is_skipped() {
        let take = |failure: fn() -> Failure| {
            let mut tally = Tally::default();
            let mut sink = Sink {
                file: "events",
                skip_bad_lines: true,
                tally: &mut tally,
                visit: &mut |_| Err(failure()),
            };
            let event = Event {
                time: None,
                key: None,
            };
            (sink.line(1, Ok(event)).is_ok(), tally.skipped)
        };
        assert_eq!(
            take(|| Failure::Message("a time out of range".to_owned())),
            (true, 1)
        );
        assert_eq!(
            take(|| Failure::Entropy("no random bytes".to_owned())),
            (false, 0)
        );
    }
}
