//! The tables of the database.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use redb::backends::FileBackend;
use redb::{Builder, Database, Durability, ReadableDatabase, TableDefinition, WriteTransaction};

use crate::backend::Backend;
use crate::checksums::Checksums;
use crate::error::{Error, Result};
use crate::files::open_private;

/// The version of the tables: `docs/format.md`.
pub(crate) const FORMAT: u64 = 2;
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
/// How what was delivered under an id was to be read, and what its producer was answered.
pub(crate) const RECEIPTS: TableDefinition<'_, &str, (&str, &str)> = TableDefinition::new("receipts");
/// Ids of deliveries by the moment after which all of what they delivered would be too late.
pub(crate) const OUTLIVED: TableDefinition<'_, (i64, &str), ()> = TableDefinition::new("outlived");
/// Releases by their ids.
pub(crate) const RELEASES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("releases");
/// Ids of releases that were charged and are not kept yet.
pub(crate) const PENDING: TableDefinition<'_, &str, ()> = TableDefinition::new("pending");
/// Releases that others are much like, by number.
pub(crate) const DICTIONARIES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("dictionaries");
/// Lists at every slide, by their numbers.
pub(crate) const LISTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("lists");
/// What was done, from 1 on.
pub(crate) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// Makes the database of a new state in a file that is empty.
pub(crate) fn create(folder: &Path, file: File) -> Result<Database> {
    open_file(folder, file, false)
}

/// Opens the database of a folder. All pages are checked if there are no checksums of them that can be relied on; else each is
/// compared with its own when it is read.
pub(crate) fn open(folder: &Path) -> Result<Database> {
    open_or_check(folder, false)
}

/// Opens the database of a folder and checks all of its pages, which takes as long as they are many.
pub(crate) fn open_checked(folder: &Path) -> Result<Database> {
    open_or_check(folder, true)
}

fn open_or_check(folder: &Path, check: bool) -> Result<Database> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Err(Error::File(format!(
            "{} is no state of Frostpane: it has no file {FILE}; `frostpane init` begins one",
            folder.display()
        )));
    }
    match open_as_written(folder, check) {
        Err(_) if is_doubted(folder) => open_as_written(folder, true),
        opened => opened,
    }
}

/// Whether a page was not what its checksum says, so that whoever opens the database next checks all of them.
pub(crate) fn is_doubted(folder: &Path) -> bool {
    let database = File::open(folder.join(FILE));
    database.is_ok_and(|database| {
        Checksums::open(folder, &database).is_ok_and(|checksums| !checksums.are_known())
    })
}

fn open_as_written(folder: &Path, check: bool) -> Result<Database> {
    open_file(folder, open_private(&folder.join(FILE))?, check)
}

fn open_file(folder: &Path, file: File, check: bool) -> Result<Database> {
    let path = folder.join(FILE);
    let fail = |cause| Error::file(&path, cause);
    let same = file.try_clone().map_err(fail)?;
    let checksums = Arc::new(Checksums::open(folder, &file)?);
    let backend = Backend {
        file: FileBackend::new(file)?,
        checksums: checksums.clone(),
    };
    // Of a file that is damaged the database may panic rather than err.
    let opened = catch_unwind(AssertUnwindSafe(|| -> Result<Database> {
        let mut database = Builder::new()
            .set_cache_size(CACHE)
            .create_with_backend(backend)?;
        if checksums.are_known() && !check {
            return Ok(database);
        }
        checksums.doubt().map_err(fail)?;
        // It never goes on from an earlier commit: what came after it was acknowledged, and charged.
        match database.check_integrity()? {
            true => checksums.rebuild(&same).map_err(fail).map(|()| database),
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
