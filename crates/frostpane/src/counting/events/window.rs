//! The panes of a window.

use std::borrow::Cow;
use std::ops::Range;

use super::{PlacedPane, Timeline};
use crate::counting::window::{BoundaryPane, WindowView};
use crate::error::Result;
use crate::key::Key;
use crate::privacy::ledger::WindowNumbers;
use crate::spec::window::Grid;

impl<K: Key> Timeline<K> {
    pub(crate) fn prepare_release(&mut self) -> Result<()> {
        self.finish();
        self.seal()
    }

    /// The positions of the panes that a window covers and there are, and of the pane that it begins within.
    pub(crate) fn positions_of_window(&self, length: i64) -> WindowNumbers {
        let since = self.since(length);
        let end = self.latest().map_or(since, |latest| latest + 1);
        let covered = self.bounds().filter(|bounds| bounds.start >= since);
        WindowNumbers {
            covered: covered.map(|bounds| bounds.start).min().unwrap_or(end)..end,
            boundary: self.boundary(since),
        }
    }

    /// The numbers of all slides that a window covers in whole panes, with events or without, and of the pane that it begins within.
    /// None if there was no event.
    pub(crate) fn numbers_of_window(&self, length: i64) -> Option<WindowNumbers> {
        let (latest, since, slide) = (self.latest()?, self.since(length), self.state.grid.slide);
        let boundary = self.boundary(since);
        let from = (since + slide - 1).div_euclid(slide) * slide;
        let from = boundary.as_ref().map_or(from, |boundary| from.max(boundary.end));
        Some(WindowNumbers {
            covered: self.numbers_of(&(from.min(latest)..latest + 1)),
            boundary: boundary.map(|boundary| self.numbers_of(&boundary)),
        })
    }

    pub(crate) fn numbers_of(&self, positions: &Range<i64>) -> Range<i64> {
        let slide = self.state.grid.slide;
        positions.start.div_euclid(slide)..(positions.end - 1).div_euclid(slide) + 1
    }

    /// No pane lies before this position, or will.
    pub(crate) fn oldest_position(&self) -> i64 {
        let Grid { length, slide, lateness } = self.state.grid;
        let Some(latest) = self.latest().filter(|_| !self.is_fixed()) else {
            return i64::MIN;
        };
        let reached = latest.saturating_sub(length + lateness + slide);
        self.bounds().map(|bounds| bounds.start).fold(reached, i64::min)
    }

    fn boundary(&self, since: i64) -> Option<Range<i64>> {
        let mut bounds = self.bounds();
        bounds.find(|bounds| bounds.start < since && bounds.end > since)
    }

    fn bounds(&self) -> impl Iterator<Item = Range<i64>> {
        self.open_blocks().map(PlacedPane::bounds).chain(self.closed())
    }

    pub(super) fn since(&self, length: i64) -> i64 {
        self.latest().unwrap_or(0) + 1 - length
    }

    /// As many of the latest panes as lie within a window that has been charged for; none if there was no event. `boundary_paid`: the
    /// pane that it begins within has paid, too.
    pub(crate) fn window(&mut self, length: i64, boundary_paid: bool) -> Option<WindowView<'_, K>> {
        self.finish();
        let timeline = &*self;
        let latest = timeline.latest()?;
        let head = timeline.state.head.iter().map(|(_, head)| head);
        let since = timeline.since(length);
        let slide = timeline.state.grid.slide;
        let mut panes = Vec::new();
        let mut boundary = None;
        let mut first = (since + slide - 1).div_euclid(slide) * slide;
        let closed =
            timeline.state.closed.iter().map(|block| (block.start, block.end, Cow::Borrowed(&block.pane)));
        let open = timeline.state.waiting.iter().chain(head);
        let open = open
            .filter(|block| block.end > since)
            .map(|block| (block.start, block.end, Cow::Owned(block.pane.close())));
        for (start, end, pane) in closed.chain(open) {
            if start >= since {
                panes.push(pane);
            } else if end > since {
                first = first.max(end.min(latest + 1));
                boundary = Some(pane);
            }
        }
        let from = first.max(timeline.state.origin);
        Some(WindowView {
            since,
            from,
            known_end: timeline.state.fixed.as_ref().map(|fixed| fixed.end),
            missed: timeline.missed(from..i64::MAX),
            missed_of_asked: timeline.missed(since.div_euclid(slide) * slide..i64::MAX),
            latest,
            panes,
            left_out: boundary.iter().map(|pane| pane.events()).sum(),
            boundary: boundary
                .map(|pane| if boundary_paid { BoundaryPane::Paid(pane) } else { BoundaryPane::Spent }),
        })
    }
}
