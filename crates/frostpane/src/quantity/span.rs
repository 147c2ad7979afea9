use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Quantity;
use crate::error::Error;

/// Units of time in microseconds, longest first.
const UNITS: [(&str, u64); 7] = [
    ("w", 7 * 86_400_000_000),
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// A number of events or a length of time: `1000000`, `10k`, `1M`, `90s`, `15m`, `1h30m`, `12 hours`,
/// `30d`, `8w`.
///
/// ```
/// use std::time::Duration;
/// use frostpane::Span;
///
/// # fn main() -> frostpane::Result<()> {
/// assert_eq!("1_000_000".parse::<Span>()?, Span::from(1_000_000));
/// assert_eq!("1M".parse::<Span>()?, Span::from(1_000_000));
/// let month: Span = "30d".parse()?;
/// assert_eq!(month, Span::from(Duration::from_secs(30 * 86_400)));
/// assert_eq!(month.to_string(), "30d");
/// assert!("a month".parse::<Span>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A number of events.
    Events(u64),
    /// A length of time.
    Clock(Duration),
}

impl Span {
    /// The length in events or in microseconds.
    pub fn length(&self) -> u64 {
        match self {
            Span::Events(events) => *events,
            Span::Clock(duration) => micros(*duration),
        }
    }

    /// Returns true for a number of events.
    pub fn is_by_count(&self) -> bool {
        matches!(self, Span::Events(_))
    }

    /// Returns true if both are numbers of events, or both are times.
    pub(crate) fn is_of_kind(&self, other: &Self) -> bool {
        self.is_by_count() == other.is_by_count()
    }

    /// This length, in the unit of this span.
    pub(crate) fn with_length(&self, length: u64) -> Self {
        match self {
            Span::Events(_) => Span::Events(length),
            Span::Clock(_) => Span::Clock(Duration::from_micros(length)),
        }
    }
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn unit(name: &str) -> Option<u64> {
    let short = match name {
        "us" | "\u{b5}s" | "\u{3bc}s" | "microsecond" | "microseconds" => "us",
        "ms" | "millisecond" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "d" | "day" | "days" => "d",
        "w" | "week" | "weeks" => "w",
        _ => return None,
    };
    UNITS.into_iter().find(|(name, _)| *name == short).map(|(_, unit)| unit)
}

/// A time such as `90s`, `1h30m`, `12 hours` or `1.5d`: units from long to short, none twice.
fn parse_time(text: &str) -> Option<Duration> {
    let (mut micros, mut shortest, mut rest) = (0_u64, u64::MAX, text);
    while !rest.is_empty() || shortest == u64::MAX {
        let (number, after) = Quantity::first_of(rest)?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (name, next) = after.split_at(end);
        let unit = unit(name).filter(|unit| *unit < shortest)?;
        micros = micros.checked_add(number.times(unit)?)?;
        (shortest, rest) = (unit, next.trim_start());
    }
    Some(Duration::from_micros(micros))
}

/// A number such as `1000000`, `10k`, `1M` or `1e6`, optionally followed by the word events.
fn parse_events(text: &str) -> Option<u64> {
    let number = text.strip_suffix("events").or(text.strip_suffix("event"));
    let (number, unit) = Quantity::first_of(number.unwrap_or(text))?;
    number.times(match unit.trim() {
        "" => 1,
        "k" | "K" | "thousand" => 1_000,
        "M" | "million" => 1_000_000,
        "G" | "billion" => 1_000_000_000,
        _ => return None,
    })
}

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let events = parse_events(text).map(Span::Events);
        events.or_else(|| parse_time(text).map(Span::Clock)).ok_or_else(|| {
            Error::parameter(
                "give a number of events such as 1000000, 10k or 1M, or a time such as 90s, 1h30m, 12 hours, 30d or 8w",
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
        #[serde(untagged, expecting = "expected a number of events, or a time such as \"30d\"")]
        enum SpanInput {
            Events(u64),
            Text(String),
        }
        match SpanInput::deserialize(deserializer)? {
            SpanInput::Events(events) => Ok(Span::Events(events)),
            SpanInput::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

pub(crate) mod time {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    use super::Span;

    pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        Span::Clock(*time).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        match Span::deserialize(deserializer)? {
            Span::Clock(time) => Ok(time),
            Span::Events(_) => Err(de::Error::custom("give a time such as 90s, 1h30m, 12 hours, 30d or 8w")),
        }
    }
}

pub(crate) mod one_or_more {
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
        enum SpansInput {
            One(Span),
            More(Vec<Span>),
        }
        Ok(match SpansInput::deserialize(deserializer)? {
            SpansInput::One(span) => vec![span],
            SpansInput::More(spans) => spans,
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
            ("90 s", 90_000_000, "90s"),
            ("1h30m", 5_400_000_000, "90m"),
            (" 1 hour 30 min ", 5_400_000_000, "90m"),
            ("2 weeks", 14 * 86_400_000_000, "2w"),
            ("1 day", 86_400_000_000, "1d"),
            ("1.5h", 5_400_000_000, "90m"),
            ("3\u{b5}s", 3, "3us"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span, span.length()), (Span::Clock(Duration::from_micros(micros)), micros));
            assert_eq!(span.to_string(), said);
            assert_eq!(said.parse::<Span>(), Ok(span));
        }
        for text in
            ["1_000,000", "1,000,000", "1M", "1 M", "1e6", "1000k", "1 million events", "1000000 events"]
        {
            assert_eq!(text.parse(), Ok(Span::Events(1_000_000)), "{text}");
        }
        assert_eq!(Span::Events(5).to_string(), "5");
        for text in [
            "",
            " ",
            "d",
            "1x",
            "-1",
            "1,5h",
            "1.5",
            "30m1h",
            "1h1h",
            "1h30",
            "0.5us",
            "5 events 1h",
            "1 month",
            "99999999999w",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
