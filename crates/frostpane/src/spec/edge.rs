//! Ends of windows.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::quantity::Span;

/// An end of a window: its first event or moment, or the first after it.
///
/// ```
/// use frostpane::Edge;
///
/// let noon: Edge = serde_json::from_str(r#""2026-03-02T12:00:00Z""#)?;
/// assert_eq!(noon.to_string(), "2026-03-02T12:00:00Z");
/// assert_eq!(serde_json::from_str::<Edge>("1000000")?, Edge::Event(1_000_000));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number of events, or a time in quotes such as \"2026-03-02T12:00:00Z\""
)]
pub enum Edge {
    /// The number of an event, from 0.
    Event(u64),
    /// A moment, shown as RFC 3339.
    Instant(Timestamp),
}

impl Edge {
    /// As a position: an event number, or microseconds since 1970.
    pub(crate) fn position(&self) -> i64 {
        match self {
            Edge::Event(number) => i64::try_from(*number).unwrap_or(i64::MAX),
            Edge::Instant(instant) => instant.as_microsecond(),
        }
    }

    /// Returns true if a window of this length can end here: both are of events, or both of the clock.
    pub(crate) fn can_end(&self, window: Span) -> bool {
        matches!(self, Edge::Event(_)) == window.is_by_count()
    }

    /// The first position of this kind: by count nothing precedes the first event.
    pub(crate) fn first_position(&self) -> i64 {
        match self {
            Edge::Event(_) => 0,
            Edge::Instant(_) => i64::MIN,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edge::Event(number) => write!(f, "{number}"),
            Edge::Instant(instant) => write!(f, "{instant}"),
        }
    }
}
