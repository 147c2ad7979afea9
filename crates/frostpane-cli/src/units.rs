//! Numbers, durations and ranges as people write them.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

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
    fn a_range_is_told_from_a_file() {
        assert_eq!("0..1_000".parse(), Ok(Declared::Range(0..1_000)));
        assert_eq!("../keys.txt".parse(), Ok(Declared::File("../keys.txt".into())));
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }
}
