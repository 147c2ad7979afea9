//! The logical types of columns: their values as keys and as times.

use std::io::{self, Write};

use half::f16;
use jiff::civil::{Date, Time, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use parquet::basic::{self, ConvertedType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

use super::column::Value;
use super::decimal;
use crate::time::Times;
use crate::time_format::UnixUnit;

const NANOS_PER_DAY: i128 = 86_400_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogicalType {
    Plain,
    Unsigned32,
    Unsigned64,
    Uuid,
    Float16,
    /// With so many digits after the point.
    Decimal(usize),
    /// Days since 1970.
    Date,
    /// Since midnight.
    TimeOfDay(UnixUnit),
    /// Since 1970 in UTC.
    Instant(UnixUnit),
    /// The time of a wall clock since 1970.
    WallClock(UnixUnit),
}

impl LogicalType {
    pub fn of(column: &ColumnDescriptor) -> Self {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(basic::LogicalType::Uuid), _) => Self::Uuid,
            (Some(basic::LogicalType::Float16), _) => Self::Float16,
            (Some(basic::LogicalType::Timestamp(stamp)), _) => match stamp.is_adjusted_to_u_t_c {
                true => Self::Instant(unit(stamp.unit)),
                false => Self::WallClock(unit(stamp.unit)),
            },
            (Some(basic::LogicalType::Time(time)), _) => Self::TimeOfDay(unit(time.unit)),
            (Some(basic::LogicalType::Date), _) | (_, ConvertedType::DATE) => Self::Date,
            (Some(basic::LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) => {
                Self::Decimal(column.type_scale().try_into().unwrap_or(0))
            }
            (_, ConvertedType::TIMESTAMP_MILLIS) => Self::Instant(UnixUnit::Millis),
            (_, ConvertedType::TIMESTAMP_MICROS) => Self::Instant(UnixUnit::Micros),
            (_, ConvertedType::TIME_MILLIS) => Self::TimeOfDay(UnixUnit::Millis),
            (_, ConvertedType::TIME_MICROS) => Self::TimeOfDay(UnixUnit::Micros),
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32) => Self::Unsigned32,
            (_, ConvertedType::UINT_64) => Self::Unsigned64,
            _ => Self::Plain,
        }
    }

    /// Returns true if a column may hold users: values, but no fractions, that are written in one way.
    pub fn can_name(column: &ColumnDescriptor) -> bool {
        column.max_rep_level() == 0
            && match (Self::of(column), column.physical_type()) {
                (Self::Plain, stored) => matches!(
                    stored,
                    Type::INT32 | Type::INT64 | Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY
                ),
                (logical, _) => {
                    matches!(logical, Self::Unsigned32 | Self::Unsigned64 | Self::Uuid | Self::Decimal(0))
                }
            }
    }

    /// The time that a value stands for, in microseconds since 1970.
    pub fn time(self, value: Value<'_>, times: &Times) -> Option<i64> {
        match (value, self) {
            (Value::Integer(days), Self::Date) => {
                let micros = days.checked_mul(UnixUnit::Nanos.whole(NANOS_PER_DAY as i64)?)?;
                times.of_wall_clock(micros)
            }
            (Value::Integer(number), Self::Instant(unit)) => unit.whole(number),
            (Value::Integer(number), Self::WallClock(unit)) => times.of_wall_clock(unit.whole(number)?),
            (_, Self::TimeOfDay(_)) | (Value::Boolean(_), _) => None,
            (_, Self::Decimal(_) | Self::Float16) => {
                let mut text = Vec::new();
                self.write(value, &mut text).ok()?;
                times.parse(&text)
            }
            (Value::Nanos(nanos), _) => nanos.div_euclid(1_000).try_into().ok(),
            (Value::Integer(number), _) => times.of_integer(number),
            (Value::Bytes(text), _) => times.parse(text),
            (Value::Single(number), _) => times.of_float(number.into()),
            (Value::Double(number), _) => times.of_float(number),
        }
    }

    /// A value as people write it.
    pub fn write(self, value: Value<'_>, text: &mut Vec<u8>) -> io::Result<()> {
        match (value, self) {
            (Value::Bytes(bytes), Self::Uuid) => uuid(bytes, text),
            (Value::Bytes(&[low, high]), Self::Float16) => {
                write!(text, "{}", shortest(f16::from_le_bytes([low, high])))
            }
            (Value::Bytes(bytes), Self::Decimal(scale)) => decimal::write(bytes, scale, text),
            (Value::Bytes(bytes), _) => text.write_all(bytes),
            (Value::Boolean(value), _) => write!(text, "{value}"),
            (Value::Integer(number), _) => self.write_integer(number, text),
            (Value::Single(number), _) => write!(text, "{number}"),
            (Value::Double(number), _) => write!(text, "{number}"),
            (Value::Nanos(nanos), _) => instant(nanos, text),
        }
    }

    fn write_integer(self, number: i64, text: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Unsigned32 => write!(text, "{}", number as u32),
            Self::Unsigned64 => write!(text, "{}", number as u64),
            Self::Decimal(scale) => decimal::write(&number.to_be_bytes(), scale, text),
            Self::Instant(unit) => instant(nanos(unit, number), text),
            Self::WallClock(unit) => match Timestamp::from_nanosecond(nanos(unit, number)) {
                Ok(shown) => write!(text, "{}", TimeZone::UTC.to_datetime(shown)),
                Err(_) => write!(text, "{number}"),
            },
            Self::Date => match day(number) {
                Ok(date) => write!(text, "{date}"),
                Err(_) => write!(text, "{number}"),
            },
            Self::TimeOfDay(unit) => match time_of_day(nanos(unit, number)) {
                Some(time) => write!(text, "{time}"),
                None => write!(text, "{number}"),
            },
            Self::Plain | Self::Uuid | Self::Float16 => write!(text, "{number}"),
        }
    }
}

fn unit(unit: TimeUnit) -> UnixUnit {
    match unit {
        TimeUnit::MILLIS => UnixUnit::Millis,
        TimeUnit::MICROS => UnixUnit::Micros,
        TimeUnit::NANOS => UnixUnit::Nanos,
    }
}

fn nanos(unit: UnixUnit, number: i64) -> i128 {
    i128::from(number) * unit.nanos()
}

fn instant(nanos: i128, text: &mut Vec<u8>) -> io::Result<()> {
    match Timestamp::from_nanosecond(nanos) {
        Ok(instant) => write!(text, "{instant}"),
        Err(_) => write!(text, "{nanos}"),
    }
}

fn day(number: i64) -> Result<Date, jiff::Error> {
    date(1970, 1, 1).checked_add(Span::new().try_days(number)?)
}

fn time_of_day(nanos: i128) -> Option<Time> {
    Time::midnight().checked_add(SignedDuration::from_nanos(nanos.try_into().ok()?)).ok()
}

fn uuid(bytes: &[u8], text: &mut Vec<u8>) -> io::Result<()> {
    for (index, byte) in bytes.iter().enumerate() {
        let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
        write!(text, "{dash}{byte:02x}")?;
    }
    Ok(())
}

/// The number with the fewest digits that is stored so; whole ones have all of theirs.
fn shortest(number: f16) -> f32 {
    let exact = number.to_f32();
    if exact.fract() == 0.0 {
        return exact;
    }
    let rounded = (0..5).filter_map(|digits| format!("{exact:.digits$e}").parse::<f32>().ok());
    rounded.into_iter().find(|rounded| f16::from_f32(*rounded) == number).unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeFormat;

    fn text(logical: LogicalType, value: Value<'_>) -> String {
        let mut text = Vec::new();
        logical.write(value, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        const NOON: i64 = 1_759_320_000_000_000;
        let half = |number: f32| f16::from_f32(number).to_le_bytes();
        for (logical, value, written) in [
            (LogicalType::Date, Value::Integer(20_362), "2025-10-01"),
            (LogicalType::Date, Value::Integer(-1), "1969-12-31"),
            (LogicalType::Date, Value::Integer(i64::MAX), "9223372036854775807"),
            (LogicalType::TimeOfDay(UnixUnit::Millis), Value::Integer(45_296_000), "12:34:56"),
            (LogicalType::TimeOfDay(UnixUnit::Micros), Value::Integer(500_000), "00:00:00.5"),
            (LogicalType::TimeOfDay(UnixUnit::Nanos), Value::Integer(-1), "-1"),
            (LogicalType::Instant(UnixUnit::Millis), Value::Integer(NOON / 1_000), "2025-10-01T12:00:00Z"),
            (
                LogicalType::WallClock(UnixUnit::Micros),
                Value::Integer(NOON + 500_000),
                "2025-10-01T12:00:00.5",
            ),
            (LogicalType::Plain, Value::Nanos(1_759_320_000_000_000_001), "2025-10-01T12:00:00.000000001Z"),
            (LogicalType::Decimal(2), Value::Integer(-5), "-0.05"),
            (LogicalType::Float16, Value::Bytes(&half(0.1)), "0.1"),
            (LogicalType::Float16, Value::Bytes(&half(-2.5)), "-2.5"),
            (LogicalType::Float16, Value::Bytes(&half(65_504.0)), "65504"),
            (LogicalType::Float16, Value::Bytes(&half(f32::INFINITY)), "inf"),
            (LogicalType::Float16, Value::Bytes(&half(f32::NAN)), "NaN"),
            (LogicalType::Unsigned32, Value::Integer(-1), "4294967295"),
        ] {
            assert_eq!(text(logical, value), written, "{logical:?} {value:?}");
        }
    }

    #[test]
    fn clocks_on_the_wall_and_dates_are_in_the_zone_that_was_told() {
        let berlin = Times::new(TimeFormat::Any, TimeZone::get("Europe/Berlin").unwrap());
        let midnight = 1_759_269_600_000_000;
        assert_eq!(LogicalType::Date.time(Value::Integer(20_362), &berlin), Some(midnight));
        let shown = Value::Integer(1_759_276_800_000);
        assert_eq!(LogicalType::WallClock(UnixUnit::Millis).time(shown, &berlin), Some(midnight));
        assert_eq!(LogicalType::Instant(UnixUnit::Millis).time(shown, &berlin), Some(1_759_276_800_000_000));
        assert_eq!(LogicalType::TimeOfDay(UnixUnit::Millis).time(shown, &berlin), None);
        assert_eq!(LogicalType::Decimal(1).time(Value::Integer(15), &berlin), Some(1_500_000));
    }
}
