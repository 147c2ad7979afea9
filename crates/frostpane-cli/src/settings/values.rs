//! Values of options, and numbers and times as text.

use std::str::FromStr;
use std::time::Duration;

use frostpane::Span;
use frostpane_render::WindowLabel;
pub use frostpane_render::{grouped, plain, spoken};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowArg {
    pub text: String,
    /// A day has 24 hours here.
    pub span: Span,
    pub days: Days,
}

/// Days of the calendar that a window stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Days {
    None,
    /// Since midnight.
    Today,
    /// From midnight to midnight.
    Yesterday,
    /// Up to any time of the day.
    Number(i64),
}

const DAY: Duration = Duration::from_secs(86_400);

impl FromStr for WindowArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let day = |days| Self { text: text.to_owned(), span: Span::Clock(DAY), days };
        match text {
            "today" => Ok(day(Days::Today)),
            "yesterday" => Ok(day(Days::Yesterday)),
            _ => match text.parse() {
                Ok(span) => Ok(Self::new(text.to_owned(), span)),
                Err(wrong) => Err(format!("{wrong}; or today, or yesterday")),
            },
        }
    }
}

impl From<Span> for WindowArg {
    fn from(span: Span) -> Self {
        // An exact length of time: days have 24 hours.
        Self { days: Days::None, ..Self::new(span.to_string(), span) }
    }
}

impl WindowArg {
    fn new(text: String, span: Span) -> Self {
        let whole_days = match span {
            Span::Clock(time) if time.as_micros() % DAY.as_micros() == 0 => time.as_secs() / DAY.as_secs(),
            _ => 0,
        };
        // 24h are hours, 1d is a day of the calendar.
        let is_days = text.contains(['d', 'w']) && whole_days > 0;
        let days = if is_days { Days::Number(whole_days as i64) } else { Days::None };
        Self { text, span, days }
    }

    /// True if the window says where it ends.
    pub fn names_days(&self) -> bool {
        matches!(self.days, Days::Today | Days::Yesterday)
    }

    /// The window without the calendar, as outputs name it.
    pub fn label(&self) -> WindowLabel {
        WindowLabel { text: self.text.clone(), span: self.span }
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

pub fn count_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
