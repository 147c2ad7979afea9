//! Files that their owner alone can read.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{Error, Result};

/// Ending of the name that a file has until it is whole.
pub(crate) const DRAFT: &str = ".frostpane-draft";

/// Makes a folder that only its owner can look into, unless it is there.
pub(crate) fn create_folder(path: &Path) -> Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|cause| Error::file(path, cause))
}

/// Opens a file to be read and written, or makes it.
pub(crate) fn open_private(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options.open(path).map_err(|cause| Error::file(path, cause))
}

/// Puts bytes in the place of a file, all of them or none, so that they are there whatever happens.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(DRAFT);
    let draft = path.with_file_name(name);
    let fail = |cause| Error::file(path, cause);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)
        .map_err(fail)?;
    points::writing()
        .and_then(|()| file.write_all(bytes))
        .map_err(fail)?;
    if durable {
        points::reached();
        file.sync_all().map_err(fail)?;
    }
    points::reached();
    fs::rename(&draft, path).map_err(fail)?;
    if durable && let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        points::reached();
        sync_folder(folder)?;
    }
    Ok(())
}

/// So that files which were made in a folder are in it whatever happens.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|cause| Error::file(folder, cause))
}

/// Places at which a test makes the process end as if its power had gone, or the disk full.
pub mod points {
    use std::fs::{File, TryLockError};
    use std::io;
    #[cfg(feature = "internals")]
    use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

    #[cfg(feature = "internals")]
    static LEFT: AtomicI64 = AtomicI64::new(-1);
    #[cfg(feature = "internals")]
    static ROOM: AtomicI64 = AtomicI64::new(i64::MAX);
    #[cfg(feature = "internals")]
    static LOCKS: AtomicBool = AtomicBool::new(true);

    #[cfg(feature = "internals")]
    thread_local! {
        static UNREADABLE: std::cell::Cell<i64> = const { std::cell::Cell::new(i64::MAX) };
    }

    /// Something is about to be read.
    #[inline]
    pub(crate) fn reading() -> io::Result<()> {
        #[cfg(feature = "internals")]
        UNREADABLE.with(|left| {
            left.set(left.get().saturating_sub(1));
            match left.get() < 0 {
                // As Linux says it: an input/output error.
                true => Err(io::Error::from_raw_os_error(5)),
                false => Ok(()),
            }
        })?;
        Ok(())
    }

    /// What this thread reads from a database after so many more reads cannot be read.
    #[cfg(feature = "internals")]
    pub fn unreadable_after(reads: i64) {
        UNREADABLE.set(reads);
    }

    /// One of them has been reached.
    #[inline]
    pub(crate) fn reached() {
        #[cfg(feature = "internals")]
        if LEFT.fetch_sub(1, Relaxed) == 0 {
            std::process::abort();
        }
    }

    /// Something is about to be written.
    #[inline]
    pub(crate) fn writing() -> io::Result<()> {
        reached();
        #[cfg(feature = "internals")]
        if ROOM.fetch_sub(1, Relaxed) <= 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Locks a file for as long as it is open, or says that another one has it.
    #[inline]
    pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
        #[cfg(feature = "internals")]
        if !LOCKS.load(Relaxed) {
            return Ok(());
        }
        file.try_lock()
    }

    /// From now on locks of files lock nothing, as on some network file systems.
    #[cfg(feature = "internals")]
    pub fn without_locks() {
        LOCKS.store(false, Relaxed);
    }

    /// The process ends when so many more have been reached.
    #[cfg(feature = "internals")]
    pub fn end_after(points: i64) {
        LEFT.store(points, Relaxed);
    }

    /// The disk has room for so many more writes, or halves of one.
    #[cfg(feature = "internals")]
    pub fn full_after(writes: i64) {
        ROOM.store(writes, Relaxed);
    }

    /// For how many more it has.
    #[cfg(feature = "internals")]
    pub fn room() -> i64 {
        ROOM.load(Relaxed)
    }
}
