//! External panes: built elsewhere, such as in Spark, from all events of their time, and added to a store.
//!
//! The builder stores them under the name of a build, once for each attempt of a task. A build counts when it
//! is recorded here, with a seal of each of its panes; only sealed panes are added. `docs/spark.md` is about
//! using it.

use std::collections::BTreeMap;
use std::ops::Range;

use frostpane::stream::PaneRecipe;
use redb::{ReadableDatabase, ReadableTableMetadata};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::hex;
use crate::history::Action;
use crate::store::{DAY, Store, now};
use crate::tables::{META, SOURCES, value};
use crate::transaction::ChangeSet;

const BUILT: &str = "built";

/// Progress of building, as JSON in [`META`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct BuildProgress {
    /// All panes before this number have been built, or are beyond the reach of any window.
    to: i64,
    /// Recorded panes that are not in the store yet, by number.
    awaited: BTreeMap<i64, AwaitedPane>,
}

/// A recorded pane that is not in the store yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AwaitedPane {
    /// The name of its build.
    pub build: String,
    /// A hash of its number and contents, as text.
    pub seal: String,
}

impl<K: StoredKey> Store<K> {
    /// The recipe of its panes, for a builder outside of the store.
    pub fn blueprint(&self) -> Result<PaneRecipe<K>> {
        self.check_usable()?;
        self.check_no_events()?;
        Ok(self.stream.recipe()?)
    }

    /// The numbers of the panes that are missing up to a moment: those that have not been built, as far back
    /// as a window reaches, or all from a given moment on. Moments are in microseconds since 1970.
    pub fn to_build(&self, since: Option<i64>, until: i64) -> Result<Range<i64>> {
        let end = self.number_at(until)?;
        if until > now().saturating_add(DAY) {
            return Err(Error::conflict(format!(
                "{} lies in the future: whatever happens until then would be missing from its panes",
                self.moment(until)
            )));
        }
        let reached = end - self.stream.panes_of_window();
        let built = self.built_to()?;
        // Of users nothing before the creation of the store can be built.
        let first = if self.stream.spec().unit.is_user() { self.stream.end_of_window() } else { reached };
        let from = built.unwrap_or(first).max(reached);
        let start = since.map_or(Ok(from), |since| self.number_at(since))?;
        if start > from {
            return Err(Error::conflict(format!(
                "the panes from {} on are missing: build those first, or all of them at once",
                self.moment(self.stream.begins(from))
            )));
        }
        if start >= end {
            return Err(Error::conflict(format!(
                "all panes up to {} are there: to build them again, before their first release, say since \
                 when",
                self.moment(self.stream.begins(from))
            )));
        }
        let numbers = start..end.max(built.unwrap_or(end));
        if numbers.end != end {
            return Err(Error::conflict(format!(
                "panes were built up to {}: build them again up to there, or none",
                self.moment(self.stream.begins(numbers.end))
            )));
        }
        self.check_unspent(&numbers)?;
        Ok(numbers)
    }

    fn number_at(&self, moment: i64) -> Result<i64> {
        Ok(self.blueprint()?.number_at(moment)?)
    }

    /// Refuses panes that were in a release: the next release would show the exact difference.
    fn check_unspent(&self, numbers: &Range<i64>) -> Result<()> {
        if self.stream.is_unspent(numbers.clone()) {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "a release has covered {}, or a part of that, or it has left: panes are built again before their \
             first release alone, and what comes for them later is not counted",
            self.place(numbers)
        )))
    }

    /// Refuses a store with events of its own: a user who is bounded in two places is not bounded.
    fn check_no_events(&self) -> Result<()> {
        if self.database.begin_read()?.open_table(SOURCES)?.is_empty()? && !self.has_imported()? {
            return Ok(());
        }
        Err(Error::conflict(
            "this state has taken events, or panes of another one, and what was counted apart is not added \
             up: begin another one for panes that are built elsewhere",
        ))
    }

    /// Refuses a store whose panes are built elsewhere.
    pub(crate) fn check_takes_events(&self) -> Result<()> {
        if self.built_to()?.is_none() {
            return Ok(());
        }
        Err(Error::conflict(
            "panes of this state are built elsewhere, and what is counted apart is not added up: give these \
             events to anyone who builds them",
        ))
    }

    /// Records a build of panes from this number on, with their seals, in place of earlier builds.
    pub fn record_build(&mut self, build: &str, first: i64, seals: &[[u8; 32]]) -> Result<()> {
        self.check_usable()?;
        let numbers = first..first.saturating_add(seals.len() as i64);
        self.check_no_events()?;
        self.check_unspent(&numbers)?;
        let before = self.progress()?;
        let mut progress = BuildProgress {
            to: before.as_ref().map_or(numbers.end, |before| before.to.max(numbers.end)),
            awaited: before.unwrap_or_default().awaited,
        };
        let reached = progress.to - self.stream.panes_of_window();
        progress.awaited.retain(|number, _| *number >= reached);
        progress.awaited.extend(numbers.zip(seals).map(|(number, seal)| {
            let awaited = AwaitedPane { build: build.to_owned(), seal: hex(seal) };
            (number, awaited)
        }));
        self.commit_progress(&progress, None)
    }

    /// The number after the last pane that was built, if there is one.
    pub fn built_to(&self) -> Result<Option<i64>> {
        Ok(self.progress()?.map(|progress| progress.to))
    }

    /// The recorded panes that are not in the store yet, by number.
    pub fn awaited(&self) -> Result<BTreeMap<i64, AwaitedPane>> {
        Ok(self.progress()?.unwrap_or_default().awaited)
    }

    /// Refuses a release that would lack recorded panes.
    pub(crate) fn check_none_awaited(&self) -> Result<()> {
        if self.awaited()?.is_empty() {
            return Ok(());
        }
        Err(Error::conflict(
            "panes were built that are not in this state yet, so a release would be without them: take them \
             in first; nothing was charged",
        ))
    }

    /// Adds all awaited panes, in order, or none of them. Releases cover them from now on.
    pub fn take_built(&mut self, panes: &[Vec<u8>]) -> Result<()> {
        self.check_usable()?;
        let mut progress = self.progress()?.unwrap_or_default();
        let awaited = std::mem::take(&mut progress.awaited);
        let Some((&first, _)) = awaited.first_key_value() else {
            return Ok(());
        };
        let numbers = first..first.saturating_add(awaited.len() as i64);
        let are_sealed =
            awaited.iter().zip(numbers.clone()).zip(panes).all(|(((number, awaited), expected), pane)| {
                *number == expected && awaited.seal == hex(&self.stream.seal(*number, pane))
            });
        if panes.len() != awaited.len() || !are_sealed {
            return Err(Error::conflict(
                "a pane is not the one that was built, or is missing: build it again",
            ));
        }
        self.check_unspent(&numbers)?;
        self.guarded(|store| Ok(store.stream.take_built(first, panes)?))?;
        // Earlier builds of the same panes are replaced in the database by the next commit of the state.
        let starts = if self.stream.spec().unit.is_user() {
            numbers.clone()
        } else {
            self.stream.begins(numbers.start)..self.stream.begins(numbers.end)
        };
        self.stored_panes.retain(|(start, _)| !starts.contains(start));
        let action =
            Action::Built { from: numbers.start, to: numbers.end, seal: hex(&seal_of_all(awaited.values())) };
        self.commit_progress(&progress, Some(action))
    }

    fn progress(&self) -> Result<Option<BuildProgress>> {
        let progress = value(&self.database, META, BUILT)?;
        Ok(progress.map(|bytes| serde_json::from_slice(&bytes)).transpose()?)
    }

    fn commit_progress(&mut self, progress: &BuildProgress, action: Option<Action>) -> Result<()> {
        let bytes = serde_json::to_vec(progress)?;
        self.commit_with(ChangeSet { action, ..ChangeSet::default() }, |transaction| {
            transaction.open_table(META)?.insert(BUILT, bytes.as_slice())?;
            Ok(())
        })
    }
}

fn seal_of_all<'a>(awaited: impl Iterator<Item = &'a AwaitedPane>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("frostpane 2026-11-17 the panes of a build");
    awaited.for_each(|awaited| {
        hasher.update(awaited.seal.as_bytes());
    });
    *hasher.finalize().as_bytes()
}
