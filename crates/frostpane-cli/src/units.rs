//! Options as people write them.

use std::str::FromStr;
use std::time::Duration;

pub use frostpane::words::{grouped, plain, spoken};
use frostpane::{Error, Span};

/// A window as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub text: String,
    /// Of days, a day has 24 hours here.
    pub span: Span,
    pub days: Days,
}

/// Whether a window is one of days of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Days {
    None,
    /// Since midnight.
    Today,
    /// From midnight to midnight.
    Yesterday,
    /// So many, up to any time of the day.
    Number(i64),
}

const DAY: Duration = Duration::from_secs(86_400);

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let days = match text {
            "today" => Days::Today,
            "yesterday" => Days::Yesterday,
            _ => {
                let span = text
                    .parse()
                    .map_err(|wrong: Error| format!("{wrong}; or today, or yesterday"))?;
                return Ok(Self::new(text.to_owned(), span));
            }
        };
        Ok(Self {
            text: text.to_owned(),
            span: Span::Clock(DAY),
            days,
        })
    }
}

impl From<Span> for Asked {
    fn from(span: Span) -> Self {
        // So much time, whatever the calendar does.
        Self {
            days: Days::None,
            ..Self::new(span.to_string(), span)
        }
    }
}

impl Asked {
    fn new(text: String, span: Span) -> Self {
        let whole_days = match span {
            Span::Clock(time) if time.as_micros() % DAY.as_micros() == 0 => time.as_secs() / DAY.as_secs(),
            _ => 0,
        };
        // 24h are so many hours, 1d is a day.
        let days = match text.contains(['d', 'w']) && whole_days > 0 {
            true => Days::Number(whole_days as i64),
            false => Days::None,
        };
        Self { text, span, days }
    }

    /// Whether it says where it ends.
    pub fn names_days(&self) -> bool {
        matches!(self.days, Days::Today | Days::Yesterday)
    }

    /// As people say it.
    pub fn spoken(&self) -> String {
        match self.span {
            Span::Events(events) => format!("{} events", grouped(events)),
            Span::Clock(_) => self.text.clone(),
        }
    }
}

/// A time such as `90s`, `1h30m`, `12 hours`, `30d` or `8w`.
pub fn duration(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Span::Clock(time)) => Ok(time),
        _ => Err("give a time such as 90s, 1h30m, 12 hours, 30d or 8w".to_owned()),
    }
}

/// A number such as `20`, `1,000` or `10k`.
pub fn number(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Span::Events(number)) => Ok(number),
        _ => Err("give a number such as 20, 1,000 or 10k".to_owned()),
    }
}
