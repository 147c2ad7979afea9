//! Continual release of users over a time that has passed.

use std::ops::Range;

use super::continual::Continual;
use crate::counting::users::{BatchBounder, Calendar};
use crate::counting::{Event, Tally};
use crate::error::{Error, Result};
use crate::key::Key;
#[cfg(any(test, feature = "testing"))]
use crate::noise::Entropy;

/// Events of users between two moments that are known before the first event, for the releases that [`Continual`] would have made.
/// Events may come in any order, and none is too late.
///
/// ```
/// use std::time::Duration;
/// use frostpane::{Bounds, Edge, Event, HeavyHitters, Keys, Unit, Window};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let day = Duration::from_secs(86_400);
/// let [from, until] = ["2026-03-02T00:00:00Z".parse()?, "2026-03-09T00:00:00Z".parse()?];
/// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
///     .unit(Unit::User(Bounds::new(1)))
///     .window(Window::clock(3 * day).slide(day))
///     .history(Edge::Instant(from), Edge::Instant(until))?;
/// for user in 0..900_u64 {
///     ports.push(Event::by(&user.to_be_bytes(), from.as_microsecond(), 443))?;
/// }
/// let mut lists = Vec::new();
/// ports.finish(|ports| lists.push(ports.release()))?;
/// assert_eq!(lists.len(), 7, "one for each day, also for those when nobody came");
/// # Ok(())
/// # }
/// ```
pub struct History<K: Key> {
    pub(super) bounder: BatchBounder<K>,
    pub(super) continual: Continual<K>,
    pub(super) calendar: Calendar,
    pub(super) panes: Range<i64>,
}

impl<K: Key> History<K> {
    /// One event.
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        match event.time {
            Some(time) => self.bounder.push(time, event.user, event.key),
            None => Err(Error::window(
                "an event has no time, but this window goes by the clock: give each its time",
            )),
        }
    }

    /// Many events.
    pub fn extend<'a>(&mut self, events: impl IntoIterator<Item = Event<'a, K>>) -> Result<()> {
        events.into_iter().try_for_each(|event| self.push(event))
    }

    /// With secrets of nodes from another source of entropy. For tests: the privacy of releases is no better than it.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        Self { continual: self.continual.drawing_from(source), ..self }
    }

    /// Number of events by their outcome so far. For the operator: **it must not be published**.
    pub fn tally(&self) -> Tally {
        *self.bounder.tally()
    }

    /// All events have come: calls back for each pane, in the order of time, when its release can be read.
    pub fn finish(self, due: impl FnMut(&Continual<K>)) -> Result<Continual<K>> {
        let Self { mut bounder, mut continual, calendar, panes } = self;
        let made_with = continual.made_with();
        let pane_of = |period| (calendar.pane_of(period) - panes.start) as usize;
        let (counted, tally) = bounder.close((panes.end - panes.start) as usize, pane_of, made_with)?;
        continual.end_counted(panes, counted, tally, due)?;
        Ok(continual)
    }
}
