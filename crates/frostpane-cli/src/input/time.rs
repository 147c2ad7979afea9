//! Times as files have them, in microseconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

const BILLION: i128 = 1_000_000_000;

/// A number is a Unix time whose unit follows from its size; anything else is RFC 3339, in UTC unless it
/// says.
pub fn parse(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    number(text).or_else(|| calendar(text))
}

/// A whole Unix time whose unit follows from its size.
pub fn of_integer(number: i64) -> i64 {
    match Unit::of(number.unsigned_abs()) {
        Unit::Seconds => number * 1_000_000,
        Unit::Millis => number * 1_000,
        Unit::Micros => number,
        Unit::Nanos => number.div_euclid(1_000),
    }
}

/// A Unix time in binary floating point.
pub fn of_float(number: f64) -> Option<i64> {
    (number.abs() < 1e19).then(|| of_billionths((number * BILLION as f64) as i128))?
}

/// A Unix time, from a billion times the number as it was written.
fn of_billionths(number: i128) -> Option<i64> {
    let size = number.unsigned_abs() / BILLION.unsigned_abs();
    let unit = match Unit::of(size.try_into().ok()?) {
        Unit::Seconds => 1_000_000_000,
        Unit::Millis => 1_000_000,
        Unit::Micros => 1_000,
        Unit::Nanos => 1,
    };
    (number * unit).div_euclid(BILLION * 1_000).try_into().ok()
}

enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    /// Seconds reach up to the year 5138, and the other units as far.
    fn of(size: u64) -> Self {
        match size {
            0..100_000_000_000 => Unit::Seconds,
            100_000_000_000..100_000_000_000_000 => Unit::Millis,
            100_000_000_000_000..100_000_000_000_000_000 => Unit::Micros,
            _ => Unit::Nanos,
        }
    }
}

fn number(text: &str) -> Option<i64> {
    if let Ok(whole) = text.parse() {
        return Some(of_integer(whole));
    }
    match decimal(text) {
        Some(billionths) => of_billionths(billionths),
        None if text.ends_with(|c: char| c.is_ascii_digit()) => text.parse().ok().and_then(of_float),
        None => None,
    }
}

/// A billion times a decimal without exponent, exactly; digits after the ninth are cut off.
fn decimal(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.')?;
    if digits.len() < 2
        || whole.len() > 19
        || !format!("{whole}{fraction}")
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let size: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(if negative { -size } else { size })
}

fn calendar(text: &str) -> Option<i64> {
    let time = match text.parse::<Timestamp>() {
        Ok(time) => time,
        Err(_) => Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?,
    };
    Some(time.as_microsecond())
}

/// Whether a time in microseconds since 1970 lies within the calendar.
pub fn is_in_calendar(time: i64) -> bool {
    Timestamp::from_microsecond(time).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_a_number_follows_from_its_size() {
        for (text, micros) in [
            ("0", 0),
            ("-5", -5_000_000),
            ("1700000000", 1_700_000_000_000_000),
            ("99999999999", 99_999_999_999_000_000),
            ("100000000000", 100_000_000_000_000),
            ("1700000000123", 1_700_000_000_123_000),
            ("1700000000123456", 1_700_000_000_123_456),
            ("1700000000123456789", 1_700_000_000_123_456),
            ("1700000000.25", 1_700_000_000_250_000),
            ("1700000000.1234567891", 1_700_000_000_123_456),
            ("1700000000123.5", 1_700_000_000_123_500),
            ("-0.5", -500_000),
            ("1.7e9", 1_700_000_000_000_000),
            ("1.7E+09", 1_700_000_000_000_000),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(micros), "{text}");
        }
    }

    #[test]
    fn dates_are_in_utc_unless_they_say() {
        for text in [
            "2023-11-14T22:13:20Z",
            "2023-11-14T23:13:20+01:00",
            "2023-11-14 22:13:20",
            " 2023-11-14T22:13:20.000Z ",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(1_700_000_000_000_000), "{text}");
        }
        assert_eq!(parse(b"2023-11-14"), Some(1_699_920_000_000_000));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "", "-", ".", "noon", "1,5", "NaN", "inf", "1e99", "12:00", "1.2.3", "--5", "é",
        ] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
        assert!(parse(b"\xff").is_none());
    }
}
