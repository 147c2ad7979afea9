//! Where the events of files end: found by a first look at all of them, before any is counted.

use frostpane::Edge;
use jiff::Timestamp;

use crate::clock::{Clock, whole_second};
use crate::failure::{Failure, Result};
use crate::gate::Gate;
use crate::input::Source;
use crate::progress::Progress;

/// What is done where there is nothing to be released.
pub const INSTEAD: &str = "nothing was released, and no file was written";

/// How many events there are, and the time of the latest that may be.
pub struct Survey {
    pub events: u64,
    latest: Option<i64>,
}

impl Survey {
    pub fn of(mut source: Source, clock: &Clock) -> Result<Self> {
        let mut progress = Progress::new(source.total_bytes());
        let bytes_read = source.bytes_read();
        let mut gate = Gate::new(clock);
        source.for_each(|event| {
            progress.step(bytes_read.get());
            gate.admits(event.time);
            Ok(())
        })?;
        Ok(Self {
            events: progress.finish(),
            latest: gate.latest(),
        })
    }

    /// The first moment, or the first number, after all events.
    pub fn end(&self, by_clock: bool) -> Result<Edge> {
        if !by_clock {
            return Ok(Edge::Event(self.events));
        }
        if self.events == 0 {
            return Err(no_events());
        }
        let after = self.latest.map(|latest| Timestamp::from_microsecond(latest + 1));
        match after {
            Some(Ok(after)) => Ok(Edge::Instant(whole_second(after))),
            _ => Err(Failure::Message(
                "no event has a time that may be: all lie in the future, or there is none; say where the window ends, with --until"
                    .to_owned(),
            )),
        }
    }

    /// That a second look has found as many.
    pub fn check(&self, events: u64) -> Result<()> {
        if self.events == events {
            return Ok(());
        }
        Err(Failure::Message(
            "the files changed while they were read, and nothing was released: run this again when nobody writes to them"
                .to_owned(),
        ))
    }
}

pub fn no_events() -> Failure {
    Failure::Message(format!("there is no event: {INSTEAD}; is this the right file?"))
}
