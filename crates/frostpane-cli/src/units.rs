//! Numbers, durations and ranges as people write them.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use frostpane::Span;

/// So many events, or so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Events(u64),
    Clock(Duration),
}

impl FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = text.replace(['_', ','], "");
        if let Ok(events) = plain.parse() {
            return Ok(Extent::Events(events));
        }
        parse_duration(&plain).map(Extent::Clock).ok_or_else(|| {
            "give a number of events such as 1000000, or a time such as 90s, 15m, 12h, 30d or 8w".to_owned()
        })
    }
}

/// A window as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub text: String,
    pub extent: Extent,
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.to_owned();
        text.parse().map(|extent| Self { text, extent })
    }
}

impl From<Extent> for Asked {
    fn from(extent: Extent) -> Self {
        let text = match extent {
            Extent::Events(events) => events.to_string(),
            Extent::Clock(duration) => format!("{}s", duration.as_secs()),
        };
        Self { text, extent }
    }
}

impl Asked {
    /// As people say it.
    pub fn spoken(&self) -> String {
        match self.extent {
            Extent::Events(events) => format!("{} events", grouped(events)),
            Extent::Clock(_) => self.text.clone(),
        }
    }
}

impl Extent {
    /// On a line, whatever the unit is.
    pub fn length(&self) -> u128 {
        match self {
            Extent::Events(events) => u128::from(*events),
            Extent::Clock(duration) => duration.as_micros(),
        }
    }
}

impl From<Extent> for Span {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::Events(events) => Span::Events(events),
            Extent::Clock(duration) => Span::Clock(duration),
        }
    }
}

/// A time such as `90s`, `15m`, `12h`, `30d` or `8w`.
pub fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "give a time such as 90s, 15m, 12h, 30d or 8w".to_owned())
}

fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    Some(Duration::from_secs(
        number.parse::<u64>().ok()?.checked_mul(seconds)?,
    ))
}

/// A number of bytes such as `64MB` or `1GB`.
pub fn memory(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let bytes = match unit {
        "" | "B" => Some(1),
        "kB" | "KB" | "K" | "k" => Some(1_000),
        "MB" | "M" => Some(1_000_000),
        "GB" | "G" => Some(1_000_000_000),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    bytes
        .and_then(|unit: u64| number.parse::<u64>().ok()?.checked_mul(unit))
        .ok_or_else(|| "give a size such as 16MB, 64MB or 1GB".to_owned())
}

/// Which keys are declared: the integers of a range, or the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declared {
    Range(Range<u64>),
    File(PathBuf),
}

impl FromStr for Declared {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((start, end)) = text.split_once("..")
            && let (Ok(start), Ok(end)) = (start.parse(), end.replace('_', "").parse())
        {
            return Ok(Declared::Range(start..end));
        }
        if text.contains("..") && text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
            return Err("a range of keys is START..END in whole numbers from 0 to 18446744073709551615, END not included".to_owned());
        }
        Ok(Declared::File(text.into()))
    }
}

/// A whole number with its thousands set apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A small number as it was meant, without the dust of its sums.
pub fn plain(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// A time in its largest whole unit, cut down.
pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| seconds >= 2 * unit)
        .unwrap_or((1, "second"));
    let number = seconds / unit;
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {name}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_read_as_people_write_them() {
        let day = Duration::from_secs(86_400);
        for (text, expected) in [
            ("1000000", Extent::Events(1_000_000)),
            ("1_000_000", Extent::Events(1_000_000)),
            ("30d", Extent::Clock(30 * day)),
            ("8w", Extent::Clock(56 * day)),
            ("90s", Extent::Clock(Duration::from_secs(90))),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in ["", "d", "-3", "1.5d", "30 days", "99999999999999999w", "é"] {
            assert!(text.parse::<Extent>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(memory("64MB"), Ok(64_000_000));
        assert_eq!(memory("1GiB"), Ok(1 << 30));
        assert_eq!(memory("500"), Ok(500));
        for text in [
            "",
            "MB",
            "1.5GB",
            "64 MB",
            "-1MB",
            "99999999999999999999GB",
            "12µB",
        ] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_is_told_from_a_file() {
        assert_eq!("0..1_000".parse(), Ok(Declared::Range(0..1_000)));
        for text in ["0..=10", "-3..5", "0..99999999999999999999", "1..b"] {
            assert!(text.parse::<Declared>().is_err(), "{text}");
        }
        assert_eq!("../keys.txt".parse(), Ok(Declared::File("../keys.txt".into())));
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn times_are_spoken_in_their_largest_unit() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (90, "90 seconds"),
            (7_200, "2 hours"),
            (86_400, "24 hours"),
            (30 * 86_400, "30 days"),
        ] {
            assert_eq!(spoken(Duration::from_secs(seconds)), expected);
        }
    }
}
