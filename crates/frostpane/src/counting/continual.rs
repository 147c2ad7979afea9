//! Panes of continual release: where events and time belong, and which panes have ended.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use super::counter::PaneCounter;
use super::events::intake::{Intake, ReadPane};
use super::events::schedule::Schedule;
use super::events::{Timeline, WindowSums};
use super::users::{Calendar, StreamingBounder};
use super::{Event, Tally};
use crate::codec::{MOST, Reader, Writer, check, damaged};
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{Pane, PaneShape, Parameters};
use crate::spec::ValidSpec;
use crate::spec::window::Grid;

/// Releases pause when so many windows in a row, from end to end, had no event.
const QUIET_WINDOWS: i64 = 2;

/// Counts events, or users within their bounds, into panes that end one after the other. By count the events end them, by the clock
/// the latest time of an event, and of users the clock alone.
pub(crate) struct ContinualCounter<K: Key> {
    pub intake: Intake<K>,
    users: Option<StreamingBounder<K>>,
    grid: Grid,
    /// The oldest pane that has not ended: panes are numbered by where they lie.
    open: Option<i64>,
    /// By the clock, those of them that have events.
    busy: BTreeSet<i64>,
    quiet: i64,
    /// Number of panes that have ended.
    pub ended: u64,
    now: i64,
    /// Number of events of the latest window that came too late, when it ended.
    pub missed: u64,
    /// Time that an event of a user may be ahead of the clock, in microseconds; not negative.
    pub ahead: i64,
    /// True if users were bounded elsewhere: who was counted in the last epoch is not known here, so nothing may follow.
    is_over: bool,
    clock_from_data: bool,
}

impl<K: Key> ContinualCounter<K> {
    pub fn new(
        (spec, keys): (&ValidSpec, &Keys<K>),
        shape: PaneShape,
        sums: WindowSums<K>,
        memory_for_users: u64,
        fault: Fault,
    ) -> Self {
        let (grid, by_count, seed) = (spec.grid(), spec.window().is_by_count(), shape.seed());
        // Panes wait for late events and must outlive them: until the next pane ends, a release can be read again.
        let kept = Grid { length: grid.length + grid.lateness + 1, ..grid };
        let timeline = Timeline::new(kept, shape, Schedule::Uniform, None).with_running(sums);
        let users = spec.unit.bounds().map(|bounds| {
            let calendar = Calendar::new(&bounds, grid.slide);
            StreamingBounder::new(keys.clone(), bounds, calendar, seed, memory_for_users, fault)
        });
        Self {
            intake: Intake::new(timeline, keys.clone(), by_count),
            users,
            grid,
            open: by_count.then_some(0),
            busy: BTreeSet::new(),
            quiet: 0,
            ended: 0,
            now: 0,
            missed: 0,
            ahead: 0,
            is_over: false,
            clock_from_data: fault.is(Mutant::ClockFromData),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.intake.timeline.bytes() + self.users.as_ref().map_or(0, StreamingBounder::bytes)
    }

    pub fn panes_of_window(&self) -> i64 {
        self.grid.length / self.grid.slide
    }

    /// By count: the pane that ends with the next event.
    #[inline]
    pub fn ends_with_next(&self) -> Option<i64> {
        let next = self.intake.arrived + 1;
        self.open.filter(|open| self.intake.by_count && (open + 1) * self.grid.slide == next)
    }

    /// An event is about to be counted. Returns true if its time moved the clock, which no event of users does.
    #[inline]
    pub fn arrive(&mut self, event: &Event<'_, K>) -> Result<bool> {
        let Some(time) = event.time.filter(|_| !self.intake.by_count) else {
            return Ok(false);
        };
        if self.users.is_some() {
            self.check_goes_on()?;
            if self.clock_from_data {
                self.now = self.now.max(time);
            }
            return match self.open {
                Some(_) => Ok(self.clock_from_data),
                None => Err(Error::window(
                    "it is not known what time it is, and where users are protected events do not say: tell it first, with advance_to",
                )),
            };
        }
        self.intake.check_time(time)?;
        if self.open.is_none() {
            self.open = Some(self.number_at(time));
            self.now = time;
        }
        self.now = self.now.max(time);
        Ok(true)
    }

    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        let Some(time) = event.time.filter(|_| !self.intake.by_count) else {
            return self.intake.push(event);
        };
        let open = self.open.unwrap_or(i64::MIN);
        if let Some(users) = &mut self.users {
            let latest = users.calendar.pane_at(self.now.saturating_add(self.ahead));
            return users.push_within(open..=latest, time, event.user, event.key);
        }
        let pane = time.div_euclid(self.grid.slide);
        // A pane that has been released never changes again.
        if pane < open {
            self.intake.drop_late(time);
            return Ok(());
        }
        // The pane waits until its end and lateness have passed, so the event is never late here.
        self.intake.push(event)?;
        self.busy.insert(pane);
        Ok(())
    }

    /// By count: takes events up to the last of the open pane, which waits until what it needs has been drawn.
    pub fn fill<'a>(&mut self, events: &mut impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        if !self.intake.by_count {
            return Ok(());
        }
        let slide = self.grid.slide;
        let before_last = slide - 1 - self.intake.arrived.rem_euclid(slide);
        self.intake.fill(events, before_last as usize)
    }

    /// Time has come to this moment. Of users the first moment says with which pane releases begin.
    pub fn move_clock(&mut self, time: i64) -> Result<()> {
        self.intake.check_time(time)?;
        self.check_goes_on()?;
        if let (Some(users), None) = (&self.users, self.open) {
            self.open = Some(users.calendar.first_pane_from(time));
            // Also before 1970.
            self.now = time;
        }
        self.now = self.now.max(time);
        Ok(())
    }

    /// By the clock: the next pane that need not wait any longer. Panes after a long quiet are left out, but not of users: whether
    /// anything happened is private there.
    pub fn next_due(&mut self) -> Option<i64> {
        let waiting = self.number_at(self.now - self.grid.lateness);
        let open = self.open.filter(|open| *open < waiting)?;
        let is_quiet = self.quiet >= QUIET_WINDOWS * self.panes_of_window();
        if self.users.is_some() || !is_quiet || self.busy.contains(&open) {
            return Some(open);
        }
        let next = self.busy.first().map_or(waiting, |busy| *busy.min(&waiting));
        self.open = Some(next);
        (next < waiting).then_some(next)
    }

    /// Ends a pane, the last of a window of these panes. What was counted cannot change any more.
    #[cold]
    pub fn end(&mut self, window: &Range<i64>, made_with: Parameters) -> Result<()> {
        let (slide, pane) = (self.grid.slide, window.end - 1);
        let users = self.users.as_mut();
        let counted = users.map(|users| users.close(pane, made_with)).transpose()?;
        let timeline = &mut self.intake.timeline;
        timeline.leave(window.start * slide);
        if let Some(counted) = counted {
            timeline.place(pane * slide..window.end * slide, counted);
        }
        timeline.settle(window.end * slide + self.grid.lateness)?;
        timeline.join(window.start * slide..window.end * slide);
        self.missed = timeline.missed(window.end * slide - self.grid.length..window.end * slide);
        let had_events = self.busy.remove(&pane) || self.intake.by_count;
        self.quiet = if had_events { 0 } else { self.quiet + 1 };
        self.ended += 1;
        self.open = Some(window.end);
        Ok(())
    }

    /// Takes panes of users that were counted elsewhere, from this one on: nothing else may come.
    pub fn take_counted(&mut self, first: i64, counted: Vec<Pane<K>>, tally: Tally) {
        if let Some(users) = &mut self.users {
            users.prepare(first, counted);
            users.filter.tally = tally;
        }
        self.is_over = true;
    }

    /// Begins with the next pane that nobody can have seen anything of: what came before is left out.
    pub fn begin_after(&mut self, now: i64) -> Result<()> {
        if self.users.is_some() {
            return self.move_clock(now);
        }
        let pane = now.div_euclid(self.grid.slide) + 1;
        self.open = Some(pane);
        *(if self.intake.by_count { &mut self.intake.arrived } else { &mut self.now }) =
            pane * self.grid.slide;
        Ok(())
    }

    /// Leaves out what users did in the open epoch, if a pane of it has ended.
    pub fn skip_to_next_epoch(&mut self, made_with: Parameters) -> Result<()> {
        let begins = self.open.map(|open| self.begins(open));
        let (Some(users), Some(open), Some(begins)) = (&mut self.users, self.open, begins) else {
            return Ok(());
        };
        let next = users.calendar.first_pane_from(begins);
        (open..next).try_for_each(|pane| users.close(pane, made_with).map(drop))?;
        self.open = Some(next);
        Ok(())
    }

    /// Returns an error if bounds cannot be kept any more: where all events came before the first release.
    fn check_goes_on(&self) -> Result<()> {
        match self.is_over {
            true => Err(Error::window(
                "the time of these releases is over, and what its users did was bounded with it: build another one for what follows",
            )),
            false => Ok(()),
        }
    }

    /// Writes everything but the closed panes, with what belongs between its parts.
    pub fn save(&mut self, to: &mut Writer, noise: impl FnOnce(&mut Writer)) {
        to.maybe(self.open, Writer::signed);
        to.each(self.busy.iter(), |to, pane| to.signed(*pane));
        to.signed(self.quiet);
        to.number(self.ended);
        to.signed(self.now);
        to.number(self.missed);
        noise(to);
        to.maybe(self.users.as_ref(), |to, users| users.save(to));
        self.intake.save(to);
    }

    /// Goes on from what was written. What belongs between its parts returns the panes that have ended, and those of the latest window.
    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut ReadPane<'_>,
        noise: impl FnOnce(&mut Reader<'_>) -> Result<[Option<Range<i64>>; 2]>,
    ) -> Result<()> {
        self.open = from.maybe(Reader::position)?;
        self.busy = from.each(Reader::position)?;
        self.quiet = from.position()?;
        self.ended = from.count()?;
        self.now = from.position()?;
        self.missed = from.count()?;
        let [ended, window] = noise(from)?;
        match (&mut self.users, from.flag()?) {
            (Some(users), true) => users.load(from)?,
            (None, false) => {}
            _ => return Err(damaged("users are missing, or there are some that none was to have")),
        }
        self.intake.load(from, panes)?;
        self.check_panes(ended)?;
        if let Some(window) = window {
            let slide = self.grid.slide;
            self.intake.timeline.join(window.start * slide..window.end * slide);
        }
        Ok(())
    }

    /// Returns an error unless those panes have ended whose time is over, and no others.
    fn check_panes(&self, ended: Option<Range<i64>>) -> Result<()> {
        let Grid { slide, lateness, .. } = self.grid;
        let latest = self.number_at(self.now());
        let possible: RangeInclusive<i64> = match self.intake.by_count {
            true => latest..=latest,
            // The first of users begins with an epoch, of which a window has one at the least.
            false => self.number_at(self.now - lateness)..=latest + self.panes_of_window() + 1,
        };
        let open = self.open.map_or(!self.intake.by_count, |open| possible.contains(&open));
        let waits = |pane: &i64| self.open.is_some_and(|open| (open..=latest).contains(pane));
        let reaches = -(MOST as i64) / slide..=self.open.unwrap_or(i64::MIN);
        let ended = ended.is_none_or(|ended| !ended.is_empty() && reaches.contains(&ended.end));
        let are_due = open && ended && self.busy.iter().all(waits) && self.quiet >= 0;
        check(are_due, "panes have ended that are to come, or have not that are over")
    }
}

impl<K: Key> PaneCounter<K> for ContinualCounter<K> {
    fn is_by_count(&self) -> bool {
        self.intake.by_count
    }

    fn has_clock(&self) -> bool {
        !self.intake.by_count
    }

    fn panes_not_covered(&self) -> i64 {
        1
    }

    fn ticks(&self) -> (u64, i64) {
        (self.ended, self.open.unwrap_or(i64::MIN))
    }

    fn now(&self) -> i64 {
        if self.intake.by_count { self.intake.arrived } else { self.now }
    }

    fn is_empty(&self) -> bool {
        self.open.is_none()
    }

    fn events(&self) -> i64 {
        self.now()
    }

    fn slide(&self) -> i64 {
        self.grid.slide
    }

    fn open(&self) -> i64 {
        self.open.unwrap_or(0)
    }

    fn offset(&self) -> i64 {
        self.users.as_ref().map_or(0, |users| users.calendar.offset())
    }

    fn ends_by(&self, now: i64) -> bool {
        let waiting = self.number_at(now.saturating_sub(self.grid.lateness));
        !self.intake.by_count && self.open.map_or(self.users.is_some(), |open| open < waiting)
    }

    fn closed(&self) -> Vec<Range<i64>> {
        self.intake.timeline.closed().collect()
    }

    fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        self.intake.timeline.closed_pane(bounds)
    }

    fn tally(&self) -> Tally {
        self.users.as_ref().map_or(self.intake.tally, |users| users.filter.tally)
    }

    fn open_bytes(&self) -> u64 {
        self.intake.timeline.open_bytes() + self.users.as_ref().map_or(0, StreamingBounder::bytes)
    }

    fn live(&self) -> Option<&StreamingBounder<K>> {
        self.users.as_ref()
    }

    fn live_mut(&mut self) -> Option<&mut StreamingBounder<K>> {
        self.users.as_mut()
    }
}
