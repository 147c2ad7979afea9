//! The door: build, update, release.

use jiff::Timestamp;

use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::noise::{Entropy, Epsilon, OsEntropy};
use crate::pane::PaneShape;
use crate::release::Norm;
use crate::release::one_shot::{self, Coverage, Edge, Release, Terms};
use crate::sketch::count_sketch::Dimensions;
use crate::timeline::uniform::Covered;
use crate::timeline::window::Grid;
use crate::timeline::{Span, Timeline, Window};
use crate::universe::Keys;

const MOST_ROWS: usize = 99;
const WIDEST: usize = 1 << 24;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// How to build [`HeavyHitters`]. Only the keys have no default.
#[derive(Clone)]
pub struct Builder<K: Key> {
    keys: Keys<K>,
    norm: Norm,
    alpha: f64,
    epsilon: f64,
    delta: f64,
    window: Window,
    confidence: f64,
    releases: u32,
    entries: u32,
    capacity: usize,
    sketch: Dimensions,
}

impl<K: Key> Builder<K> {
    fn new(keys: Keys<K>) -> Self {
        Self {
            keys,
            norm: Norm::L2,
            alpha: 0.05,
            epsilon: 1.0,
            delta: 1e-9,
            window: Window::events(1_000_000).into(),
            confidence: 0.95,
            releases: 1,
            entries: 16_384,
            capacity: 65_536,
            sketch: Dimensions {
                rows: 5,
                width: 2_048,
            },
        }
    }

    /// What heavy is relative to: the number of events (L1), or the L2 norm, which finds more. L2 unless told.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// A key is heavy from this share of the norm on; 0.05 unless told.
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// The privacy loss of a release; 1 unless told.
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// The chance with which the loss may be larger; 1e-9 unless told. Declared keys need none and spend none.
    pub fn delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// The longest window; a million events unless told.
    pub fn window(self, window: impl Into<Window>) -> Self {
        Self {
            window: window.into(),
            ..self
        }
    }

    /// With what probability the statements of a release hold together; 0.95 unless told.
    pub fn confidence(self, confidence: f64) -> Self {
        Self { confidence, ..self }
    }

    /// In how many releases an event may be; 1 unless told. Each of them costs the epsilon and the delta: an event
    /// loses at most `releases` times these.
    pub fn releases(self, releases: u32) -> Self {
        Self { releases, ..self }
    }

    /// The most keys that a closed pane keeps; 16,384 unless told. Panes of no more events are exact.
    pub fn entries(self, entries: u32) -> Self {
        Self { entries, ..self }
    }

    /// The most keys that an open pane counts; 65,536 unless told, never fewer than the entries.
    pub fn capacity(self, capacity: usize) -> Self {
        Self { capacity, ..self }
    }

    /// The rows and the width of the sketch that gives the L2 norm where panes are not exact; 5 rows of 2,048
    /// counters unless told.
    pub fn sketch(self, rows: usize, width: usize) -> Self {
        Self {
            sketch: Dimensions { rows, width },
            ..self
        }
    }

    /// Checks everything and starts an empty window.
    pub fn build(self) -> Result<HeavyHitters<K>> {
        let grid = self.window.grid()?;
        let terms = self.terms(&grid)?;
        Ok(HeavyHitters {
            timeline: Timeline::new(grid, terms.shape),
            window: self.window,
            grid,
            terms,
            releases: self.releases,
            arrived: 0,
            dropped: 0,
        })
    }

    fn terms(&self, grid: &Grid) -> Result<Terms<K>> {
        let epsilon = Epsilon::new(self.epsilon)?;
        within(
            self.alpha,
            "alpha",
            "0.05 finds keys with a twentieth of the norm",
        )?;
        within(self.confidence, "confidence", "0.95 is a common choice")?;
        if self.releases == 0 {
            return Err(Error::parameter(
                "releases is 0, but an event must be allowed in at least 1 release",
            ));
        }
        let Dimensions { rows, width } = self.sketch;
        if rows % 2 == 0 || !width.is_power_of_two() || rows > MOST_ROWS || width > WIDEST {
            return Err(Error::parameter(format!(
                "the sketch is {rows} rows of {width}, but the rows must be odd, at most {MOST_ROWS}, and the width a power of two, \
                 at most {WIDEST}"
            )));
        }
        let always_exact =
            matches!(self.window, Window::Events(_)) && grid.slide as u64 <= u64::from(self.entries);
        Ok(Terms {
            norm: self.norm,
            alpha: self.alpha,
            epsilon,
            delta: self.checked_delta()?,
            confidence: self.confidence,
            keys: self.keys.clone(),
            shape: PaneShape::new(
                self.entries,
                self.capacity,
                (self.norm == Norm::L2 && !always_exact).then_some(self.sketch),
                OsEntropy::new().word()?,
            )?,
        })
    }

    fn checked_delta(&self) -> Result<f64> {
        match self.keys {
            Keys::Declared(_) => Ok(0.0),
            Keys::Open if self.delta == 0.0 => Err(Error::parameter(
                "delta is 0, but open keys cannot be released purely, because a key that occurred once would be named \
                 or not: declare the keys, or allow a small delta such as 1e-9",
            )),
            Keys::Open => {
                within(
                    self.delta,
                    "delta",
                    "take it far below one over the number of events, such as 1e-9",
                )?;
                Ok(self.delta)
            }
        }
    }
}

/// Checks that a number lies between 0 and 1.
fn within(value: f64, name: &str, advice: &str) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "{name} is {value}, but must be above 0 and below 1: {advice}"
        )))
    }
}

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
}

impl<K: Key> HeavyHitters<K> {
    /// Starts to build, from the keys that a release may name.
    pub fn builder(keys: Keys<K>) -> Builder<K> {
        Builder::new(keys)
    }

    /// One event of a window by count.
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<()> {
        self.push(Some(key))
    }

    /// Many events of a window by count, in order.
    pub fn update_batch<'a>(&mut self, keys: impl IntoIterator<Item = K::Ref<'a>>) -> Result<()> {
        keys.into_iter().try_for_each(|key| self.push(Some(key)))
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

    /// Releases the heavy hitters of the longest window.
    pub fn release(&mut self) -> Result<Release<K>> {
        self.release_from(self.grid.length, &mut OsEntropy::new())
    }

    /// Releases the heavy hitters of a shorter window.
    pub fn release_over(&mut self, span: impl Into<Span>) -> Result<Release<K>> {
        let length = self.checked_span(span.into())?;
        self.release_from(length, &mut OsEntropy::new())
    }

    /// Releases with noise from another source of entropy than the operating system's. For tests: the privacy of
    /// the release is no better than the source.
    pub fn release_with_entropy(&mut self, entropy: &mut impl Entropy) -> Result<Release<K>> {
        self.release_from(self.grid.length, entropy)
    }

    fn release_from(&mut self, length: i64, entropy: &mut impl Entropy) -> Result<Release<K>> {
        if !self.timeline.charge(length, self.releases) {
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
        }
        let covered = self.timeline.cover(length);
        let coverage = self.coverage(covered.as_ref());
        one_shot::release(&self.terms, covered.as_ref(), coverage, entropy)
    }

    #[inline]
    fn push(&mut self, key: Option<K::Ref<'_>>) -> Result<()> {
        if let Window::Clock(_) = self.window {
            return Err(Error::window(
                "this window goes by the clock: give the time of the event with update_at",
            ));
        }
        let key = self.counted(key);
        self.timeline.update(self.arrived, key);
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
        if Timestamp::from_microsecond(time).is_err() {
            return Err(Error::window(format!(
                "the time {time} lies outside the calendar: give microseconds since 1970"
            )));
        }
        let key = self.counted(key);
        if !self.timeline.update(time, key) {
            self.dropped += 1;
        }
        Ok(())
    }

    /// The key, unless it is one that is not counted.
    #[inline]
    fn counted<'a>(&self, key: Option<K::Ref<'a>>) -> Option<K::Ref<'a>> {
        key.filter(|&key| match &self.terms.keys {
            Keys::Open => K::fits(key),
            Keys::Declared(universe) => universe.rank(key).is_some(),
        })
    }

    fn checked_span(&self, span: Span) -> Result<i64> {
        match (span, self.window) {
            (Span::Events(_), Window::Events(_)) | (Span::Clock(_), Window::Clock(_)) => {}
            (Span::Events(_), Window::Clock(_)) => {
                return Err(Error::window(
                    "this window goes by the clock: ask for a duration, not for events",
                ));
            }
            (Span::Clock(_), Window::Events(_)) => {
                return Err(Error::window(
                    "this window goes by the number of events: ask for events, not for a duration",
                ));
            }
        }
        let length = span.length();
        if length < self.grid.slide as u64 || length > self.grid.length as u64 {
            return Err(Error::window(format!(
                "a window of {span:?} was asked for, but it must be between the slide and the longest window: {:?}",
                self.window
            )));
        }
        Ok(length as i64)
    }

    fn coverage(&self, covered: Option<&Covered<'_, K>>) -> Coverage {
        let Some(covered) = covered else {
            let edge = matches!(self.window, Window::Events(_)).then_some(Edge::Event(0));
            return Coverage {
                events: 0,
                from: edge,
                to: edge,
            };
        };
        let (from, to) = match self.window {
            Window::Events(_) => (
                Edge::Event(covered.from as u64),
                Edge::Event(covered.latest as u64 + 1),
            ),
            Window::Clock(_) => (instant(covered.from), instant(next_second(covered.latest))),
        };
        Coverage {
            events: covered.panes.iter().map(|pane| pane.events()).sum(),
            from: Some(from),
            to: Some(to),
        }
    }
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
