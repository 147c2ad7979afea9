//! Panes that go from one state to another, with their accounts.

use std::ops::Range;

use frostpane::Keys;
use frostpane::stream::Exported;
use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::hex;
use crate::history::Deed;
use crate::store::{Begin, Change, Store};

/// Panes that have gone, until nobody asks for them any more; and those that have come, by where they came from.
const GONE: TableDefinition<'_, (i64, i64), &[u8]> = TableDefinition::new("gone");
/// The version of exported panes.
const FORMAT: u64 = 1;
const CAME: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("came");

/// Closed panes on their way from one state to another, with what they have spent. **They hold what people did.**
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panes {
    format: u64,
    /// The state that they come from.
    store: String,
    /// The state that they go to, and no other.
    destination: String,
    /// What they are made with: they go to a state that makes panes with the same.
    fingerprint: String,
    from: i64,
    to: i64,
    exported: Exported,
}

impl<K: StoredKey> Store<K> {
    /// Begins a state that makes the same panes as another one: panes can then go from one to the other.
    pub fn create_like(folder: &std::path::Path, other: &Self, begin: Begin) -> Result<Self> {
        let stream = other.stream.like(begin.from.unwrap_or_else(crate::store::now))?;
        let keys: Keys<K> = stream.keys().clone();
        Self::create_with(folder, stream, keys, begin)
    }

    /// Takes closed panes out, those that lie in this range of positions, for one other state. They are spent here: none of them is released from
    /// here again. The same range gives the same panes again, in case they were lost on their way.
    pub fn export(&mut self, positions: Range<i64>, destination: &str) -> Result<Panes> {
        self.check_whole()?;
        let key = (positions.start, positions.end);
        if let Some(gone) = self.gone(key)? {
            return match gone.destination == destination {
                true => Ok(gone),
                false => Err(Error::conflict(
                    "these panes have gone to another state: a pane is in one place",
                )),
            };
        }
        // What is refused has changed nothing.
        let exported = self.stream.export(positions.clone())?;
        let panes = Panes {
            format: FORMAT,
            store: self.header.store.clone(),
            destination: destination.to_owned(),
            fingerprint: hex(&self.stream.fingerprint()),
            from: positions.start,
            to: positions.end,
            exported,
        };
        let bytes = serde_json::to_vec(&panes)?;
        let change = Change {
            deed: Some(Deed::Exported {
                from: positions.start,
                to: positions.end,
            }),
            ..Change::default()
        };
        self.commit_with(change, |transaction| {
            transaction.open_table(GONE)?.insert(key, bytes.as_slice())?;
            Ok(())
        })?;
        Ok(panes)
    }

    fn gone(&self, key: (i64, i64)) -> Result<Option<Panes>> {
        let table = match self.database.begin_read()?.open_table(GONE) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        };
        let panes = table.get(key)?.map(|bytes| serde_json::from_slice(bytes.value()));
        Ok(panes.transpose()?)
    }

    /// Takes panes in that come from another state, where this one has none. They have spent here what they had spent there.
    pub fn import(&mut self, panes: &Panes) -> Result<()> {
        self.check_whole()?;
        self.check_not_built()?;
        if panes.fingerprint != hex(&self.stream.fingerprint()) {
            return Err(Error::conflict(
                "these panes were made with other numbers than those of this state: begin it with `frostpane init --like` the one that they come from",
            ));
        }
        if panes.destination != self.header.store {
            return Err(Error::conflict(
                "these panes go to another state: a pane is in one place",
            ));
        }
        let origin = format!("{} {}..{}", panes.store, panes.from, panes.to);
        if panes.store == self.header.store || self.came(&origin)? {
            return Err(Error::conflict(
                "these panes have been here already, and an event counts once: nothing was taken",
            ));
        }
        self.stream.check_import(&panes.exported)?;
        self.guarded(|store| Ok(store.stream.import(&panes.exported)?))?;
        let change = Change {
            deed: Some(Deed::Imported {
                from: panes.from,
                to: panes.to,
            }),
            ..Change::default()
        };
        self.commit_with(change, |transaction| {
            transaction
                .open_table(CAME)?
                .insert(origin.as_str(), [].as_slice())?;
            Ok(())
        })
    }

    /// Forgets closed panes, those that lie in this range of positions, also of those that were exported. Later releases are without them; what they
    /// have spent stays spent.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        self.check_whole()?;
        let within = |from: i64, to: i64| positions.start <= from && to <= positions.end;
        match self.stream.forget(positions.clone()) {
            // What is refused has changed nothing, and is in no history.
            Err(cause) if !self.has_gone(within)? => return Err(cause.into()),
            _ => {}
        }
        let change = Change {
            deed: Some(Deed::Forgot {
                from: positions.start,
                to: positions.end,
            }),
            ..Change::default()
        };
        self.commit_with(change, |transaction| {
            let mut table = transaction.open_table(GONE)?;
            table.retain(|(from, to), _| !within(from, to))?;
            Ok(())
        })
    }

    /// Whether panes were exported that lie so.
    fn has_gone(&self, within: impl Fn(i64, i64) -> bool) -> Result<bool> {
        let table = match self.database.begin_read()?.open_table(GONE) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(false),
            Err(cause) => return Err(cause.into()),
        };
        for row in table.iter()? {
            let (from, to) = row?.0.value();
            if within(from, to) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn came(&self, origin: &str) -> Result<bool> {
        match self.database.begin_read()?.open_table(CAME) {
            Ok(table) => Ok(table.get(origin)?.is_some()),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(false),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Whether panes have come from another state.
    pub(crate) fn has_imported(&self) -> Result<bool> {
        match self.database.begin_read()?.open_table(CAME) {
            Ok(table) => Ok(!table.is_empty()?),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(false),
            Err(cause) => Err(cause.into()),
        }
    }
}

impl Panes {
    /// As bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let panes: Self = serde_json::from_slice(bytes)
            .map_err(|cause| Error::conflict(format!("this is no file of panes ({cause})")))?;
        match panes.format == FORMAT {
            true => Ok(panes),
            false => Err(Error::conflict(
                "these panes were written by a newer version of the program: use that version",
            )),
        }
    }

    /// The state that they come from.
    pub fn store(&self) -> &str {
        &self.store
    }
}
