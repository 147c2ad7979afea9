//! The tables of the database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::backends::FileBackend;
use redb::{Builder, Database, Durability, ReadableDatabase, TableDefinition, WriteTransaction};

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::files::open_private;

/// The version of the tables: `docs/format.md`.
pub(crate) const FORMAT: u64 = 1;
pub(crate) const FILE: &str = "frostpane.redb";
/// Bytes of the database that may stay in memory: most of what is read is read once.
const CACHE: usize = 16 << 20;

/// What there is one of.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Closed panes, by where they begin and end.
pub(crate) const PANES: TableDefinition<'_, (i64, i64), &[u8]> = TableDefinition::new("panes");
/// Users of the state that do not fit into the memory: of which kind, period or epoch and run, and which piece of it.
pub(crate) const USERS: TableDefinition<'_, (bool, i64, u32, u64), &[u8]> = TableDefinition::new("users");
/// What came since the state was written, in the order of its arrival.
pub(crate) const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
/// How far each source has been read.
pub(crate) const SOURCES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sources");
/// What was delivered under an id: a hash of it.
pub(crate) const DELIVERIES: TableDefinition<'_, &str, &[u8; 32]> = TableDefinition::new("deliveries");
/// Ids of deliveries by the moment after which all of what they delivered would be too late.
pub(crate) const OUTLIVED: TableDefinition<'_, (i64, &str), ()> = TableDefinition::new("outlived");
/// Releases by their ids.
pub(crate) const RELEASES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("releases");
/// Lists at every slide, by their numbers.
pub(crate) const LISTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("lists");
/// What was done, from 1 on.
pub(crate) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// Opens the database of a folder, or makes it.
pub(crate) fn open(folder: &Path, create: bool) -> Result<Database> {
    let path = folder.join(FILE);
    if !create && !path.exists() {
        return Err(Error::File(format!(
            "{} is no state of Frostpane: it has no file {FILE}; `frostpane init` begins one",
            folder.display()
        )));
    }
    let backend = Backend(FileBackend::new(open_private(&path)?)?);
    // Of a file that is damaged the database may panic rather than err.
    let opened = catch_unwind(AssertUnwindSafe(|| -> Result<Database> {
        let mut database = Builder::new()
            .set_cache_size(CACHE)
            .create_with_backend(backend)?;
        // It never goes on from an earlier commit: what came after it was acknowledged, and charged.
        match create || database.check_integrity()? {
            true => Ok(database),
            false => Err(Error::damaged("its pages are not what was written")),
        }
    }));
    opened.unwrap_or_else(|_| Err(Error::damaged("its pages cannot be read")))
}

/// A transaction that is on disk when it has been committed, and whose commit a crash cannot forge.
pub(crate) fn begin(database: &Database) -> Result<WriteTransaction> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// One of what there is one of.
pub(crate) fn the(database: &Database, name: &str) -> Result<Vec<u8>> {
    let table = database.begin_read()?.open_table(META)?;
    let value = table.get(name)?.map(|value| value.value().to_vec());
    value.ok_or_else(|| Error::damaged(format_args!("it has no {name}")))
}
