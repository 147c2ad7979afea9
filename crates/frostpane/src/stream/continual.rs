//! The door to a list that is released again at every slide.

mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use crate::counting::Event;
use crate::counting::events::intake::Intake;
use crate::counting::events::schedule::Schedule;
use crate::counting::events::{Timeline, WindowSums};
use crate::counting::users::{Calendar, SpillFactory, StreamingBounder, Tally};
use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::key::{Footprint, Key};
use crate::noise::{Entropy, OsEntropy};
use crate::pane::{Pane, Parameters};
use crate::release::charged_window::edge;
use crate::release::continual::{ContinualReleaser, ContinualSetup, ReleaseIndex};
use crate::release::noise_tree::nodes::NodeSecrets;
use crate::release::noise_tree::{NodeKey, Nodes, WindowNodes};
use crate::release::{Coverage, Release, Request};
use crate::spec::window::Grid;

/// Releases pause when so many windows in a row, from end to end, had no event.
const QUIET_WINDOWS: i64 = 2;

/// The heavy hitters of a sliding window, released at the end of every pane, at one epsilon. How long delta holds, where
/// there is one, is in [`Builder::horizon`](crate::Builder::horizon).
///
/// **An error means that the event was not counted**: it can be given again. What can fail is drawn before the event is
/// counted, and a release of a pane that has ended draws nothing more.
///
/// By the clock a pane without events is released like any other, until there was no event for two windows' time: then
/// releases pause until the next event, with whose pane the window begins anew. So a gap brings a few releases, however
/// long it is. A time far in the future moves the clock there: what comes after it at an earlier time is late, and dropped.
///
/// ```
/// use frostpane::{HeavyHitters, Keys, Norm, Window};
///
/// # fn main() -> frostpane::Result<()> {
/// let mut ports = HeavyHitters::<u64>::builder(Keys::range(0..1_000)?)
///     .norm(Norm::L1)
///     .alpha(0.05)
///     .window(Window::events(32_000).slide(1_000))
///     .continual()?;
/// let mut releases = Vec::new();
/// for i in 0..100_000 {
///     releases.extend(ports.update(if i % 3 == 0 { 22 } else { 443 })?);
/// }
/// assert_eq!(releases.len(), 100);
/// assert_eq!(releases[99].heavy[0].key, 443);
/// assert_eq!(ports.release()?, releases[99]);
/// # Ok(())
/// # }
/// ```
pub struct Continual<K: Key> {
    intake: Intake<K>,
    sequence: ContinualReleaser<K>,
    grid: Grid,
    by_count: bool,
    nodes: Nodes,
    source: Source,
    /// The oldest pane that has not ended: panes are numbered by where they lie.
    open: Option<i64>,
    /// By the clock, those of them that have events.
    busy: BTreeSet<i64>,
    /// Number of panes in a row without an event, up to the latest that has ended.
    quiet: i64,
    /// Number of panes that have ended: each has its release.
    ended: u64,
    /// By the clock: the latest time.
    now: i64,
    /// Number of events of the latest window that came too late, when it ended.
    missed: u64,
    /// How many events the latest panes had, as far back as noise may matter: four times a window. Where people are protected: how
    /// many the latest windows had, as they said at most.
    events: VecDeque<u64>,
    /// Users, where they are protected.
    people: Option<StreamingBounder<K>>,
    /// Time that an event of a user may be ahead of the clock.
    ahead: i64,
    /// True if what people did was bounded elsewhere: who has been counted in the last epoch is not known here, so nothing may follow.
    over: bool,
}

/// Where the secrets of nodes come from. A new one for each pane: what it has read ahead must not outlive the pane, or a copy
/// of the process would draw the same.
type Source = fn() -> Box<dyn Entropy + Send>;

impl<K: Key> Continual<K> {
    pub(super) fn new(request: Request<K>, setup: ContinualSetup, key: &Footprint) -> Result<Self> {
        let (grid, by_count) = (request.spec.grid(), request.spec.window().is_by_count());
        let longest_pane = by_count.then_some(grid.slide as u64);
        // Panes wait for late events and must outlive them: until the next pane ends, a release can be read again.
        let kept = Grid { length: grid.length + grid.lateness + 1, ..grid };
        let running = WindowSums::new(setup.running, key, request.shape.seed());
        let timeline = Timeline::new(kept, request.shape, Schedule::Uniform, None).with_running(running);
        let intake = Intake::new(timeline, request.keys.clone(), by_count);
        let people = request.spec.unit.bounds().map(|bounds| {
            let calendar = Calendar::new(&bounds, grid.slide);
            let (seed, keys) = (request.shape.seed(), request.keys.clone());
            StreamingBounder::new(keys, bounds, calendar, seed, setup.people, request.fault)
        });
        let sequence = ContinualReleaser::new(request, setup, longest_pane)?;
        Ok(Self {
            people,
            ahead: 0,
            over: false,
            intake,
            nodes: sequence.nodes(),
            source: || Box::new(OsEntropy::new()),
            sequence,
            grid,
            by_count,
            open: longest_pane.map(|_| 0),
            busy: BTreeSet::new(),
            quiet: 0,
            ended: 0,
            now: 0,
            missed: 0,
            events: VecDeque::new(),
        })
    }

    /// One event of a window by count. Returns the release that it brings about, if it ends a pane.
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Event::of(key), due))
    }

    /// One event of a window by the clock, at a time in microseconds since 1970. Returns the releases that are
    /// due by then, one for each pane that has ended, with events or without.
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Event::at(time, key), due))
    }

    /// The time has come to this moment, without an event. Returns the releases that are due. Where people are protected only this
    /// moves the clock, and it must be told before the first event; where several slides make up an epoch the first list is of the next
    /// epoch that begins, because another run may have shown a part of the running one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use frostpane::{HeavyHitters, Keys, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let hour = Duration::from_secs(3_600);
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
    ///     .window(Window::clock(24 * hour).slide(hour))
    ///     .continual()?;
    /// assert!(ports.update_at(0, 443)?.is_empty(), "the first hour has not ended");
    /// // Nothing more came for three hours: three lists, of which the latest covers all three.
    /// let due = ports.advance_to(3 * 3_600_000_000)?;
    /// assert_eq!((due.len(), due[2].window.events), (3, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn advance_to(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        collect(|due| self.advance(time, due))
    }

    /// The same, and calls back for each pane that has ended by then, as [`push`](Self::push) does.
    pub fn advance(&mut self, time: i64, due: impl FnMut(&Self)) -> Result<()> {
        self.intake.check_time(time)?;
        self.check_goes_on()?;
        if let (Some(people), None) = (&self.people, self.open) {
            self.open = Some(people.first_pane_from(time));
            // Also before 1970.
            self.now = time;
        }
        self.now = self.now.max(time);
        self.complete(due)
    }

    /// One event, with its key or without. Calls back for each pane that has ended by then; whoever wants
    /// the release then reads it with [`release`](Self::release). After an error the event has not been counted; panes that ended
    /// before the error have ended.
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>, due: impl FnMut(&Self)) -> Result<()> {
        let ending = self.next_ending()?;
        self.take(event, ending, due)
    }

    /// Many events, in the order of their arrival: the same as one by one, sooner. After an error all events that were taken
    /// from the iterator have been counted, but for one that the error is about.
    ///
    /// ```
    /// # use frostpane::{Event, HeavyHitters, Keys, Norm, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
    ///     .norm(Norm::L1)
    ///     .alpha(0.1)
    ///     .window(Window::events(8_000).slide(1_000))
    ///     .continual()?;
    /// let mut lists = Vec::new();
    /// let events = (0..2_500).map(|i| Event::of(if i < 1_500 { 443 } else { 22 }));
    /// ports.extend(events, |ports| lists.push(ports.release()))?;
    /// let lists = lists.into_iter().collect::<frostpane::Result<Vec<_>>>()?;
    /// assert_eq!(lists.len(), 2, "the third slide goes on");
    /// assert_eq!((lists[0].heavy.len(), lists[1].heavy.len()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn extend<'a>(
        &mut self,
        events: impl IntoIterator<Item = Event<'a, K>>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        let mut events = events.into_iter();
        loop {
            let ending = self.next_ending()?;
            let Some(first) = events.next() else {
                return Ok(());
            };
            self.take(first, ending, &mut due)?;
            if self.by_count {
                // The last event of the pane waits until what it needs has been drawn.
                let slide = self.grid.slide;
                let before_last = slide - 1 - self.intake.arrived().rem_euclid(slide);
                self.intake.fill(&mut events, before_last as usize)?;
            }
        }
    }

    /// Where people are protected, events may be this far ahead of the clock, in microseconds, before they are dropped; not at all unless
    /// told.
    pub fn allow_ahead(&mut self, micros: i64) {
        self.ahead = micros.max(0);
    }

    /// With secrets of nodes from another source of entropy than the operating system's. For tests: the privacy of releases is no
    /// better than the source.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        Self { source, ..self }
    }

    /// The latest release again: the same, however often it is asked for.
    pub fn release(&self) -> Result<Release<K>> {
        let slide = self.grid.slide;
        let Some(nodes) = self.nodes.window() else {
            return Err(Error::window("no pane has ended so far: wait for the first"));
        };
        let (from, end) = (nodes.panes.start * slide, nodes.panes.end * slide);
        let (panes, running) = (nodes.panes_in(&self.intake.timeline), nodes.sums_in(&self.intake.timeline));
        let fresh = self.fresh_keys(&nodes);
        let nodes = WindowNodes {
            cover: fresh.as_ref().map_or(nodes.cover, |fresh| fresh.iter().collect()),
            ..nodes
        };
        let offset = self.people.as_ref().map_or(0, StreamingBounder::offset);
        let edge = |position| Some(edge(position + offset, self.by_count));
        let coverage = Coverage {
            // Said by the release, with noise where it has to have some.
            events: 0,
            between: None,
            from: edge(from),
            to: edge(end),
            missed: self.missed,
        };
        let asked = edge(end - self.panes() * slide);
        let (before, latest) = self.events.as_slices();
        let turn = ReleaseIndex {
            number: self.ended,
            around: match self.people.is_some() {
                true => self.sequence.most_around_of_people(&[before, latest].concat()),
                false => self.sequence.most_around(&[before, latest].concat()),
            },
        };
        self.sequence.release(turn, &panes, running, &nodes, coverage, asked)
    }

    /// The numbers that its panes are made with.
    pub(crate) fn made_with(&self) -> Parameters {
        self.sequence.request().shape.parameters()
    }

    /// Lets the time pass over panes that have been counted, and calls back for each.
    pub(super) fn go_through(
        &mut self,
        panes: Range<i64>,
        counted: Vec<Pane<K>>,
        tally: Tally,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        if let Some(people) = &mut self.people {
            people.prepare(panes.start, counted);
            people.filter.tally = tally;
        }
        self.over = true;
        for pane in panes {
            self.end(self.ending(pane)?)?;
            due(self);
        }
        Ok(())
    }

    /// Returns an error if bounds cannot be kept any more: where all events came before the first release.
    fn check_goes_on(&self) -> Result<()> {
        match self.over {
            true => Err(Error::window(
                "the time that these lists are of is over, and what its people did was bounded with it: build another one for what follows",
            )),
            false => Ok(()),
        }
    }

    /// Number of events that came too late and were dropped. For the operator: it is not part of a release.
    pub fn dropped(&self) -> u64 {
        let of_people = self.people.as_ref().map_or(0, |people| people.filter.tally.outside);
        self.intake.dropped() + of_people
    }

    /// Where people are protected: how many events were of nobody, and so not counted. For the operator: **it must not be published**.
    pub fn without_user(&self) -> u64 {
        self.people.as_ref().map_or(0, |people| people.filter.tally.without_user)
    }

    /// Where people are protected: how many events of users might count, before bounds. For the operator: **it must not be published**.
    pub fn offered(&self) -> u64 {
        self.people.as_ref().map_or(0, |people| people.filter.tally.offered)
    }

    /// Number of events beyond the bounds of their users. For the operator: **it must not be published**.
    pub fn beyond_bounds(&self) -> u64 {
        self.people.as_ref().map_or(0, |people| people.filter.tally.beyond_bounds)
    }

    /// Number of them that were the latest events in a row: if there are many, the clock is ahead.
    pub fn late_in_a_row(&self) -> u64 {
        self.intake.dropped_in_a_row()
    }

    /// Number of events without a key that is counted. For the operator: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        let of_people = self.people.as_ref().map_or(0, |people| people.filter.tally.without_key);
        self.intake.without_key() + of_people
    }

    /// About how much memory the window takes, in bytes. For the operator: **it must not be published**.
    pub fn bytes(&self) -> u64 {
        let people = self.people.as_ref().map_or(0, StreamingBounder::bytes);
        self.intake.timeline.bytes() + self.nodes.bytes() + people
    }

    pub(crate) fn timeline(&self) -> &Timeline<K> {
        &self.intake.timeline
    }

    pub(crate) fn is_of_people(&self) -> bool {
        self.people.is_some()
    }

    pub(crate) fn is_by_count(&self) -> bool {
        self.by_count
    }

    /// Number of panes that have ended, and the oldest that has not.
    pub(crate) fn ticks(&self) -> (u64, i64) {
        (self.ended, self.open.unwrap_or(i64::MIN))
    }

    /// The latest time, or the number of events so far.
    pub(crate) fn now(&self) -> i64 {
        match self.by_count {
            true => self.intake.arrived(),
            false => self.now,
        }
    }

    /// There were so many lists before.
    pub(crate) fn go_on_from(&mut self, lists: u64) {
        self.ended = lists;
    }

    /// The pane of a moment.
    pub(crate) fn pane_at(&self, moment: i64) -> i64 {
        match &self.people {
            Some(people) => people.pane_at(moment),
            None => moment.div_euclid(self.grid.slide),
        }
    }

    /// Users that do not fit into the memory go to files that this makes.
    pub(crate) fn spill_to(&mut self, scratch: Option<SpillFactory>) {
        self.people.iter_mut().for_each(|people| people.spill_to(scratch.clone()));
    }

    /// Users of periods that have not ended, where users are protected.
    pub(crate) fn live(&self) -> Option<&StreamingBounder<K>> {
        self.people.as_ref()
    }

    pub(crate) fn live_mut(&mut self) -> Option<&mut StreamingBounder<K>> {
        self.people.as_mut()
    }

    /// Its noise, in words that tell it from any other.
    pub(crate) fn noise(&self) -> String {
        self.sequence.noise()
    }

    /// Number of releases so far.
    pub(crate) fn lists(&self) -> u64 {
        self.ended
    }

    /// The oldest pane that has not ended.
    pub(crate) fn open_pane(&self) -> i64 {
        self.open.unwrap_or(0)
    }

    /// Start of a pane.
    pub(crate) fn begins(&self, pane: i64) -> i64 {
        pane.saturating_mul(self.grid.slide)
            .saturating_add(self.people.as_ref().map_or(0, StreamingBounder::offset))
    }

    /// Where people are protected: events that come now may be as late as this moment, to which the clock has not come yet.
    pub(crate) fn expect_until(&mut self, moment: i64) {
        self.ahead = moment.saturating_sub(self.now).max(0);
    }

    /// Begins with the next pane that nobody can have seen anything of: what came before is left out.
    pub(crate) fn begin_after(&mut self, now: i64) -> Result<()> {
        let pane = match &self.people {
            Some(_) => return self.advance(now, |_| ()),
            None => now.div_euclid(self.grid.slide) + 1,
        };
        self.open = Some(pane);
        match self.by_count {
            true => self.intake.arrived = pane * self.grid.slide,
            false => self.now = pane * self.grid.slide,
        }
        Ok(())
    }

    /// About how many bytes would be kept of what has not ended.
    pub(crate) fn open_bytes(&self) -> u64 {
        self.intake.timeline.open_bytes() + self.people.as_ref().map_or(0, StreamingBounder::bytes)
    }

    /// Other keys than those of the nodes, if noise is to be drawn again.
    fn fresh_keys(&self, nodes: &WindowNodes<'_>) -> Option<Vec<NodeKey>> {
        if !self.sequence.request().fault.is(Mutant::RedrawnNoise) {
            return None;
        }
        let draw = |_| NodeKey::draw(&mut OsEntropy::new()).ok();
        (0..nodes.cover.len()).map(draw).collect()
    }

    /// Number of panes of a window.
    pub(crate) fn panes(&self) -> i64 {
        self.grid.length / self.grid.slide
    }

    /// Draws what the end of a pane needs, which can fail: before anything else is done.
    fn ending(&self, pane: i64) -> Result<NodeSecrets> {
        self.nodes.draw(pane, &mut *(self.source)())
    }

    /// By count: what the next event needs if it ends a pane.
    #[inline]
    fn next_ending(&self) -> Result<Option<NodeSecrets>> {
        let next = self.intake.arrived() + 1;
        let last = |open: &i64| self.by_count && (open + 1) * self.grid.slide == next;
        let open = self.open.filter(last);
        open.map(|open| self.ending(open)).transpose()
    }

    #[inline]
    fn take(
        &mut self,
        event: Event<'_, K>,
        ending: Option<NodeSecrets>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        if !self.by_count {
            return self.take_by_clock(event, due);
        }
        self.intake.push(event)?;
        if let Some(ending) = ending {
            self.end(ending)?;
            due(self);
        }
        Ok(())
    }

    fn take_by_clock(&mut self, event: Event<'_, K>, due: impl FnMut(&Self)) -> Result<()> {
        let Some(time) = event.time else {
            return self.intake.push(event);
        };
        if self.people.is_some() {
            return self.take_of_user(time, event, due);
        }
        self.intake.check_time(time)?;
        let pane = time.div_euclid(self.grid.slide);
        if self.open.is_none() {
            self.open = Some(pane);
            self.now = time;
        }
        self.now = self.now.max(time);
        // What is due by then is released first, before its panes are forgotten.
        self.complete(due)?;
        // A pane that has been released never changes again.
        if self.open.is_some_and(|open| pane < open) {
            self.intake.drop_late(time);
            return Ok(());
        }
        // The pane waits until its end and lateness have passed, so the event is never late here.
        self.intake.push(event)?;
        self.busy.insert(pane);
        Ok(())
    }

    /// An event of a user. It moves nothing: the clock alone decides whether it comes in time, and no time stops those of others.
    fn take_of_user(&mut self, time: i64, event: Event<'_, K>, due: impl FnMut(&Self)) -> Result<()> {
        self.check_goes_on()?;
        if self.sequence.request().fault.is(Mutant::ClockFromData) {
            self.advance(time.max(self.now), due)?;
        }
        let (open, now) = (self.open, self.now);
        let Some(people) = &mut self.people else {
            return Ok(());
        };
        let Some(open) = open else {
            return Err(Error::window(
                "it is not known what time it is, and where people are protected events do not say: tell it first, with advance_to",
            ));
        };
        let latest = people.pane_at(now.saturating_add(self.ahead));
        if !(open..=latest).contains(&people.pane_at(time)) {
            people.filter.tally.outside += 1;
            return Ok(());
        }
        people.push(time, event.user, event.key)
    }

    /// By the clock: ends every pane that need not wait any longer, but for those after a long quiet.
    fn complete(&mut self, mut due: impl FnMut(&Self)) -> Result<()> {
        let Grid { slide, lateness, .. } = self.grid;
        // The oldest pane that still waits for events.
        let waiting = match &self.people {
            Some(people) => people.pane_at(self.now - lateness),
            None => (self.now - lateness).div_euclid(slide),
        };
        while let Some(open) = self.open.filter(|open| *open < waiting) {
            // Whether anything happened is nobody's business where people are protected.
            if self.people.is_some() || self.quiet < QUIET_WINDOWS * self.panes() || self.busy.contains(&open)
            {
                self.end(self.ending(open)?)?;
                due(self);
            } else {
                let next = self.busy.first().copied().unwrap_or(waiting);
                self.open = Some(next.min(waiting));
            }
        }
        Ok(())
    }

    #[cold]
    fn end(&mut self, ending: NodeSecrets) -> Result<()> {
        let pane = ending.pane();
        let settled = (pane + 1) * self.grid.slide + self.grid.lateness;
        let (slide, panes) = (self.grid.slide, self.nodes.window_with(pane));
        let made_with = self.sequence.request().shape.parameters();
        let people = self.people.as_mut();
        let counts = people.map(|people| people.close(pane, made_with)).transpose()?;
        self.intake.timeline.leave(panes.start * slide);
        if let Some(counts) = counts {
            self.intake.timeline.place(pane * slide..(pane + 1) * slide, counts);
        }
        self.intake.timeline.settle(settled)?;
        self.intake.timeline.join(panes.start * slide..panes.end * slide);
        self.nodes.complete(ending);
        self.remember(pane)?;
        let window = (pane + 1) * slide - self.grid.length..(pane + 1) * slide;
        self.missed = self.intake.timeline.missed(window);
        let had_events = self.busy.remove(&pane) || self.by_count;
        self.quiet = if had_events { 0 } else { self.quiet + 1 };
        self.ended += 1;
        self.open = Some(pane + 1);
        Ok(())
    }

    /// Keeps how many events a pane had that has ended, as far as that is public.
    fn remember(&mut self, pane: i64) -> Result<()> {
        let slide = self.grid.slide;
        let events = match (&self.people, self.nodes.window()) {
            (Some(_), Some(nodes)) => {
                let panes = nodes.panes_in(&self.intake.timeline);
                self.sequence.total(&panes, &nodes)?.high
            }
            _ => self.intake.timeline.events_within(pane * slide..(pane + 1) * slide),
        };
        self.events.push_back(events);
        if self.events.len() as i64 > 4 * self.panes() {
            self.events.pop_front();
        }
        Ok(())
    }
}

/// The releases that are due.
fn collect<K: Key>(
    push: impl FnOnce(&mut dyn FnMut(&Continual<K>)) -> Result<()>,
) -> Result<Vec<Release<K>>> {
    let mut releases = Vec::new();
    push(&mut |continual| releases.push(continual.release()))?;
    releases.into_iter().collect()
}
