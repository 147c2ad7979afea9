//! Panes of windows whose end is known: fixed before the first event, which may then come in any order.

use std::collections::BTreeMap;
use std::mem;

use super::schedule::Schedule;
use super::{PlacedPane, Timeline};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::pane::{OpenPane, PaneShape, SuspendedPane};
use crate::spec::window::Grid;

/// Where panes lie, and those that wait for more events, packed. Memory alone decides which of them are open.
#[derive(Debug)]
pub(super) struct FixedPanes<K> {
    starts: Vec<i64>,
    /// End of the last pane, and of all windows.
    pub end: i64,
    /// True if no event ever lies before the latest: then a pane closes for good when the next begins.
    in_order: bool,
    suspended: BTreeMap<i64, PlacedPane<SuspendedPane<K>>>,
    /// The most bytes of panes, open and packed, while one is open at least.
    most_bytes: u64,
    /// True if all panes have closed, because a release was paid for.
    sealed: bool,
}

impl<K: Key> Timeline<K> {
    /// Panes that begin at these positions, rising, the last of which ends where all windows do; in so much memory.
    pub(crate) fn fixed(
        shape: PaneShape,
        grid: Grid,
        (starts, end): (Vec<i64>, i64),
        in_order: bool,
        most_bytes: u64,
    ) -> Self {
        let mut timeline = Self::new(grid, shape, Schedule::Uniform, None);
        timeline.state.origin = i64::MIN;
        timeline.state.fixed =
            Some(FixedPanes { starts, end, in_order, suspended: BTreeMap::new(), most_bytes, sealed: false });
        timeline
    }

    /// Where the first pane begins, if that is known, until a release was paid for.
    pub(crate) fn begin(&self) -> Option<i64> {
        let fixed = self.state.fixed.as_ref().filter(|fixed| !fixed.sealed)?;
        fixed.starts.first().copied()
    }

    pub(crate) fn pane_at(&self, position: i64) -> Option<i64> {
        let around = self.state.fixed.as_ref()?.around(position);
        around.map(|(start, _)| start)
    }

    pub(crate) fn head_at(&self) -> Option<i64> {
        self.state.head.as_ref().map(|(_, head)| head.start)
    }

    pub(super) fn laid_at(&mut self, position: i64) -> Result<Option<&mut PlacedPane<OpenPane<K>>>> {
        let Some(fixed) = &mut self.state.fixed else {
            return Ok(None);
        };
        if fixed.sealed {
            return Err(Error::window(
                "the window was released, and takes no more events: build another one",
            ));
        }
        let Some((start, end)) = fixed.around(position) else {
            return Ok(None);
        };
        let waiting = self.state.waiting.iter().position(|block| block.start == start);
        let block = match (
            waiting.and_then(|index| self.state.waiting.remove(index)),
            fixed.suspended.remove(&start),
        ) {
            (Some(open), _) => open,
            (None, suspended) => {
                let mut pane = self.spares.pop().unwrap_or_else(|| OpenPane::new(self.state.shape));
                if let Some(suspended) = suspended {
                    pane.resume(suspended.pane);
                }
                PlacedPane::new(start, end, pane)
            }
        };
        if let Some((_, before)) = self.state.head.replace((position, block)) {
            self.set_aside(before)?;
        }
        Ok(self.state.head.as_mut().map(|(_, head)| head))
    }

    /// Another pane is the head now: this one waits, or closes where nothing comes for it any more.
    fn set_aside(&mut self, block: PlacedPane<OpenPane<K>>) -> Result<()> {
        if self.state.fixed.as_ref().is_some_and(|fixed| fixed.in_order) {
            return self.close(block);
        }
        self.state.waiting.push_back(block);
        while self.unclosed_bytes() > self.state.fixed.as_ref().map_or(0, |fixed| fixed.most_bytes)
            && let Some(mut oldest) = self.state.waiting.pop_front()
        {
            let pane = oldest.pane.suspend(&mut self.closer);
            let suspended = PlacedPane::new(oldest.start, oldest.end, pane);
            if let Some(fixed) = &mut self.state.fixed {
                fixed.suspended.insert(oldest.start, suspended);
            }
            self.spares.clear();
            self.spares.push(oldest.pane);
        }
        Ok(())
    }

    pub(super) fn seal(&mut self) -> Result<()> {
        let Some(fixed) = &mut self.state.fixed else {
            return Ok(());
        };
        if mem::replace(&mut fixed.sealed, true) {
            return Ok(());
        }
        let suspended = mem::take(&mut fixed.suspended);
        let mut open: Vec<PlacedPane<OpenPane<K>>> = mem::take(&mut self.state.waiting).into();
        open.extend(self.state.head.take().map(|(_, head)| head));
        for block in open {
            self.close(block)?;
        }
        self.spares.clear();
        for (_, block) in suspended {
            let pane = block.pane.close(self.state.shape, &mut self.closer);
            self.state.closed.push_back(PlacedPane::new(block.start, block.end, pane));
        }
        self.state.closed.make_contiguous().sort_by_key(|block| block.start);
        Ok(())
    }
}

impl<K: Key> FixedPanes<K> {
    pub fn bytes(&self) -> u64 {
        self.suspended.values().map(|block| block.pane.bytes()).sum()
    }

    fn around(&self, position: i64) -> Option<(i64, i64)> {
        let next = self.starts.partition_point(|start| *start <= position);
        let start = *self.starts.get(next.checked_sub(1)?)?;
        let end = self.starts.get(next).copied().unwrap_or(self.end);
        (position < end).then_some((start, end))
    }
}
