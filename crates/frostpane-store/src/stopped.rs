//! A stopped store: its users fitted neither into the memory nor onto the disk.
//!
//! Some of their events are then missing, and which ones depends on the events of all users. So nothing more
//! is ingested and nothing is released, also after reopening, until a restore goes on with the next epoch.

use frostpane::stream::Outcome;
use frostpane::{ErrorKind, Stream};
use redb::{ReadableDatabase, WriteTransaction};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::Store;
use crate::tables::{self, META};

const STOPPED: &str = "stopped";

impl<K: StoredKey> Store<K> {
    /// Changes the stream. Memory and disk then differ until the change is committed.
    pub(crate) fn change(
        &mut self,
        act: impl FnOnce(&mut Stream<K>) -> frostpane::Result<Outcome<K>>,
    ) -> Result<Outcome<K>> {
        self.check_not_stopped()?;
        let changed = self.guarded(|store| Ok(act(&mut store.stream)?));
        match &changed {
            Err(Error::Stream(cause)) if cause.kind() == ErrorKind::Memory => {
                self.stop()?;
                Err(stopped())
            }
            _ => changed,
        }
    }

    /// Stops the store: nothing is ingested or released, also after reopening, until it is restored.
    pub fn stop(&self) -> Result<()> {
        let transaction = tables::begin(&self.database)?;
        transaction.open_table(META)?.insert(STOPPED, [].as_slice())?;
        Ok(transaction.commit()?)
    }

    /// Returns true if the store is stopped: its users fitted neither into the memory nor onto the disk.
    pub fn is_stopped(&self) -> bool {
        matches!(self.check_not_stopped(), Err(Error::Stopped(_)))
    }

    pub(crate) fn check_not_stopped(&self) -> Result<()> {
        let meta = self.database.begin_read()?.open_table(META)?;
        meta.get(STOPPED)?.map_or(Ok(()), |_| Err(stopped()))
    }
}

/// Ends the stop.
pub(crate) fn clear(transaction: &WriteTransaction) -> Result<()> {
    transaction.open_table(META)?.remove(STOPPED)?;
    Ok(())
}

/// The message does not depend on the users.
fn stopped() -> Error {
    Error::Stopped(
        "the users of an epoch did not fit into the memory, and the disk that the rest should go to gave an \
         error, so nothing is taken and nothing is released: make room, and go on from the next epoch on, \
         with `frostpane restore DIR`, which marks all of the past as spent; or begin another state with \
         more memory, or a sample of the users",
    )
}
