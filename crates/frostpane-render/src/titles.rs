//! The title of a list, and the events and the period that it covers. Moments are in UTC.

use frostpane::numbers::grouped;
use frostpane::{Coverage, Edge, Key, Norm, Release};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::unit::how_many;

/// The kind of list and the events that it covers.
pub fn title<K: Key>(release: &Release<K>) -> String {
    let listed = match (release.alpha, release.top, release.norm) {
        (Some(alpha), _, Norm::L1) => format!("L1 heavy hitters at alpha {alpha}"),
        (Some(alpha), _, Norm::L2) => format!("L2 heavy hitters at alpha {alpha}"),
        (None, Some(1), _) => "The top key".to_owned(),
        (None, Some(top), _) => format!("The top {} keys", grouped(top)),
        (None, None, _) => "All keys that may be listed,".to_owned(),
    };
    format!("{listed} of {}", covered(release))
}

/// The events that a release covers: their number, and from where to where.
pub fn covered<K: Key>(release: &Release<K>) -> String {
    let events = how_many(release);
    match (release.window.from, release.window.to) {
        (Some(Edge::Event(from)), Some(Edge::Event(to))) => {
            format!("{events}, number {} up to {}", grouped(from), grouped(to))
        }
        (Some(Edge::Instant(from)), Some(Edge::Instant(to))) => {
            format!("{events} from {from} up to {to}")
        }
        _ => "no events".to_owned(),
    }
}

pub fn events_and_period<K: Key>(release: &Release<K>) -> String {
    match (release.window.from, release.window.to) {
        (Some(Edge::Instant(from)), Some(Edge::Instant(to))) => {
            format!("{}, {}", how_many(release), period(from, to))
        }
        _ => covered(release),
    }
}

pub fn up_to(window: &Coverage) -> String {
    match window.to {
        Some(Edge::Instant(to)) => format!(" up to {} (UTC)", moment(to)),
        Some(Edge::Event(to)) => format!(" up to event {}", grouped(to)),
        None => String::new(),
    }
}

/// The period from one moment up to another; whole days by their names.
fn period(from: Timestamp, to: Timestamp) -> String {
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
