//! So many events, or so much time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Error;

/// Units of time, the longest first, in microseconds.
const UNITS: [(&str, u64); 7] = [
    ("w", 7 * 86_400_000_000),
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// So many events, or so much time: `1000000`, `90s`, `15m`, `12h`, `30d`, `8w`.
///
/// ```
/// use std::time::Duration;
/// use frostpane::Span;
///
/// # fn main() -> frostpane::Result<()> {
/// assert_eq!("1_000_000".parse::<Span>()?, Span::from(1_000_000));
/// let month: Span = "30d".parse()?;
/// assert_eq!(month, Span::from(Duration::from_secs(30 * 86_400)));
/// assert_eq!(month.to_string(), "30d");
/// assert!("a month".parse::<Span>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// So many events.
    Events(u64),
    /// So much time.
    Clock(Duration),
}

impl Span {
    /// In events or in microseconds.
    pub fn length(&self) -> u64 {
        match self {
            Span::Events(events) => *events,
            Span::Clock(duration) => micros(*duration),
        }
    }

    /// Whether it is a number of events.
    pub fn is_by_count(&self) -> bool {
        matches!(self, Span::Events(_))
    }
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A time such as `90s`, `15m`, `12h`, `30d` or `8w`.
fn parse_time(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, micros) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    Some(Duration::from_micros(
        number.parse::<u64>().ok()?.checked_mul(micros)?,
    ))
}

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let plain = text.replace(['_', ','], "");
        if let Ok(events) = plain.parse() {
            return Ok(Span::Events(events));
        }
        parse_time(&plain).map(Span::Clock).ok_or_else(|| {
            Error::parameter(
                "give a number of events such as 1000000, or a time such as 90s, 15m, 12h, 30d or 8w",
            )
        })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Span::Events(events) => write!(f, "{events}"),
            Span::Clock(Duration::ZERO) => f.write_str("0s"),
            Span::Clock(duration) => {
                let micros = micros(*duration);
                let whole = UNITS.iter().find(|(_, unit)| micros.is_multiple_of(*unit));
                let (name, unit) = whole.unwrap_or(&("us", 1));
                write!(f, "{}{name}", micros / unit)
            }
        }
    }
}

impl From<u64> for Span {
    fn from(events: u64) -> Self {
        Span::Events(events)
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Span::Clock(duration)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Span::Events(events) => serializer.serialize_u64(*events),
            Span::Clock(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number of events, or a time such as \"30d\""
        )]
        enum Given {
            Events(u64),
            Text(String),
        }
        match Given::deserialize(deserializer)? {
            Given::Events(events) => Ok(Span::Events(events)),
            Given::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

/// A time alone.
pub(super) mod time {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    use super::Span;

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        Span::Clock(*time).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        match Span::deserialize(deserializer)? {
            Span::Clock(time) => Ok(time),
            Span::Events(_) => Err(de::Error::custom("give a time such as 90s, 15m, 12h, 30d or 8w")),
        }
    }
}

/// One span, or a list of them.
pub(super) mod one_or_more {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Span;

    pub fn serialize<S: Serializer>(spans: &[Span], serializer: S) -> Result<S::Ok, S::Error> {
        match spans {
            [span] => span.serialize(serializer),
            spans => spans.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Span>, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number of events, a time such as \"30d\", or a list of either"
        )]
        enum Given {
            One(Span),
            More(Vec<Span>),
        }
        Ok(match Given::deserialize(deserializer)? {
            Given::One(span) => vec![span],
            Given::More(spans) => spans,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_said_in_its_largest_whole_unit_and_read_again() {
        for (text, micros, said) in [
            ("90s", 90_000_000, "90s"),
            ("120s", 120_000_000, "2m"),
            ("24h", 86_400_000_000, "1d"),
            ("8w", 8 * 7 * 86_400_000_000, "8w"),
            ("1500ms", 1_500_000, "1500ms"),
            ("7us", 7, "7us"),
            ("0s", 0, "0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(
                (span, span.length()),
                (Span::Clock(Duration::from_micros(micros)), micros)
            );
            assert_eq!(span.to_string(), said);
            assert_eq!(said.parse::<Span>(), Ok(span));
        }
        assert_eq!("1_000,000".parse(), Ok(Span::Events(1_000_000)));
        assert_eq!(Span::Events(5).to_string(), "5");
        for text in ["", "d", "1x", "-1", "1.5h", "99999999999w"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
