//! The door to single releases.

use std::ops::Range;

use super::builder::Builder;
use super::event::Event;
use super::intake::{Intake, needs_time};
use super::receipt::{Paid, Receipt};
use crate::error::Result;
use crate::key::{Key, Keys};
use crate::noise::Entropy;
use crate::pane::Parameters;
use crate::people::{self, Epochs, Scratch, Tally};
use crate::plan::Plan;
use crate::release::{Release, Request};
use crate::spec::{Policy, Span, Unit};
use crate::timeline::Timeline;
use crate::timeline::schedule::Schedule;

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
/// assert!(release.held());
/// # Ok(())
/// # }
/// ```
pub struct HeavyHitters<K: Key> {
    pub(super) intake: Intake<K>,
    pub(super) request: Request<K>,
    /// What people did, where they are protected.
    people: Option<Epochs<K>>,
}

impl<K: Key> HeavyHitters<K> {
    /// Starts to build, from the keys that a release may name.
    pub fn builder(keys: Keys<K>) -> Builder<K> {
        Builder::new(keys)
    }

    pub(super) fn new(
        plan: &Plan,
        request: Request<K>,
        threads: usize,
        scratch: Option<Scratch>,
    ) -> Result<Self> {
        let people = match request.spec.unit {
            Unit::User(bounds) => Some(Epochs::new(
                request.keys.clone(),
                bounds,
                people::Asked::of(&request.spec, &bounds)?,
                request.shape.parameters(),
                (plan.memory.users, scratch),
                request.fault,
            )),
            _ => None,
        };
        let (shape, grid) = (request.shape, request.spec.grid());
        let timeline = match request.spec.policy() {
            // Whose panes hold nothing: people have their own.
            Policy::Fixed if people.is_some() => Timeline::new(grid, shape, Schedule::Uniform, None),
            Policy::Fixed => {
                let in_order = request.spec.window().is_by_count();
                // Many panes are open at a time: each takes as much as its keys do, and no more.
                let shape = if in_order { shape } else { shape.for_blocks_of(0) };
                Timeline::laid(shape, grid, request.spec.laid()?, in_order, plan.memory.panes())
            }
            _ => {
                let (schedule, levels) = plan.layout.schedule(shape.sketch(), shape.seed());
                Timeline::new(grid, shape, schedule, levels).with_threads(threads)
            }
        };
        let by_count = request.spec.window().is_by_count();
        Ok(Self {
            intake: Intake::new(timeline, request.keys.clone(), by_count),
            request,
            people,
        })
    }

    /// One event of a window by count.
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<()> {
        self.intake.push_next(Some(key))
    }

    /// One event of a window by the clock, at a time in microseconds since 1970.
    #[inline]
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<()> {
        match self.people {
            Some(_) => self.push(Event::at(time, key)),
            None => self.intake.push_at(time, Some(key)),
        }
    }

    /// One event of a user, at a time in microseconds since 1970, where people are protected.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use frostpane::{Bounds, Bytes, Edge, HeavyHitters, Keys, Unit, Window};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let day = Duration::from_secs(86_400);
    /// let mut pages = HeavyHitters::<Bytes>::builder(Keys::open())
    ///     .unit(Unit::User(Bounds::new(2)))
    ///     .top(10)
    ///     .window(Window::clock(7 * day))
    ///     .until(Edge::Instant("2026-03-02T00:00:00Z".parse()?))
    ///     .build()?;
    /// let noon = 1_772_280_000_000_000;
    /// for user in 0..5_000_u32 {
    ///     // However often they come, a user counts once a day for each of two pages.
    ///     (0..3).try_for_each(|_| pages.update_by(&user.to_be_bytes(), noon, b"/"))?;
    /// }
    /// let release = pages.release()?;
    /// assert!((4_900..5_100).contains(&release.heavy[0].count));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn update_by<'a>(&mut self, user: &'a [u8], time: i64, key: K::Ref<'a>) -> Result<()> {
        self.push(Event::by(user, time, key))
    }

    /// Many events of a window by count, in order.
    pub fn update_batch<'a>(&mut self, keys: impl IntoIterator<Item = K::Ref<'a>>) -> Result<()> {
        self.extend(keys.into_iter().map(Event::of))
    }

    /// One event, with its key or without. After an error it has not been counted.
    ///
    /// ```
    /// # use frostpane::{Event, HeavyHitters, Keys};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut ports = HeavyHitters::builder(Keys::range(0..65_536)?).build()?;
    /// ports.push(Event::of(443))?;
    /// // Nothing that is declared: an event, but without a key that counts.
    /// ports.push(Event::of(70_000))?;
    /// ports.push(Event { time: None, key: None, user: None })?;
    /// assert_eq!(ports.without_key(), 2);
    /// assert!(ports.push(Event::at(0, 443)).is_err(), "this window goes by the number of events");
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        match self.people.is_some() {
            true => self.extend([event]),
            false => self.intake.push(event),
        }
    }

    /// Many events, in the order of their arrival: the same as one by one, sooner. After an error those before the one that
    /// it is about have been counted, and no others.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use frostpane::{Bytes, Event, HeavyHitters, Keys, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut pages = HeavyHitters::<Bytes>::builder(Keys::open())
    ///     .window(Window::clock(Duration::from_secs(3_600)))
    ///     .build()?;
    /// let log = [(0, "/"), (250_000, "/about"), (900_000, "/")];
    /// pages.extend(log.map(|(time, page)| Event::at(time, page.as_bytes())))?;
    /// assert_eq!(pages.release()?.window.events, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn extend<'a>(&mut self, events: impl IntoIterator<Item = Event<'a, K>>) -> Result<()> {
        let mut events = events.into_iter();
        if let Some(people) = &mut self.people {
            let mut wrong = Ok(());
            people.extend(
                events.map_while(|event| of_someone(event).map_err(|error| wrong = Err(error)).ok()),
            )?;
            return wrong;
        }
        if self.intake.timeline.is_laid() && !self.longest().is_by_count() {
            return self.intake.push_by_pane(events);
        }
        while let Some(first) = events.next() {
            self.intake.push(first)?;
            self.intake.fill(&mut events, usize::MAX)?;
        }
        Ok(())
    }

    /// By the clock, how many events lay outside a window whose end is known.
    pub fn outside(&self) -> u64 {
        self.tally().map_or(self.intake.outside(), |tally| tally.outside)
    }

    /// What became of the events of people, where they are protected.
    fn tally(&self) -> Option<&Tally> {
        self.people.as_ref().map(Epochs::tally)
    }

    /// Where people are protected: how many events were of nobody, and so not counted. For the operator: **it must not be published**.
    pub fn without_user(&self) -> u64 {
        self.tally().map_or(0, |tally| tally.without_user)
    }

    /// Where people are protected: how many events of users might count, before bounds. For the operator: **it must not be published**.
    pub fn offered(&self) -> u64 {
        self.tally().map_or(0, |tally| tally.offered)
    }

    /// How many events were beyond what their users may contribute; known when a release has been paid for. For the operator: **it
    /// must not be published**.
    pub fn beyond_bounds(&self) -> u64 {
        self.tally().map_or(0, |tally| tally.beyond_bounds)
    }

    /// How many events came too late and were dropped. Those of them that lie in the window of a release are said there.
    pub fn dropped(&self) -> u64 {
        self.intake.dropped()
    }

    /// How many events had no key that is counted: none, an undeclared one, or one that is too long. For the
    /// operator, who holds the events anyway: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        self.tally()
            .map_or(self.intake.without_key(), |tally| tally.without_key)
    }

    /// Releases the heavy hitters of the longest window.
    pub fn release(&mut self) -> Result<Release<K>> {
        self.release_over(self.longest())
    }

    /// The longest window.
    pub(crate) fn longest(&self) -> Span {
        self.request.spec.window().longest()
    }

    /// Releases the heavy hitters of a shorter window: [`pay`](Self::pay), and then [`Receipt::release`]. Each costs its epsilon of
    /// the events that it covers.
    ///
    /// ```
    /// # use frostpane::{HeavyHitters, Keys, Norm, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
    ///     .norm(Norm::L1)
    ///     .window(Window::events(10_000).slide(1_000))
    ///     .releases(2)
    ///     .build()?;
    /// ports.update_batch((0..10_000).map(|i| if i < 9_000 { 443 } else { 22 }))?;
    /// assert_eq!(ports.release_over(1_000)?.heavy[0].key, 22);
    /// assert_eq!(ports.release_over(10_000)?.heavy[0].key, 443);
    /// // The last thousand events have been in two releases now.
    /// assert_eq!(ports.release_over(1_000).unwrap_err().kind(), frostpane::ErrorKind::Budget);
    /// # Ok(())
    /// # }
    /// ```
    pub fn release_over(&mut self, span: impl Into<Span>) -> Result<Release<K>> {
        self.pay(span)?.release()
    }

    /// Charges a release of a window to the events that it covers. Refuses, and charges nothing, if some of them have been in as
    /// many releases as they may.
    ///
    /// ```
    /// # use frostpane::{HeavyHitters, Keys};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?).build()?;
    /// ports.update(443)?;
    /// let receipt = ports.pay(1_000_000)?;
    /// // Here one would note in a book of one's own that it was paid.
    /// let release = receipt.release()?;
    /// assert_eq!(release.epsilon, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pay(&mut self, span: impl Into<Span>) -> Result<Receipt<'_, K>> {
        let spec = &self.request.spec;
        let length = spec.window().shorter(span.into(), &spec.grid())? as i64;
        let paid = match &mut self.people {
            Some(people) => Paid::Epochs(people.charge(length, spec.releases())?),
            None => Paid::Panes(self.intake.timeline.charge(length, spec.releases())?),
        };
        Ok(Receipt {
            paid,
            request: &self.request,
            by_count: self.request.spec.window().is_by_count(),
        })
    }

    /// Whether a shorter window can be released, before there are events that it could be of.
    pub fn check_window(&self, span: impl Into<Span>) -> Result<()> {
        let spec = &self.request.spec;
        spec.window().shorter(span.into(), &spec.grid()).map(drop)
    }

    /// Releases with noise from another source of entropy than the operating system's. For tests: the privacy
    /// of the release is no better than the source.
    #[cfg(any(test, feature = "internals"))]
    #[doc(hidden)]
    pub fn release_with_entropy(
        &mut self,
        span: impl Into<Span>,
        entropy: &mut impl crate::noise::Entropy,
    ) -> Result<Release<K>> {
        self.pay(span)?.release_with_entropy(entropy)
    }

    /// About how much memory the window takes, in bytes. It tells how many different keys there were: for the
    /// operator, **it must not be published**.
    pub fn bytes(&self) -> u64 {
        self.intake.timeline.bytes() + self.people.as_ref().map_or(0, Epochs::bytes)
    }

    /// How many closed panes there are.
    pub fn panes(&self) -> usize {
        self.intake.timeline.panes()
    }
}

/// What a [`Stream`](crate::Stream) is made of, which has the accounts itself.
impl<K: Key> HeavyHitters<K> {
    pub(crate) fn timeline(&self) -> &Timeline<K> {
        &self.intake.timeline
    }

    /// How often a pane may have ended, or noise may have been drawn.
    pub(crate) fn ticks(&self) -> u64 {
        self.intake.timeline.ticks()
    }

    /// The latest position.
    pub(crate) fn now(&self) -> i64 {
        self.intake.timeline.newest().unwrap_or(0)
    }

    pub(crate) fn slide(&self) -> i64 {
        self.request.spec.grid().slide
    }

    pub(crate) fn length_of(&self, span: Span) -> Result<i64> {
        let spec = &self.request.spec;
        let length = spec.window().shorter(span, &spec.grid())?;
        Ok(length as i64)
    }

    /// Releases a window that others have charged, and whether they have charged the pane that it begins within.
    pub(crate) fn release_charged(
        &mut self,
        length: i64,
        straddling: bool,
        entropy: &mut impl Entropy,
    ) -> Result<Release<K>> {
        let receipt = Receipt {
            paid: Paid::Panes(self.intake.timeline.charged(length, straddling)),
            by_count: self.request.spec.window().is_by_count(),
            request: &self.request,
        };
        receipt.release_with_entropy(entropy)
    }

    /// Whether its panes lie where the clock says, and know nothing of each other.
    pub(crate) fn has_movable_panes(&self) -> bool {
        !self.request.spec.window().is_by_count() && self.request.spec.policy() != Policy::Smooth
    }

    /// Takes a closed pane in, where there is none.
    pub(crate) fn place(&mut self, bounds: &Range<i64>, bytes: &[u8]) -> Result<()> {
        self.intake.timeline.put(bounds, bytes)
    }

    /// Takes a pane in that was built elsewhere, in the place of the one that is there.
    pub(crate) fn rebuild(&mut self, bounds: &Range<i64>, bytes: &[u8]) -> Result<()> {
        self.intake.timeline.rebuild(bounds, bytes)
    }

    /// Gives a closed pane away.
    pub(crate) fn remove(&mut self, bounds: &Range<i64>) {
        self.intake.timeline.remove(bounds);
    }

    #[cfg(any(test, feature = "insecure"))]
    pub(crate) fn drawing_from(mut self, source: Box<dyn Entropy + Send>) -> Self {
        self.intake.timeline = self.intake.timeline.drawing_from(source);
        self
    }

    pub(crate) fn made_with(&self) -> Parameters {
        self.request.shape.parameters()
    }
}

/// The time, the user and the key of an event.
#[allow(clippy::type_complexity)]
fn of_someone<'a, K: Key>(event: Event<'a, K>) -> Result<(i64, Option<&'a [u8]>, Option<K::Ref<'a>>)> {
    // Also a time that cannot be lies outside the window, and is no error that would keep others out.
    let time = event.time.ok_or_else(needs_time)?;
    Ok((time, event.user, event.key))
}
