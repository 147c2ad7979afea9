//! Blocks that become panes, here or on other threads.

use super::Timeline;
use super::block::{PendingPane, PlacedPane};
use super::workers::Workers;
use crate::error::Result;
use crate::key::Key;
use crate::pane::{OpenPane, Pane};

impl<K: Key> Timeline<K> {
    pub(super) fn close(&mut self, mut block: PlacedPane<OpenPane<K>>) -> Result<()> {
        if self.workers.is_some() {
            self.hand_over(block);
            return Ok(());
        }
        let pane = block.pane.end(&mut self.closer);
        if let Some(levels) = &mut self.state.levels {
            levels.add(&block.pane, &pane)?;
        }
        self.state.closed.push_back(PlacedPane::new(block.start, block.end, pane));
        block.pane.clear();
        self.spares.push(block.pane);
        // The pane is there already: a failure costs its end the level, and nothing else.
        if let (Some(levels), Some(closed)) = (&mut self.state.levels, self.state.closed.back_mut()) {
            closed.level = self.state.schedule.level(levels, &mut *self.draws)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, block: PlacedPane<OpenPane<K>>) {
        let Some(workers) = &self.workers else { return };
        let events = block.pane.events();
        let number = self.handed_back + self.closing.len() as u64;
        let pane = workers.hand_over(number, block.pane).map(|mut open| {
            let pane = open.close_with(&mut self.closer);
            open.clear();
            self.spares.push(open);
            pane
        });
        self.closing.push_back(PlacedPane::new(block.start, block.end, PendingPane { events, pane }));
        while let Some((number, pane, open)) = self.workers.as_ref().and_then(Workers::done) {
            self.take_back(number, pane, open);
        }
    }

    pub(super) fn finish(&mut self) {
        while !self.closing.is_empty()
            && let Some(workers) = &self.workers
        {
            let (number, pane, open) = workers.next();
            self.take_back(number, pane, open);
        }
    }

    fn take_back(&mut self, number: u64, pane: Pane<K>, open: OpenPane<K>) {
        self.spares.push(open);
        self.closing[(number - self.handed_back) as usize].pane.pane = Some(pane);
        while let Some(block) = self.closing.pop_front_if(|block| block.pane.pane.is_some()) {
            self.handed_back += 1;
            let pane = block.pane.pane.map(|pane| PlacedPane::new(block.start, block.end, pane));
            self.state.closed.extend(pane);
        }
    }
}
