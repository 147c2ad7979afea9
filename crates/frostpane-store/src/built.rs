//! Panes that are built elsewhere, from all events of their time, and taken in.
//!
//! Whoever builds them keeps them, as many times over as tasks were tried, under the name of a build. A build counts when it is recorded
//! here, with a seal of every pane of it; what is taken in is what was sealed. `docs/spark.md` is about using it.

use std::collections::BTreeMap;
use std::ops::Range;

use frostpane::stream::Blueprint;
use redb::{ReadableDatabase, ReadableTableMetadata};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::hex;
use crate::history::Deed;
use crate::store::{Change, DAY, Store, now};
use crate::tables::{META, SOURCES};

const BUILT: &str = "built";

/// How far panes were built, and which of them are not here yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Progress {
    /// All before this number have been built, or could not be reached any more.
    to: i64,
    /// By number.
    awaited: BTreeMap<i64, Awaited>,
}

/// A pane that was built and is not here yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Awaited {
    /// Of which build it is.
    pub build: String,
    /// What tells it from any other pane, as text.
    pub seal: String,
}

impl<K: StoredKey> Store<K> {
    /// How its panes are made, for whoever counts its events elsewhere.
    pub fn blueprint(&self) -> Result<Blueprint<K>> {
        self.check_whole()?;
        self.check_no_events()?;
        Ok(self.stream.blueprint()?)
    }

    /// The numbers of the panes that are to be built so that all are there up to a moment: those that were not yet, as far back as a window
    /// reaches, or all from a given moment on. In microseconds since 1970.
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
        let from = built.unwrap_or_else(|| self.first_number(reached)).max(reached);
        let start = since.map_or(Ok(from), |since| self.number_at(since))?;
        if start > from {
            return Err(Error::conflict(format!(
                "the panes from {} on are missing: build those first, or all of them at once",
                self.moment(self.stream.begins(from))
            )));
        }
        if start >= end {
            return Err(Error::conflict(format!(
                "all panes up to {} are there: to build them again, before their first release, say since when",
                self.moment(self.stream.begins(from))
            )));
        }
        let numbers = start..end.max(built.unwrap_or(end));
        match numbers.end == end {
            true => self.check_unspent(&numbers).map(|()| numbers),
            false => Err(Error::conflict(format!(
                "panes were built up to {}: build them again up to there, or none",
                self.moment(self.stream.begins(numbers.end))
            ))),
        }
    }

    /// Where people are protected, none before its beginning.
    fn first_number(&self, reached: i64) -> i64 {
        match self.stream.spec().unit.is_user() {
            true => self.stream.end_of_window(),
            false => reached,
        }
    }

    fn number_at(&self, moment: i64) -> Result<i64> {
        Ok(self.blueprint()?.number_at(moment)?)
    }

    /// A pane that was in a release is never edited: the next release would show the exact difference.
    fn check_unspent(&self, numbers: &Range<i64>) -> Result<()> {
        match self.stream.is_unspent(numbers.clone()) {
            true => Ok(()),
            false => Err(Error::conflict(format!(
                "a release has covered {}, or a part of that, or it has left: panes are built again before their first release alone, and what comes \
                 for them later is not counted",
                self.place(numbers)
            ))),
        }
    }

    /// Whoever counts its events elsewhere counts all of them there: a user who is bounded in two places is not bounded.
    fn check_no_events(&self) -> Result<()> {
        let sources = self.database.begin_read()?.open_table(SOURCES)?;
        match sources.is_empty()? && !self.has_imported()? {
            true => Ok(()),
            false => Err(Error::conflict(
                "this state has taken events, or panes of another one, and what was counted apart is not added up: begin another one for panes that are built elsewhere",
            )),
        }
    }

    /// That it takes events itself.
    pub(crate) fn check_not_built(&self) -> Result<()> {
        match self.built_to()? {
            None => Ok(()),
            Some(_) => Err(Error::conflict(
                "panes of this state are built elsewhere, and what is counted apart is not added up: give these events to whoever builds them",
            )),
        }
    }

    /// Records a build, of panes from this number on with these seals. It counts from now on, and takes the place of what was built of the same
    /// panes before.
    pub fn record_build(&mut self, build: &str, first: i64, seals: &[[u8; 32]]) -> Result<()> {
        self.check_whole()?;
        let numbers = first..first.saturating_add(seals.len() as i64);
        self.check_no_events()?;
        self.check_unspent(&numbers)?;
        let before = self.progress()?;
        let mut progress = Progress {
            to: before
                .as_ref()
                .map_or(numbers.end, |before| before.to.max(numbers.end)),
            awaited: before.unwrap_or_default().awaited,
        };
        let reached = progress.to - self.stream.panes_of_window();
        progress.awaited.retain(|number, _| *number >= reached);
        progress.awaited.extend(numbers.zip(seals).map(|(number, seal)| {
            let awaited = Awaited {
                build: build.to_owned(),
                seal: hex(seal),
            };
            (number, awaited)
        }));
        self.keep_progress(&progress, None)
    }

    /// The number after the last pane that was built, if any was.
    pub fn built_to(&self) -> Result<Option<i64>> {
        Ok(self.progress()?.map(|progress| progress.to))
    }

    /// The panes that were built and are not here yet, by number.
    pub fn awaited(&self) -> Result<BTreeMap<i64, Awaited>> {
        Ok(self.progress()?.unwrap_or_default().awaited)
    }

    /// That a release is of all that was built.
    pub(crate) fn check_none_awaited(&self) -> Result<()> {
        match self.awaited()?.is_empty() {
            true => Ok(()),
            false => Err(Error::conflict(
                "panes were built that are not in this state yet, so a release would be without them: take them in first; nothing was charged",
            )),
        }
    }

    /// Takes all awaited panes in, in their order, all of them or none. Releases cover them from now on.
    pub fn take_built(&mut self, panes: &[Vec<u8>]) -> Result<()> {
        self.check_whole()?;
        let mut progress = self.progress()?.unwrap_or_default();
        let awaited = std::mem::take(&mut progress.awaited);
        let Some((&first, _)) = awaited.first_key_value() else {
            return Ok(());
        };
        let numbers = first..first.saturating_add(awaited.len() as i64);
        let are_sealed =
            awaited
                .iter()
                .zip(numbers.clone())
                .zip(panes)
                .all(|(((number, awaited), expected), pane)| {
                    *number == expected && awaited.seal == hex(&self.stream.seal(*number, pane))
                });
        if panes.len() != awaited.len() || !are_sealed {
            return Err(Error::conflict(
                "a pane is not the one that was built, or is missing: build it again",
            ));
        }
        self.check_unspent(&numbers)?;
        self.guarded(|store| Ok(store.stream.take_built(first, panes)?))?;
        // What is in the database at the same places goes with what is not in it.
        self.forget_kept(&numbers);
        let deed = Deed::Built {
            from: numbers.start,
            to: numbers.end,
            seal: hex(&seal_of_all(awaited.values())),
        };
        self.keep_progress(&progress, Some(deed))
    }

    fn progress(&self) -> Result<Option<Progress>> {
        let table = self.database.begin_read()?.open_table(META)?;
        let progress = table
            .get(BUILT)?
            .map(|bytes| serde_json::from_slice(bytes.value()));
        Ok(progress.transpose()?)
    }

    fn keep_progress(&mut self, progress: &Progress, deed: Option<Deed>) -> Result<()> {
        let bytes = serde_json::to_vec(progress)?;
        let change = Change {
            deed,
            ..Change::default()
        };
        self.commit_with(change, |transaction| {
            transaction.open_table(META)?.insert(BUILT, bytes.as_slice())?;
            Ok(())
        })
    }
}

fn seal_of_all<'a>(awaited: impl Iterator<Item = &'a Awaited>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("frostpane 2026-11-17 the panes of a build");
    awaited.for_each(|awaited| {
        hasher.update(awaited.seal.as_bytes());
    });
    *hasher.finalize().as_bytes()
}
