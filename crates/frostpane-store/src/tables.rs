//! The tables of the database.

use std::borrow::Borrow;
use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Once};

use redb::backends::FileBackend;
use redb::{
    Builder, Database, Durability, Key, ReadOnlyTable, ReadableDatabase, TableDefinition, TableError, Value,
    WriteTransaction,
};

use crate::backend::Backend;
use crate::checksums::Checksums;
use crate::error::{Error, Result};
use crate::files::open_private;

/// The version of the tables: `docs/format.md`.
pub(crate) const FORMAT: u64 = 2;
pub(crate) const FILE: &str = "frostpane.redb";
/// Bytes of the database that may stay in memory: most reads happen once.
const CACHE: usize = 16 << 20;

/// Singleton values: header, keys, state, accounts, head, commits.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Closed panes, by their bounds.
pub(crate) const PANES: TableDefinition<'_, (i64, i64), &[u8]> = TableDefinition::new("panes");
/// Users that do not fit into the memory, by kind, period or epoch, run, and piece of the run.
pub(crate) const USERS: TableDefinition<'_, (bool, i64, u32, u64), &[u8]> = TableDefinition::new("users");
/// Events and ticks since the state was written, in the order of arrival.
pub(crate) const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
pub(crate) const SOURCES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("sources");
/// Hashes of deliveries, by id.
pub(crate) const DELIVERIES: TableDefinition<'_, &str, &[u8; 32]> = TableDefinition::new("deliveries");
/// Terms and receipts of deliveries, by id.
pub(crate) const RECEIPTS: TableDefinition<'_, &str, (&str, &str)> = TableDefinition::new("receipts");
/// Ids of deliveries, by the moment after which all of their events would be too late.
pub(crate) const OUTLIVED: TableDefinition<'_, (i64, &str), ()> = TableDefinition::new("outlived");
pub(crate) const RELEASES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("releases");
/// Ids of releases that are charged and not yet stored.
pub(crate) const PENDING: TableDefinition<'_, &str, ()> = TableDefinition::new("pending");
/// Texts that serve as dictionaries of compression, by number.
pub(crate) const DICTIONARIES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("dictionaries");
/// Continual releases, by number.
pub(crate) const LISTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("lists");
/// Records of the history, counted from 1.
pub(crate) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// Opens the database of a folder. Without reliable checksums, or if it is to be checked, all pages are
/// checked; otherwise each is compared with its own checksum when it is read.
pub(crate) fn open(folder: &Path, check: bool) -> Result<Database> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Err(Error::File(format!(
            "{} is no state of Frostpane: it has no file {FILE}; `frostpane init` begins one",
            folder.display()
        )));
    }
    let open = |check| open_file(folder, open_private(&path)?, check);
    match open(check) {
        Err(_) if is_doubted(folder) => open(true),
        opened => opened,
    }
}

/// Returns true if a page has differed from its checksum, so that the next opening checks all pages.
pub(crate) fn is_doubted(folder: &Path) -> bool {
    let database = File::open(folder.join(FILE));
    database.is_ok_and(|database| {
        Checksums::open(folder, &database).is_ok_and(|checksums| !checksums.are_known())
    })
}

pub(crate) fn open_file(folder: &Path, file: File, check: bool) -> Result<Database> {
    let path = folder.join(FILE);
    let fail = |cause| Error::file(&path, cause);
    let same = file.try_clone().map_err(fail)?;
    let checksums = Arc::new(Checksums::open(folder, &file)?);
    let backend = Backend { file: FileBackend::new(file)?, checksums: checksums.clone() };
    guarded(|| {
        let mut database = Builder::new().set_cache_size(CACHE).create_with_backend(backend)?;
        if checksums.are_known() && !check {
            return Ok(database);
        }
        checksums.doubt().map_err(fail)?;
        // An earlier commit is no repair: later ones were acknowledged, and charged.
        if !database.check_integrity()? {
            return Err(Error::damaged("its pages are not what was written"));
        }
        checksums.rebuild(&same).map_err(fail)?;
        Ok(database)
    })
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}
static QUIET: Once = Once::new();

/// redb panics on some damaged files: that is an error, of which nothing else is written.
fn guarded(open: impl FnOnce() -> Result<Database>) -> Result<Database> {
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    GUARDED.set(true);
    let opened = catch_unwind(AssertUnwindSafe(open));
    GUARDED.set(false);
    opened.unwrap_or_else(|_| Err(Error::damaged("its pages cannot be read")))
}

/// Begins a transaction that is on disk once it is committed, and whose commit a crash cannot forge.
pub(crate) fn begin(database: &Database) -> Result<WriteTransaction> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_two_phase_commit(true);
    transaction.set_quick_repair(true);
    Ok(transaction)
}

/// Opens a table for reading; none if it was never written.
pub(crate) fn open_existing<K: Key + 'static, V: Value + 'static>(
    database: &Database,
    table: TableDefinition<'_, K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>> {
    match database.begin_read()?.open_table(table) {
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(Some(table?)),
    }
}

pub(crate) fn value<'a, K: Key + 'static>(
    database: &Database,
    table: TableDefinition<'_, K, &[u8]>,
    key: impl Borrow<K::SelfType<'a>>,
) -> Result<Option<Vec<u8>>> {
    let table = database.begin_read()?.open_table(table)?;
    Ok(table.get(key)?.map(|value| value.value().to_vec()))
}

pub(crate) fn meta_value(database: &Database, name: &str) -> Result<Vec<u8>> {
    value(database, META, name)?.ok_or_else(|| Error::damaged(format_args!("it has no {name}")))
}
