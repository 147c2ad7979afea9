//! The store: a folder that keeps a stream.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use frostpane::stream::{RunOfUsers, SecretId};
use frostpane::{Keys, Release, Spec, Stream};
use jiff::Timestamp;
use redb::{Database, ReadableDatabase};

use crate::creation::Creation;
use crate::error::{Error, Result};
use crate::files::scratch_in;
use crate::header::{Header, StoredKey};
use crate::hex;
use crate::history::{Action, ChainHead, HistoryEntry, Record};
use crate::random;
use crate::secrets::Secrets;
use crate::tables::{self, FORMAT, HISTORY, LISTS, LOG, META, PENDING, RELEASES, SOURCES};
use crate::transaction::LogPosition;
use crate::witness::{HighWater, Witness};

pub(crate) const SECRETS: &str = "secrets";
pub(crate) const STATUS: &str = "status.json";
pub(crate) const DAY: i64 = 86_400_000_000;

/// Options of [`Store::create`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Begin {
    /// If users are protected, events count from this moment on, in microseconds since 1970; by default from
    /// now on.
    pub from: Option<i64>,
    /// A file outside of the folder that records the end of the history, so that copies are noticed.
    pub witness: Option<PathBuf>,
    /// The columns of input files, in a form that the reader of those files chooses.
    pub input: Option<String>,
}

/// A continual release, as it was published.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinualRelease<K: StoredKey> {
    /// Its number, counted from 1.
    pub number: u64,
    /// The release as JSON: the same bytes at every request.
    pub json: Vec<u8>,
    /// The release itself, if this call has made it.
    pub release: Option<Release<K>>,
}

/// A folder that keeps a stream: its events, panes, noise and accounts. One process has it open at a time.
///
/// **After an error from a method that changes something**, other than a refusal, memory and disk may differ,
/// and every further call is refused: open the store again.
pub struct Store<K: StoredKey> {
    pub(crate) folder: PathBuf,
    pub(crate) header: Header,
    pub(crate) database: Database,
    pub(crate) stream: Stream<K>,
    pub(crate) secrets: Secrets,
    pub(crate) witness: Option<Witness>,
    pub(crate) head: ChainHead,
    /// Bounds of the panes that are in the database.
    pub(crate) stored_panes: BTreeSet<(i64, i64)>,
    /// Runs of users that are in the database.
    pub(crate) stored_runs: BTreeSet<RunOfUsers>,
    pub(crate) log: LogPosition,
    /// Secrets of releases that are charged and not yet stored.
    pub(crate) pending_secrets: Vec<SecretId>,
    pub(crate) commits: u64,
    pub(crate) ahead: u64,
    /// Memory and disk may differ.
    pub(crate) broken: bool,
}

impl<K: StoredKey> Store<K> {
    /// Creates a store in a new folder. Its specification is fixed from then on.
    pub fn create(folder: &Path, spec: Spec, keys: Keys<K>, begin: Begin) -> Result<Self> {
        let stream = Stream::new(spec, keys.clone(), begin.from.unwrap_or_else(now))?;
        Self::create_with(folder, stream, keys, begin)
    }

    /// Creates a store whose panes have the parameters of another one's, with the seed of its hashes.
    pub fn create_like(folder: &Path, other: &Self, begin: Begin) -> Result<Self> {
        let stream = other.stream.like(begin.from.unwrap_or_else(now))?;
        let keys = stream.keys().clone();
        Self::create_with(folder, stream, keys, begin)
    }

    fn create_with(folder: &Path, mut stream: Stream<K>, keys: Keys<K>, begin: Begin) -> Result<Self> {
        let witness = begin.witness.as_deref();
        let witness = witness.map(|path| Witness::begin(path, folder)).transpose()?;
        let (creation, file) = Creation::begin(folder)?;
        stream.spill_to(&scratch_in(folder));
        let header = Header {
            format: FORMAT,
            store: hex(&*random::<16>()?),
            spec: stream.spec().clone(),
            keys: K::KIND,
            witness: witness.as_ref().map(|witness| witness.path.clone()),
            input: begin.input,
        };
        let mut store = Self {
            database: tables::open_file(folder, file, false)?,
            secrets: Secrets::open(&folder.join(SECRETS))?,
            witness,
            folder: folder.to_owned(),
            header,
            stream,
            head: ChainHead::default(),
            stored_panes: BTreeSet::new(),
            stored_runs: BTreeSet::new(),
            log: LogPosition::default(),
            pending_secrets: Vec::new(),
            commits: 0,
            ahead: 0,
            broken: false,
        };
        let header = serde_json::to_vec(&store.header)?;
        store.commit_action(Action::Began, |transaction| {
            let mut meta = transaction.open_table(META)?;
            meta.insert("header", header.as_slice())?;
            meta.insert("keys", keys.to_bytes().as_slice())?;
            drop(meta);
            // Reading a table that does not exist is an error.
            transaction.open_table(SOURCES)?;
            transaction.open_table(LOG)?;
            transaction.open_table(LISTS)?;
            transaction.open_table(RELEASES)?;
            transaction.open_table(PENDING)?;
            Ok(())
        })?;
        creation.finish()?;
        let reach = store.reach();
        if let Some(witness) = &mut store.witness {
            witness.beginning = None;
            witness.advance(&store.header.store, &store.head, reach)?;
        }
        Ok(store)
    }

    /// The specification with all choices made, and the identity of the store.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The stream, read-only.
    pub fn stream(&self) -> &Stream<K> {
        &self.stream
    }

    /// The number of events since the store was opened that were later than the moment of their arrival, and
    /// are left out. For the operator: **it must not be published**.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }

    /// The history from this record on; the first is number 1.
    pub fn history(&self, from: u64) -> Result<Vec<Record>> {
        let table = self.database.begin_read()?.open_table(HISTORY)?;
        let rows = table.range(from..)?;
        rows.map(|row| {
            let entry: HistoryEntry = serde_json::from_slice(row?.1.value())?;
            Ok(serde_json::from_str(&entry.record)?)
        })
        .collect()
    }

    /// The end of the history.
    pub fn head(&self) -> &ChainHead {
        &self.head
    }

    /// Runs a step after which memory and disk agree, unless it fails.
    pub(crate) fn guarded<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.broken = true;
        let done = act(self)?;
        self.broken = false;
        Ok(done)
    }

    /// Returns true if a step failed, so that the store has to be opened again.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn check_usable(&self) -> Result<()> {
        if self.broken { Err(Error::broken()) } else { Ok(()) }
    }

    pub(crate) fn reach(&self) -> HighWater {
        HighWater { position: self.stream.now(), lists: self.stream.lists() }
    }
}

/// Microseconds since 1970 by the clock of the machine.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
