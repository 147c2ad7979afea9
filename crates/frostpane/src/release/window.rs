//! A window in the words of its release.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::counting::window::WindowView;
use crate::key::Key;
use crate::pane::Pane;
use crate::release::published::Coverage;
use crate::release::request::Request;
use crate::spec::Edge;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A window in panes that were paid for, and in the words of its release.
pub(crate) struct ReleaseWindow<'a, K: Key> {
    pub covered: Option<WindowView<'a, K>>,
    pub coverage: Coverage,
    /// The first position that was asked for.
    pub asked_from: Option<Edge>,
    /// How many events the window asked for has: at least, and at most.
    pub asked_events: [u64; 2],
}

impl<'a, K: Key> ReleaseWindow<'a, K> {
    /// A window, or none if there was no event.
    pub fn of(request: &Request<K>, window: Option<WindowView<'a, K>>) -> Self {
        let by_count = request.spec.window().is_by_count();
        match window {
            None => Self::nothing(by_count),
            Some(covered) if request.spec.unit.is_user() => Self::of_users(covered),
            Some(covered) => Self::of_events(covered, by_count),
        }
    }

    pub(super) fn panes(&self) -> &[Cow<'a, Pane<K>>] {
        self.covered.as_ref().map_or(&[][..], |covered| &covered.panes)
    }

    fn nothing(by_count: bool) -> Self {
        let edge = by_count.then_some(Edge::Event(0));
        Self { covered: None, coverage: coverage(0, edge, edge, 0), asked_from: edge, asked_events: [0; 2] }
    }

    fn of_events(covered: WindowView<'a, K>, by_count: bool) -> Self {
        let events: u64 = covered.panes.iter().map(|pane| pane.events()).sum();
        let with_left_out = [events, events + covered.left_out];
        let end = covered.latest + 1;
        let (to, asked_events) = match (by_count, covered.known_end) {
            (true, Some(_)) => (end, with_left_out),
            (true, None) => (end, [(end - covered.since.max(0)) as u64; 2]),
            (false, Some(end)) => (end, with_left_out),
            (false, None) => (next_second(covered.latest), with_left_out),
        };
        let edge = |position| Some(edge(position, by_count));
        Self {
            coverage: coverage(events, edge(covered.from), edge(to), covered.missed),
            asked_from: edge(covered.since),
            asked_events,
            covered: Some(covered),
        }
    }

    /// The window that was asked for, whatever is in it: how many events that is has noise.
    fn of_users(covered: WindowView<'a, K>) -> Self {
        let from = Some(instant(covered.from));
        Self {
            coverage: coverage(0, from, Some(instant(covered.latest + 1)), 0),
            asked_from: from,
            asked_events: [0; 2],
            covered: Some(covered),
        }
    }
}

fn coverage(events: u64, from: Option<Edge>, to: Option<Edge>, missed: u64) -> Coverage {
    Coverage { events, between: None, from, to, missed }
}

/// A position as a release shows it.
pub(crate) fn edge(position: i64, by_count: bool) -> Edge {
    if by_count { Edge::Event(position.max(0) as u64) } else { instant(position) }
}

/// The first whole second after a time.
fn next_second(micros: i64) -> i64 {
    (micros.div_euclid(MICROS_PER_SECOND) + 1) * MICROS_PER_SECOND
}

/// A moment within the calendar.
fn instant(micros: i64) -> Edge {
    let limits = Timestamp::MIN.as_microsecond()..=Timestamp::MAX.as_microsecond();
    let micros = micros.clamp(*limits.start(), *limits.end());
    Edge::Instant(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}
