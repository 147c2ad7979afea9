//! Transactions: everything that belongs to one change is committed together, and only then shown.

use std::collections::BTreeSet;

use frostpane::Stream;
use frostpane::stream::{RunOfUsers, SecretBytes, SecretId, secret_id};
use jiff::Timestamp;
use redb::WriteTransaction;
use zeroize::Zeroizing;

use crate::atomic_file::replace;
use crate::budget::Summary;
use crate::error::Result;
use crate::header::StoredKey;
use crate::hex;
use crate::history::{Action, ChainHead, HistoryEntry, NewRecord};
use crate::packed::pack;
use crate::random;
use crate::release::ReleaseRow;
use crate::source::SourceProgress;
use crate::store::{STATUS, Store};
use crate::tables::{self, HISTORY, LISTS, LOG, META, PANES, PENDING, RELEASES, SOURCES, USERS};

#[derive(Default)]
pub(crate) struct LogPosition {
    pub next: u64,
    pub bytes: u64,
}

#[derive(Default)]
pub(crate) struct ChangeSet<'a> {
    pub source: Option<(&'a str, SourceProgress)>,
    /// A log entry, in place of the state.
    pub entry: Option<Vec<u8>>,
    /// Continual releases as JSON, by number.
    pub lists: &'a [(u64, &'a [u8])],
    /// A release with this id.
    pub release: Option<(&'a str, &'a ReleaseRow)>,
    /// Present if the change shows something, or cannot be undone.
    pub action: Option<Action>,
    /// Secrets that are needed beside those of the stream.
    pub secrets: Vec<SecretBytes>,
}

impl<K: StoredKey> Store<K> {
    /// Commits an action with the state, and `more` in the same transaction.
    pub(crate) fn commit_action(
        &mut self,
        action: Action,
        more: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<()> {
        self.commit_with(ChangeSet { action: Some(action), ..ChangeSet::default() }, more)
    }

    /// Commits all of a change or nothing: secrets first, then everything else in one transaction, then the
    /// witness. The witness is compared before the transaction, and refuses after it if another copy goes on.
    /// After a failure it is unknown how much is on disk, so the store is broken.
    pub(crate) fn commit_with(
        &mut self,
        change: ChangeSet<'_>,
        more: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<()> {
        self.check_usable()?;
        let shows = change.action.is_some();
        let writes_state = change.entry.is_none() && change.release.is_none();
        self.guarded(|store| {
            if let Some(witness) = store.witness.as_ref().filter(|_| shows) {
                witness.check()?;
            }
            let of_stream = store.stream.secrets().into_iter().map(|secret| Zeroizing::new(*secret));
            let needed: Vec<SecretBytes> = of_stream.chain(change.secrets.iter().cloned()).collect();
            store.secrets.keep(needed.iter().map(|secret| &**secret))?;
            let transaction = tables::begin(&store.database)?;
            more(&transaction)?;
            let head = store.write(&transaction, &change, writes_state)?;
            transaction.commit()?;
            store.head = head;
            store.commits += 1;
            store.secrets.count(store.commits)?;
            let reach = store.reach();
            if let Some(witness) = store.witness.as_mut().filter(|_| shows) {
                witness.advance(&store.header.store, &store.head, reach)?;
            }
            if writes_state {
                store.stored_panes = panes_of(&store.stream);
                store.stored_runs = runs_of(&store.stream);
                store.erase_secrets()?;
                store.write_status()?;
            }
            Ok(())
        })
    }

    fn write(
        &mut self,
        transaction: &WriteTransaction,
        change: &ChangeSet<'_>,
        writes_state: bool,
    ) -> Result<ChainHead> {
        if let Some((source, progress)) = change.source {
            transaction.open_table(SOURCES)?.insert(source, progress.to_bytes().as_slice())?;
        }
        for (number, json) in change.lists {
            let packed = pack(transaction, json)?;
            transaction.open_table(LISTS)?.insert(number, packed.as_slice())?;
        }
        if let Some((id, row)) = change.release {
            let mut pending = transaction.open_table(PENDING)?;
            if row.ordered.is_some() {
                pending.insert(id, ())?;
            } else {
                pending.remove(id)?;
            }
            let packed = pack(transaction, &serde_json::to_vec(row)?)?;
            transaction.open_table(RELEASES)?.insert(id, packed.as_slice())?;
        }
        if let Some(entry) = &change.entry {
            transaction.open_table(LOG)?.insert(self.log.next, entry.as_slice())?;
            self.log.next += 1;
            self.log.bytes += entry.len() as u64;
        }
        if writes_state {
            self.write_state(transaction)?;
        }
        let mut meta = transaction.open_table(META)?;
        meta.insert("accounts", self.stream.accounts().as_slice())?;
        let head = match &change.action {
            Some(action) => record(transaction, &self.head, action)?,
            None => self.head.clone(),
        };
        meta.insert("head", serde_json::to_vec(&head)?.as_slice())?;
        meta.insert("commits", (self.commits + 1).to_le_bytes().as_slice())?;
        Ok(head)
    }

    /// Writes the state and the new panes, removes the panes that have left, and clears the log.
    fn write_state(&mut self, transaction: &WriteTransaction) -> Result<()> {
        let mut panes = transaction.open_table(PANES)?;
        for bounds in self.stream.closed() {
            if !self.stored_panes.contains(&(bounds.start, bounds.end)) {
                panes.insert((bounds.start, bounds.end), self.stream.closed_pane(&bounds)?.as_slice())?;
            }
        }
        for removed in self.stored_panes.difference(&panes_of(&self.stream)) {
            panes.remove(*removed)?;
        }
        self.write_users(transaction)?;
        transaction.open_table(META)?.insert("state", self.stream.state().as_slice())?;
        let mut log = transaction.open_table(LOG)?;
        log.retain(|_, _| false)?;
        self.log.bytes = 0;
        Ok(())
    }

    /// Writes new runs of users, and removes those that are gone. Users in memory are part of the state.
    fn write_users(&mut self, transaction: &WriteTransaction) -> Result<()> {
        let runs = self.stream.runs_of_users();
        if runs.is_empty() && self.stored_runs.is_empty() {
            return Ok(());
        }
        let mut users = transaction.open_table(USERS)?;
        for (run, pieces) in &runs {
            for piece in (0..*pieces).filter(|_| !self.stored_runs.contains(run)) {
                users.insert(key_of(run, piece), self.stream.piece_of_run(run, piece)?.as_slice())?;
            }
        }
        let present: BTreeSet<RunOfUsers> = runs.into_iter().map(|(run, _)| run).collect();
        for removed in self.stored_runs.difference(&present) {
            users.retain_in(key_of(removed, 0)..=key_of(removed, u64::MAX), |_, _| false)?;
        }
        Ok(())
    }

    /// Overwrites the secrets that no release needs any more.
    pub(crate) fn erase_secrets(&mut self) -> Result<()> {
        let mut needed: Vec<SecretId> = self.stream.secrets().into_iter().map(secret_id).collect();
        needed.extend(&self.pending_secrets);
        self.secrets.erase_others(&needed)
    }

    /// Writes the status for other processes. Nothing that is stored depends on it, so an error is ignored.
    pub(crate) fn write_status(&self) -> Result<()> {
        let (path, status) = (self.folder.join(STATUS), Summary::of(self)?.to_bytes()?);
        if replace(&path, &status, false).is_err() {
            // A missing file is better than an outdated one.
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    }
}

fn record(transaction: &WriteTransaction, head: &ChainHead, action: &Action) -> Result<ChainHead> {
    let record = serde_json::to_string(&NewRecord {
        at: Timestamp::now().to_string(),
        what: action,
        nonce: hex(&*random::<16>()?),
    })?;
    let after = head.after(record.as_bytes());
    let entry = serde_json::to_vec(&HistoryEntry { record, mark: after.mark.clone() })?;
    transaction.open_table(HISTORY)?.insert(after.generation, entry.as_slice())?;
    Ok(after)
}

fn panes_of<K: StoredKey>(stream: &Stream<K>) -> BTreeSet<(i64, i64)> {
    stream.closed().into_iter().map(|pane| (pane.start, pane.end)).collect()
}

pub(crate) fn runs_of<K: StoredKey>(stream: &Stream<K>) -> BTreeSet<RunOfUsers> {
    stream.runs_of_users().into_iter().map(|(run, _)| run).collect()
}

/// The key of a piece of a run in [`USERS`].
pub(crate) fn key_of(run: &RunOfUsers, piece: u64) -> (bool, i64, u32, u64) {
    (run.is_admitted, run.number, run.run, piece)
}
