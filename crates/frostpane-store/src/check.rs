//! A check of everything on disk.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::header::Header;
use crate::history::{ChainHead, HistoryEntry};
use crate::packed::Unpacker;
use crate::tables::{self, HISTORY, LISTS, RELEASES, meta_value};

/// The outcome of a check that found no damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Records of the history, each with a hash of all before it.
    pub records: u64,
    /// Releases with an id.
    pub releases: u64,
    /// Continual releases.
    pub lists: u64,
}

impl CheckReport {
    /// Checks every page, the chain of the history and every release. Renews the checksums if all are intact.
    pub fn of(folder: &Path) -> Result<Self> {
        let database = tables::open(folder, true)?;
        Header::of(&database)?;
        Ok(Self {
            records: history(&database)?,
            releases: texts(&database, RELEASES)?,
            lists: texts(&database, LISTS)?,
        })
    }
}

/// Checks that each record follows from the one before it, up to the head.
fn history(database: &Database) -> Result<u64> {
    let table = database.begin_read()?.open_table(HISTORY)?;
    let mut head = ChainHead::default();
    for row in table.iter()? {
        let (number, bytes) = row?;
        let entry: HistoryEntry = serde_json::from_slice(bytes.value())?;
        head = head.after(entry.record.as_bytes());
        if (number.value(), &entry.mark) != (head.generation, &head.mark) {
            return Err(Error::damaged(format_args!(
                "record {} of its history does not follow from those before it",
                number.value()
            )));
        }
    }
    if serde_json::from_slice::<ChainHead>(&meta_value(database, "head")?)? != head {
        return Err(Error::damaged("its history ends before its head"));
    }
    Ok(head.generation)
}

/// Counts the texts of a table, and checks that all of them are JSON.
fn texts<K: redb::Key + 'static>(database: &Database, table: TableDefinition<'_, K, &[u8]>) -> Result<u64> {
    let table = database.begin_read()?.open_table(table)?;
    let mut unpacker = Unpacker::new(database);
    let mut count = 0;
    for row in table.iter()? {
        serde_json::from_slice::<Value>(&unpacker.unpack(row?.1.value())?)?;
        count += 1;
    }
    Ok(count)
}
