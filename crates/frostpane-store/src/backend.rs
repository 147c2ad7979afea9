//! Where the database writes: a file, with every write a point at which a test can end the process, half of it written.

use std::io;
use std::ops::Bound;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use crate::files::points;

#[derive(Debug)]
pub(crate) struct Backend(pub FileBackend);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        points::reading()?;
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        points::writing()?;
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        points::reached();
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        points::writing()?;
        #[cfg(feature = "internals")]
        {
            let (first, rest) = data.split_at(data.len() / 2);
            self.0.write(offset, first)?;
            points::writing()?;
            self.0.write(offset + first.len() as u64, rest)
        }
        #[cfg(not(feature = "internals"))]
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.query_lock_range(start, end)
    }
}
