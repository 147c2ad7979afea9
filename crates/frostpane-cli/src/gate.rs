//! Events whose time cannot be are set aside, and move no window.

use frostpane::words::{grouped, spoken};
use jiff::Timestamp;

use crate::clock::Clock;

/// Lets events pass whose time may be: before the end, if that is known, and else not too far in the future.
pub struct Gate {
    clock: Clock,
    limit: i64,
    set_aside: u64,
    first: Option<i64>,
    latest: Option<i64>,
}

impl Gate {
    pub fn new(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            limit: clock.limit(),
            set_aside: 0,
            first: None,
            latest: None,
        }
    }

    /// Whether an event may have this time; one without is none of ours.
    #[inline]
    pub fn admits(&mut self, time: Option<i64>) -> bool {
        let Some(time) = time else { return true };
        if time >= self.limit && !self.is_past_by_now(time) {
            self.set_aside += 1;
            return false;
        }
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        true
    }

    /// The clock on the wall goes on.
    #[cold]
    fn is_past_by_now(&mut self, time: i64) -> bool {
        self.limit = self.clock.limit();
        time < self.limit
    }

    /// How many events did not pass.
    pub fn set_aside(&self) -> u64 {
        self.set_aside
    }

    /// The time of the earliest event that passed.
    pub fn first(&self) -> Option<i64> {
        self.first
    }

    /// And of the latest.
    pub fn latest(&self) -> Option<i64> {
        self.latest
    }

    /// What the operator should know.
    pub fn note(&self) -> Option<String> {
        let (events, were) = match self.set_aside {
            0 => return None,
            1 => ("1 event lies".to_owned(), "was"),
            events => (format!("{} events lie", grouped(events)), "were"),
        };
        Some(match self.clock.until {
            Some(until) => {
                format!("{events} at or after {until}, where the window ends, and {were} set aside")
            }
            None => format!(
                "{events} more than {} in the future by the clock of this machine, and {were} set aside: --until TIME says where the \
                 window ends instead, --ahead TIME how far ahead a clock may be",
                spoken(self.clock.ahead())
            ),
        })
    }
}

/// A time as people read it.
pub fn shown(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |time| time.to_string())
}
