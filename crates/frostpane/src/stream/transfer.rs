//! Panes that go from one stream to another.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Stream;
use super::engine::Engine;
use super::one_shot::OneShot;
use crate::counting::PaneCounter;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::privacy::ledger::{Account, Amount};

/// Closed panes that have left a stream, with what they have spent. They hold what people did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaneExport {
    pub(super) panes: Vec<ExportedPane>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ExportedPane {
    from: i64,
    to: i64,
    spent: Amount,
    bytes: Vec<u8>,
}

impl<K: Key> Stream<K> {
    /// Takes out the closed panes that lie within a range of positions. They are spent here: an event is in one place.
    pub fn export(&mut self, positions: Range<i64>) -> Result<PaneExport> {
        let panes = self.panes_within(&positions)?;
        let counter = &self.movable()?.counter;
        let moved = |pane: &Range<i64>| {
            Ok(ExportedPane {
                from: pane.start,
                to: pane.end,
                spent: self.ledger.account(counter.numbers_of(pane)).amount(),
                bytes: self.closed_pane(pane)?,
            })
        };
        let moved = panes.iter().map(moved).collect::<Result<Vec<_>>>()?;
        if let Engine::OneShot(one_shot) = &mut self.engine {
            for pane in &panes {
                self.ledger.spend(one_shot.counter.numbers_of(pane));
                one_shot.counter.remove(pane);
            }
        }
        Ok(PaneExport { panes: moved })
    }

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

    /// Returns an error unless panes can come in: no pane lies where they do, no two lie in one place, and they have ended.
    pub fn check_import(&self, exported: &PaneExport) -> Result<()> {
        let counter = &self.movable()?.counter;
        let mut panes: Vec<Range<i64>> = exported.panes.iter().map(|pane| pane.from..pane.to).collect();
        panes.sort_by_key(|pane| pane.start);
        if panes.windows(2).any(|two| two[1].start < two[0].end) {
            return Err(occupied());
        }
        let closed = counter.closed();
        let is_free = |pane: &Range<i64>| {
            let overlaps = |other: &Range<i64>| other.start < pane.end && pane.start < other.end;
            !pane.is_empty() && counter.has_ended(pane) && !closed.iter().any(overlaps)
        };
        if panes.iter().all(is_free) { Ok(()) } else { Err(occupied()) }
    }

    /// Takes panes in that have left a stream of the same [`fingerprint`](Self::fingerprint), with what they have spent: where users
    /// are protected on top of what their numbers have spent here, because a user may have been in releases of both streams.
    pub fn import(&mut self, exported: &PaneExport) -> Result<()> {
        self.check_import(exported)?;
        let Engine::OneShot(one_shot) = &mut self.engine else {
            return Ok(());
        };
        for ExportedPane { from, to, spent, bytes } in &exported.panes {
            let (pane, spent) = (*from..*to, Account::from_amount(*spent));
            one_shot.counter.place(&pane, bytes)?;
            let numbers = one_shot.counter.numbers_of(&pane);
            // An event is in one pane; what a user did in an epoch may have been in a pane that was here before, too.
            if one_shot.counter.live().is_some() {
                self.ledger.add(numbers, &spent);
            } else {
                self.ledger.carry(numbers, &spent);
            }
        }
        Ok(())
    }

    /// Returns an error unless panes can go from one stream to another.
    fn movable(&self) -> Result<&OneShot<K>> {
        match &self.engine {
            Engine::OneShot(one_shot) if one_shot.has_movable_panes() => Ok(one_shot),
            Engine::OneShot(_) => Err(Error::window(
                "panes go from one state to another by the clock alone: the positions of this one are its own",
            )),
            Engine::Continual(_) => Err(Error::window(
                "panes of a list at every slide have noise that belongs to this state: they cannot go to another one",
            )),
        }
    }
}

fn occupied() -> Error {
    Error::window(
        "a pane comes in where there is one, or where one goes on: what was counted apart is not added up here",
    )
}
