//! Options as people write them.

use std::str::FromStr;
use std::time::Duration;

pub use frostpane::words::{grouped, plain, spoken};
use frostpane::{Error, Span};

/// A window as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub text: String,
    pub span: Span,
}

impl FromStr for Asked {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let span = text.parse()?;
        let text = text.to_owned();
        Ok(Self { text, span })
    }
}

impl From<Span> for Asked {
    fn from(span: Span) -> Self {
        let text = span.to_string();
        Self { text, span }
    }
}

impl Asked {
    /// As people say it.
    pub fn spoken(&self) -> String {
        match self.span {
            Span::Events(events) => format!("{} events", grouped(events)),
            Span::Clock(_) => self.text.clone(),
        }
    }
}

/// A time such as `90s`, `15m`, `12h`, `30d` or `8w`.
pub fn duration(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Span::Clock(time)) => Ok(time),
        _ => Err("give a time such as 90s, 15m, 12h, 30d or 8w".to_owned()),
    }
}
