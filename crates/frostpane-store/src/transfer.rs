//! Transfer of panes, with their accounts, from one store to another.

use std::ops::Range;
use std::path::Path;

use frostpane::Keys;
use frostpane::stream::PaneExport;
use redb::{ReadableTable, ReadableTableMetadata, TableDefinition};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::hex;
use crate::history::Action;
use crate::store::{Begin, Store, now};
use crate::tables::open_existing;

/// PaneExport panes by their positions, until they are forgotten.
const EXPORTED: TableDefinition<'_, (i64, i64), &[u8]> = TableDefinition::new("gone");
/// Imported panes, by their origin.
const IMPORTED: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("came");
/// The version of exported panes.
const FORMAT: u64 = 1;

/// Closed panes on their way from one store to another, with what they have spent. **They hold unnoised
/// counts.**
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaneTransfer {
    format: u64,
    /// The store that they come from.
    store: String,
    /// The only store that accepts them.
    destination: String,
    /// The parameters that the panes were made with: those of the destination are the same.
    fingerprint: String,
    from: i64,
    to: i64,
    exported: PaneExport,
}

impl<K: StoredKey> Store<K> {
    /// Creates a store that makes the same panes as another one, so that panes can go from one to the other.
    pub fn create_like(folder: &Path, other: &Self, begin: Begin) -> Result<Self> {
        let stream = other.stream.like(begin.from.unwrap_or_else(now))?;
        let keys: Keys<K> = stream.keys().clone();
        Self::create_with(folder, stream, keys, begin)
    }

    /// Removes the closed panes within a range of positions, for one other store. They are spent here: this
    /// store never releases them again. The same range returns the same panes again, in case they were lost
    /// on their way.
    pub fn export(&mut self, positions: Range<i64>, destination: &str) -> Result<PaneTransfer> {
        self.check_usable()?;
        let key = (positions.start, positions.end);
        if let Some(exported) = self.exported(key)? {
            if exported.destination != destination {
                return Err(Error::conflict(
                    "these panes have gone to another state: a pane is in one place",
                ));
            }
            return Ok(exported);
        }
        // A refusal has changed nothing.
        let exported = self.stream.export(positions.clone())?;
        let panes = PaneTransfer {
            format: FORMAT,
            store: self.header.store.clone(),
            destination: destination.to_owned(),
            fingerprint: hex(&self.stream.fingerprint()),
            from: positions.start,
            to: positions.end,
            exported,
        };
        let bytes = serde_json::to_vec(&panes)?;
        let action = Action::PaneExport { from: positions.start, to: positions.end };
        self.commit_action(action, |transaction| {
            transaction.open_table(EXPORTED)?.insert(key, bytes.as_slice())?;
            Ok(())
        })?;
        Ok(panes)
    }

    fn exported(&self, key: (i64, i64)) -> Result<Option<PaneTransfer>> {
        let Some(table) = open_existing(&self.database, EXPORTED)? else {
            return Ok(None);
        };
        let panes = table.get(key)?.map(|bytes| serde_json::from_slice(bytes.value()));
        Ok(panes.transpose()?)
    }

    /// Adds panes of another store, where this one has none. They have spent here what they had spent there.
    pub fn import(&mut self, panes: &PaneTransfer) -> Result<()> {
        self.check_usable()?;
        self.check_takes_events()?;
        if panes.fingerprint != hex(&self.stream.fingerprint()) {
            return Err(Error::conflict(
                "these panes were made with other numbers than those of this state: begin it with `frostpane \
                 init --like` the one that they come from",
            ));
        }
        if panes.destination != self.header.store {
            return Err(Error::conflict("these panes go to another state: a pane is in one place"));
        }
        let origin = format!("{} {}..{}", panes.store, panes.from, panes.to);
        if panes.store == self.header.store || self.was_imported(&origin)? {
            return Err(Error::conflict(
                "these panes have been here already, and an event counts once: nothing was taken",
            ));
        }
        self.stream.check_import(&panes.exported)?;
        self.guarded(|store| Ok(store.stream.import(&panes.exported)?))?;
        let action = Action::Imported { from: panes.from, to: panes.to };
        self.commit_action(action, |transaction| {
            transaction.open_table(IMPORTED)?.insert(origin.as_str(), [].as_slice())?;
            Ok(())
        })
    }

    /// Forgets the closed panes within a range of positions, exported ones included. Later releases are
    /// without them; what they have spent stays spent.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        self.check_usable()?;
        let within = |from: i64, to: i64| positions.start <= from && to <= positions.end;
        match self.stream.forget(positions.clone()) {
            // A refusal has changed nothing, and is in no history.
            Err(cause) if !self.has_exported(within)? => return Err(cause.into()),
            _ => {}
        }
        let action = Action::Forgot { from: positions.start, to: positions.end };
        self.commit_action(action, |transaction| {
            let mut table = transaction.open_table(EXPORTED)?;
            table.retain(|(from, to), _| !within(from, to))?;
            Ok(())
        })
    }

    fn has_exported(&self, within: impl Fn(i64, i64) -> bool) -> Result<bool> {
        let Some(table) = open_existing(&self.database, EXPORTED)? else {
            return Ok(false);
        };
        for row in table.iter()? {
            let (from, to) = row?.0.value();
            if within(from, to) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn was_imported(&self, origin: &str) -> Result<bool> {
        match open_existing(&self.database, IMPORTED)? {
            Some(table) => Ok(table.get(origin)?.is_some()),
            None => Ok(false),
        }
    }

    pub(crate) fn has_imported(&self) -> Result<bool> {
        match open_existing(&self.database, IMPORTED)? {
            Some(table) => Ok(!table.is_empty()?),
            None => Ok(false),
        }
    }
}

impl PaneTransfer {
    /// Writes the panes as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let panes: Self = serde_json::from_slice(bytes)
            .map_err(|cause| Error::conflict(format!("this is no file of panes ({cause})")))?;
        if panes.format != FORMAT {
            return Err(Error::conflict(
                "these panes were written by a newer version of the program: use that version",
            ));
        }
        Ok(panes)
    }

    /// The identity of the store that the panes come from.
    pub fn store(&self) -> &str {
        &self.store
    }
}
