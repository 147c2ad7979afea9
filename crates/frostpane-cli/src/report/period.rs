//! Which events a list is about, as people say it.

use frostpane::words::{covered, how_many, moment, period};
use frostpane::{Coverage, Edge, Key, Release};

use crate::units::grouped;

/// How many events, and from when to when.
pub fn events_and_period<K: Key>(release: &Release<K>) -> String {
    match (release.window.from, release.window.to) {
        (Some(Edge::Instant(from)), Some(Edge::Instant(to))) => {
            format!("{}, {}", how_many(release), period(from, to))
        }
        _ => covered(release),
    }
}

/// Where a window ends.
pub fn up_to(window: &Coverage) -> String {
    match window.to {
        Some(Edge::Instant(to)) => format!(" up to {} (UTC)", moment(to)),
        Some(Edge::Event(to)) => format!(" up to event {}", grouped(to)),
        None => String::new(),
    }
}
