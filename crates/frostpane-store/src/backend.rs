//! The file of the database: compares every page that is read with its checksum. Every write is a point at
//! which a test can end the process, with half of it written.

use std::io;
use std::ops::Bound;
use std::sync::Arc;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use crate::checksums::Checksums;
use crate::files::points;

#[derive(Debug)]
pub(crate) struct Backend {
    pub file: FileBackend,
    pub checksums: Arc<Checksums>,
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        points::reading()?;
        self.file.read(offset, out)?;
        self.checksums.compare(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        points::writing()?;
        self.file.set_len(len)?;
        self.checksums.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        points::reached();
        self.checksums.sync()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        points::writing()?;
        #[cfg(feature = "internals")]
        {
            let (first, rest) = data.split_at(data.len() / 2);
            self.file.write(offset, first)?;
            points::writing()?;
            self.file.write(offset + first.len() as u64, rest)?;
        }
        #[cfg(not(feature = "internals"))]
        self.file.write(offset, data)?;
        self.checksums.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
