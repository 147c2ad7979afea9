//! The events that a list covers, in words.

use frostpane::numbers::grouped;
use frostpane::{Coverage, Edge, Key, Release};

use crate::moments::{moment, period};
use crate::titles::covered;
use crate::unit::how_many;

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
