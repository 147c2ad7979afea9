//! Counters of events and users.

use std::ops::Range;

use super::events::intake::{Intake, ReadPane, has_no_time, needs_time};
use super::users::{EpochPanes, FixedWindow, StreamingBounder};
use super::window::WindowView;
use super::{Batch, Event, Tally};
use crate::codec::{Reader, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::privacy::ledger::WindowNumbers;

/// What a [`Stream`](crate::Stream) counts: panes, or epochs, that have numbers, and lie where the clock or the number of events says.
pub(crate) trait PaneCounter<K: Key> {
    /// Returns true if positions are numbers of events, and not moments.
    fn is_by_count(&self) -> bool;
    /// Returns true if ticks end panes.
    fn has_clock(&self) -> bool;
    /// 1 if windows end before the pane that goes on, and 0 if they cover it.
    fn panes_not_covered(&self) -> i64;
    /// Changes whenever a pane may have ended, or noise may have been drawn.
    fn ticks(&self) -> (u64, i64);
    /// The latest moment, or position.
    fn now(&self) -> i64;
    /// Returns true if nothing has come yet that says where it is in time: an event, or a tick.
    fn is_empty(&self) -> bool;
    /// By count: how many events have come.
    fn events(&self) -> i64;
    fn slide(&self) -> i64;
    /// Start of the pane, or epoch, with the number 0.
    fn offset(&self) -> i64;
    /// The pane, or epoch, that goes on.
    fn open(&self) -> i64;
    /// Returns true if a tick at this moment would end a pane, or begin the first.
    fn ends_by(&self, now: i64) -> bool;
    /// The oldest number that a pane has, where panes are merged as they age.
    fn oldest_number(&self) -> Option<i64> {
        None
    }
    /// Where closed panes lie: positions, or of single releases of users the numbers of epochs.
    fn closed(&self) -> Vec<Range<i64>>;
    fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>>;
    fn tally(&self) -> Tally;
    /// About how many bytes those panes take that have not closed.
    fn open_bytes(&self) -> u64;
    /// Users of periods that have not ended, where users are protected.
    fn live(&self) -> Option<&StreamingBounder<K>>;
    fn live_mut(&mut self) -> Option<&mut StreamingBounder<K>>;

    fn begins(&self, number: i64) -> i64 {
        number.saturating_mul(self.slide()).saturating_add(self.offset())
    }

    fn number_at(&self, moment: i64) -> i64 {
        moment.saturating_sub(self.offset()).div_euclid(self.slide())
    }

    /// Returns an error unless a batch can be counted as a whole: what a key or a user is never decides it.
    fn check(&self, batch: &Batch<K>) -> Result<()> {
        match self.is_by_count() {
            true if batch.timed == 0 => Ok(()),
            true => Err(has_no_time()),
            false if batch.timed != batch.len() => Err(needs_time()),
            // Of users a time that cannot be is that of an event outside, which stops nobody's.
            false if batch.in_calendar || self.live().is_some() => Ok(()),
            false => Err(Error::window("a time lies outside the calendar: give microseconds since 1970")),
        }
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one, and each event goes through it")]
pub(crate) enum Counter<K: Key> {
    Events(Intake<K>),
    /// Users of windows whose end is known.
    FixedUsers(Box<FixedWindow<K>>),
    /// Users as time goes by.
    Users(Box<EpochPanes<K>>),
}

impl<K: Key> Counter<K> {
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        match self {
            Self::Events(intake) => intake.push(event),
            _ => self.extend(std::iter::once(event), i64::MIN),
        }
    }

    /// Counts many events, in the order of their arrival. Users' events later than both `present` and the clock are left out.
    pub fn extend<'a>(&mut self, mut events: impl Iterator<Item = Event<'a, K>>, present: i64) -> Result<()> {
        match self {
            Self::Events(intake) => intake.extend(events),
            Self::FixedUsers(window) => {
                let mut wrong = Ok(());
                let of_users = events.map_while(|event| {
                    // A time that cannot be lies outside the window too, and must not keep others out.
                    let time = event.time.ok_or_else(needs_time);
                    let time = time.map_err(|error| wrong = Err(error)).ok()?;
                    Some((time, event.user, event.key))
                });
                window.extend(of_users)?;
                wrong
            }
            Self::Users(panes) => events.try_for_each(|event| {
                let time = event.time.ok_or_else(needs_time)?;
                panes.push((time, event.user, event.key), present)
            }),
        }
    }

    /// Checks that a window can be released, and closes what its release has to find closed.
    pub fn prepare_release(&mut self, length: i64) -> Result<()> {
        match self {
            Self::Events(intake) => intake.timeline.prepare_release(),
            Self::FixedUsers(window) => {
                window.numbers_of_window(length)?;
                window.seal()
            }
            Self::Users(_) => Ok(()),
        }
    }

    /// Whom a release of a window charges where accounts are kept on disk: by the numbers of panes, with events or without.
    pub fn numbers_of_window(&self, length: i64) -> Result<WindowNumbers> {
        match self {
            Self::Events(intake) => intake.timeline.numbers_of_window(length).ok_or_else(|| {
                Error::window("there was no event so far: nothing can be released, and nothing was charged")
            }),
            Self::FixedUsers(window) => window.numbers_of_window(length),
            Self::Users(panes) => Ok(WindowNumbers { covered: panes.epochs(length), boundary: None }),
        }
    }

    /// A window that has been charged for; nothing if there was no event.
    pub fn window(&mut self, length: i64, boundary_paid: bool) -> Result<Option<WindowView<'_, K>>> {
        match self {
            Self::Events(intake) => Ok(intake.timeline.window(length, boundary_paid)),
            Self::FixedUsers(window) => window.window(length).map(Some),
            Self::Users(panes) => Ok(Some(panes.window(length))),
        }
    }

    /// The refusal of a release that some would be in beyond `most`.
    pub fn spent(&self, most: u32) -> Error {
        let more = most.saturating_add(1);
        let (who, what) = match self {
            Self::Events(_) => ("events", "an event lose"),
            _ => ("epochs", "what a user does in an epoch lose"),
        };
        Error::new(
            ErrorKind::Budget,
            format!(
                "some {who} of this window have been in {most} release(s), as many as they may: wait until the window has moved past \
                 them, or build with releases({more}), which lets {what} {more} times epsilon"
            ),
        )
    }

    pub fn intake(&self) -> Option<&Intake<K>> {
        match self {
            Self::Events(intake) => Some(intake),
            _ => None,
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Events(intake) => intake.timeline.bytes(),
            Self::FixedUsers(window) => window.bytes(),
            Self::Users(panes) => panes.live.bytes(),
        }
    }

    pub fn advance(&mut self, now: i64) -> Result<()> {
        match self {
            Self::Users(panes) => panes.advance(now),
            _ => Ok(()),
        }
    }

    fn newest(&self) -> Option<i64> {
        self.intake().and_then(|intake| intake.timeline.latest())
    }

    /// Takes a pane in that was counted elsewhere, in the place of the one that is there.
    pub fn rebuild(&mut self, number: i64, bytes: &[u8]) -> Result<()> {
        let bounds = self.begins(number)..self.begins(number + 1);
        match self {
            Self::Events(intake) => intake.timeline.rebuild(&bounds, bytes),
            Self::FixedUsers(_) => Ok(()),
            Self::Users(panes) => panes.place(number, bytes),
        }
    }

    pub fn remove(&mut self, pane: &Range<i64>) {
        match self {
            Self::Events(intake) => intake.timeline.remove(pane),
            Self::FixedUsers(_) => {}
            Self::Users(panes) => panes.remove(pane.start),
        }
    }

    /// Returns true if panes that were counted elsewhere are all that it has, of events.
    pub fn is_external(&self) -> bool {
        self.has_no_events() && self.newest().is_some()
    }

    /// Returns true if no event has come that it counts itself; of users that does not matter.
    pub fn has_no_events(&self) -> bool {
        self.intake().is_some_and(|intake| intake.timeline.is_quiet())
    }

    /// Writes everything but the closed panes. Not where the end is known: there nothing goes on.
    pub fn save(&mut self, to: &mut Writer) {
        match self {
            Self::Events(intake) => intake.save(to),
            Self::FixedUsers(_) => {}
            Self::Users(panes) => panes.save(to),
        }
    }

    pub fn load(&mut self, from: &mut Reader<'_>, closed: &mut ReadPane<'_>) -> Result<()> {
        match self {
            Self::Events(intake) => intake.load(from, closed),
            Self::FixedUsers(_) => Ok(()),
            Self::Users(panes) => panes.load(from, |epoch| closed(epoch..epoch + 1)),
        }
    }
}

impl<K: Key> PaneCounter<K> for Counter<K> {
    fn is_by_count(&self) -> bool {
        self.intake().is_some_and(|intake| intake.by_count)
    }

    fn panes_not_covered(&self) -> i64 {
        self.has_clock().into()
    }

    fn ticks(&self) -> (u64, i64) {
        match self {
            Self::Events(intake) => (intake.timeline.ticks, 0),
            Self::FixedUsers(_) => (0, 0),
            Self::Users(panes) => (0, panes.open),
        }
    }

    fn is_empty(&self) -> bool {
        !self.has_clock() && self.newest().is_none()
    }

    fn events(&self) -> i64 {
        self.newest().map_or(0, |latest| latest + 1)
    }

    fn tally(&self) -> Tally {
        match self {
            Self::Events(intake) => intake.tally,
            Self::FixedUsers(window) => *window.tally(),
            Self::Users(panes) => panes.live.filter.tally,
        }
    }

    fn open_bytes(&self) -> u64 {
        match self {
            Self::Events(intake) => intake.timeline.open_bytes(),
            _ => self.bytes(),
        }
    }

    fn ends_by(&self, now: i64) -> bool {
        match self {
            Self::Users(panes) => panes.ends_by(now),
            _ => false,
        }
    }

    fn now(&self) -> i64 {
        match self {
            Self::Users(panes) => panes.now,
            _ => self.newest().unwrap_or(0),
        }
    }

    fn oldest_number(&self) -> Option<i64> {
        Some(self.number_at(self.intake()?.timeline.closed().next()?.start))
    }

    fn has_clock(&self) -> bool {
        matches!(self, Self::Users(_))
    }

    fn open(&self) -> i64 {
        match self {
            Self::Users(panes) => panes.open,
            _ => self.number_at(self.now()),
        }
    }

    fn slide(&self) -> i64 {
        match self {
            Self::Events(intake) => intake.timeline.slide(),
            Self::FixedUsers(window) => window.calendar.length_of_epoch(),
            Self::Users(panes) => panes.live.calendar.length_of_epoch(),
        }
    }

    fn offset(&self) -> i64 {
        match self {
            Self::Users(panes) => panes.live.calendar.offset(),
            _ => 0,
        }
    }

    fn closed(&self) -> Vec<Range<i64>> {
        match self {
            Self::Events(intake) => intake.timeline.closed().collect(),
            Self::FixedUsers(_) => Vec::new(),
            Self::Users(panes) => panes.closed().map(|epoch| epoch..epoch + 1).collect(),
        }
    }

    fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        match self {
            Self::Events(intake) => intake.timeline.closed_pane(bounds),
            Self::FixedUsers(_) => None,
            Self::Users(panes) => panes.closed_pane(bounds.start),
        }
    }

    fn live(&self) -> Option<&StreamingBounder<K>> {
        match self {
            Self::Users(panes) => Some(&panes.live),
            _ => None,
        }
    }

    fn live_mut(&mut self) -> Option<&mut StreamingBounder<K>> {
        match self {
            Self::Users(panes) => Some(&mut panes.live),
            _ => None,
        }
    }
}
