//! Options and settings on when events may have taken place, and where windows by time end.

use std::time::Duration;

use frostpane::{Edge, Span};
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::values::{Days, WindowArg, duration};
use crate::failure::{Failure, Result};

/// A time up to this far ahead is that of a fast clock, or of another zone; one further ahead is wrong.
const AHEAD: Duration = Duration::from_secs(3_600);

#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "When")]
pub struct TimeArgs {
    /// Where windows by time end, such as 2025-12-01 or 2025-12-01T08:00:00Z: events from there on are set
    /// aside [default: files end with their latest event]
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,

    /// The zone of days, and of times without one, such as Europe/Berlin or -03:00 [default: UTC]
    #[arg(long, value_name = "NAME", value_parser = zone, allow_hyphen_values = true)]
    pub timezone: Option<TimeZone>,

    /// How far in the future, by the clock of this machine, a time may lie: events beyond are set aside
    /// [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub ahead: Option<Duration>,
}

#[derive(Clone)]
pub struct TimeSettings {
    pub timezone: TimeZone,
    pub until: Option<Timestamp>,
    now: Timestamp,
    pub ahead: Duration,
}

impl TimeArgs {
    pub fn resolve(&self) -> Result<TimeSettings> {
        let settings = TimeSettings {
            timezone: self.timezone.clone().unwrap_or(TimeZone::UTC),
            until: None,
            now: Timestamp::now(),
            ahead: self.ahead.unwrap_or(AHEAD),
        };
        let until = self.until.as_deref().map(|text| settings.moment("--until", text)).transpose()?;
        Ok(TimeSettings { until, ..settings })
    }
}

impl TimeSettings {
    /// Reads a time, with a zone or in this one.
    pub fn moment(&self, option: &str, text: &str) -> Result<Timestamp> {
        let text = text.trim();
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(moment);
        }
        if text == "now" {
            return Ok(Timestamp::now());
        }
        let civil: DateTime = text.parse().map_err(|_| {
            Failure::Message(format!(
                "{option} {text:?} is no time: give a date such as 2025-12-01, or a time such as 2025-12-01T08:00:00Z"
            ))
        })?;
        Ok(civil.to_zoned(self.timezone.clone()).map_err(out_of_calendar)?.timestamp())
    }

    pub fn ending(self, end: Edge) -> Self {
        match end {
            Edge::Instant(end) => Self { until: Some(end), ..self },
            Edge::Event(_) => self,
        }
    }

    /// The end of the times that an event may have, in microseconds.
    pub fn limit(&self) -> i64 {
        self.until.map_or_else(|| self.latest_now(), |until| until.as_microsecond())
    }

    /// The latest time that is not too far ahead of the clock, as it is now.
    pub fn latest_now(&self) -> i64 {
        let ahead = i64::try_from(self.ahead.as_micros()).unwrap_or(i64::MAX);
        Timestamp::now().as_microsecond().saturating_add(ahead)
    }

    pub fn has_passed(&self, micros: i64) -> bool {
        micros <= self.until.unwrap_or_else(Timestamp::now).as_microsecond()
    }

    pub fn end_of(&self, asked: &WindowArg) -> Result<Option<Timestamp>> {
        let until = self.until.unwrap_or(self.now);
        Ok(match asked.days {
            Days::Today => Some(whole_second(until)),
            Days::Yesterday => Some(self.midnight(until, 0)?),
            Days::Number(_) | Days::None => None,
        })
    }

    /// The length of a window that ends here: days are those of the calendar.
    pub fn length_of(&self, asked: &WindowArg, end: Timestamp) -> Result<Span> {
        let from = match asked.days {
            Days::None => return Ok(asked.span),
            Days::Today | Days::Yesterday => self.midnight(end, 1)?,
            Days::Number(days) => {
                let days = jiff::Span::new().try_days(days).map_err(out_of_calendar)?;
                let end = end.to_zoned(self.timezone.clone());
                end.checked_sub(days).map_err(out_of_calendar)?.timestamp()
            }
        };
        Ok(Span::Clock(Duration::try_from(end.duration_since(from)).map_err(out_of_calendar)?))
    }

    pub fn is_midnight(&self, micros: i64) -> bool {
        Timestamp::from_microsecond(micros)
            .is_ok_and(|time| self.midnight(time, 0).is_ok_and(|midnight| midnight == time))
    }

    pub fn next_midnight(&self, moment: Timestamp) -> Result<Timestamp> {
        let tomorrow = moment.to_zoned(self.timezone.clone()).tomorrow();
        Ok(tomorrow.and_then(|tomorrow| tomorrow.start_of_day()).map_err(out_of_calendar)?.timestamp())
    }

    /// The last midnight at or before a moment; with `within`, that of the day of the microsecond before.
    fn midnight(&self, moment: Timestamp, within: i64) -> Result<Timestamp> {
        let moment = moment
            .checked_sub(within.microseconds())
            .map_err(out_of_calendar)?
            .to_zoned(self.timezone.clone());
        Ok(moment.start_of_day().map_err(out_of_calendar)?.timestamp())
    }
}

pub fn whole_second(moment: Timestamp) -> Timestamp {
    let micros = moment.as_microsecond();
    let second = micros.div_euclid(1_000_000) + i64::from(micros.rem_euclid(1_000_000) > 0);
    Timestamp::from_second(second).unwrap_or(moment)
}

fn out_of_calendar(_: impl std::fmt::Display) -> Failure {
    Failure::from("the window reaches beyond the calendar: give a shorter one, or another --until")
}

fn zone(name: &str) -> std::result::Result<TimeZone, String> {
    let fixed = || DateTimeParser::new().parse_time_zone(name);
    TimeZone::get(name).or_else(|_| fixed()).map_err(|_| {
        "there is no such zone: give a name such as Europe/Berlin, America/New_York or UTC, or an offset such as +01:00".to_owned()
    })
}
