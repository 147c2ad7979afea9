//! The door to a list that is released again at every slide.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::hitters::{counted, instant};
use crate::key::Key;
use crate::noise::{NodeKey, OsEntropy};
use crate::release::continual::Sequence;
use crate::release::one_shot::{Coverage, Edge, Release};
use crate::release::terms::Terms;
use crate::timeline::uniform::Uniform;
use crate::timeline::window::Grid;
use crate::timeline::{Timeline, Window};

/// The heavy hitters of a sliding window, released at the end of every pane, for ever, at one epsilon.
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
    /// The panes of the latest window, with events or without, the oldest first.
    nodes: VecDeque<Node>,
    /// Where the first pane begins, and where the next one ends.
    span: Option<(i64, i64)>,
    /// Events so far, by count; the latest time, by the clock.
    now: i64,
    dropped: u64,
    without_key: u64,
}

struct Node {
    end: i64,
    key: NodeKey,
}

impl<K: Key> Continual<K> {
    pub(crate) fn new(window: Window, grid: Grid, terms: Terms<K>, horizon: u64) -> Result<Self> {
        let panes = grid.length / grid.slide;
        let longest_pane = matches!(window, Window::Events(_)).then_some(grid.slide as u64);
        // Panes wait for late events and must outlive them.
        let kept = Grid {
            length: grid.length + grid.lateness + grid.slide,
            ..grid
        };
        Ok(Self {
            timeline: Timeline::new(kept, terms.shape, Box::new(Uniform), None),
            sequence: Sequence::new(terms, panes as u64, longest_pane, horizon)?,
            window,
            grid,
            nodes: VecDeque::new(),
            span: None,
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
        if self.span.is_none() {
            return Ok(Vec::new());
        }
        self.now = self.now.max(time);
        collect(|due| self.complete(self.now, due))
    }

    /// The latest release again: the same, however often it is asked for.
    pub fn release(&self) -> Result<Release<K>> {
        let Some(end) = self.nodes.back().map(|node| node.end) else {
            return Err(Error::window("no pane has ended so far: wait for the first"));
        };
        let origin = self.span.map_or(0, |(origin, _)| origin);
        let asked = end - self.panes() * self.grid.slide;
        let from = asked.max(origin);
        let panes = self.timeline.between(from, end);
        let fresh = self.fresh_keys()?;
        let nodes: Vec<&NodeKey> = match &fresh {
            Some(fresh) => fresh.iter().collect(),
            None => self.nodes.iter().map(|node| &node.key).collect(),
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
        self.sequence.release(&panes, &nodes, coverage, Some(edge(asked)))
    }

    /// How many events came too late and were dropped. For the operator: it is not part of a release.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many events had no key that is counted. For the operator: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        self.without_key
    }

    /// About how much memory the window takes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.timeline.bytes() + (self.nodes.len() * size_of::<Node>()) as u64
    }

    /// Other keys than those of the nodes, if noise is to be drawn again.
    fn fresh_keys(&self) -> Result<Option<Vec<NodeKey>>> {
        if !self.sequence.terms().fault.is(Mutant::RedrawnNoise) {
            return Ok(None);
        }
        let draw = |_| NodeKey::draw(&mut OsEntropy::new());
        (0..self.nodes.len()).map(draw).collect::<Result<_>>().map(Some)
    }

    /// How many panes a window has.
    fn panes(&self) -> i64 {
        self.grid.length / self.grid.slide
    }

    /// One event of a window by count, with its key or without. Calls back when it ends a pane; whoever wants
    /// the release then reads it with [`release`](Self::release).
    #[inline]
    pub fn push(&mut self, key: Option<K::Ref<'_>>, due: impl FnMut(&Self) -> Result<()>) -> Result<()> {
        if let Window::Clock(_) = self.window {
            return Err(Error::window(
                "this window goes by the clock: give the time of the event with update_at",
            ));
        }
        self.begin(self.now);
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        self.timeline.update(self.now, key)?;
        self.now += 1;
        self.complete(self.now, due)
    }

    /// One event of a window by the clock, with its key or without. Calls back for each pane that has ended by
    /// then.
    pub fn push_at(
        &mut self,
        time: i64,
        key: Option<K::Ref<'_>>,
        due: impl FnMut(&Self) -> Result<()>,
    ) -> Result<()> {
        self.by_clock()?;
        self.begin(time);
        self.now = self.now.max(time);
        // What is due by then is released first, before its panes are forgotten.
        self.complete(self.now, due)?;
        // A pane that has been released never changes again.
        if self.span.is_some_and(|(_, end)| time < end - self.grid.slide) {
            self.dropped += 1;
            return Ok(());
        }
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        if !self.timeline.update(time, key)? {
            self.dropped += 1;
        }
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

    /// Notes where the first pane begins.
    fn begin(&mut self, position: i64) {
        if self.span.is_none() {
            let start = position.div_euclid(self.grid.slide) * self.grid.slide;
            self.span = Some((start, start + self.grid.slide));
            self.now = position;
        }
    }

    /// Completes every pane that has ended before `now` and need not wait any longer.
    #[inline]
    fn complete(&mut self, now: i64, mut due: impl FnMut(&Self) -> Result<()>) -> Result<()> {
        while let Some((_, end)) = self.span
            && end + self.grid.lateness <= now
        {
            self.complete_one(end)?;
            due(self)?;
        }
        Ok(())
    }

    #[cold]
    fn complete_one(&mut self, end: i64) -> Result<()> {
        let key = NodeKey::draw(&mut OsEntropy::new())?;
        self.timeline.settle(end + self.grid.lateness)?;
        self.nodes.push_back(Node { end, key });
        if self.nodes.len() as i64 > self.panes() {
            self.nodes.pop_front();
        }
        self.span = self.span.map(|(origin, _)| (origin, end + self.grid.slide));
        Ok(())
    }
}

/// The releases that are due.
fn collect<K: Key>(
    push: impl FnOnce(&mut dyn FnMut(&Continual<K>) -> Result<()>) -> Result<()>,
) -> Result<Vec<Release<K>>> {
    let mut releases = Vec::new();
    push(&mut |continual| {
        releases.push(continual.release()?);
        Ok(())
    })?;
    Ok(releases)
}
