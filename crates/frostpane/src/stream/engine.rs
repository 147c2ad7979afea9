//! What a [`Stream`](super::Stream) counts and releases: single windows, or every slide.

use std::cell::Cell;
use std::ops::Range;

use super::one_shot::OneShot;
use super::{Builder, Continual, Taken};
use crate::codec::{Reader, Writer};
use crate::counting::events::intake::{Panes, has_no_time, needs_time};
use crate::counting::grant::{Grant, Quote};
use crate::counting::users::StreamingBounder;
use crate::counting::{Batch, Event};
use crate::error::{Error, Result};
use crate::key::Key;
#[cfg(any(test, feature = "testing"))]
use crate::noise::Entropy;
use crate::pane::Parameters;
use crate::release::Release;
use crate::release::noise_tree::NodeKey;
use crate::release::noise_tree::node_key::Purpose;
use crate::release::noise_tree::stored::{Mark, SecretBytes};
use crate::spec::Span;

pub(super) enum Engine<K: Key> {
    OneShot(Box<OneShot<K>>),
    Continual(Box<Continual<K>>),
}

impl<K: Key> Engine<K> {
    pub fn new(builder: &Builder<K>, begin: i64, seed: u64) -> Result<Self> {
        let builder = builder.clone().seeded(seed);
        if !builder.is_continual() {
            return Ok(Self::OneShot(Box::new(OneShot::live(&builder, begin)?)));
        }
        let mut continual = builder.continual()?;
        if continual.is_of_people() {
            continual.begin_after(begin)?;
        }
        Ok(Self::Continual(Box::new(continual)))
    }

    /// With noise from another source than the operating system's.
    #[cfg(any(test, feature = "testing"))]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        match self {
            Self::OneShot(one_shot) => Self::OneShot(Box::new(one_shot.drawing_from(source()))),
            Self::Continual(continual) => Self::Continual(Box::new(continual.drawing_from(source))),
        }
    }

    /// Returns an error unless a batch can be taken as a whole: what a key or a user is never decides it.
    pub fn check(&self, batch: &Batch<K>) -> Result<()> {
        let (by_count, of_users) = match self {
            Self::OneShot(one_shot) => (one_shot.is_by_count(), one_shot.counter.has_clock()),
            Self::Continual(continual) => (continual.is_by_count(), continual.is_of_people()),
        };
        match (by_count, batch.times()) {
            (true, _) if batch.is_untimed() => Ok(()),
            (true, _) => Err(has_no_time()),
            (false, (false, _)) => Err(needs_time()),
            // Of users a time that cannot be is that of an event outside, which stops nobody's.
            (false, (true, in_calendar)) if in_calendar || of_users => Ok(()),
            _ => Err(Error::window("a time lies outside the calendar: give microseconds since 1970")),
        }
    }

    pub fn take(&mut self, batch: &Batch<K>, present: i64) -> Result<Taken<K>> {
        let mut releases = Vec::new();
        let ahead = Cell::new(0);
        let latest = self.latest(present);
        // An event of the future is left out by itself, and moves nothing; by count there is none.
        let in_time = |event: &Event<'_, K>| {
            let is_ahead = event.time.is_some_and(|time| time > latest);
            ahead.set(ahead.get() + u64::from(is_ahead));
            !is_ahead
        };
        let events = batch.events().filter(in_time);
        let ticked = match self {
            Self::OneShot(one_shot) => {
                let before = one_shot.counter.ticks();
                one_shot.counter.extend(events, latest)?;
                one_shot.counter.ticks() != before
            }
            Self::Continual(continual) => {
                continual.expect_until(latest);
                let before = continual.ticks();
                continual.extend(events, |continual| releases.push(continual.release()))?;
                continual.ticks() != before
            }
        };
        let releases = releases.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Taken { ticked, releases, ahead: ahead.get() })
    }

    /// The latest time that an event may have which comes by this moment: of users also what the clock has come to, which is never
    /// told again.
    fn latest(&self, present: i64) -> i64 {
        match self {
            Self::OneShot(one_shot) if one_shot.counter.has_clock() => present.max(one_shot.counter.now()),
            Self::Continual(continual) if continual.is_of_people() => present.max(continual.now()),
            _ => present,
        }
    }

    /// Returns true if a tick would end a pane, or begin the first.
    pub fn ends_by(&self, now: i64) -> bool {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.ends_by(now),
            Self::Continual(continual) => continual.ends_by(now),
        }
    }

    pub fn tick(&mut self, now: i64) -> Result<Taken<K>> {
        let mut releases = Vec::new();
        let ticked = match self {
            Self::OneShot(one_shot) => one_shot.counter.advance(now)?,
            Self::Continual(continual) if continual.is_by_count() => false,
            Self::Continual(continual) => {
                let before = continual.ticks();
                continual.advance(now, |continual| releases.push(continual.release()))?;
                continual.ticks() != before
            }
        };
        let releases = releases.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Taken { ticked, releases, ahead: 0 })
    }

    /// Whom a release of a window would be charged to.
    pub fn quote(&self, span: Span) -> Result<Quote> {
        match self {
            Self::OneShot(one_shot) => {
                let length = one_shot.length_of(span)?;
                let numbers = one_shot.counter.numbers_of_window(length)?;
                Ok(Quote { length, numbers })
            }
            Self::Continual(_) => Err(Error::window(
                "a single list was asked for, but this stream has one at every slide, which has its whole budget: read the latest of those",
            )),
        }
    }

    pub fn release(&mut self, grant: Grant, secret: &SecretBytes) -> Result<Release<K>> {
        let mut entropy = NodeKey::from_secret(secret.clone()).entropy(Purpose::Release);
        match self {
            Self::OneShot(one_shot) => one_shot.release(grant, &mut entropy),
            Self::Continual(continual) => continual.release(),
        }
    }

    pub fn numbers(&self) -> Range<i64> {
        let open = match self {
            Self::OneShot(one_shot) => one_shot.counter.open(),
            Self::Continual(continual) => continual.open_pane(),
        };
        open - self.panes_of_window()..open + 1
    }

    /// Returns true if nothing has come yet that says where it is in time.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::OneShot(one_shot) => !one_shot.counter.has_clock() && one_shot.counter.newest().is_none(),
            Self::Continual(continual) => continual.ticks().1 == i64::MIN,
        }
    }

    /// Returns true if a window covers the pane that goes on: that of single releases of events does.
    pub fn covers_open_pane(&self) -> bool {
        matches!(self, Self::OneShot(one_shot) if !one_shot.counter.has_clock())
    }

    /// The first position of a closed pane, and the first after it.
    pub fn positions_of(&self, pane: &Range<i64>) -> Range<i64> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.positions_of(pane),
            Self::Continual(_) => pane.clone(),
        }
    }

    /// Returns true if ticks move anything.
    pub fn has_clock(&self) -> bool {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.has_clock(),
            Self::Continual(continual) => !continual.is_by_count(),
        }
    }

    pub fn begins(&self, number: i64) -> i64 {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.begins(number),
            Self::Continual(continual) => continual.begins(number),
        }
    }

    pub fn panes_of_window(&self) -> i64 {
        match self {
            Self::OneShot(one_shot) => one_shot.panes_of_window(),
            Self::Continual(continual) => continual.panes(),
        }
    }

    pub fn now(&self) -> i64 {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.now(),
            Self::Continual(continual) => continual.now(),
        }
    }

    pub fn lists(&self) -> u64 {
        match self {
            Self::OneShot(_) => 0,
            Self::Continual(continual) => continual.lists(),
        }
    }

    /// By count: how many events have come.
    pub fn counted(&self) -> u64 {
        let arrived = match self {
            Self::OneShot(one_shot) => one_shot.counter.newest().map_or(0, |latest| latest + 1),
            Self::Continual(continual) => continual.now(),
        };
        u64::try_from(arrived).unwrap_or(0)
    }

    pub fn dropped(&self) -> u64 {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.dropped(),
            Self::Continual(continual) => continual.dropped(),
        }
    }

    pub fn open_bytes(&self) -> u64 {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.open_bytes(),
            Self::Continual(continual) => continual.open_bytes(),
        }
    }

    /// What panes are made with, and how long they are.
    pub fn made_with(&self) -> (Parameters, i64) {
        match self {
            Self::OneShot(one_shot) => (one_shot.made_with(), one_shot.counter.slide()),
            Self::Continual(continual) => (continual.made_with(), continual.begins(1) - continual.begins(0)),
        }
    }

    /// The noise of continual release, in words that tell it from any other.
    pub fn noise(&self) -> String {
        match self {
            Self::OneShot(_) => String::new(),
            Self::Continual(continual) => continual.noise(),
        }
    }

    /// Forgets what has noise that another copy may have shown.
    pub fn distrust_past(
        &mut self,
        builder: &Builder<K>,
        seed: u64,
        (until, lists): (i64, u64),
    ) -> Result<()> {
        if let Self::Continual(continual) = self {
            let (until, lists) = (until.max(continual.now()), lists.max(continual.lists()));
            let mut fresh = builder.clone().seeded(seed).continual()?;
            fresh.begin_after(until)?;
            fresh.go_on_from(lists);
            **continual = fresh;
        }
        Ok(())
    }

    /// The number of the pane, or epoch, of a moment.
    pub fn number_at(&self, moment: i64) -> i64 {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.number_at(moment),
            Self::Continual(continual) => continual.pane_at(moment),
        }
    }

    /// The oldest number that a pane has, or a window can reach.
    pub fn oldest_number(&self) -> i64 {
        let oldest = self.numbers().start;
        match self {
            Self::OneShot(one_shot) => oldest.min(one_shot.counter.oldest_number().unwrap_or(oldest)),
            Self::Continual(_) => oldest,
        }
    }

    /// Of users: what they do in periods that have not ended.
    pub fn live(&self) -> Option<&StreamingBounder<K>> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.live(),
            Self::Continual(continual) => continual.live(),
        }
    }

    pub fn live_mut(&mut self) -> Option<&mut StreamingBounder<K>> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.live_mut(),
            Self::Continual(continual) => continual.live_mut(),
        }
    }

    /// The secrets of noise that may still be asked for.
    pub fn secrets(&self) -> Vec<&[u8; 32]> {
        match self {
            Self::OneShot(_) => Vec::new(),
            Self::Continual(continual) => continual.secrets().collect(),
        }
    }

    pub fn save(&mut self, to: &mut Writer) {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.save(to),
            Self::Continual(continual) => continual.save(to),
        }
    }

    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut Panes<'_>,
        secret: impl FnMut(&Mark) -> Option<SecretBytes>,
    ) -> Result<()> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.load(from, panes),
            Self::Continual(continual) => continual.load(from, panes, secret),
        }
    }

    /// Where closed panes lie: positions, or of single releases of users the numbers of epochs.
    pub fn closed(&self) -> Vec<Range<i64>> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.closed(),
            Self::Continual(continual) => continual.timeline().closed().collect(),
        }
    }

    pub fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.closed_pane(bounds),
            Self::Continual(continual) => continual.timeline().closed_pane(bounds),
        }
    }
}
