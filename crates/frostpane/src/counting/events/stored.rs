//! Panes on the line of positions, as bytes.

use std::ops::Range;

use super::block::Block;
use super::schedule::Schedule;
use super::{State, Timeline};
use crate::codec::{Reader, Writer, damaged};
use crate::error::Result;
use crate::key::Key;
use crate::pane::{OpenPane, Pane};

/// The order of what is waiting and closed, and all that is not a closed pane.
impl<K: Key> Timeline<K> {
    /// Writes everything but the closed panes, each of which is written by itself.
    pub(crate) fn save(&mut self, to: &mut Writer) {
        self.finish();
        let State { schedule, levels, head, waiting, closed, origin, fixed, late, grid: _, shape: _ } =
            &self.state;
        debug_assert!(fixed.is_none(), "what has a known end is not kept");
        schedule.save(to);
        to.maybe(levels.as_ref(), |to, levels| levels.save(to));
        to.maybe(head.as_ref(), |to, (latest, block)| {
            to.signed(*latest);
            save_open(to, block);
        });
        to.each(waiting.iter(), save_open);
        to.each(closed.iter(), |to, block| {
            to.range(&(block.start..block.end));
            to.number(block.level.into());
        });
        to.maybe((*origin < i64::MAX).then_some(*origin), Writer::signed);
        to.each(late.iter(), |to, (slide, events)| {
            to.signed(*slide);
            to.number(*events);
        });
    }

    /// Goes on from what was written; of the closed panes another says how they were written.
    pub(crate) fn load(
        &mut self,
        from: &mut Reader<'_>,
        mut pane: impl FnMut(Range<i64>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let (shape, made_with) = (self.state.shape, self.state.shape.parameters());
        self.state.schedule.load(from)?;
        match (&mut self.state.levels, from.flag()?) {
            (Some(levels), true) => levels.load(from)?,
            (None, false) => {}
            _ => {
                return Err(damaged("levels are missing, or there are some that none was to have"));
            }
        }
        self.state.head = from.maybe(|from| {
            let latest = from.position()?;
            let block = load_open(from, shape)?;
            match (block.start..block.end).contains(&latest) {
                true => Ok((latest, block)),
                false => Err(damaged("the latest event is in no pane")),
            }
        })?;
        self.state.waiting = from.each(|from| load_open(from, shape))?;
        self.state.closed = from.each(|from| {
            let bounds = from.range()?;
            let level = from.at_most(u8::MAX.into())? as u8;
            let bytes = pane(bounds.clone())?;
            let mut reader = Reader::new(&bytes);
            let pane = Pane::load(&mut reader, made_with)?;
            reader.finish()?;
            Ok(Block { level, ..Block::new(bounds.start, bounds.end, pane) })
        })?;
        self.state.origin = from.maybe(Reader::position)?.unwrap_or(i64::MAX);
        self.state.late = from.each(|from| Ok((from.position()?, from.count_of_pane()?)))?;
        self.check_order()
    }

    /// Returns an error unless panes lie one after the other.
    fn check_order(&self) -> Result<()> {
        let closed = self.state.closed.iter().map(|block| block.start..block.end);
        let waiting = self.state.waiting.iter().map(|block| block.start..block.end);
        let head = self.state.head.iter().map(|(_, block)| block.start..block.end);
        let mut before = i64::MIN;
        for bounds in closed.chain(waiting).chain(head) {
            if bounds.start < before || bounds.is_empty() {
                return Err(damaged("panes overlap"));
            }
            before = bounds.end;
        }
        Ok(())
    }

    /// Returns true if no event can come any more before this position, because of those that have come.
    pub(crate) fn has_closed_before(&self, position: i64) -> bool {
        let waiting = self.state.waiting.front().map(|block| block.start);
        let Some((latest, head)) = &self.state.head else {
            return false;
        };
        let open = waiting.map_or(head.start, |waiting| waiting.min(head.start));
        position <= open && position.saturating_add(self.state.grid.lateness) <= *latest
    }

    /// Puts a pane where there is none.
    pub(crate) fn put(&mut self, bounds: &Range<i64>, bytes: &[u8]) -> Result<()> {
        let mut from = Reader::new(bytes);
        let pane = Pane::load(&mut from, self.state.shape.parameters())?;
        from.finish()?;
        let index = self.first_closed_from(bounds.start);
        self.state.closed.insert(index, Block::new(bounds.start, bounds.end, pane));
        self.state.origin = self.state.origin.min(bounds.start);
        Ok(())
    }

    fn first_closed_from(&self, position: i64) -> usize {
        self.state.closed.partition_point(|block| block.start < position)
    }

    /// Returns true if no event has come: the panes, if there are any, were counted elsewhere.
    pub(crate) fn is_quiet(&self) -> bool {
        self.state.head.is_none() && self.state.waiting.is_empty()
    }

    /// Puts a pane that was counted elsewhere, in the place of the one that is there, and forgets what no window can reach any more.
    pub(crate) fn rebuild(&mut self, bounds: &Range<i64>, bytes: &[u8]) -> Result<()> {
        self.put(bounds, bytes)?;
        let next = self.first_closed_from(bounds.start) + 1;
        if self.state.closed.get(next).is_some_and(|block| block.start == bounds.start) {
            self.state.closed.remove(next);
        }
        let since = self.since(self.state.grid.length);
        self.state.closed.retain(|block| block.end > since);
        Ok(())
    }

    /// Takes a closed pane out.
    pub(crate) fn remove(&mut self, bounds: &Range<i64>) {
        self.state.closed.retain(|block| block.start != bounds.start);
    }

    /// Bounds of closed panes.
    pub(crate) fn closed(&self) -> impl Iterator<Item = Range<i64>> {
        self.state.closed.iter().map(|block| block.start..block.end)
    }

    /// A closed pane, as bytes.
    pub(crate) fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        let block = self.state.closed.get(self.first_closed_from(bounds.start))?;
        ((block.start, block.end) == (bounds.start, bounds.end)).then(|| {
            let mut to = Writer::default();
            block.pane.save(&mut to);
            to.finish()
        })
    }
}

fn save_open<K: Key>(to: &mut Writer, block: &Block<OpenPane<K>>) {
    to.range(&(block.start..block.end));
    block.pane.save(to);
}

fn load_open<K: Key>(from: &mut Reader<'_>, shape: crate::pane::PaneShape) -> Result<Block<OpenPane<K>>> {
    let bounds = from.range()?;
    Ok(Block::new(bounds.start, bounds.end, OpenPane::load(from, shape)?))
}

impl Schedule {
    fn save(&self, to: &mut Writer) {
        match self {
            Schedule::Uniform => to.number(0),
            Schedule::Exponential(exponential) => {
                to.number(1);
                exponential.save(to);
            }
            Schedule::Smooth(smooth) => {
                to.number(2);
                smooth.save(to);
            }
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        match (self, from.number()?) {
            (Schedule::Uniform, 0) => Ok(()),
            (Schedule::Exponential(exponential), 1) => exponential.load(from),
            (Schedule::Smooth(smooth), 2) => smooth.load(from),
            _ => Err(damaged("panes were kept by another policy")),
        }
    }
}
