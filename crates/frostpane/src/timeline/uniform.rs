#![doc = include_str!("uniform.md")]

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::key::Key;
use crate::pane::{OpenPane, Pane, PaneShape};
use crate::timeline::window::Grid;

/// Panes of equal length on the line of positions.
#[derive(Clone, Debug)]
pub struct Timeline<K> {
    grid: Grid,
    shape: PaneShape,
    /// The latest position so far, and the pane it fell into.
    head: Option<(i64, Block<OpenPane<K>>)>,
    /// Older panes that still wait for late events, in order.
    waiting: VecDeque<Block<OpenPane<K>>>,
    /// Closed panes, in order, all before those that wait.
    closed: VecDeque<Block<Pane<K>>>,
    /// Where the first pane with an event begins.
    origin: i64,
}

/// A pane, where it begins, and in how many releases it has been.
#[derive(Clone, Debug)]
struct Block<P> {
    start: i64,
    releases: u32,
    pane: P,
}

impl<K: Key> Block<OpenPane<K>> {
    fn new(start: i64, shape: PaneShape) -> Self {
        Self {
            start,
            releases: 0,
            pane: OpenPane::new(shape),
        }
    }

    fn close(self) -> Block<Pane<K>> {
        Block {
            start: self.start,
            releases: self.releases,
            pane: self.pane.close(),
        }
    }
}

/// The panes that a window covers.
#[derive(Debug)]
pub struct Covered<'a, K: Clone> {
    /// From this position on.
    pub from: i64,
    /// Up to the latest position, included.
    pub latest: i64,
    /// Closed panes, and open ones as they stand.
    pub panes: Vec<Cow<'a, Pane<K>>>,
}

impl<K: Key> Timeline<K> {
    pub(crate) fn new(grid: Grid, shape: PaneShape) -> Self {
        Self {
            grid,
            shape,
            head: None,
            waiting: VecDeque::new(),
            closed: VecDeque::new(),
            origin: i64::MAX,
        }
    }

    /// One event at a position. Returns `false` if it came too late and was dropped.
    #[inline]
    pub fn update(&mut self, position: i64, key: Option<K::Ref<'_>>) -> bool {
        if let Some((latest, block)) = &mut self.head
            && (block.start..block.start + self.grid.slide).contains(&position)
        {
            *latest = position.max(*latest);
            block.pane.update(key);
            return true;
        }
        match self.block_at(position) {
            Some(block) => {
                block.pane.update(key);
                true
            }
            None => false,
        }
    }

    /// The pane for a position outside the head pane, unless it has closed.
    #[cold]
    fn block_at(&mut self, position: i64) -> Option<&mut Block<OpenPane<K>>> {
        let start = position.div_euclid(self.grid.slide) * self.grid.slide;
        match self.head.take() {
            Some((latest, head)) if position < head.start => {
                self.head = Some((latest, head));
                if start + self.grid.slide + self.grid.lateness <= latest {
                    return None;
                }
                self.origin = self.origin.min(start);
                Some(self.waiting_at(start))
            }
            earlier => {
                self.waiting.extend(earlier.map(|(_, head)| head));
                self.origin = self.origin.min(start);
                self.advance(position);
                let (_, head) = self.head.insert((position, Block::new(start, self.shape)));
                Some(head)
            }
        }
    }

    fn waiting_at(&mut self, start: i64) -> &mut Block<OpenPane<K>> {
        let index = self.waiting.partition_point(|block| block.start < start);
        if self.waiting.get(index).is_none_or(|block| block.start != start) {
            self.waiting.insert(index, Block::new(start, self.shape));
        }
        &mut self.waiting[index]
    }

    /// Closes what no longer waits and forgets what no window can reach any more.
    fn advance(&mut self, latest: i64) {
        let waits = |start: i64| start + self.grid.slide + self.grid.lateness > latest;
        while let Some(block) = self.waiting.pop_front_if(|block| !waits(block.start)) {
            self.closed.push_back(block.close());
        }
        let since = latest + 1 - self.grid.length;
        while self.closed.pop_front_if(|block| block.start < since).is_some() {}
    }

    /// Charges one release to every pane that a window of this length covers. Refuses, and charges none, if
    /// one of them has been in `most` releases already.
    pub fn charge(&mut self, length: i64, most: u32) -> bool {
        let since = self.since(length);
        let head = self
            .head
            .iter_mut()
            .map(|(_, block)| (block.start, &mut block.releases));
        let waiting = self
            .waiting
            .iter_mut()
            .map(|block| (block.start, &mut block.releases));
        let closed = self
            .closed
            .iter_mut()
            .map(|block| (block.start, &mut block.releases));
        let mut covered: Vec<&mut u32> = head
            .chain(waiting)
            .chain(closed)
            .filter(|(start, _)| *start >= since)
            .map(|(_, releases)| releases)
            .collect();
        let allowed = covered.iter().all(|releases| **releases < most);
        if allowed {
            covered.iter_mut().for_each(|releases| **releases += 1);
        }
        allowed
    }

    /// As many of the latest panes as lie within a window of this length; none if there was no event.
    pub fn cover(&self, length: i64) -> Option<Covered<'_, K>> {
        let (latest, head) = self.head.as_ref()?;
        let since = self.since(length);
        let first = (since + self.grid.slide - 1).div_euclid(self.grid.slide) * self.grid.slide;
        let closed = self.closed.iter().filter(|block| block.start >= since);
        let open = self
            .waiting
            .iter()
            .chain([head])
            .filter(|block| block.start >= since);
        Some(Covered {
            from: first.max(self.origin),
            latest: *latest,
            panes: closed
                .map(|block| Cow::Borrowed(&block.pane))
                .chain(open.map(|block| Cow::Owned(block.pane.close())))
                .collect(),
        })
    }

    fn since(&self, length: i64) -> i64 {
        let latest = self.head.as_ref().map_or(0, |(latest, _)| *latest);
        latest + 1 - length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_by_panes_and_entries_whatever_comes() {
        let shape = PaneShape::new(4, 8, None, 1).unwrap();
        for (length, slide, lateness) in [(100, 10, 0), (1_000, 10, 35), (95, 7, 95)] {
            let mut timeline = Timeline::<u64>::new(
                Grid {
                    length,
                    slide,
                    lateness,
                },
                shape,
            );
            for i in 0..20_000 {
                // Forwards with stragglers, and now and then a jump.
                let position = i - (i * i) % 50 + 500 * (i / 4_000);
                timeline.update(position, Some(i as u64 % 1_000));
                assert!(timeline.closed.len() as i64 <= length / slide + 1);
                assert!(timeline.waiting.len() as i64 <= lateness / slide + 2);
                assert!(timeline.closed.iter().all(|block| block.pane.counts().len() <= 4));
            }
        }
    }
}
