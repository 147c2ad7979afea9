#![doc = include_str!("timeline.md")]

mod crew;
pub mod exponential;
pub mod norms;
pub mod schedule;
pub mod smooth;
pub mod uniform;
pub mod window;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::num::NonZeroUsize;

use crate::error::Result;
use crate::key::Key;
use crate::pane::{Closer, OpenPane, Pane, PaneShape};
use crew::Crew;
use norms::Norms;
use schedule::{Outline, Outlines, Schedule};
use window::Grid;
pub use window::{ClockWindow, EventWindow, Policy, Span, Window};

/// Panes on the line of positions.
pub struct Timeline<K> {
    grid: Grid,
    shape: PaneShape,
    schedule: Box<dyn Schedule>,
    /// What the schedule may ask about, if it asks.
    norms: Option<Norms>,
    /// The latest position so far, and the pane it fell into.
    head: Option<(i64, Block<OpenPane<K>>)>,
    /// Older panes that still wait for late events, in order.
    waiting: VecDeque<Block<OpenPane<K>>>,
    /// Closed panes, in order, all before those that wait.
    closed: VecDeque<Block<Pane<K>>>,
    /// Blocks that others are closing, in order, all between those that have closed and those that wait.
    closing: VecDeque<Block<Closing<K>>>,
    /// How many blocks others have closed.
    handed_back: u64,
    crew: Option<Crew<K>>,
    /// Blocks that have closed, for their memory.
    spares: Vec<OpenPane<K>>,
    closer: Closer<K>,
    /// Where the first pane with an event begins.
    origin: i64,
}

/// A pane, where it lies, and in how many releases it has been.
#[derive(Clone, Debug)]
struct Block<P> {
    start: i64,
    end: i64,
    /// The level of its end.
    level: u8,
    releases: u32,
    pane: P,
}

impl<P> Block<P> {
    fn new(start: i64, end: i64, pane: P) -> Self {
        Self {
            start,
            end,
            level: 0,
            releases: 0,
            pane,
        }
    }

    fn outline(&self, events: u64) -> Outline {
        Outline {
            start: self.start,
            end: self.end,
            events,
            level: self.level,
        }
    }
}

/// A pane that may not be there yet, and how many events it has.
struct Closing<K> {
    events: u64,
    pane: Option<Pane<K>>,
}

/// All panes that do not wait for events any more.
struct Past<'a, K> {
    closed: &'a VecDeque<Block<Pane<K>>>,
    closing: &'a VecDeque<Block<Closing<K>>>,
}

impl<K: Key> Outlines for Past<'_, K> {
    fn count(&self) -> usize {
        self.closed.len() + self.closing.len()
    }

    fn outline(&self, index: usize) -> Outline {
        match self.closed.get(index) {
            Some(block) => block.outline(block.pane.events()),
            None => {
                let block = &self.closing[index - self.closed.len()];
                block.outline(block.pane.events)
            }
        }
    }
}

/// The panes that a window covers.
pub struct Covered<'a, K: Clone> {
    /// The first position that was asked for.
    pub since: i64,
    /// From this position on.
    pub from: i64,
    /// Up to the latest position, included.
    pub latest: i64,
    /// Closed panes, and open ones as they stand.
    pub panes: Vec<Cow<'a, Pane<K>>>,
    /// The pane that the window begins within, and leaves out.
    pub straddling: Option<Cow<'a, Pane<K>>>,
}

impl<K: Key> Timeline<K> {
    pub(crate) fn new(
        grid: Grid,
        shape: PaneShape,
        schedule: Box<dyn Schedule>,
        norms: Option<Norms>,
    ) -> Self {
        Self {
            grid,
            shape,
            schedule,
            norms,
            head: None,
            waiting: VecDeque::new(),
            closed: VecDeque::new(),
            closing: VecDeque::new(),
            handed_back: 0,
            crew: None,
            spares: Vec::new(),
            closer: Closer::default(),
            origin: i64::MAX,
        }
    }

    /// With so many threads. A schedule that asks for norms leaves nothing to do for a second one.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        let others = NonZeroUsize::new(threads.saturating_sub(1)).filter(|_| self.norms.is_none());
        Self {
            crew: others.and_then(Crew::new),
            ..self
        }
    }

    /// One event at a position. Returns `false` if it came too late and was dropped.
    #[inline]
    pub fn update(&mut self, position: i64, key: Option<K::Ref<'_>>) -> Result<bool> {
        if let Some((latest, block)) = &mut self.head
            && (block.start..block.end).contains(&position)
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
        let (_, block) = self.head.as_mut()?;
        let room = usize::try_from(block.end - position).ok()?;
        (block.start <= position && room > 0).then_some((&mut block.pane, room))
    }

    /// The head pane has taken events up to this position.
    pub(crate) fn pass(&mut self, position: i64) {
        if let Some((latest, _)) = &mut self.head {
            *latest = position.max(*latest);
        }
    }

    /// The pane for a position outside the head pane, unless it has closed.
    #[cold]
    fn block_at(&mut self, position: i64) -> Result<Option<&mut Block<OpenPane<K>>>> {
        let start = position.div_euclid(self.grid.slide) * self.grid.slide;
        let end = start + self.grid.slide;
        let mut advanced = Ok(());
        if let Some((latest, head)) = &mut self.head {
            if position < head.start {
                if end + self.grid.lateness <= *latest {
                    return Ok(None);
                }
                self.origin = self.origin.min(start);
                return Ok(Some(self.waiting_at(start)));
            }
            if self
                .schedule
                .ends(head.outline(head.pane.events()), &|| head.pane.norm())?
            {
                self.waiting.extend(self.head.take().map(|(_, head)| head));
                advanced = self.advance(position);
            } else {
                *latest = position;
                head.end = end;
                return Ok(self.head.as_mut().map(|(_, head)| head));
            }
        }
        self.origin = self.origin.min(start);
        let pane = self.spares.pop().unwrap_or_else(|| OpenPane::new(self.shape));
        let (_, head) = self.head.insert((position, Block::new(start, end, pane)));
        // Also after a failure there is a block for what comes next.
        advanced.map(|()| Some(head))
    }

    fn waiting_at(&mut self, start: i64) -> &mut Block<OpenPane<K>> {
        let index = self.waiting.partition_point(|block| block.start < start);
        if self.waiting.get(index).is_none_or(|block| block.start != start) {
            let block = Block::new(start, start + self.grid.slide, OpenPane::new(self.shape));
            self.waiting.insert(index, block);
        }
        &mut self.waiting[index]
    }

    /// Closes what no longer waits, merges what has aged, and forgets what no window can reach any more.
    fn advance(&mut self, latest: i64) -> Result<()> {
        let lateness = self.grid.lateness;
        while let Some(block) = self.waiting.pop_front_if(|block| block.end + lateness <= latest) {
            self.close(block)?;
        }
        let since = latest + 1 - self.grid.length;
        if self.closing.front().is_some_and(|block| block.end <= since) {
            self.finish();
        }
        while self.closed.pop_front_if(|block| block.end <= since).is_some() {}
        let past = Past {
            closed: &self.closed,
            closing: &self.closing,
        };
        let runs = self.schedule.merges(&past, latest);
        if runs.last().is_some_and(|run| run.end > self.closed.len()) {
            self.finish();
        }
        for run in runs.into_iter().rev() {
            let merged = Block::merge(self.closed.drain(run.clone()).collect(), &self.shape);
            self.closed.insert(run.start, merged);
        }
        Ok(())
    }

    fn close(&mut self, mut block: Block<OpenPane<K>>) -> Result<()> {
        if self.crew.is_some() {
            self.hand_over(block);
            return Ok(());
        }
        let pane = block.pane.close_with(&mut self.closer);
        if let Some(norms) = &mut self.norms {
            norms.add(&block.pane, &pane);
        }
        self.closed.push_back(Block {
            start: block.start,
            end: block.end,
            level: 0,
            releases: block.releases,
            pane,
        });
        block.pane.clear();
        self.spares.push(block.pane);
        // The pane is there already: a failure costs its end the level, and nothing else.
        if let (Some(norms), Some(closed)) = (&mut self.norms, self.closed.back_mut()) {
            closed.level = self.schedule.level(norms)?;
        }
        Ok(())
    }

    /// Has a block closed by others, or closes it if they have enough to do.
    fn hand_over(&mut self, block: Block<OpenPane<K>>) {
        let Some(crew) = &self.crew else { return };
        let events = block.pane.events();
        let number = self.handed_back + self.closing.len() as u64;
        let pane = crew.hand_over(number, block.pane).map(|mut open| {
            let pane = open.close_with(&mut self.closer);
            open.clear();
            self.spares.push(open);
            pane
        });
        self.closing.push_back(Block {
            start: block.start,
            end: block.end,
            level: 0,
            releases: block.releases,
            pane: Closing { events, pane },
        });
        while let Some((number, pane, open)) = self.crew.as_ref().and_then(Crew::done) {
            self.take_back(number, pane, open);
        }
    }

    /// Waits for the panes that others are closing.
    fn finish(&mut self) {
        while !self.closing.is_empty()
            && let Some(crew) = &self.crew
        {
            let (number, pane, open) = crew.next();
            self.take_back(number, pane, open);
        }
    }

    fn take_back(&mut self, number: u64, pane: Pane<K>, open: OpenPane<K>) {
        self.spares.push(open);
        self.closing[(number - self.handed_back) as usize].pane.pane = Some(pane);
        while let Some(block) = self.closing.pop_front_if(|block| block.pane.pane.is_some()) {
            self.handed_back += 1;
            self.closed.extend(block.pane.pane.map(|pane| Block {
                start: block.start,
                end: block.end,
                level: block.level,
                releases: block.releases,
                pane,
            }));
        }
    }

    /// All positions before `now` have passed: closes what need not wait any longer, and forgets what no
    /// window can reach.
    pub(crate) fn settle(&mut self, now: i64) -> Result<()> {
        let is_past = |block: &Block<OpenPane<K>>| block.end + self.grid.lateness <= now;
        if self.head.as_ref().is_some_and(|(_, head)| is_past(head)) {
            self.waiting.extend(self.head.take().map(|(_, head)| head));
        }
        let advanced = self.advance(now);
        self.finish();
        advanced
    }

    /// The closed panes between two positions.
    pub(crate) fn between(&self, from: i64, to: i64) -> Vec<Cow<'_, Pane<K>>> {
        let within = |block: &&Block<Pane<K>>| block.start >= from && block.end <= to;
        let blocks = self.closed.iter().filter(within);
        blocks.map(|block| Cow::Borrowed(&block.pane)).collect()
    }

    /// Charges one release to every pane of the window. Refuses, and charges none, if one that it covers has
    /// been in `most` releases already. The pane that the window begins within is charged if it can pay;
    /// returns whether it was.
    pub fn charge(&mut self, length: i64, most: u32) -> Option<bool> {
        self.finish();
        let since = self.since(length);
        let head = self
            .head
            .iter_mut()
            .map(|(_, block)| (block.start, block.end, &mut block.releases));
        let waiting = self
            .waiting
            .iter_mut()
            .map(|block| (block.start, block.end, &mut block.releases));
        let closed = self
            .closed
            .iter_mut()
            .map(|block| (block.start, block.end, &mut block.releases));
        let mut straddling = None;
        let mut covered: Vec<&mut u32> = Vec::new();
        for (start, end, releases) in head.chain(waiting).chain(closed) {
            if start >= since {
                covered.push(releases);
            } else if end > since {
                straddling = Some(releases);
            }
        }
        if covered.iter().any(|releases| **releases >= most) {
            return None;
        }
        covered.iter_mut().for_each(|releases| **releases += 1);
        let measured = straddling.filter(|releases| **releases < most);
        Some(measured.map(|releases| *releases += 1).is_some())
    }

    /// As many of the latest panes as lie within a window of this length; none if there was no event.
    pub fn cover(&self, length: i64) -> Option<Covered<'_, K>> {
        debug_assert!(self.closing.is_empty(), "a release is charged before it is made");
        let (latest, head) = self.head.as_ref()?;
        let since = self.since(length);
        let mut panes = Vec::new();
        let mut straddling = None;
        let mut first = (since + self.grid.slide - 1).div_euclid(self.grid.slide) * self.grid.slide;
        let closed = self
            .closed
            .iter()
            .map(|block| (block.start, block.end, Cow::Borrowed(&block.pane)));
        let open = self.waiting.iter().chain([head]);
        let open = open
            .filter(|block| block.end > since)
            .map(|block| (block.start, block.end, Cow::Owned(block.pane.close())));
        for (start, end, pane) in closed.chain(open) {
            if start >= since {
                panes.push(pane);
            } else if end > since {
                first = first.max(end.min(latest + 1));
                straddling = Some(pane);
            }
        }
        Some(Covered {
            since,
            from: first.max(self.origin),
            latest: *latest,
            panes,
            straddling,
        })
    }

    fn since(&self, length: i64) -> i64 {
        let latest = self.head.as_ref().map_or(0, |(latest, _)| *latest);
        latest + 1 - length
    }

    /// How many closed panes there are.
    pub fn panes(&self) -> usize {
        self.closed.len() + self.closing.len()
    }

    /// About how much memory the panes take, in bytes.
    pub fn bytes(&self) -> u64 {
        let open = self.head.iter().map(|(_, block)| block).chain(&self.waiting);
        let open: u64 = open.map(|block| block.pane.bytes()).sum();
        let closed: u64 = self.closed.iter().map(|block| block.pane.bytes()).sum();
        open + closed
            + self.spares.iter().map(OpenPane::bytes).sum::<u64>()
            + self.closer.bytes()
            + self.norms.as_ref().map_or(0, Norms::bytes)
    }
}

impl<K: Key> Block<Pane<K>> {
    /// Panes next to each other as one. Its end stands for all ends that are gone, and so has their highest level.
    fn merge(run: Vec<Self>, shape: &PaneShape) -> Self {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let level = run.iter().map(|block| block.level).max().unwrap_or(0);
        Self {
            start,
            end,
            level,
            releases: run.iter().map(|block| block.releases).max().unwrap_or(0),
            pane: Pane::merge(run.into_iter().map(|block| block.pane), shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::uniform::Uniform;

    /// Ends of level 0 that stay where higher ones had to make room would all go at once later.
    #[test]
    fn an_end_that_goes_leaves_its_level_to_the_next() {
        let shape = PaneShape::new(4, 8, None, 1).unwrap();
        let block = |start: i64, level| Block {
            level,
            ..Block::new(start, start + 10, OpenPane::<u64>::new(shape).close())
        };
        let merged = Block::merge(vec![block(0, 3), block(10, 5), block(20, 0)], &shape);
        assert_eq!((merged.start, merged.end, merged.level), (0, 30, 5));
    }

    /// Panes of ten positions are filled, and one is half full when it is charged; then others close it. All
    /// numbers of threads, and so many panes that some are handed over, wait, and come back in any order.
    #[test]
    fn a_pane_that_another_thread_closes_keeps_its_charges_and_its_place() {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let grid = Grid {
            length: 1_000,
            slide: 10,
            lateness: 0,
        };
        for threads in 1..=4 {
            let uniform = Timeline::<u64>::new(grid, shape, Box::new(Uniform), None);
            let mut timeline = uniform.with_threads(threads);
            assert_eq!(timeline.crew.is_some(), threads > 1);
            for position in 0..1_000 {
                timeline.update(position, Some(position as u64)).unwrap();
                if position % 50 == 5 {
                    // The pane of the last five positions, and nothing before.
                    assert_eq!(timeline.charge(6, 1), Some(false), "at {position}");
                }
            }
            timeline.finish();
            assert_eq!(timeline.panes(), 99);
            for (number, block) in timeline.closed.iter().enumerate() {
                let start = 10 * number as i64;
                assert_eq!((block.start, block.end, block.level), (start, start + 10, 0));
                assert_eq!(
                    block.releases,
                    u32::from(start % 50 == 0),
                    "{threads} threads: {start}"
                );
                let mut keys: Vec<u64> = block.pane.counts().iter().map(|(key, _)| key).collect();
                keys.sort_unstable();
                assert!(keys.into_iter().eq(start as u64..start as u64 + 10));
            }
        }
    }

    /// Panes that others are closing are merged as they age like any others.
    #[test]
    fn panes_lie_the_same_whoever_closes_them() {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let grid = Grid {
            length: 5_000,
            slide: 10,
            lateness: 0,
        };
        let lie = |threads| {
            let schedule = Box::new(exponential::Exponential::new(10, 2));
            let mut timeline = Timeline::<u64>::new(grid, shape, schedule, None).with_threads(threads);
            let mut counts = Vec::new();
            for position in 0..5_000 {
                timeline.update(position, Some(position as u64)).unwrap();
                counts.push(timeline.panes());
            }
            timeline.finish();
            let closed = timeline.closed.iter();
            let lies: Vec<_> = closed
                .map(|block| (block.start, block.end, block.pane.events()))
                .collect();
            (lies, counts)
        };
        let alone = lie(1);
        assert!(
            alone.0.len() < 60
                && alone
                    .0
                    .iter()
                    .all(|(start, end, events)| end - start == *events as i64)
        );
        assert_eq!(lie(2), alone);
        assert_eq!(lie(3), alone);
    }

    /// A refusal charges nothing; a release charges what it covers once, and the pane that its window begins within
    /// once if that can pay, and says so.
    #[test]
    fn a_release_charges_each_pane_once_and_the_one_it_begins_within_if_that_can_pay() {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let grid = Grid {
            length: 100,
            slide: 10,
            lateness: 20,
        };
        let mut timeline = Timeline::<u64>::new(grid, shape, Box::new(Uniform), None);
        (0..65).for_each(|position| {
            timeline.update(position, None).unwrap();
        });
        let charges = |timeline: &Timeline<u64>| -> Vec<u32> {
            let closed = timeline.closed.iter().map(|block| block.releases);
            let waiting = timeline.waiting.iter().map(|block| block.releases);
            let head = timeline.head.iter().map(|(_, block)| block.releases);
            closed.chain(waiting).chain(head).collect()
        };
        // Closed panes up to 40, two that wait, and the head.
        assert_eq!((timeline.closed.len(), timeline.waiting.len()), (4, 2));
        assert_eq!(
            timeline.charge(25, 2),
            Some(false),
            "the window begins where a pane does"
        );
        assert_eq!(charges(&timeline), [0, 0, 0, 0, 1, 1, 1]);
        assert_eq!(timeline.charge(32, 2), Some(true), "the pane from 30 is measured");
        assert_eq!(charges(&timeline), [0, 0, 0, 1, 2, 2, 2]);
        assert_eq!(timeline.charge(5, 2), None);
        assert_eq!(timeline.charge(100, 2), None);
        assert_eq!(charges(&timeline), [0, 0, 0, 1, 2, 2, 2]);
        assert_eq!(timeline.charge(5, 3), Some(false));
        assert_eq!(timeline.charge(7, 4), Some(true));
        assert_eq!(charges(&timeline), [0, 0, 0, 1, 2, 3, 4]);
        (65..75).for_each(|position| {
            timeline.update(position, None).unwrap();
        });
        assert_eq!(timeline.charge(7, 4), Some(false), "the pane from 60 cannot pay");
        assert_eq!(charges(&timeline), [0, 0, 0, 1, 2, 3, 4, 1]);
    }

    /// Ten positions a pane, and 15 for late events. Panes without events are not there, and a window begins with the first
    /// pane that lies within, but not before the first event's.
    #[test]
    fn a_window_covers_the_panes_within_and_leaves_out_the_one_it_begins_within() {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let grid = Grid {
            length: 100,
            slide: 10,
            lateness: 15,
        };
        let mut timeline = Timeline::<u64>::new(grid, shape, Box::new(Uniform), None);
        assert!(timeline.cover(10).is_none(), "there was no event");
        // The pane from 20 has ended and waits, up to 45; the one from 0 waits no longer than 25.
        for (position, taken) in [
            (7, true),
            (23, true),
            (12, true),
            (41, true),
            (29, true),
            (9, false),
            (33, true),
        ] {
            assert_eq!(
                timeline.update(position, Some(position as u64)).unwrap(),
                taken,
                "{position}"
            );
        }
        let covered = |timeline: &Timeline<u64>, length| {
            let covered = timeline.cover(length).unwrap();
            let events = |pane: &Cow<'_, Pane<u64>>| pane.events();
            (
                [covered.since, covered.from, covered.latest],
                covered.panes.iter().map(events).collect::<Vec<_>>(),
                covered.straddling.as_ref().map(events),
            )
        };
        assert_eq!((timeline.closed.len(), timeline.waiting.len()), (2, 2));
        assert_eq!(covered(&timeline, 2), ([40, 40, 41], vec![1], None));
        assert_eq!(covered(&timeline, 3), ([39, 40, 41], vec![1], Some(1)));
        assert_eq!(covered(&timeline, 12), ([30, 30, 41], vec![1, 1], None));
        assert_eq!(covered(&timeline, 15), ([27, 30, 41], vec![1, 1], Some(2)));
        assert_eq!(covered(&timeline, 32), ([10, 10, 41], vec![1, 2, 1, 1], None));
        assert_eq!(covered(&timeline, 33), ([9, 10, 41], vec![1, 2, 1, 1], Some(1)));
        assert_eq!(covered(&timeline, 100), ([-58, 0, 41], vec![1, 1, 2, 1, 1], None));
        // After a gap only the head is left, and what no window can reach is forgotten.
        assert!(timeline.update(151, None).unwrap());
        assert_eq!(covered(&timeline, 100), ([52, 60, 151], vec![1], None));
        assert_eq!((timeline.closed.len(), timeline.waiting.len()), (0, 0));
        assert_eq!(timeline.panes(), 0);
    }

    fn timeline(slide: i64, lateness: i64) -> Timeline<u64> {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let grid = Grid {
            length: 100,
            slide,
            lateness,
        };
        Timeline::new(grid, shape.listing(10_000), Box::new(Uniform), None)
    }

    #[test]
    fn the_head_has_room_from_its_start_to_its_end() {
        let mut timeline = timeline(10, 0);
        let mut room = |position| timeline.room(position).map(|(_, room)| room);
        assert_eq!(room(0), None);
        timeline.update(15, None).unwrap();
        let mut room = |position| timeline.room(position).map(|(_, room)| room);
        assert_eq!(
            [9, 10, 15, 19, 20, 21].map(&mut room),
            [None, Some(10), Some(5), Some(1), None, None]
        );
        timeline.pass(18);
        timeline.pass(12);
        assert_eq!(timeline.cover(100).unwrap().latest, 18);
    }

    #[test]
    fn a_window_begins_no_earlier_than_the_first_event_that_came_late_or_not() {
        let mut timeline = timeline(10, 30);
        for (position, origin) in [(23, 20), (35, 20), (7, 0), (16, 0)] {
            assert!(timeline.update(position, None).unwrap());
            assert_eq!(timeline.cover(100).unwrap().from, origin, "after {position}");
        }
    }

    /// A pane that ends where the window begins is forgotten, also where another thread is closing it: its many events take
    /// longer than it takes to look.
    #[test]
    fn a_pane_is_forgotten_when_its_last_position_has_left_the_longest_window() {
        for threads in [1, 2] {
            for (position, left) in [(108, 1), (109, 0), (250, 0)] {
                let mut timeline = timeline(10, 0).with_threads(threads);
                (0..100_000).for_each(|key| {
                    timeline.update(9, Some(key)).unwrap();
                });
                timeline.update(position, None).unwrap();
                assert_eq!(timeline.panes(), left, "{threads} threads, at {position}");
            }
        }
    }

    /// Until all late events have come the head goes on; then it is a closed pane, whoever closes it.
    #[test]
    fn a_head_is_settled_when_nothing_can_come_any_more() {
        for threads in [1, 2] {
            let mut timeline = timeline(10, 5).with_threads(threads);
            (0..50_000).for_each(|key| {
                timeline.update(12, Some(key)).unwrap();
            });
            timeline.settle(24).unwrap();
            timeline.update(17, None).unwrap();
            assert_eq!((timeline.panes(), timeline.waiting.len()), (0, 0));
            timeline.settle(25).unwrap();
            assert!(timeline.head.is_none() && timeline.closing.is_empty());
            assert_eq!(timeline.closed.len(), 1);
            assert_eq!(timeline.closed[0].pane.events(), 50_001);
        }
    }

    #[test]
    fn panes_between_two_positions_lie_within_both() {
        let mut timeline = timeline(10, 0);
        // As many events as the number of the pane.
        for start in 0..6 {
            (0..=start).for_each(|_| {
                timeline.update(10 * start, None).unwrap();
            });
        }
        let events = |from, to| {
            let panes = timeline.between(from, to);
            panes.iter().map(|pane| pane.events()).collect::<Vec<_>>()
        };
        assert_eq!(events(10, 40), [2, 3, 4]);
        assert_eq!(events(9, 41), [2, 3, 4]);
        assert_eq!(events(11, 39), [3]);
        assert_eq!(events(20, 20), [0_u64; 0]);
        assert_eq!(events(-5, 99), [1, 2, 3, 4, 5]);
    }

    /// One block that does not end, as a histogram may have.
    struct Endless;

    impl Schedule for Endless {
        fn ends(&mut self, _: Outline, _: &dyn Fn() -> crate::noise::Secret<u64>) -> Result<bool> {
            Ok(false)
        }

        fn level(&mut self, _: &mut Norms) -> Result<u8> {
            Ok(0)
        }

        fn merges(&mut self, _: &dyn Outlines, _: i64) -> Vec<std::ops::Range<usize>> {
            Vec::new()
        }
    }

    #[test]
    fn a_window_within_a_head_that_goes_on_covers_nothing_and_ends_with_the_latest_event() {
        let mut timeline = Timeline::<u64> {
            schedule: Box::new(Endless),
            ..timeline(10, 0)
        };
        for position in [3, 12, 38, 55] {
            assert!(timeline.update(position, None).unwrap());
        }
        let covered = timeline.cover(10).unwrap();
        assert_eq!((covered.since, covered.from, covered.latest), (46, 56, 55));
        assert_eq!(covered.panes.len(), 0);
        assert_eq!(covered.straddling.map(|pane| pane.events()), Some(4));
        let (_, head) = timeline.head.as_ref().unwrap();
        assert_eq!((head.start, head.end, timeline.panes()), (0, 60, 0));
    }

    /// Their memory is used again, and does not add up.
    #[test]
    fn panes_come_back_from_other_threads_unasked() {
        let mut timeline = timeline(1, 0).with_threads(2);
        let came_back = (0..99).any(|position| {
            timeline.update(position, None).unwrap();
            if timeline.closed.is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            !timeline.closed.is_empty()
        });
        assert!(came_back);
    }

    #[test]
    fn memory_is_that_of_all_blocks_and_of_what_is_kept_for_the_next() {
        let dimensions = crate::sketch::count_sketch::Dimensions { rows: 3, width: 64 };
        let mut timeline = Timeline::<u64> {
            norms: Some(Norms::new(2, dimensions, 1)),
            ..timeline(10, 20)
        };
        (0..75).for_each(|position| {
            timeline.update(position, Some(position as u64)).unwrap();
        });
        // Five closed, two that wait, and the head, which has the memory of one that closed.
        assert_eq!((timeline.closed.len(), timeline.waiting.len()), (5, 2));
        timeline.spares.push(OpenPane::new(timeline.shape));
        let open = |block: &OpenPane<u64>| block.bytes();
        let closed: u64 = timeline.closed.iter().map(|block| block.pane.bytes()).sum();
        let waiting: u64 = timeline.waiting.iter().map(|block| open(&block.pane)).sum();
        let spare: u64 = timeline.spares.iter().map(open).sum();
        let head = timeline.head.as_ref().map_or(0, |(_, block)| open(&block.pane));
        let parts = [
            closed,
            waiting,
            spare,
            head,
            timeline.closer.bytes(),
            2 * dimensions.bytes(),
        ];
        assert!(parts.iter().all(|bytes| *bytes > 1), "{parts:?}");
        assert_eq!(timeline.bytes(), parts.iter().sum());
        timeline.norms = None;
        assert_eq!(timeline.bytes(), parts[..5].iter().sum());
    }

    #[test]
    fn memory_is_bounded_by_panes_and_entries_whatever_comes() {
        let shape = PaneShape::new(4, 8, None, 1).unwrap();
        for (length, slide, lateness) in [(100, 10, 0), (1_000, 10, 35), (95, 7, 95)] {
            let grid = Grid {
                length,
                slide,
                lateness,
            };
            let mut timeline = Timeline::<u64>::new(grid, shape, Box::new(Uniform), None);
            for i in 0..20_000 {
                // Forwards with stragglers, and now and then a jump.
                let position = i - (i * i) % 50 + 500 * (i / 4_000);
                timeline.update(position, Some(i as u64 % 1_000)).unwrap();
                assert!(timeline.closed.len() as i64 <= length / slide + 1);
                assert!(timeline.waiting.len() as i64 <= lateness / slide + 2);
                assert!(timeline.closed.iter().all(|block| block.pane.counts().len() <= 4));
            }
        }
    }

    /// Every event has a key of its own and panes are exact, so that what a release reads can be told event by
    /// event: no more often than allowed, each once, all of the window covered, and what is asked for and not
    /// covered in the pane that is measured. Streams with gaps and late events, windows of all lengths; under
    /// `FROSTPANE_LONG`, ten times as many.
    #[test]
    fn each_event_is_read_in_as_many_releases_as_its_pane_pays_for() {
        let shape = PaneShape::new(100_000, 8, None, 1).unwrap();
        let mut random = 1_u64;
        let mut below = |bound: i64| {
            random = crate::sketch::count_sketch::mix(random.wrapping_add(0x9E37_79B9_7F4A_7C15));
            (random % bound as u64) as i64
        };
        let (mut refused, mut unmeasured, mut measured) = (0, 0, 0);
        let long = std::env::var_os("FROSTPANE_LONG").is_some();
        let trials = if long { 400 } else { 40 };
        for trial in 0..trials {
            let grid = Grid {
                length: 200 + below(800),
                slide: 1 + below(20),
                lateness: below(4) * below(60),
            };
            let schedule: Box<dyn Schedule> = match trial % 2 {
                0 => Box::new(Uniform),
                _ => Box::new(exponential::Exponential::new(grid.slide, 2 + below(4))),
            };
            let mut timeline = Timeline::<u64>::new(grid, shape, schedule, None);
            let most = 1 + below(3) as u32;
            let mut events: Vec<(i64, u32)> = Vec::new();
            let mut clock = -500;
            for _ in 0..1_500 {
                clock += below(3) + if below(200) == 0 { below(700) } else { 0 };
                let position = clock - below(2) * below(grid.lateness + 30);
                if timeline.update(position, Some(events.len() as u64)).unwrap() {
                    events.push((position, 0));
                }
                if below(40) > 0 {
                    continue;
                }
                let length = grid.slide + below(grid.length - grid.slide + 1);
                let Some(may_measure) = timeline.charge(length, most) else {
                    refused += 1;
                    continue;
                };
                let covered = timeline.cover(length).unwrap();
                let keys = |pane: &Pane<u64>| pane.counts().iter().map(|(key, _)| key).collect::<Vec<_>>();
                let mut inside: Vec<u64> = covered.panes.iter().flat_map(|pane| keys(pane)).collect();
                inside.sort_unstable();
                let expected: Vec<u64> = (0..events.len() as u64)
                    .filter(|event| events[*event as usize].0 >= covered.from)
                    .collect();
                assert_eq!(inside, expected);
                let left_out = covered.straddling.as_deref().map_or(Vec::new(), keys);
                for (event, (position, _)) in events.iter().enumerate() {
                    let is_left_out = (covered.since..covered.from).contains(position);
                    assert!(!is_left_out || left_out.contains(&(event as u64)));
                }
                let read = inside.iter().chain(left_out.iter().filter(|_| may_measure));
                for event in read {
                    events[*event as usize].1 += 1;
                }
                assert!(events.iter().all(|(_, releases)| *releases <= most));
                match covered.straddling.is_some() {
                    true if may_measure => measured += 1,
                    true => unmeasured += 1,
                    false => assert!(!may_measure),
                }
            }
        }
        assert!(
            refused > trials && unmeasured > trials / 10 && measured > trials,
            "{refused} {unmeasured} {measured}"
        );
    }
}
