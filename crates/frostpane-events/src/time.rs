//! Times, in microseconds since 1970.

use std::cell::Cell;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::time_format::{TimeFormat, UnixUnit};

const BILLION: i128 = 1_000_000_000;
/// The times in logs of web servers.
const WEB_LOG: &str = "%d/%b/%Y:%H:%M:%S %z";

/// Reads the times of a file.
#[derive(Clone, Debug)]
pub struct Times {
    format: TimeFormat,
    /// The zone of times that name none.
    zone: TimeZone,
    /// Whole numbers are dates, or not, once the first of the file has shown it: 20030820 is one in a file of
    /// dates, and a Unix time among Unix times. Times are public, so one may decide how others are read.
    dates: Cell<Option<bool>>,
    /// Each time is read by itself: private times of one user must not decide how others are read.
    by_themselves: bool,
}

impl Default for Times {
    fn default() -> Self {
        Self::new(TimeFormat::Any, TimeZone::UTC)
    }
}

impl Times {
    /// Times in a format, in `zone` where they name none.
    pub fn new(format: TimeFormat, zone: TimeZone) -> Self {
        Self { format, zone, dates: Cell::new(None), by_themselves: false }
    }

    /// These times, each read by itself.
    pub fn by_themselves(self) -> Self {
        Self { by_themselves: true, ..self }
    }

    /// The time that a text is.
    pub fn parse(&self, text: &[u8]) -> Option<i64> {
        // As most are: without a look for UTF-8, spaces and signs.
        if let (TimeFormat::Any, Some(whole)) = (&self.format, digits(text)) {
            return self.of_any_integer(whole);
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        match &self.format {
            TimeFormat::Any => self.number(text).or_else(|| self.calendar(text)),
            TimeFormat::Unix(unit) => unit.micros(number(text)?),
            TimeFormat::Calendar(format) => self.formatted(format, text),
        }
    }

    /// The time that a whole number is.
    pub fn of_integer(&self, number: i64) -> Option<i64> {
        match &self.format {
            TimeFormat::Any => self.of_any_integer(number),
            TimeFormat::Unix(unit) => unit.whole(number),
            TimeFormat::Calendar(format) => self.formatted(format, &number.to_string()),
        }
    }

    /// The time that a float is.
    pub fn of_float(&self, number: f64) -> Option<i64> {
        if number.is_nan() || number.abs() >= 1e19 {
            return None;
        }
        let billionths = billionths(number);
        match &self.format {
            TimeFormat::Any => UnixUnit::of_billionths(billionths).micros(billionths),
            TimeFormat::Unix(unit) => unit.micros(billionths),
            TimeFormat::Calendar(format) => self.formatted(format, &number.to_string()),
        }
    }

    /// The time at which a wall clock in the zone showed these microseconds since 1970.
    pub fn of_wall_clock(&self, micros: i64) -> Option<i64> {
        if self.zone == TimeZone::UTC {
            return Some(micros);
        }
        self.instant(TimeZone::UTC.to_datetime(Timestamp::from_microsecond(micros).ok()?))
    }

    fn of_any_integer(&self, number: i64) -> Option<i64> {
        if self.is_date(number) {
            self.instant(date(number)?)
        } else {
            UnixUnit::of(number.unsigned_abs()).whole(number)
        }
    }

    /// Returns true if a whole number is a date: if the first was, or by itself if it is as long as one.
    fn is_date(&self, number: i64) -> bool {
        if self.by_themselves {
            return digits_of_date(number).is_some();
        }
        self.dates.get().unwrap_or_else(|| {
            let is_date = date(number).is_some();
            self.dates.set(Some(is_date));
            is_date
        })
    }

    fn number(&self, text: &str) -> Option<i64> {
        if let Ok(whole) = text.parse() {
            return self.of_any_integer(whole);
        }
        let billionths = number(text)?;
        UnixUnit::of_billionths(billionths).micros(billionths)
    }

    /// A time as in RFC 3339 and RFC 9557, or in the log of a web server.
    fn calendar(&self, text: &str) -> Option<i64> {
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(instant.as_microsecond());
        }
        if text.ends_with(']') {
            return Some(text.parse::<Zoned>().ok()?.timestamp().as_microsecond());
        }
        match text.parse::<DateTime>() {
            Ok(date) => self.instant(date),
            Err(_) if text.as_bytes().get(2) == Some(&b'/') => self.formatted(WEB_LOG, text),
            Err(_) => None,
        }
    }

    fn formatted(&self, format: &str, text: &str) -> Option<i64> {
        let parts = jiff::fmt::strtime::parse(format, text).ok()?;
        if let Ok(instant) = parts.to_timestamp() {
            return Some(instant.as_microsecond());
        }
        match parts.iana_time_zone() {
            Some(_) => Some(parts.to_zoned().ok()?.timestamp().as_microsecond()),
            None => self.instant(parts.to_datetime().ok()?),
        }
    }

    fn instant(&self, date: DateTime) -> Option<i64> {
        Some(self.zone.to_timestamp(date).ok()?.as_microsecond())
    }
}

/// A whole number of digits alone.
fn digits(text: &[u8]) -> Option<i64> {
    let add = |number: i64, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
    (1..=18).contains(&text.len()).then(|| text.iter().try_fold(0, add))?
}

/// A date such as 20251001, or one with a time of day such as 20251001120000, if the calendar has it.
fn date(number: i64) -> Option<DateTime> {
    let (date, time) = digits_of_date(number)?;
    let parts = |number: i64| (number / 10_000, number / 100 % 100, number % 100);
    let ((year, month, day), (hour, minute, second)) = (parts(date), parts(time));
    let date = Date::new(year as i16, month as i8, day as i8).ok()?;
    Some(date.to_datetime(Time::new(hour as i8, minute as i8, second as i8, 0).ok()?))
}

/// The digits of a date and of a time of day, in a number that may be one.
fn digits_of_date(number: i64) -> Option<(i64, i64)> {
    match number {
        19_000_101..=21_991_231 => Some((number, 0)),
        19_000_101_000_000..=21_991_231_235_959 => Some((number / 1_000_000, number % 1_000_000)),
        _ => None,
    }
}

fn number(text: &str) -> Option<i128> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(i128::from(whole) * BILLION);
    }
    decimal(text).or_else(|| {
        let float: f64 = text.ends_with(|c: char| c.is_ascii_digit()).then(|| text.parse().ok())??;
        (float.abs() < 1e19).then(|| billionths(float))
    })
}

/// A billion times a float: exact if it is whole, so that no moment falls into the day before.
fn billionths(number: f64) -> i128 {
    number.trunc() as i128 * BILLION + (number.fract() * BILLION as f64) as i128
}

/// A billion times a decimal without exponent, exactly; digits after the ninth are cut off.
fn decimal(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.')?;
    if digits.len() < 2
        || whole.len() > 19
        || !format!("{whole}{fraction}").bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let size: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(if negative { -size } else { size })
}

/// Returns true if a time in microseconds since 1970 lies within the calendar.
pub fn is_in_calendar(time: i64) -> bool {
    Timestamp::from_microsecond(time).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<i64> {
        Times::default().parse(text.as_bytes())
    }

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
            assert_eq!(parse(text), Some(micros), "{text}");
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
            assert_eq!(parse(text), Some(1_700_000_000_000_000), "{text}");
        }
        assert_eq!(parse("2023-11-14"), Some(1_699_920_000_000_000));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in ["", "-", ".", "noon", "1,5", "NaN", "inf", "1e99", "12:00", "1.2.3", "--5", "é"] {
            assert!(parse(text).is_none(), "{text}");
        }
        assert!(Times::default().parse(b"\xff").is_none());
    }

    #[test]
    fn numbers_that_are_days_of_the_calendar_are_dates() {
        for (number, date) in [
            ("20251001", "2025-10-01"),
            ("19000101", "1900-01-01"),
            ("21991231", "2199-12-31"),
            ("20251001120304", "2025-10-01T12:03:04"),
            ("20251001T120000", "2025-10-01T12:00:00"),
            ("20251001T120000Z", "2025-10-01T12:00:00"),
        ] {
            assert_eq!(parse(number), parse(date), "{number}");
        }
        for seconds in ["20251301", "20250229", "18991231", "22000101"] {
            assert_eq!(parse(seconds), Some(seconds.parse::<i64>().unwrap() * 1_000_000));
        }
        let (dates, seconds) = (Times::default(), Times::default());
        assert_eq!(dates.parse(b"20251001"), parse("2025-10-01"));
        assert_eq!(dates.parse(b"20030820"), parse("2003-08-20"));
        assert_eq!(dates.of_integer(20_030_820), parse("2003-08-20"));
        assert_eq!(dates.parse(b"20250229"), None, "the calendar has no such day");
        assert_eq!(seconds.parse(b"20030800"), Some(20_030_800_000_000));
        assert_eq!(seconds.parse(b"20030820"), Some(20_030_820_000_000), "as the first");
        let millis = 20_251_001_240_000;
        assert_eq!(parse(&millis.to_string()), Some(millis * 1_000), "no day has 24:00:00");
    }

    #[test]
    fn zones_are_taken_from_the_time_and_else_as_told() {
        let times = Times::new(TimeFormat::Any, TimeZone::get("America/New_York").unwrap());
        let noon = parse("2025-10-01T12:00:00Z");
        for text in [
            "2025-10-01T14:00:00+02:00[Europe/Berlin]",
            "2025-10-01T14:00:00[Europe/Berlin]",
            "2025-10-01 14:00[Europe/Berlin]",
            "2025-10-01T12:00:00Z",
            "01/Oct/2025:14:00:00 +0200",
            "2025-10-01T08:00:00",
            "20251001080000",
        ] {
            assert_eq!(times.parse(text.as_bytes()), noon, "{text}");
        }
        assert_eq!(times.parse(b"20251001"), parse("2025-10-01T04:00:00Z"));
        assert_eq!(times.of_wall_clock(parse("2025-10-01T08:00:00").unwrap()), noon);
        for text in ["2025-10-01T14:00:00[Europe/Nowhere]", "01/Okt/2025:14:00:00 +0200"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_format_that_was_told_is_the_only_one() {
        let noon = parse("2025-10-01T12:00:00Z").unwrap();
        for (format, text, other) in [
            ("%d.%m.%Y %H:%M", "01.10.2025 12:00", "2025-10-01T12:00:00Z"),
            ("%d.%m.%Y %H:%M %z", "01.10.2025 14:00 +0200", "01.10.2025 12:00"),
            ("%Y-%m-%d %H %Q", "2025-10-01 14 Europe/Berlin", "2025-10-01 14"),
            ("%s", "1759320000", "noon"),
            ("unix", "1759320000", "2025-10-01"),
            ("millis", "1759320000000", ""),
            ("micros", "1759320000000000.0", "x"),
            ("nanos", "1759320000000000000", "1e99"),
        ] {
            let times = Times::new(format.parse().unwrap(), TimeZone::UTC);
            assert_eq!(times.parse(text.as_bytes()), Some(noon), "{format}");
            assert_eq!(times.parse(other.as_bytes()), None, "{format}: {other}");
        }
        let seconds = Times::new(TimeFormat::Unix(UnixUnit::Seconds), TimeZone::UTC);
        assert_eq!(seconds.parse(b"20251001"), Some(20_251_001_000_000));
        assert_eq!(seconds.of_integer(20_251_001), Some(20_251_001_000_000));
        assert_eq!(seconds.of_float(0.5), Some(500_000));
    }

    /// A single gap turns a column of integers into one of floats.
    #[test]
    fn a_whole_number_is_the_same_time_as_a_float() {
        let times = Times::default().by_themselves();
        for second in 0..1_000 {
            let midnight = 1_700_006_400 + 86_400 * second;
            for unit in [1, 1_000, 1_000_000] {
                let number = midnight * unit;
                assert_eq!(times.of_float(number as f64), times.of_integer(number), "{number}");
            }
        }
    }
    #[test]
    fn the_first_number_decides_nothing_where_each_is_read_by_itself() {
        for first in ["20251001", "1700000000", "noon"] {
            let times = Times::default().by_themselves();
            times.parse(first.as_bytes());
            assert_eq!(times.parse(b"20030820"), parse("2003-08-20"), "after {first}");
            assert_eq!(times.parse(b"20030820120000"), parse("2003-08-20T12:00Z"));
            assert_eq!(times.of_integer(1_700_000_000), Some(1_700_000_000_000_000));
            assert_eq!(times.parse(b"20250229"), None, "the calendar has no such day");
        }
    }
}
