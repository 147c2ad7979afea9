use std::str::FromStr;

use jiff::civil::datetime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// A format of times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// Any that can be told apart: a Unix time, a date, a date with a time of day.
    #[default]
    Any,
    /// A Unix time in this unit.
    Unix(UnixUnit),
    /// A format of `strptime`.
    Calendar(String),
}

/// The unit of a Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum UnixUnit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl UnixUnit {
    /// The unit that the size of a number suggests: each reaches up to the year 5138.
    pub(crate) fn of(size: u64) -> Self {
        match size {
            0..100_000_000_000 => UnixUnit::Seconds,
            100_000_000_000..100_000_000_000_000 => UnixUnit::Millis,
            100_000_000_000_000..100_000_000_000_000_000 => UnixUnit::Micros,
            _ => UnixUnit::Nanos,
        }
    }

    /// The unit that the size of a billion times the number suggests.
    pub(crate) fn of_billionths(number: i128) -> Self {
        Self::of((number.unsigned_abs() / 1_000_000_000).try_into().unwrap_or(u64::MAX))
    }

    /// Its length in nanoseconds.
    pub(crate) fn nanos(self) -> i128 {
        match self {
            UnixUnit::Seconds => 1_000_000_000,
            UnixUnit::Millis => 1_000_000,
            UnixUnit::Micros => 1_000,
            UnixUnit::Nanos => 1,
        }
    }

    /// The time in microseconds, from a whole number.
    pub(crate) fn whole(self, number: i64) -> Option<i64> {
        match self {
            UnixUnit::Seconds => number.checked_mul(1_000_000),
            UnixUnit::Millis => number.checked_mul(1_000),
            UnixUnit::Micros => Some(number),
            UnixUnit::Nanos => Some(number.div_euclid(1_000)),
        }
    }

    /// The time in microseconds, from a billion times the number as it was written.
    pub(crate) fn micros(self, billionths: i128) -> Option<i64> {
        billionths.checked_mul(self.nanos())?.div_euclid(1_000_000_000_000).try_into().ok()
    }
}

impl FromStr for TimeFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = match text {
            "unix" | "seconds" => UnixUnit::Seconds,
            "millis" => UnixUnit::Millis,
            "micros" => UnixUnit::Micros,
            "nanos" => UnixUnit::Nanos,
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
    read.to_timestamp().map(drop).or_else(|_| read.to_datetime().map(drop)).map_err(refusal)?;
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
