//! The door to a list that is released again at every slide.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::hitters::{check_time, counted, fill, instant};
use crate::key::Key;
use crate::noise::nodes::Ending;
use crate::noise::{NodeKey, Nodes, OsEntropy, WindowNodes};
use crate::release::continual::{Sequence, Setup};
use crate::release::one_shot::{Coverage, Edge, Release};
use crate::release::terms::Terms;
use crate::timeline::uniform::Uniform;
use crate::timeline::window::Grid;
use crate::timeline::{Timeline, Window};

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
    timeline: Timeline<K>,
    sequence: Sequence<K>,
    window: Window,
    grid: Grid,
    nodes: Nodes,
    /// The oldest pane that has not ended: panes are numbered by where they lie.
    open: Option<i64>,
    /// By the clock, those of them that have events.
    busy: BTreeSet<i64>,
    /// How many panes in a row, up to the latest that has ended, had no event.
    quiet: i64,
    /// How many panes have ended: each has its release.
    ended: u64,
    /// Events so far, by count; the latest time, by the clock.
    now: i64,
    dropped: u64,
    without_key: u64,
}

impl<K: Key> Continual<K> {
    pub(crate) fn new(window: Window, grid: Grid, terms: Terms<K>, setup: Setup) -> Result<Self> {
        let longest_pane = matches!(window, Window::Events(_)).then_some(grid.slide as u64);
        // Panes wait for late events and must outlive them: until the next pane ends, a release can be read again.
        let kept = Grid {
            length: grid.length + grid.lateness + 1,
            ..grid
        };
        let shape = terms.shape;
        let sequence = Sequence::new(terms, setup, longest_pane)?;
        let first = longest_pane.map(|_| 0);
        Ok(Self {
            timeline: Timeline::new(kept, shape, Box::new(Uniform), None),
            nodes: sequence.nodes(),
            sequence,
            window,
            grid,
            open: first,
            busy: BTreeSet::new(),
            quiet: 0,
            ended: 0,
            now: 0,
            dropped: 0,
            without_key: 0,
        })
    }

    /// One event of a window by count. Returns the release that it brings about, if it ends a pane.
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Some(key), due))
    }

    /// One event without a key.
    pub fn update_without_key(&mut self) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(None, due))
    }

    /// One event of a window by the clock, at a time in microseconds since 1970. Returns the releases that are
    /// due by then, one for each pane that has ended, with events or without.
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push_at(time, Some(key), due))
    }

    /// One event without a key of a window by the clock.
    pub fn update_without_key_at(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        collect(|due| self.push_at(time, None, due))
    }

    /// The time has come to this moment, without an event. Returns the releases that are due.
    pub fn advance_to(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        self.by_clock()?;
        check_time(time)?;
        self.now = self.now.max(time);
        collect(|due| self.complete(due))
    }

    /// The latest release again: the same, however often it is asked for.
    pub fn release(&self) -> Result<Release<K>> {
        let slide = self.grid.slide;
        let Some(nodes) = self.nodes.window() else {
            return Err(Error::window("no pane has ended so far: wait for the first"));
        };
        let (from, end) = (nodes.panes.start * slide, nodes.panes.end * slide);
        let panes = self.timeline.between(from, end);
        let fresh = self.fresh_keys(&nodes);
        let nodes = WindowNodes {
            cover: fresh.as_ref().map_or(nodes.cover, |fresh| fresh.iter().collect()),
            ..nodes
        };
        let edge = |position: i64| match self.window {
            Window::Events(_) => Edge::Event(position.max(0) as u64),
            Window::Clock(_) => instant(position),
        };
        let coverage = Coverage {
            events: panes.iter().map(|pane| pane.events()).sum(),
            from: Some(edge(from)),
            to: Some(edge(end)),
        };
        let asked = edge(end - self.panes() * slide);
        self.sequence
            .release(self.ended, &panes, &nodes, coverage, Some(asked))
    }

    /// How many events came too late and were dropped. For the operator: it is not part of a release.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many events had no key that is counted. For the operator: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        self.without_key
    }

    /// About how much memory the window takes, in bytes. For the operator: **it must not be published**.
    pub fn bytes(&self) -> u64 {
        self.timeline.bytes() + self.nodes.bytes()
    }

    /// Other keys than those of the nodes, if noise is to be drawn again.
    fn fresh_keys(&self, nodes: &WindowNodes<'_>) -> Option<Vec<NodeKey>> {
        if !self.sequence.terms().fault.is(Mutant::RedrawnNoise) {
            return None;
        }
        let draw = |_| NodeKey::draw(&mut OsEntropy::new()).ok();
        (0..nodes.cover.len()).map(draw).collect()
    }

    /// How many panes a window has.
    fn panes(&self) -> i64 {
        self.grid.length / self.grid.slide
    }

    /// One event of a window by count, with its key or without. Calls back when it ends a pane; whoever wants
    /// the release then reads it with [`release`](Self::release). After an error it has not been counted.
    #[inline]
    pub fn push(&mut self, key: Option<K::Ref<'_>>, due: impl FnMut(&Self)) -> Result<()> {
        let ending = self.ending()?;
        self.count(key, ending, due)
    }

    /// Many events of a window by count, in order: the same as one by one, sooner. After an error those that were taken
    /// from the iterator have been counted, and no others.
    pub fn push_all<'a>(
        &mut self,
        keys: impl IntoIterator<Item = Option<K::Ref<'a>>>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        let mut keys = keys.into_iter();
        loop {
            let ending = self.ending()?;
            let Some(first) = keys.next() else {
                return Ok(());
            };
            self.count(first, ending, &mut due)?;
            // The last event of the pane waits until what it needs has been drawn.
            let before_last = self.grid.slide - 1 - self.now.rem_euclid(self.grid.slide);
            self.now = fill(
                &mut self.timeline,
                &self.sequence.terms().keys,
                self.now,
                &mut keys.by_ref().take(before_last as usize),
                &mut self.without_key,
            );
        }
    }

    /// What the next event of a window by count needs if it ends a pane.
    #[inline]
    fn ending(&self) -> Result<Option<Ending>> {
        if let Window::Clock(_) = self.window {
            return Err(Error::window(
                "this window goes by the clock: give the time of the event with update_at",
            ));
        }
        let last = |open: &i64| (open + 1) * self.grid.slide == self.now + 1;
        let open = self.open.filter(last);
        open.map(|open| self.nodes.draw(open)).transpose()
    }

    /// The next event of a window by count.
    #[inline]
    fn count(
        &mut self,
        key: Option<K::Ref<'_>>,
        ending: Option<Ending>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        self.timeline.update(self.now, key)?;
        self.now += 1;
        if let Some(ending) = ending {
            self.end(ending)?;
            due(self);
        }
        Ok(())
    }

    /// One event of a window by the clock, with its key or without. Calls back for each pane that has ended by
    /// then. After an error it has not been counted; panes that ended before the error have ended.
    pub fn push_at(&mut self, time: i64, key: Option<K::Ref<'_>>, due: impl FnMut(&Self)) -> Result<()> {
        self.by_clock()?;
        check_time(time)?;
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
            self.dropped += 1;
            return Ok(());
        }
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        // The pane waits until its end and lateness have passed, so the event is never late here.
        self.timeline.update(time, key)?;
        self.busy.insert(pane);
        Ok(())
    }

    fn by_clock(&self) -> Result<()> {
        match self.window {
            Window::Clock(_) => Ok(()),
            Window::Events(_) => Err(Error::window(
                "this window goes by the number of events: give the event without a time, with update",
            )),
        }
    }

    /// By the clock: ends every pane that need not wait any longer, but for those after a long quiet.
    fn complete(&mut self, mut due: impl FnMut(&Self)) -> Result<()> {
        let Grid { slide, lateness, .. } = self.grid;
        // The oldest pane that still waits for events.
        let waiting = (self.now - lateness).div_euclid(slide);
        while let Some(open) = self.open.filter(|open| *open < waiting) {
            if self.quiet < QUIET_WINDOWS * self.panes() || self.busy.contains(&open) {
                self.end(self.nodes.draw(open)?)?;
                due(self);
            } else {
                let next = self.busy.first().copied().unwrap_or(waiting);
                self.open = Some(next.min(waiting));
            }
        }
        Ok(())
    }

    #[cold]
    fn end(&mut self, ending: Ending) -> Result<()> {
        let pane = ending.pane();
        self.timeline
            .settle((pane + 1) * self.grid.slide + self.grid.lateness)?;
        self.nodes.complete(ending);
        let had_events = self.busy.remove(&pane) || matches!(self.window, Window::Events(_));
        self.quiet = if had_events { 0 } else { self.quiet + 1 };
        self.ended += 1;
        self.open = Some(pane + 1);
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

#[cfg(test)]
mod tests;
