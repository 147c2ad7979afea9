//! Restoring: goes on with a copy whose later releases are unknown.

use std::path::Path;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::history::Action;
use crate::stopped;
use crate::store::{DAY, Store, now};

impl<K: StoredKey> Store<K> {
    /// Opens a store that was restored from a copy. Releases since the copy was made are unknown, so all of
    /// its past is marked as spent. Continual releases go on with a pane of which nothing has been published.
    ///
    /// Refuses a store that shows no sign of being a copy, unless `force` declares it one; and a clock that
    /// is behind earlier actions, because the end of the spent past is then unknown.
    pub fn accept_restored(folder: &Path, force: bool) -> Result<Self> {
        let mut store = Self::read_when_free(folder)?;
        if !force {
            store.check_not_healthy()?;
        }
        let known = match &mut store.witness {
            Some(witness) => {
                witness.take()?;
                witness.reach(&store.header.store)?
            }
            None => None,
        };
        let known = known.unwrap_or_default();
        store.check_clock(known.position)?;
        store.abandon_pending()?;
        // Events may have come from a clock that was ahead.
        let until = known.position.max(now().saturating_add(DAY));
        store.guarded(|store| Ok(store.stream.distrust_past(until, known.lists)?))?;
        // The witness may know a later head than this copy: the history goes on from there.
        store.commit_action(Action::Restored, stopped::clear)?;
        store.recover()?;
        Ok(store)
    }

    /// Refuses a store that opens normally: restoring it would spend all of its budget for nothing.
    fn check_not_healthy(&mut self) -> Result<()> {
        if self.is_stopped() || self.check_commits().is_err() {
            return Ok(());
        }
        if self.witness.is_none() {
            return Err(Error::conflict(
                "nothing shows that this is a copy, as it has no witness, and restoring marks all of its \
                 past as spent: if you know that it is one, \
                 say so, with `frostpane restore DIR --force`; nothing was changed",
            ));
        }
        match self.check_witness() {
            Err(Error::Busy(message)) => Err(Error::Busy(message)),
            Err(_) => Ok(()),
            Ok(()) => Err(Error::conflict(
                "this is the latest state that its witness knows of, and no copy: go on with it, nothing has \
                 to be restored, and nothing was changed \
                 (`frostpane restore DIR --force` marks all of its past as spent all the same)",
            )),
        }
    }

    /// Checks that the clock is not behind earlier actions, of this copy or known to the witness.
    fn check_clock(&self, position: i64) -> Result<()> {
        if self.stream.spec().longest().is_by_count() {
            return Ok(());
        }
        let now = now();
        let records = self.history(1)?.into_iter();
        let latest = records.filter_map(|record| record.at.parse::<Timestamp>().ok()).max();
        let latest = latest.map_or(i64::MIN, Timestamp::as_microsecond);
        // A tick may be a day ahead of the clock.
        let reached = position.max(self.stream.now()).saturating_sub(DAY);
        if latest.max(reached) <= now {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "the clock of this machine says {}, but this state had come to {} before: set the clock, or \
             nobody knows up to where the past is spent; nothing was changed",
            self.moment(now),
            self.moment(latest.max(reached))
        )))
    }
}
