//! The title of a list, and the events that it covers.

use frostpane::numbers::grouped;
use frostpane::{Edge, Key, Norm, Release};

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
