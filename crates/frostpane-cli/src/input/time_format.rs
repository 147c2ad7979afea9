//! How times are written, as it is told.

use std::str::FromStr;

use jiff::civil::datetime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// How times are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// In one of the ways that can be told apart.
    #[default]
    Any,
    Unix(Unit),
    /// With the letters of `strptime`.
    Calendar(String),
}

/// What a Unix time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    /// As the size of a number suggests: seconds reach up to the year 5138, and the other units as far.
    pub fn of(size: u64) -> Self {
        match size {
            0..100_000_000_000 => Unit::Seconds,
            100_000_000_000..100_000_000_000_000 => Unit::Millis,
            100_000_000_000_000..100_000_000_000_000_000 => Unit::Micros,
            _ => Unit::Nanos,
        }
    }

    /// The same of a billion times the number.
    pub fn of_billionths(number: i128) -> Self {
        Self::of(
            (number.unsigned_abs() / 1_000_000_000)
                .try_into()
                .unwrap_or(u64::MAX),
        )
    }

    /// Of one of it.
    pub fn nanos(self) -> i128 {
        match self {
            Unit::Seconds => 1_000_000_000,
            Unit::Millis => 1_000_000,
            Unit::Micros => 1_000,
            Unit::Nanos => 1,
        }
    }

    /// The time in microseconds, from a whole number.
    pub fn whole(self, number: i64) -> Option<i64> {
        match self {
            Unit::Seconds => number.checked_mul(1_000_000),
            Unit::Millis => number.checked_mul(1_000),
            Unit::Micros => Some(number),
            Unit::Nanos => Some(number.div_euclid(1_000)),
        }
    }

    /// The time in microseconds, from a billion times the number as it was written.
    pub fn micros(self, billionths: i128) -> Option<i64> {
        let micros = billionths
            .checked_mul(self.nanos())?
            .div_euclid(1_000_000_000_000);
        micros.try_into().ok()
    }
}

impl FromStr for TimeFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = match text {
            "unix" | "seconds" => Unit::Seconds,
            "millis" => Unit::Millis,
            "micros" => Unit::Micros,
            "nanos" => Unit::Nanos,
            _ => return calendar(text),
        };
        Ok(TimeFormat::Unix(unit))
    }
}

/// A format that a date can be written in, and read from.
fn calendar(format: &str) -> Result<TimeFormat, String> {
    let refusal = |cause: jiff::Error| {
        format!(
            "give unix, millis, micros, nanos, or a format with a date in it, such as '%d.%m.%Y %H:%M:%S': {cause}"
        )
    };
    let sample = datetime(2026, 1, 31, 12, 34, 56, 0);
    let sample = sample.to_zoned(TimeZone::UTC).map_err(refusal)?;
    let written = strtime::format(format, &sample).map_err(refusal)?;
    let read = strtime::parse(format, &written).map_err(refusal)?;
    read.to_timestamp()
        .map(drop)
        .or_else(|_| read.to_datetime().map(drop))
        .map_err(refusal)?;
    Ok(TimeFormat::Calendar(format.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_must_tell_the_date() {
        for format in ["%Y-%m-%d", "%s", "%FT%T%z", "%d/%b/%Y:%H:%M:%S %z", "%Y%j"] {
            assert_eq!(format.parse(), Ok(TimeFormat::Calendar(format.to_owned())));
        }
        for format in ["", "noon", "%H:%M", "%Y-%m", "%!", "%"] {
            let refusal = format.parse::<TimeFormat>().unwrap_err();
            assert!(refusal.starts_with("give unix, millis"), "{refusal}");
        }
    }
}
