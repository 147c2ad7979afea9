//! Files that only their owner can read.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use frostpane::stream::SpillFactory;

use crate::error::{Error, Result};

/// Opens a file for reading and writing, and creates it if it does not exist.
pub(crate) fn open_private(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(|cause| Error::file(path, cause))
}

pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path)
}

/// Has the names of new files in a folder survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|cause| Error::file(folder, cause))
}

/// Creates a temporary file without a name: no other process can open it, and it disappears with this one.
pub fn scratch() -> io::Result<Box<dyn frostpane::File>> {
    Ok(Box::new(tempfile::tempfile()?))
}

/// Creates such files on the disk of a store.
pub(crate) fn scratch_in(folder: &Path) -> SpillFactory {
    let folder = folder.to_owned();
    SpillFactory::new(move || Ok(Box::new(tempfile::tempfile_in(&folder)?)))
}

/// Points at which a test ends the process as by a power failure, or makes the disk fail or full.
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

    pub(crate) fn reading() -> io::Result<()> {
        #[cfg(feature = "internals")]
        {
            UNREADABLE.set(UNREADABLE.get().saturating_sub(1));
            if UNREADABLE.get() < 0 {
                // EIO.
                return Err(io::Error::from_raw_os_error(5));
            }
        }
        Ok(())
    }

    /// Makes reads of a database by this thread fail after so many more.
    #[cfg(feature = "internals")]
    pub fn unreadable_after(reads: i64) {
        UNREADABLE.set(reads);
    }

    pub(crate) fn reached() {
        #[cfg(feature = "internals")]
        if LEFT.fetch_sub(1, Relaxed) == 0 {
            std::process::abort();
        }
    }

    pub(crate) fn writing() -> io::Result<()> {
        reached();
        #[cfg(feature = "internals")]
        if ROOM.fetch_sub(1, Relaxed) <= 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Locks a file for as long as it is open.
    pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
        #[cfg(feature = "internals")]
        if !LOCKS.load(Relaxed) {
            return Ok(());
        }
        file.try_lock()
    }

    /// Makes file locks have no effect, as on some network file systems.
    #[cfg(feature = "internals")]
    pub fn without_locks() {
        LOCKS.store(false, Relaxed);
    }

    /// Ends the process after so many more points.
    #[cfg(feature = "internals")]
    pub fn end_after(points: i64) {
        LEFT.store(points, Relaxed);
    }

    /// Makes the disk full after so many more writes, or halves of one.
    #[cfg(feature = "internals")]
    pub fn full_after(writes: i64) {
        ROOM.store(writes, Relaxed);
    }

    /// The number of writes until the disk is full.
    #[cfg(feature = "internals")]
    pub fn room() -> i64 {
        ROOM.load(Relaxed)
    }
}
