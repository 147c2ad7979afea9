//! Single releases in memory.

use super::builder::Builder;
use super::one_shot::OneShot;
use super::receipt::Receipt;
use crate::counting::events::intake::needs_time;
use crate::counting::{Counter, Event, PaneCounter, Tally};
use crate::error::Result;
use crate::key::{Key, Keys};
use crate::privacy::ledger::{Account, Cap, Charge, Ledger, Price, Quote};
use crate::release::Release;
use crate::spec::Span;

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
    one_shot: OneShot<K>,
    ledger: Ledger,
    price: Price,
}

impl<K: Key> HeavyHitters<K> {
    /// Starts to build, from the keys that a release may name.
    pub fn builder(keys: Keys<K>) -> Builder<K> {
        Builder::new(keys)
    }

    pub(super) fn new(one_shot: OneShot<K>) -> Self {
        let spec = &one_shot.request.spec;
        let charge = Charge::laplace(spec.epsilon, spec.delta());
        let cap = Cap::for_releases(&Account::default(), &charge, spec.releases().into());
        Self { one_shot, ledger: Ledger::new(Account::default()), price: Price { charge, cap } }
    }

    /// One event of a window by count.
    #[inline]
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<()> {
        match &mut self.one_shot.counter {
            Counter::Events(intake) => intake.push_next(Some(key)),
            _ => Err(needs_time()),
        }
    }

    /// One event of a window by the clock, at a time in microseconds since 1970.
    #[inline]
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<()> {
        self.push(Event::at(time, key))
    }

    /// One event of a user, at a time in microseconds since 1970, where users are protected.
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
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        self.one_shot.counter.push(event)
    }

    /// Many events, in the order of their arrival: the same as one by one, sooner. After an error those before the one that
    /// it is about have been counted, and no others.
    pub fn extend<'a>(&mut self, events: impl IntoIterator<Item = Event<'a, K>>) -> Result<()> {
        self.one_shot.counter.extend(events.into_iter(), i64::MIN)
    }

    /// Number of events by their outcome. For the operator, who holds the events anyway: **it must not be published**. A release
    /// states how many late events lie in its window.
    pub fn tally(&self) -> Tally {
        self.one_shot.counter.tally()
    }

    /// Releases the heavy hitters of the longest window.
    pub fn release(&mut self) -> Result<Release<K>> {
        self.release_over(self.longest())
    }

    pub(crate) fn longest(&self) -> Span {
        self.one_shot.request.spec.window().longest()
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
    pub fn pay(&mut self, span: impl Into<Span>) -> Result<Receipt<'_, K>> {
        let OneShot { counter, request } = &mut self.one_shot;
        let spec = &request.spec;
        let length = spec.window().shorter(span.into(), &spec.grid())? as i64;
        counter.prepare_release(length)?;
        // In memory only panes that are there have accounts, by their positions.
        let numbers = match counter.intake() {
            Some(intake) => intake.timeline.positions_of_window(length),
            None => counter.numbers_of_window(length)?,
        };
        let grant = Quote { length, numbers }.charge(&mut self.ledger, &self.price);
        let grant = grant.map_err(|_| counter.spent(spec.releases()))?;
        let oldest = counter.intake().map_or(i64::MIN, |intake| intake.timeline.oldest_position());
        self.ledger.retire(oldest);
        Ok(Receipt { one_shot: &mut self.one_shot, grant })
    }

    /// Returns an error unless a shorter window can be released, before there are events that it could be of.
    pub fn check_window(&self, span: impl Into<Span>) -> Result<()> {
        self.one_shot.length_of(span.into()).map(drop)
    }

    /// Releases with noise from another source of entropy. For tests: the privacy of the release is no better than it.
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
        self.one_shot.counter.bytes()
    }

    /// Number of closed panes.
    pub fn panes(&self) -> usize {
        self.one_shot.counter.intake().map_or(0, |intake| intake.timeline.panes())
    }
}
