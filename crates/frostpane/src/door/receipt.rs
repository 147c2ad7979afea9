//! A release that has been paid for.

use jiff::Timestamp;

use crate::error::Result;
use crate::key::Key;
use crate::noise::{Entropy, OsEntropy};
use crate::people;
use crate::release::one_shot::{self, View};
use crate::release::{Coverage, Release, Request};
use crate::spec::Edge;
use crate::timeline::{Charged, Covered};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A release that every pane of its window has been charged for: the way from panes to a [`Release`].
/// [`HeavyHitters::pay`](crate::HeavyHitters::pay) gives one out, and nothing else does: what was not charged is not released.
///
/// It is used up by the release that it pays for:
///
/// ```compile_fail,E0382
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// let first = receipt.release();
/// let second = receipt.release();
/// ```
///
/// There is no other way to one:
///
/// ```compile_fail,E0451
/// use frostpane::Receipt;
///
/// fn forged(paid: Receipt<'_, u64>) -> Receipt<'_, u64> {
///     Receipt { ..paid }
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// let copy = receipt.clone();
/// ```
///
/// And no event comes between paying and the release, which would be of events that were not charged:
///
/// ```compile_fail,E0499
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// ports.update(5).unwrap();
/// let release = receipt.release();
/// ```
///
/// This compiles:
///
/// ```
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// ports.update(5).unwrap();
/// let receipt = ports.pay(1_000_000).unwrap();
/// let release = receipt.release().unwrap();
/// assert!(ports.pay(1_000_000).is_err(), "an event may be in one release");
/// ```
#[must_use]
pub struct Receipt<'a, K: Key> {
    pub(super) paid: Paid<'a, K>,
    pub(super) request: &'a Request<K>,
    pub(super) by_count: bool,
}

/// Who has paid: panes of events, or epochs of people.
pub(super) enum Paid<'a, K: Key> {
    Panes(Charged<'a, K>),
    Epochs(people::Window<'a, K>),
}

impl<K: Key> Receipt<'_, K> {
    /// Releases what was paid for. Whatever comes of it, it stays paid.
    pub fn release(self) -> Result<Release<K>> {
        self.release_with_entropy(&mut OsEntropy::new())
    }

    /// Releases with noise from another source of entropy than the operating system's: the privacy of the release is no
    /// better than the source.
    pub(crate) fn release_with_entropy(self, entropy: &mut impl Entropy) -> Result<Release<K>> {
        let request = self.request;
        one_shot::release(request, self.view(), entropy)
    }

    /// What the release would add noise to.
    #[cfg(feature = "internals")]
    pub(crate) fn inside(self) -> Result<crate::release::Inside<K>> {
        let request = self.request;
        one_shot::inside(request, &self.view())
    }
}

impl<'a, K: Key> Receipt<'a, K> {
    /// The panes, opened.
    fn view(self) -> View<'a, K> {
        let by_count = self.by_count;
        match self.paid {
            Paid::Epochs(window) => view_of_people(window),
            Paid::Panes(charged) => match charged.open() {
                Some(covered) => view(covered, by_count),
                None => nothing(by_count),
            },
        }
    }
}

fn nothing<'a, K: Key>(by_count: bool) -> View<'a, K> {
    let edge = by_count.then_some(Edge::Event(0));
    View {
        covered: None,
        coverage: Coverage {
            events: 0,
            between: None,
            from: edge,
            to: edge,
            missed: 0,
        },
        asked_from: edge,
        asked_events: [0; 2],
    }
}

fn view<K: Key>(covered: Covered<'_, K>, by_count: bool) -> View<'_, K> {
    let events: u64 = covered.panes.iter().map(|pane| pane.events()).sum();
    let (to, asked_events) = match by_count {
        true if covered.known_end.is_some() => (covered.latest + 1, [events, events + covered.left_out]),
        true => {
            let asked = (covered.latest + 1 - covered.since.max(0)) as u64;
            (covered.latest + 1, [asked, asked])
        }
        false => {
            let to = covered.known_end.unwrap_or_else(|| next_second(covered.latest));
            (to, [events, events + covered.left_out])
        }
    };
    let edge = |position| edge(position, by_count);
    View {
        coverage: Coverage {
            events,
            between: None,
            from: Some(edge(covered.from)),
            to: Some(edge(to)),
            missed: covered.missed,
        },
        asked_from: Some(edge(covered.since)),
        asked_events,
        covered: Some(covered),
    }
}

/// Releases a window of people that others have charged.
pub(crate) fn release_of_people<K: Key>(
    request: &Request<K>,
    window: people::Window<'_, K>,
    entropy: &mut impl Entropy,
) -> Result<Release<K>> {
    one_shot::release(request, view_of_people(window), entropy)
}

/// The window is the one that was asked for, whatever is in it.
fn view_of_people<K: Key>(window: people::Window<'_, K>) -> View<'_, K> {
    let people::Window { panes, from, to } = window;
    View {
        coverage: Coverage {
            events: 0,
            between: None,
            from: Some(instant(from)),
            to: Some(instant(to)),
            missed: 0,
        },
        asked_from: Some(instant(from)),
        asked_events: [0; 2],
        covered: Some(Covered {
            since: from,
            from,
            latest: to - 1,
            known_end: Some(to),
            panes,
            left_out: 0,
            missed: 0,
            missed_of_asked: 0,
            straddling: None,
        }),
    }
}

/// A position as a release shows it.
pub(super) fn edge(position: i64, by_count: bool) -> Edge {
    match by_count {
        true => Edge::Event(position.max(0) as u64),
        false => instant(position),
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
