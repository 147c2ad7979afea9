//! Lock files: one process at a time holds a lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Releases the lock when it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Waits until no other process holds the lock.
    pub fn wait(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        file.lock()?;
        Ok(Self(file))
    }

    /// Returns `None` if another process holds the lock.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(cause),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child process that is being started still has the file open.
        let _ = self.0.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
