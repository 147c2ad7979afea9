//! Times as producers write them, in microseconds since 1970.

use jiff::Timestamp;

/// No moment is written with more bytes.
const LONGEST: usize = 128;

/// A moment as in RFC 3339, or a number since 1970: of seconds, or by its size of thousandths, millionths or billionths of them.
pub fn of_text(text: &str) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    match text.parse::<Timestamp>() {
        Ok(moment) => Some(moment.as_microsecond()),
        Err(_) => text.parse().ok().and_then(of_number),
    }
}

/// The same of a number.
pub fn of_number(number: f64) -> Option<i64> {
    let micros = match number.abs() {
        size if !size.is_finite() || size >= 1e19 => return None,
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        _ => number / 1e3,
    };
    Some(micros.round() as i64)
}

/// The same of a whole number, without going through a float.
pub fn of_integer(number: i64) -> Option<i64> {
    match number.unsigned_abs() {
        size if size < 100_000_000_000 => number.checked_mul(1_000_000),
        size if size < 100_000_000_000_000 => number.checked_mul(1_000),
        size if size < 100_000_000_000_000_000 => Some(number),
        _ => Some(number / 1_000),
    }
}
