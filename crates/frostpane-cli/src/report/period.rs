//! Which events a list is about, as people say it.

use frostpane::words::{moment, period};
use frostpane::{Coverage, Edge};

use crate::table::covered;
use crate::units::grouped;

/// How many events, and from when to when.
pub fn events_and_period(window: &Coverage) -> String {
    match (window.from, window.to) {
        (Some(Edge::Instant(from)), Some(Edge::Instant(to))) => {
            let plural = if window.events == 1 { "" } else { "s" };
            format!("{} event{plural}, {}", grouped(window.events), period(from, to))
        }
        _ => covered(window),
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
