//! The door: update and release.

use jiff::Timestamp;

use crate::builder::Builder;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::noise::{Entropy, OsEntropy};
use crate::plan::Layout;
use crate::release::one_shot::{self, Coverage, Edge, Release, View};
use crate::release::terms::Terms;
use crate::timeline::window::Grid;
use crate::timeline::{Span, Timeline, Window};
use crate::universe::Keys;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The heavy hitters of a sliding window, and private releases of them.
///
/// ```
/// use frostpane::{Bytes, HeavyHitters, Keys, Norm, Window};
///
/// # fn main() -> frostpane::Result<()> {
/// let mut searches = HeavyHitters::<Bytes>::builder(Keys::open())
///     .norm(Norm::L2)
///     .alpha(0.1)
///     .epsilon(1.0)
///     .delta(1e-9)
///     .window(Window::events(100_000))
///     .build()?;
/// for i in 0..100_000 {
///     searches.update(if i % 3 == 0 { b"snow tomorrow" } else { b"rain tomorrow" })?;
/// }
/// let release = searches.release()?;
/// assert_eq!(release.heavy[0].key.as_ref(), b"rain tomorrow");
/// assert!(release.promises.held);
/// # Ok(())
/// # }
/// ```
pub struct HeavyHitters<K: Key> {
    timeline: Timeline<K>,
    window: Window,
    grid: Grid,
    terms: Terms<K>,
    releases: u32,
    /// Events so far, by count.
    arrived: i64,
    dropped: u64,
    without_key: u64,
}

impl<K: Key> HeavyHitters<K> {
    /// Starts to build, from the keys that a release may name.
    pub fn builder(keys: Keys<K>) -> Builder<K> {
        Builder::new(keys)
    }

    pub(crate) fn new(
        window: Window,
        layout: &Layout,
        terms: Terms<K>,
        releases: u32,
        threads: usize,
    ) -> Result<Self> {
        let grid = window.grid(layout.policy)?;
        let (schedule, norms) = layout.schedule(terms.shape.sketch(), terms.shape.seed());
        Ok(Self {
            timeline: Timeline::new(grid, terms.shape, schedule, norms).with_threads(threads),
            window,
            grid,
            terms,
            releases,
            arrived: 0,
            dropped: 0,
            without_key: 0,
        })
    }

    /// One event of a window by count.
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<()> {
        self.push(Some(key))
    }

    /// Many events of a window by count, in order.
    pub fn update_batch<'a>(&mut self, keys: impl IntoIterator<Item = K::Ref<'a>>) -> Result<()> {
        self.update_all(keys.into_iter().map(Some))
    }

    /// Many events of a window by count, with keys or without, in order.
    pub fn update_all<'a>(&mut self, keys: impl IntoIterator<Item = Option<K::Ref<'a>>>) -> Result<()> {
        let mut keys = keys.into_iter();
        while let Some(first) = keys.next() {
            self.push(first)?;
            self.arrived = fill(
                &mut self.timeline,
                &self.terms.keys,
                self.arrived,
                &mut keys,
                &mut self.without_key,
            );
        }
        Ok(())
    }

    /// One event without a key. It is an event all the same: the window moves on.
    pub fn update_without_key(&mut self) -> Result<()> {
        self.push(None)
    }

    /// One event of a window by the clock, at a time in microseconds since 1970.
    #[inline]
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<()> {
        self.push_at(time, Some(key))
    }

    /// Many events of a window by the clock, in the order of their arrival.
    pub fn update_batch_at<'a>(&mut self, events: impl IntoIterator<Item = (i64, K::Ref<'a>)>) -> Result<()> {
        events
            .into_iter()
            .try_for_each(|(time, key)| self.push_at(time, Some(key)))
    }

    /// One event without a key of a window by the clock.
    pub fn update_without_key_at(&mut self, time: i64) -> Result<()> {
        self.push_at(time, None)
    }

    /// How many events came too late and were dropped. For the operator: it is not part of a release.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many events had no key that is counted: none, an undeclared one, or one that is too long. For the
    /// operator, who holds the events anyway: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        self.without_key
    }

    /// Releases the heavy hitters of the longest window.
    pub fn release(&mut self) -> Result<Release<K>> {
        self.release_over(self.window.longest())
    }

    /// Releases the heavy hitters of a shorter window.
    pub fn release_over(&mut self, span: impl Into<Span>) -> Result<Release<K>> {
        self.release_with_entropy(span, &mut OsEntropy::new())
    }

    /// Whether a shorter window can be released, before there are events that it could be of.
    pub fn check_window(&self, span: impl Into<Span>) -> Result<()> {
        self.window.shorter(span.into(), &self.grid).map(drop)
    }

    /// Releases with noise from another source of entropy than the operating system's. For tests: the privacy
    /// of the release is no better than the source.
    pub fn release_with_entropy(
        &mut self,
        span: impl Into<Span>,
        entropy: &mut impl Entropy,
    ) -> Result<Release<K>> {
        let length = self.window.shorter(span.into(), &self.grid)? as i64;
        let Some(may_measure) = self.timeline.charge(length, self.releases) else {
            return Err(Error::new(
                ErrorKind::Budget,
                format!(
                    "some events of this window have been in {} release(s), as many as they may: wait until the \
                     window has moved past them, or build with releases({}), which lets an event lose {} times epsilon",
                    self.releases,
                    self.releases.saturating_add(1),
                    self.releases.saturating_add(1)
                ),
            ));
        };
        one_shot::release(&self.terms, self.view(length, may_measure), entropy)
    }

    #[inline]
    fn push(&mut self, key: Option<K::Ref<'_>>) -> Result<()> {
        if let Window::Clock(_) = self.window {
            return Err(Error::window(
                "this window goes by the clock: give the time of the event with update_at",
            ));
        }
        let key = counted(&self.terms.keys, key, &mut self.without_key);
        self.timeline.update(self.arrived, key)?;
        self.arrived += 1;
        Ok(())
    }

    #[inline]
    fn push_at(&mut self, time: i64, key: Option<K::Ref<'_>>) -> Result<()> {
        if let Window::Events(_) = self.window {
            return Err(Error::window(
                "this window goes by the number of events: give the event without a time, with update",
            ));
        }
        check_time(time)?;
        let key = counted(&self.terms.keys, key, &mut self.without_key);
        if !self.timeline.update(time, key)? {
            self.dropped += 1;
        }
        Ok(())
    }

    fn view(&self, length: i64, may_measure: bool) -> View<'_, K> {
        let Some(covered) = self.timeline.cover(length) else {
            let edge = matches!(self.window, Window::Events(_)).then_some(Edge::Event(0));
            return View {
                covered: None,
                coverage: Coverage {
                    events: 0,
                    from: edge,
                    to: edge,
                },
                asked_from: edge,
                asked_events: [0; 2],
                may_measure,
            };
        };
        let events: u64 = covered.panes.iter().map(|pane| pane.events()).sum();
        let left_out: u64 = covered.straddling.iter().map(|pane| pane.events()).sum();
        let (edge, to, asked_events): (fn(i64) -> Edge, _, _) = match self.window {
            Window::Events(_) => {
                let asked = (covered.latest + 1 - covered.since.max(0)) as u64;
                (
                    |event| Edge::Event(event.max(0) as u64),
                    covered.latest + 1,
                    [asked, asked],
                )
            }
            Window::Clock(_) => (instant, next_second(covered.latest), [events, events + left_out]),
        };
        View {
            coverage: Coverage {
                events,
                from: Some(edge(covered.from)),
                to: Some(edge(to)),
            },
            asked_from: Some(edge(covered.since)),
            asked_events,
            may_measure,
            covered: Some(covered),
        }
    }

    /// What a release of the longest window would add noise to.
    #[cfg(feature = "audit")]
    pub(crate) fn inside(&self) -> Result<crate::audit::Inside<K>> {
        one_shot::inside(&self.terms, &self.view(self.grid.length, false))
    }

    /// About how much memory the window takes, in bytes. It tells how many different keys there were: for the
    /// operator, **it must not be published**.
    pub fn bytes(&self) -> u64 {
        self.timeline.bytes()
    }

    /// How many closed panes there are.
    pub fn panes(&self) -> usize {
        self.timeline.panes()
    }
}

/// Whether a time in microseconds since 1970 lies within the calendar.
pub fn check_time(time: i64) -> Result<()> {
    match Timestamp::from_microsecond(time) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::window(format!(
            "the time {time} lies outside the calendar: give microseconds since 1970"
        ))),
    }
}

/// Takes as many events as the head pane has room for from a position on, and returns the position after them.
pub(crate) fn fill<'a, K: Key>(
    timeline: &mut Timeline<K>,
    keys: &Keys<K>,
    position: i64,
    events: &mut impl Iterator<Item = Option<K::Ref<'a>>>,
    without_key: &mut u64,
) -> i64 {
    let Some((block, room)) = timeline.room(position) else {
        return position;
    };
    let before = block.events();
    let events = events.take(room);
    match keys {
        Keys::Open => *without_key += block.extend(events.map(|key| key.filter(|key| K::fits(*key)))),
        declared => {
            block.extend(events.map(|key| counted(declared, key, without_key)));
        }
    }
    let next = position + (block.events() - before) as i64;
    timeline.pass(next - 1);
    next
}

/// The key, unless it is one that is not counted.
#[inline]
pub(crate) fn counted<'a, K: Key>(
    keys: &Keys<K>,
    key: Option<K::Ref<'a>>,
    without_key: &mut u64,
) -> Option<K::Ref<'a>> {
    let counted = key.filter(|&key| match keys {
        Keys::Open => K::fits(key),
        Keys::Declared(universe) => universe.rank(key).is_some(),
    });
    *without_key += u64::from(counted.is_none());
    counted
}

/// The first whole second after a time.
fn next_second(micros: i64) -> i64 {
    (micros.div_euclid(MICROS_PER_SECOND) + 1) * MICROS_PER_SECOND
}

/// A moment within the calendar.
pub(crate) fn instant(micros: i64) -> Edge {
    let limits = Timestamp::MIN.as_microsecond()..=Timestamp::MAX.as_microsecond();
    let micros = micros.clamp(*limits.start(), *limits.end());
    Edge::Instant(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}
