//! Users as time goes by, for windows that are asked for when they have ended.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::streaming_bounder::StreamingBounder;
use crate::codec::{MOST, Reader, Writer, check};
use crate::counting::window::WindowView;
use crate::error::Result;
use crate::key::Key;
use crate::pane::{PackedCounts, Pane, Parameters};

/// A pane for every epoch that has ended and that a window can reach, and what users do in the others. Only the clock ends an epoch.
pub struct EpochPanes<K: Key> {
    pub live: StreamingBounder<K>,
    made_with: Parameters,
    longest: i64,
    /// Time that an epoch waits for late events, in microseconds.
    lateness: i64,
    /// The oldest epoch that has not ended.
    pub open: i64,
    pub now: i64,
    closed: BTreeMap<i64, Pane<K>>,
}

impl<K: Key> EpochPanes<K> {
    /// From this moment on.
    pub fn new(
        live: StreamingBounder<K>,
        made_with: Parameters,
        (length, lateness): (i64, i64),
        begin: i64,
    ) -> Self {
        Self {
            longest: live.calendar.epochs_in(length),
            open: live.calendar.period_at(begin),
            now: begin,
            live,
            made_with,
            lateness,
            closed: BTreeMap::new(),
        }
    }

    /// One event, which came before this moment.
    pub fn push<'a>(
        &mut self,
        (time, user, key): (i64, Option<&'a [u8]>, Option<K::Ref<'a>>),
        before: i64,
    ) -> Result<()> {
        let latest = self.live.calendar.period_at(before.max(self.now));
        self.live.push_within(self.open..=latest, time, user, key)
    }

    /// It is this late now: ends every epoch that need not wait any longer.
    pub fn advance(&mut self, now: i64) -> Result<()> {
        self.now = self.now.max(now);
        let waiting = self.waiting();
        // Of a long time without a tick only what a window can reach is kept, but all of it is counted.
        while self.open < waiting {
            let pane = self.live.close(self.open, self.made_with)?;
            if self.open >= waiting - self.longest {
                self.closed.insert(self.open, pane);
            }
            self.open += 1;
        }
        self.closed = self.closed.split_off(&(self.open - self.longest));
        Ok(())
    }

    pub fn ends_by(&self, now: i64) -> bool {
        self.live.calendar.period_at(now.saturating_sub(self.lateness)) > self.open
    }

    fn waiting(&self) -> i64 {
        self.live.calendar.period_at(self.now.saturating_sub(self.lateness))
    }

    pub fn epochs(&self, length: i64) -> std::ops::Range<i64> {
        self.open - self.live.calendar.epochs_in(length)..self.open
    }

    /// A window, of which every epoch has a pane, with events or without.
    pub fn window(&self, length: i64) -> WindowView<'_, K> {
        let epochs = self.epochs(length);
        let none = || Cow::Owned(Pane::exact(self.made_with, PackedCounts::collect(std::iter::empty())));
        let pane = |epoch: i64| self.closed.get(&epoch).map_or_else(none, Cow::Borrowed);
        let moments = self.live.calendar.start_of(epochs.start)..self.live.calendar.start_of(epochs.end);
        WindowView::of_epochs(epochs.map(pane).collect(), moments)
    }

    pub fn closed(&self) -> impl Iterator<Item = i64> {
        self.closed.keys().copied()
    }

    pub fn closed_pane(&self, epoch: i64) -> Option<Vec<u8>> {
        self.closed.get(&epoch).map(|pane| Writer::written(|to| pane.save(to)))
    }

    pub fn save(&self, to: &mut Writer) {
        to.signed(self.open);
        to.signed(self.now);
        to.each(self.closed.keys(), |to, epoch| to.signed(*epoch));
        self.live.save(to);
    }

    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        mut pane: impl FnMut(i64) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let (open, now) = (from.position()?, from.position()?);
        self.now = self.now.max(now);
        let is_due = (open, now) == (self.open.max(self.waiting()), self.now);
        check(is_due, "epochs have ended that are to come, or have not that are over")?;
        self.open = open;
        self.closed = from.each(|from| {
            let epoch = from.within(MOST / self.live.calendar.length_of_epoch() as u64)?;
            Ok((epoch, self.read(&pane(epoch)?)?))
        })?;
        self.live.load(from)
    }

    fn read(&self, bytes: &[u8]) -> Result<Pane<K>> {
        Reader::read_all(bytes, |from| Pane::load(from, self.made_with))
    }

    /// Takes a pane that was counted elsewhere into an epoch that has ended and has none: what was bounded apart is never added up.
    pub fn place(&mut self, epoch: i64, bytes: &[u8]) -> Result<()> {
        let pane = self.read(bytes)?;
        self.closed.insert(epoch, pane);
        Ok(())
    }

    pub fn remove(&mut self, epoch: i64) {
        self.closed.remove(&epoch);
    }
}
