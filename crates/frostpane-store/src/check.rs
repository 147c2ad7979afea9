//! A check of everything that a state has on disk, on demand: it takes as long as that is much.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::header::Header;
use crate::history::{Entry, Head};
use crate::packed::Unpacker;
use crate::tables::{self, HISTORY, LISTS, RELEASES, the};

/// What was checked, all of which is as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Records of the history, each with a mark of all before it.
    pub records: u64,
    /// Releases that are kept by an id.
    pub releases: u64,
    /// Lists at every slide.
    pub lists: u64,
}

impl Checked {
    /// Checks every page of a state, the chain of its history, and that every release can be read. Where the pages are whole their checksums are
    /// written anew.
    pub fn of(folder: &Path) -> Result<Self> {
        let database = tables::open_checked(folder)?;
        Header::of(&database)?;
        Ok(Self {
            records: history(&database)?,
            releases: texts(&database, RELEASES)?,
            lists: texts(&database, LISTS)?,
        })
    }
}

/// That each record follows from the one before it, up to the head.
fn history(database: &Database) -> Result<u64> {
    let table = database.begin_read()?.open_table(HISTORY)?;
    let mut head = Head::default();
    for row in table.iter()? {
        let (number, bytes) = row?;
        let entry: Entry = serde_json::from_slice(bytes.value())?;
        head = head.after(entry.record.as_bytes());
        if (number.value(), &entry.mark) != (head.generation, &head.mark) {
            return Err(Error::damaged(format_args!(
                "record {} of its history does not follow from those before it",
                number.value()
            )));
        }
    }
    match serde_json::from_slice::<Head>(&the(database, "head")?)? == head {
        true => Ok(head.generation),
        false => Err(Error::damaged("its history ends before its head")),
    }
}

/// How many texts a table has, all of which are JSON.
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
