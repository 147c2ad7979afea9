//! A state whose users fitted neither into the memory nor onto the disk.
//!
//! Some of their events are missing then, and which ones depends on everybody's: so nothing more is taken and nothing is released, also by
//! whoever opens it next, until it is gone on with from the next epoch on.

use frostpane::stream::Taken;
use frostpane::{ErrorKind, Stream};
use redb::{ReadableDatabase, WriteTransaction};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::Store;
use crate::tables::{self, META};

const STOPPED: &str = "stopped";

impl<K: StoredKey> Store<K> {
    /// Has the stream take something, after which memory and disk differ unless it is kept.
    pub(crate) fn change(
        &mut self,
        act: impl FnOnce(&mut Stream<K>) -> frostpane::Result<Taken<K>>,
    ) -> Result<Taken<K>> {
        self.check_going()?;
        let changed = self.guarded(|store| Ok(act(&mut store.stream)?));
        match &changed {
            Err(Error::Stream(cause)) if cause.kind() == ErrorKind::Memory => {
                self.stop()?;
                Err(stopped())
            }
            _ => changed,
        }
    }

    /// Marks it so that nothing is taken and nothing is released, by whoever opens it, until it is gone on with from the next epoch on.
    pub fn stop(&self) -> Result<()> {
        let transaction = tables::begin(&self.database)?;
        transaction.open_table(META)?.insert(STOPPED, [].as_slice())?;
        Ok(transaction.commit()?)
    }

    /// Whether users fitted neither into the memory nor onto the disk, so that nothing is taken and nothing is released.
    pub fn is_stopped(&self) -> bool {
        matches!(self.check_going(), Err(Error::Stopped(_)))
    }

    /// That nobody had to be left out.
    pub(crate) fn check_going(&self) -> Result<()> {
        let meta = self.database.begin_read()?.open_table(META)?;
        match meta.get(STOPPED)? {
            None => Ok(()),
            Some(_) => Err(stopped()),
        }
    }
}

/// It goes on.
pub(crate) fn forget(transaction: &WriteTransaction) -> Result<()> {
    transaction.open_table(META)?.remove(STOPPED)?;
    Ok(())
}

/// The same words whoever they were.
fn stopped() -> Error {
    Error::Stopped(
        "the users of an epoch did not fit into the memory, and the disk that the rest should go to gave an error, so nothing is taken and nothing is \
         released: make room, and go on from the next epoch on, with `frostpane restore DIR`, which marks all of the past as spent; or begin another \
         state with more memory, or a sample of the users",
    )
}
