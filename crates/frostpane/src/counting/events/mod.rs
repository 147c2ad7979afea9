#![doc = include_str!("events.md")]

mod close_workers;
pub(crate) mod exponential;
mod fixed;
pub(crate) mod intake;
pub(crate) mod levels;
pub(crate) mod schedule;
pub(crate) mod smooth;
mod stored;
#[cfg(test)]
mod tests;
mod window;
mod window_sums;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::ops::Range;

use crate::error::Result;
use crate::key::Key;
use crate::mechanism::Draws;
#[cfg(any(test, feature = "testing"))]
use crate::noise::Entropy;
use crate::noise::OsEntropy;
use crate::pane::{Closer, OpenNorm, OpenPane, Pane, PaneShape, Parameters};
use crate::spec::window::Grid;
use close_workers::Workers;
use fixed::FixedPanes;
use levels::LevelSketches;
use schedule::{Outline, Schedule};
pub(crate) use window_sums::WindowSums;

pub struct Timeline<K> {
    state: State<K>,
    draws: Box<dyn Draws + Send>,
    /// Blocks that others are closing, in order, all between those that have closed and those that wait.
    closing: VecDeque<PlacedPane<PendingPane<K>>>,
    handed_back: u64,
    workers: Option<Workers<K>>,
    /// Blocks that have closed, for their memory.
    spares: Vec<OpenPane<K>>,
    closer: Closer<K>,
    running: Option<WindowSums<K>>,
    pub(crate) ticks: u64,
}

/// Plain data that outlives the process, if anything does: while no block is being closed, all that the next event depends on.
#[derive(Debug)]
struct State<K> {
    grid: Grid,
    shape: PaneShape,
    schedule: Schedule,
    /// Norms that the schedule may ask about, if it asks.
    levels: Option<LevelSketches>,
    /// The latest position so far, and the pane it fell into.
    head: Option<(i64, PlacedPane<OpenPane<K>>)>,
    /// Older panes that still wait for late events, in order.
    waiting: VecDeque<PlacedPane<OpenPane<K>>>,
    closed: VecDeque<PlacedPane<Pane<K>>>,
    origin: i64,
    /// Bounds of panes, if they were known before the first event: then the head is the pane that an event came to last.
    fixed: Option<FixedPanes<K>>,
    /// Events that came when their pane had closed, by the slide that they lie in, as far back as a window can reach.
    late: BTreeMap<i64, u64>,
}

/// A pane where it lies.
#[derive(Clone, Debug)]
struct PlacedPane<P> {
    start: i64,
    end: i64,
    level: u8,
    pane: P,
}

impl<P> PlacedPane<P> {
    fn new(start: i64, end: i64, pane: P) -> Self {
        Self { start, end, level: 0, pane }
    }

    fn bounds(&self) -> Range<i64> {
        self.start..self.end
    }

    fn outline(&self, events: u64) -> Outline {
        Outline { start: self.start, end: self.end, events, level: self.level }
    }
}

/// A pane that may not be there yet, and how many events it has.
struct PendingPane<K> {
    events: u64,
    pane: Option<Pane<K>>,
}

impl<K: Key> PlacedPane<Pane<K>> {
    /// Panes next to each other as one. Its end stands for all ends that are gone, and so has their highest level.
    fn merge(run: Vec<Self>, made_with: Parameters) -> Result<Self> {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let level = run.iter().map(|block| block.level).max().unwrap_or(0);
        Ok(Self { start, end, level, pane: Pane::merge(run.into_iter().map(|block| block.pane), made_with)? })
    }
}

impl<K: Key> Timeline<K> {
    pub(crate) fn new(
        grid: Grid,
        shape: PaneShape,
        schedule: Schedule,
        levels: Option<LevelSketches>,
    ) -> Self {
        let state = State {
            grid,
            shape,
            schedule,
            levels,
            head: None,
            waiting: VecDeque::new(),
            closed: VecDeque::new(),
            origin: i64::MAX,
            fixed: None,
            late: BTreeMap::new(),
        };
        Self {
            state,
            draws: Box::new(OsEntropy::new()),
            closing: VecDeque::new(),
            handed_back: 0,
            workers: None,
            spares: Vec::new(),
            closer: Closer::default(),
            running: None,
            ticks: 0,
        }
    }

    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn draw_from(&mut self, source: Box<dyn Entropy + Send>) {
        self.draws = Box::new(source);
    }

    pub(crate) fn slide(&self) -> i64 {
        self.state.grid.slide
    }

    /// The latest position so far, or that there will be, if that is known. Without events panes that were counted elsewhere say.
    pub(crate) fn latest(&self) -> Option<i64> {
        let built = || self.state.closed.back().map(|block| block.end - 1);
        match &self.state.fixed {
            Some(fixed) => Some(fixed.end - 1),
            None => self.state.head.as_ref().map(|(latest, _)| *latest).or_else(built),
        }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        self.state.fixed.is_some()
    }

    /// With so many threads. A schedule that asks for norms leaves nothing to do for a second one.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        let others = NonZeroUsize::new(threads.saturating_sub(1)).filter(|_| self.state.levels.is_none());
        Self { workers: others.and_then(Workers::new), ..self }
    }

    /// One event at a position. Returns `false` if it came too late and was dropped.
    #[inline]
    pub fn update(&mut self, position: i64, key: Option<K::Ref<'_>>) -> Result<bool> {
        if let Some((latest, block)) = &mut self.state.head
            && block.bounds().contains(&position)
        {
            *latest = position.max(*latest);
            block.pane.update(key);
            return Ok(true);
        }
        let Some(block) = self.block_at(position)? else {
            return Ok(false);
        };
        block.pane.update(key);
        Ok(true)
    }

    /// The head pane, if this position lies within, and how many positions it has from there on.
    pub(crate) fn room(&mut self, position: i64) -> Option<(&mut OpenPane<K>, usize)> {
        let (_, block) = self.state.head.as_mut()?;
        let room = usize::try_from(block.end - position).ok()?;
        (block.start <= position && room > 0).then_some((&mut block.pane, room))
    }

    pub(crate) fn pass(&mut self, position: i64) {
        if let Some((latest, _)) = &mut self.state.head {
            *latest = position.max(*latest);
        }
    }

    #[cold]
    fn block_at(&mut self, position: i64) -> Result<Option<&mut PlacedPane<OpenPane<K>>>> {
        if self.is_fixed() {
            return self.laid_at(position);
        }
        let start = position.div_euclid(self.state.grid.slide) * self.state.grid.slide;
        let end = start + self.state.grid.slide;
        let mut advanced = Ok(());
        if let Some((latest, head)) = &mut self.state.head {
            if position < head.start {
                if end + self.state.grid.lateness <= *latest {
                    return Ok(None);
                }
                self.state.origin = self.state.origin.min(start);
                return Ok(Some(self.waiting_at(start)));
            }
            self.ticks += 1;
            let outline = head.outline(head.pane.events());
            let norm = OpenNorm { block: &mut head.pane, closer: &mut self.closer };
            if self.state.schedule.ends(outline, norm, &mut *self.draws)? {
                self.state.waiting.extend(self.state.head.take().map(|(_, head)| head));
                advanced = self.advance(position);
            } else {
                *latest = position;
                head.end = end;
                return Ok(self.state.head.as_mut().map(|(_, head)| head));
            }
        }
        self.state.origin = self.state.origin.min(start);
        let pane = self.spares.pop().unwrap_or_else(|| OpenPane::new(self.state.shape));
        let (_, head) = self.state.head.insert((position, PlacedPane::new(start, end, pane)));
        // Also after a failure there is a block for what comes next.
        advanced.map(|()| Some(head))
    }

    pub(crate) fn miss(&mut self, position: i64) {
        let Grid { length, slide, .. } = self.state.grid;
        let slide_start = position.div_euclid(slide) * slide;
        let latest = self.state.head.as_ref().map_or(position, |(latest, _)| *latest);
        if slide_start + slide > latest + 1 - length {
            *self.state.late.entry(slide_start).or_default() += 1;
        }
    }

    pub(crate) fn missed(&self, starts: Range<i64>) -> u64 {
        self.state.late.range(starts).map(|(_, events)| events).sum()
    }

    fn waiting_at(&mut self, start: i64) -> &mut PlacedPane<OpenPane<K>> {
        let index = self.state.waiting.partition_point(|block| block.start < start);
        if self.state.waiting.get(index).is_none_or(|block| block.start != start) {
            let block =
                PlacedPane::new(start, start + self.state.grid.slide, OpenPane::new(self.state.shape));
            self.state.waiting.insert(index, block);
        }
        &mut self.state.waiting[index]
    }

    /// Closes what no longer waits, merges what has aged, and forgets what no window can reach any more.
    fn advance(&mut self, latest: i64) -> Result<()> {
        self.ticks += 1;
        let lateness = self.state.grid.lateness;
        while let Some(block) = self.state.waiting.pop_front_if(|block| block.end + lateness <= latest) {
            self.close(block)?;
        }
        let since = latest + 1 - self.state.grid.length;
        if self.closing.front().is_some_and(|block| block.end <= since) {
            self.finish();
        }
        while self.state.closed.pop_front_if(|block| block.end <= since).is_some() {}
        self.state.late = self.state.late.split_off(&(since - self.state.grid.slide + 1));
        let closed = self.state.closed.iter().map(|block| block.outline(block.pane.events()));
        let closing = self.closing.iter().map(|block| block.outline(block.pane.events));
        let runs = self.state.schedule.merges(closed.chain(closing), latest);
        if runs.last().is_some_and(|run| run.end > self.state.closed.len()) {
            self.finish();
        }
        for run in runs.into_iter().rev() {
            let merged = PlacedPane::merge(
                self.state.closed.drain(run.clone()).collect(),
                self.state.shape.parameters(),
            )?;
            self.state.closed.insert(run.start, merged);
        }
        Ok(())
    }

    /// All positions before `now` have passed: closes what need not wait, and forgets what no window can reach.
    pub(crate) fn settle(&mut self, now: i64) -> Result<()> {
        let is_past = |block: &PlacedPane<OpenPane<K>>| block.end + self.state.grid.lateness <= now;
        if self.state.head.as_ref().is_some_and(|(_, head)| is_past(head)) {
            self.state.waiting.extend(self.state.head.take().map(|(_, head)| head));
        }
        let advanced = self.advance(now);
        self.finish();
        advanced
    }

    pub(crate) fn place(&mut self, bounds: Range<i64>, pane: Pane<K>) {
        self.state.closed.push_back(PlacedPane::new(bounds.start, bounds.end, pane));
    }

    /// Carries the counts of windows on, as far as they fit.
    pub(crate) fn with_running(self, running: WindowSums<K>) -> Self {
        Self { running: Some(running), ..self }
    }

    /// The next window begins at this position: what comes before leaves.
    pub(crate) fn leave(&mut self, from: i64) {
        let Some(running) = &mut self.running else { return };
        let leaving = running.window.start..from.min(running.window.end);
        let within = |block: &&PlacedPane<Pane<K>>| leaving.contains(&block.start);
        for block in self.state.closed.iter().filter(within) {
            running.take_away(&block.pane);
        }
        running.window.start = leaving.end.max(running.window.start);
    }

    pub(crate) fn join(&mut self, window: Range<i64>) {
        let Some(running) = &mut self.running else { return };
        let coming = running.window.end.max(window.start)..window.end;
        let within = |block: &&PlacedPane<Pane<K>>| coming.contains(&block.start);
        let mut blocks = self.state.closed.iter().filter(within);
        match blocks.all(|block| running.add(&block.pane)) {
            true => running.window = window,
            false => self.running = None,
        }
    }

    /// The sums of a window, if they were carried on. Read through [`WindowNodes`](crate::release::noise_tree::WindowNodes), once
    /// its noise has been drawn.
    pub(crate) fn sums_of(&self, panes: &Range<i64>) -> Option<&WindowSums<K>> {
        let slide = self.state.grid.slide;
        let window = panes.start * slide..panes.end * slide;
        self.running.as_ref().filter(|running| running.window == window)
    }

    pub(crate) fn panes_of(&self, panes: &Range<i64>) -> Vec<Cow<'_, Pane<K>>> {
        let slide = self.state.grid.slide;
        let (from, to) = (panes.start * slide, panes.end * slide);
        let within = |block: &&PlacedPane<Pane<K>>| block.start >= from && block.end <= to;
        self.state.closed.iter().filter(within).map(|block| Cow::Borrowed(&block.pane)).collect()
    }

    pub(crate) fn events_within(&self, bounds: Range<i64>) -> u64 {
        let within = |block: &&PlacedPane<Pane<K>>| block.start >= bounds.start && block.end <= bounds.end;
        self.state.closed.iter().rev().filter(within).map(|block| block.pane.events()).sum()
    }

    fn open_blocks(&self) -> impl Iterator<Item = &PlacedPane<OpenPane<K>>> {
        self.state.head.iter().map(|(_, block)| block).chain(&self.state.waiting)
    }

    pub(crate) fn open_bytes(&self) -> u64 {
        self.open_blocks().map(|block| block.pane.bytes()).sum()
    }

    /// Memory of all blocks that have not closed, and of what is kept for the next.
    fn unclosed_bytes(&self) -> u64 {
        self.open_bytes()
            + self.state.fixed.as_ref().map_or(0, FixedPanes::bytes)
            + self.spares.iter().map(OpenPane::bytes).sum::<u64>()
    }

    pub fn panes(&self) -> usize {
        self.state.closed.len() + self.closing.len()
    }

    pub fn bytes(&self) -> u64 {
        let closed: u64 = self.state.closed.iter().map(|block| block.pane.bytes()).sum();
        self.unclosed_bytes()
            + closed
            + self.closer.bytes()
            + self.running.as_ref().map_or(0, WindowSums::bytes)
            + self.state.levels.as_ref().map_or(0, LevelSketches::bytes)
    }
}
