//! What a list is called.

use super::numbers::grouped;
use super::people::how_many;
use super::statements::horizon;
use crate::key::Key;
use crate::release::Release;
use crate::spec::{Edge, Norm};

/// What a list is, and of which events.
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

/// Which events a release is about.
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

/// What the price of a list at every slide is for; of another list there is nothing to say.
pub fn of_sequence<K: Key>(release: &Release<K>) -> String {
    match (&release.continual, horizon(release)) {
        (None, _) => String::new(),
        (Some(_), None) => ", once for all lists".to_owned(),
        (Some(_), Some(horizon)) => format!(", once for all lists; {horizon}"),
    }
}
