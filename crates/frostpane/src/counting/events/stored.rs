//! Panes on the line of positions, as bytes.

use std::ops::Range;

use super::schedule::Schedule;
use super::{PlacedPane, State, Timeline};
use crate::codec::{Reader, Writer, check, damaged};
use crate::error::Result;
use crate::key::Key;
use crate::pane::{OpenPane, Pane, PaneShape};

impl<K: Key> Timeline<K> {
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
            to.range(&block.bounds());
            to.number(block.level.into());
        });
        to.maybe((*origin < i64::MAX).then_some(*origin), Writer::signed);
        to.each(late.iter(), |to, (slide, events)| {
            to.signed(*slide);
            to.number(*events);
        });
    }

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
            _ => return Err(damaged("levels are missing, or there are some that none was to have")),
        }
        self.state.head = from.maybe(|from| {
            let latest = from.position()?;
            let block = load_open(from, shape)?;
            check(block.bounds().contains(&latest), "the latest event is in no pane")?;
            Ok((latest, block))
        })?;
        self.state.waiting = from.each(|from| load_open(from, shape))?;
        self.state.closed = from.each(|from| {
            let bounds = from.range()?;
            let level = from.at_most(u8::MAX.into())? as u8;
            let bytes = pane(bounds.clone())?;
            let pane = Reader::read_all(&bytes, |from| Pane::load(from, made_with))?;
            Ok(PlacedPane { level, ..PlacedPane::new(bounds.start, bounds.end, pane) })
        })?;
        self.state.origin = from.maybe(Reader::position)?.unwrap_or(i64::MAX);
        self.state.late = from.each(|from| Ok((from.position()?, from.count_of_pane()?)))?;
        self.check_order()
    }

    fn check_order(&self) -> Result<()> {
        let waiting = self.state.waiting.iter().map(PlacedPane::bounds);
        let head = self.state.head.iter().map(|(_, block)| block.bounds());
        let mut before = i64::MIN;
        for bounds in self.closed().chain(waiting).chain(head) {
            check(bounds.start >= before && !bounds.is_empty(), "panes overlap")?;
            before = bounds.end;
        }
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
        let pane = Reader::read_all(bytes, |from| Pane::load(from, self.state.shape.parameters()))?;
        let index = self.first_closed_from(bounds.start);
        if self.state.closed.get(index).is_some_and(|block| block.start == bounds.start) {
            self.state.closed.remove(index);
        }
        self.state.closed.insert(index, PlacedPane::new(bounds.start, bounds.end, pane));
        self.state.origin = self.state.origin.min(bounds.start);
        let since = self.since(self.state.grid.length);
        self.state.closed.retain(|block| block.end > since);
        Ok(())
    }

    pub(crate) fn remove(&mut self, bounds: &Range<i64>) {
        self.state.closed.retain(|block| block.start != bounds.start);
    }

    pub(crate) fn closed(&self) -> impl Iterator<Item = Range<i64>> {
        self.state.closed.iter().map(PlacedPane::bounds)
    }

    pub(crate) fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        let block = self.state.closed.get(self.first_closed_from(bounds.start))?;
        (block.bounds() == *bounds).then(|| Writer::written(|to| block.pane.save(to)))
    }
}

fn save_open<K: Key>(to: &mut Writer, block: &PlacedPane<OpenPane<K>>) {
    to.range(&block.bounds());
    block.pane.save(to);
}

fn load_open<K: Key>(from: &mut Reader<'_>, shape: PaneShape) -> Result<PlacedPane<OpenPane<K>>> {
    let bounds = from.range()?;
    Ok(PlacedPane::new(bounds.start, bounds.end, OpenPane::load(from, shape)?))
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
