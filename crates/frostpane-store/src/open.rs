//! Opening: reads what is on disk, replays the log, and checks that no other copy goes on.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use frostpane::stream::{RunOfUsers, SecretBytes, SecretId, SnapshotSource as StoredParts, SpillFactory};
use frostpane::{Keys, Stream};
use redb::{Database, ReadableDatabase, ReadableTable};

use crate::error::{Error, Result};
use crate::files::scratch_in;
use crate::header::{Header, KeyKind, StoredKey};
use crate::history::{ChainHead, HistoryEntry};
use crate::log;
use crate::release::index_pending;
use crate::secrets::Secrets;
use crate::store::{SECRETS, Store};
use crate::tables::{self, FORMAT, HISTORY, LOG, META, PANES, USERS, meta_value, value};
use crate::transaction::{LogPosition, key_of, runs_of};
use crate::witness::Witness;

/// A process that only reads the status is done after this time.
const BRIEFLY: Duration = Duration::from_secs(1);

impl<K: StoredKey> Store<K> {
    /// Opens a store.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self::read_when_free(folder)?;
        store.check_commits()?;
        store.check_witness()?;
        store.recover()?;
        Ok(store)
    }

    /// Refuses a database that lacks a commit which the file of secrets counts.
    pub(crate) fn check_commits(&self) -> Result<()> {
        if self.commits < self.secrets.commits() {
            return Err(Error::damaged("it is older than its secrets"));
        }
        Ok(())
    }

    /// Reads a store, and waits a moment for a process that reads its status.
    pub(crate) fn read_when_free(folder: &Path) -> Result<Self> {
        let until = Instant::now() + BRIEFLY;
        loop {
            match Self::read(folder) {
                Err(Error::Busy(_)) if Instant::now() < until => std::thread::sleep(BRIEFLY / 40),
                read => return read,
            }
        }
    }

    pub(crate) fn read(folder: &Path) -> Result<Self> {
        match Self::read_as_written(folder) {
            // A page or its checksum is wrong: a check of all pages says which.
            Err(_) if tables::is_doubted(folder) => Self::read_as_written(folder),
            read => read,
        }
    }

    fn read_as_written(folder: &Path) -> Result<Self> {
        let database = tables::open(folder, false)?;
        let header = convert(&database, Header::of(&database)?)?;
        if header.keys != K::KIND {
            return Err(Error::conflict(format!(
                "the keys of this state are {}: open it as such",
                match header.keys {
                    KeyKind::Bytes => "bytes",
                    KeyKind::Integers => "integers",
                }
            )));
        }
        let secrets = Secrets::open(&folder.join(SECRETS))?;
        let keys = Keys::from_bytes(&meta_value(&database, "keys")?)?;
        let (state, accounts) = (meta_value(&database, "state")?, meta_value(&database, "accounts")?);
        let mut reader = StateReader {
            folder,
            database: &database,
            secrets: &secrets,
            panes: BTreeSet::new(),
            failed: None,
        };
        let restored = Stream::restore(header.spec.clone(), keys, [&state, &accounts], &mut reader);
        // The stream sees a failed read as a missing part: the error of the read says more.
        if let Some(cause) = reader.failed {
            return Err(cause);
        }
        let (mut stream, stored_panes) = (restored?, reader.panes);
        let stored_runs = runs_of(&stream);
        let log = replay(&database, &mut stream)?;
        let head = serde_json::from_slice(&meta_value(&database, "head")?)?;
        let commits = meta_value(&database, "commits")?.try_into().map(u64::from_le_bytes).unwrap_or(0);
        Ok(Self {
            folder: folder.to_owned(),
            witness: header.witness.clone().map(Witness::new),
            header,
            database,
            stream,
            secrets,
            head,
            stored_panes,
            stored_runs,
            log,
            pending_secrets: Vec::new(),
            commits,
            ahead: 0,
            broken: false,
        })
    }

    /// Checks that this is no copy of a store that has gone on, and that no process has a copy open.
    pub(crate) fn check_witness(&mut self) -> Result<()> {
        let reach = self.reach();
        let Some(witness) = &mut self.witness else {
            return Ok(());
        };
        let head_at = |generation| head_at(&self.database, generation);
        witness.open(&self.header.store, &self.head, reach, head_at)
    }

    /// Makes a release that was charged before a crash, and erases secrets that are not needed any more.
    pub(crate) fn recover(&mut self) -> Result<()> {
        self.complete_pending()?;
        self.erase_secrets()?;
        self.write_status()
    }
}

fn head_at(database: &Database, generation: u64) -> Result<Option<ChainHead>> {
    if generation == 0 {
        return Ok(Some(ChainHead::default()));
    }
    let Some(bytes) = value(database, HISTORY, generation)? else {
        return Ok(None);
    };
    let entry: HistoryEntry = serde_json::from_slice(&bytes)?;
    Ok(Some(ChainHead { generation, mark: entry.mark }))
}

fn convert(database: &Database, header: Header) -> Result<Header> {
    if header.format == FORMAT {
        return Ok(header);
    }
    let header = Header { format: FORMAT, ..header };
    let transaction = tables::begin(database)?;
    index_pending(&transaction)?;
    transaction.open_table(META)?.insert("header", serde_json::to_vec(&header)?.as_slice())?;
    transaction.commit()?;
    Ok(header)
}

/// Applies the log to the state that was written before it.
fn replay<K: StoredKey>(database: &Database, stream: &mut Stream<K>) -> Result<LogPosition> {
    let mut position = LogPosition::default();
    let table = database.begin_read()?.open_table(LOG)?;
    for row in table.iter()? {
        let (number, entry) = row?;
        log::replay(entry.value(), stream)?;
        position.next = number.value() + 1;
        position.bytes += entry.value().len() as u64;
    }
    Ok(position)
}

struct StateReader<'a> {
    folder: &'a Path,
    database: &'a Database,
    secrets: &'a Secrets,
    /// Bounds of the panes that were asked for.
    panes: BTreeSet<(i64, i64)>,
    failed: Option<Error>,
}

impl StateReader<'_> {
    /// Returns the value that was read, and remembers an error.
    fn found<T>(&mut self, read: Result<Option<T>>) -> Option<T> {
        read.unwrap_or_else(|cause| {
            self.failed.get_or_insert(cause);
            None
        })
    }
}

impl StoredParts for StateReader<'_> {
    fn pane(&mut self, bounds: Range<i64>) -> Option<Vec<u8>> {
        let key = (bounds.start, bounds.end);
        self.panes.insert(key);
        self.found(value(self.database, PANES, key))
    }

    fn secret(&mut self, mark: &SecretId) -> Option<SecretBytes> {
        self.found(self.secrets.find(mark))
    }

    fn scratch(&mut self) -> Option<SpillFactory> {
        Some(scratch_in(self.folder))
    }

    fn piece(&mut self, run: &RunOfUsers, piece: u64) -> Option<Vec<u8>> {
        self.found(value(self.database, USERS, key_of(run, piece)))
    }
}
