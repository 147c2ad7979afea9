//! Moments and periods as text, all in UTC.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The period from one moment up to another; whole days by their names.
pub fn period(from: Timestamp, to: Timestamp) -> String {
    let begins = from.to_zoned(TimeZone::UTC);
    let last = to.to_zoned(TimeZone::UTC).saturating_sub(1.day());
    if !is_midnight(from) || !is_midnight(to) || begins > last {
        format!("{} up to {} (UTC)", moment(from), moment(to))
    } else if begins.date() == last.date() {
        format!("{} (UTC)", day(from))
    } else {
        format!("{} to {} (UTC)", day(from), day(last.timestamp()))
    }
}

/// A day and a time, to the minute if there are no seconds.
pub fn moment(at: Timestamp) -> String {
    let format = match at.as_nanosecond() % 60_000_000_000 {
        0 => "%-d %B %Y, %H:%M",
        _ => "%-d %B %Y, %H:%M:%S",
    };
    at.strftime(format).to_string()
}

fn day(at: Timestamp) -> String {
    at.strftime("%-d %B %Y").to_string()
}

fn is_midnight(at: Timestamp) -> bool {
    at.as_nanosecond() % 86_400_000_000_000 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_days_have_their_names_and_the_last_is_in() {
        for (from, to, expected) in [
            ("2013-12-02T00:00:00Z", "2014-01-01T00:00:00Z", "2 December 2013 to 31 December 2013 (UTC)"),
            ("2013-12-31T00:00:00Z", "2014-01-01T00:00:00Z", "31 December 2013 (UTC)"),
            (
                "2013-12-02T00:00:00Z",
                "2013-12-31T23:59:01Z",
                "2 December 2013, 00:00 up to 31 December 2013, 23:59:01 (UTC)",
            ),
            (
                "2013-12-02T00:00:00Z",
                "2013-12-02T00:00:00Z",
                "2 December 2013, 00:00 up to 2 December 2013, 00:00 (UTC)",
            ),
        ] {
            assert_eq!(period(from.parse().unwrap(), to.parse().unwrap()), expected);
        }
    }
}
