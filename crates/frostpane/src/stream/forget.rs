//! Forgets closed panes.

use std::ops::Range;

use super::Stream;
use super::engine::Engine;
use crate::error::{Error, Result};
use crate::key::Key;

impl<K: Key> Stream<K> {
    /// Forgets the closed panes that lie within a range of positions. Their accounts stay as they are: later releases are without them.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        let panes = self.panes_within(&positions)?;
        let Engine::OneShot(one_shot) = &mut self.engine else {
            return Err(Error::window(
                "a pane of a list at every slide cannot be forgotten: the next list would show what was in it",
            ));
        };
        panes.iter().for_each(|pane| one_shot.counter.remove(pane));
        Ok(())
    }

    fn panes_within(&self, positions: &Range<i64>) -> Result<Vec<Range<i64>>> {
        let within = |pane: &Range<i64>| {
            let within = self.engine.counter().positions_of(pane);
            positions.start <= within.start && within.end <= positions.end
        };
        let panes: Vec<Range<i64>> = self.closed().into_iter().filter(within).collect();
        match panes.is_empty() {
            true => Err(Error::window("there is no closed pane in that range: nothing was done")),
            false => Ok(panes),
        }
    }
}
