//! Panes that go from one stream to another.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Stream;
use super::engine::Engine;
use crate::codec::MOST;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::ledger::{Account, Amount};

/// Closed panes that have left a stream, with what they have spent. They hold what people did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    pub(super) panes: Vec<Moved>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Moved {
    from: i64,
    to: i64,
    spent: Amount,
    bytes: Vec<u8>,
}

impl<K: Key> Stream<K> {
    /// Takes out the closed panes that lie within a range of positions. They are spent here: an event is in one place.
    pub fn export(&mut self, positions: Range<i64>) -> Result<Exported> {
        let panes = self.panes_within(&positions)?;
        self.engine.may_be_moved()?;
        let engine = &self.engine;
        let moved = |pane: &Range<i64>| {
            Ok(Moved {
                from: pane.start,
                to: pane.end,
                spent: self.ledger.account(engine.numbers_of(pane)).amount(),
                bytes: self.closed_pane(pane)?,
            })
        };
        let moved = panes.iter().map(moved).collect::<Result<Vec<_>>>()?;
        for pane in &panes {
            self.ledger.spend(self.engine.numbers_of(pane));
            self.engine.remove(pane);
        }
        Ok(Exported { panes: moved })
    }

    /// Forgets the closed panes that lie within a range of positions. Their accounts stay as they are: later releases are without them.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        let panes = self.panes_within(&positions)?;
        if let Engine::Always(_) = self.engine {
            return Err(Error::window(
                "a pane of a list at every slide cannot be forgotten: the next list would show what was in it",
            ));
        }
        panes.iter().for_each(|pane| self.engine.remove(pane));
        Ok(())
    }

    fn panes_within(&self, positions: &Range<i64>) -> Result<Vec<Range<i64>>> {
        let within = |pane: &Range<i64>| {
            let (from, to) = self.engine.positions(pane);
            positions.start <= from && to <= positions.end
        };
        let panes: Vec<Range<i64>> = self.closed().into_iter().filter(within).collect();
        match panes.is_empty() {
            true => Err(Error::window(
                "there is no closed pane in that range: nothing was done",
            )),
            false => Ok(panes),
        }
    }

    /// That panes can come in: where they lie there are none, no two lie in one place, and they have ended.
    pub fn check_import(&self, exported: &Exported) -> Result<()> {
        self.engine.may_be_moved()?;
        let mut panes: Vec<Range<i64>> = exported.panes.iter().map(|pane| pane.from..pane.to).collect();
        panes.sort_by_key(|pane| pane.start);
        if panes.windows(2).any(|two| two[1].start < two[0].end) {
            return Err(occupied());
        }
        panes.iter().try_for_each(|pane| self.engine.check_place(pane))
    }

    /// Takes panes in that have left a stream of the same [`fingerprint`](Self::fingerprint), with what they have spent: where users
    /// are protected on top of what their numbers have spent here, because a user may have been in releases of both streams.
    pub fn import(&mut self, exported: &Exported) -> Result<()> {
        self.check_import(exported)?;
        for Moved {
            from,
            to,
            spent,
            bytes,
        } in &exported.panes
        {
            let (pane, spent) = (*from..*to, Account::from_amount(*spent));
            self.engine.place(&pane, bytes)?;
            let numbers = self.engine.numbers_of(&pane);
            // An event is in one pane; what a user did in an epoch may have been in a pane that was here before, too.
            match self.engine {
                Engine::People(_) => self.ledger.add(numbers, &spent),
                _ => self.ledger.carry(numbers, &spent),
            }
        }
        Ok(())
    }
}

impl<K: Key> Engine<K> {
    /// The first position of a pane, and the first after it.
    fn positions(&self, pane: &Range<i64>) -> (i64, i64) {
        match self {
            Self::People(_) => (self.begins(pane.start), self.begins(pane.end)),
            _ => (pane.start, pane.end),
        }
    }

    /// The numbers of a pane.
    fn numbers_of(&self, pane: &Range<i64>) -> Range<i64> {
        match self {
            Self::Once(hitters) => {
                pane.start.div_euclid(hitters.slide())..(pane.end - 1).div_euclid(hitters.slide()) + 1
            }
            _ => pane.clone(),
        }
    }

    fn may_be_moved(&self) -> Result<()> {
        match self {
            Self::People(_) => Ok(()),
            Self::Once(hitters) if hitters.has_movable_panes() => Ok(()),
            Self::Once(_) => Err(Error::window(
                "panes go from one state to another by the clock alone: the positions of this one are its own",
            )),
            Self::Always(_) => Err(Error::window(
                "panes of a list at every slide have noise that belongs to this state: they cannot go to another one",
            )),
        }
    }

    fn check_place(&self, pane: &Range<i64>) -> Result<()> {
        let overlaps = |other: &Range<i64>| other.start < pane.end && pane.start < other.end;
        let (most, possible) = match self {
            Self::People(_) => (
                MOST / self.made_with().1 as u64,
                pane.start.checked_add(1) == Some(pane.end),
            ),
            _ => (MOST, true),
        };
        let possible = possible && pane.start.unsigned_abs().max(pane.end.unsigned_abs()) <= most;
        let ended = match self {
            Self::People(people) => people.has_ended(pane.start),
            Self::Once(hitters) => hitters.timeline().has_closed_before(pane.end),
            Self::Always(_) => false,
        };
        match possible && !pane.is_empty() && ended && !self.closed().iter().any(overlaps) {
            true => Ok(()),
            false => Err(occupied()),
        }
    }

    fn place(&mut self, pane: &Range<i64>, bytes: &[u8]) -> Result<()> {
        match self {
            Self::People(people) => people.place(pane.start, bytes),
            Self::Once(hitters) => hitters.place(pane, bytes),
            Self::Always(_) => Ok(()),
        }
    }

    fn remove(&mut self, pane: &Range<i64>) {
        match self {
            Self::People(people) => people.remove(pane.start),
            Self::Once(hitters) => hitters.remove(pane),
            Self::Always(_) => {}
        }
    }
}

fn occupied() -> Error {
    Error::window(
        "a pane comes in where there is one, or where one goes on: what was counted apart is not added up here",
    )
}
