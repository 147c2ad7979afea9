//! Sets aside events whose time cannot be: they move no window.

use frostpane::Span;
use jiff::Timestamp;

use crate::settings::TimeSettings;
use crate::settings::values::{count_of, spoken};

/// Admits events before the end of the windows, if that is known, and else not too far in the future.
pub struct TimeFilter {
    clock: TimeSettings,
    /// `None` where no time is judged.
    limit: Option<i64>,
    pub set_aside: u64,
    pub first: Option<i64>,
    pub latest: Option<i64>,
}

impl TimeFilter {
    /// Windows by count admit any time.
    pub fn new(clock: &TimeSettings, window: Span) -> Self {
        let limit = match window {
            Span::Events(_) => None,
            Span::Clock(_) => Some(clock.limit()),
        };
        Self { limit, ..Self::open(clock) }
    }

    pub fn open(clock: &TimeSettings) -> Self {
        Self { clock: clock.clone(), limit: None, set_aside: 0, first: None, latest: None }
    }

    /// True if an event may have this time; one without a time is not judged here.
    #[inline]
    pub fn admits(&mut self, time: Option<i64>) -> bool {
        let (Some(time), Some(limit)) = (time, self.limit) else { return true };
        if time >= limit && !self.is_past_by_now(time) {
            self.set_aside += 1;
            return false;
        }
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.latest = Some(self.latest.map_or(time, |latest| latest.max(time)));
        true
    }

    /// Looks at the clock again, which has gone on.
    #[cold]
    fn is_past_by_now(&mut self, time: i64) -> bool {
        let limit = self.clock.limit();
        self.limit = Some(limit);
        time < limit
    }

    /// The times of the first and of the latest event that were admitted.
    pub fn range(&self) -> Option<String> {
        Some(format!("from {} to {}", shown(self.first?), shown(self.latest?)))
    }

    pub fn note(&self) -> Option<String> {
        let events = count_of(self.set_aside, "event lies", "events lie");
        let were = match self.set_aside {
            0 => return None,
            1 => "was",
            _ => "were",
        };
        Some(match self.clock.until {
            Some(until) => {
                format!("{events} at or after {until}, where the window ends, and {were} set aside")
            }
            None => format!(
                "{events} more than {} in the future by the clock of this machine, and {were} set aside: \
                 --until TIME says where the window ends instead, --ahead TIME how far ahead a clock may be",
                spoken(self.clock.ahead)
            ),
        })
    }
}

fn shown(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |time| time.to_string())
}
