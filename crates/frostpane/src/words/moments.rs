//! Moments and periods as people say them, all in UTC.

use jiff::Timestamp;
use jiff::ToSpan;
use jiff::tz::TimeZone;

/// From one moment up to another; whole days by their names.
pub fn period(from: Timestamp, to: Timestamp) -> String {
    let begins = from.to_zoned(TimeZone::UTC);
    let last = to.to_zoned(TimeZone::UTC).saturating_sub(1.day());
    match is_midnight(from) && is_midnight(to) && begins <= last {
        true if begins.date() == last.date() => format!("{} (UTC)", day(from)),
        true => format!("{} to {} (UTC)", day(from), day(last.timestamp())),
        false => format!("{} up to {} (UTC)", moment(from), moment(to)),
    }
}

/// A day and a time, no more precise than it has to be.
pub fn moment(at: Timestamp) -> String {
    let form = match at.as_nanosecond() % 60_000_000_000 {
        0 => "%-d %B %Y, %H:%M",
        _ => "%-d %B %Y, %H:%M:%S",
    };
    at.strftime(form).to_string()
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

    fn said(from: &str, to: &str) -> String {
        period(from.parse().unwrap(), to.parse().unwrap())
    }

    #[test]
    fn whole_days_have_their_names_and_the_last_is_in() {
        assert_eq!(
            said("2013-12-02T00:00:00Z", "2014-01-01T00:00:00Z"),
            "2 December 2013 to 31 December 2013 (UTC)"
        );
        assert_eq!(
            said("2013-12-31T00:00:00Z", "2014-01-01T00:00:00Z"),
            "31 December 2013 (UTC)"
        );
    }

    #[test]
    fn other_periods_end_where_they_do() {
        assert_eq!(
            said("2013-12-02T00:00:00Z", "2013-12-31T23:59:01Z"),
            "2 December 2013, 00:00 up to 31 December 2013, 23:59:01 (UTC)"
        );
        assert_eq!(
            said("2013-12-02T00:00:00Z", "2013-12-02T00:00:00Z"),
            "2 December 2013, 00:00 up to 2 December 2013, 00:00 (UTC)"
        );
    }
}
