//! A folder that keeps a stream.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use frostpane::stream::{Kept as Source, Mark, RunOfUsers, Scratch, SecretBytes, Taken, mark_of};
use frostpane::{Batch, Keys, Release, Spec, Stream};
use jiff::Timestamp;
use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};
use zeroize::Zeroizing;

use crate::budget::Status;
use crate::creation::Creation;
use crate::error::{Error, Result};
use crate::feed::{Feed, Progress};
use crate::files::replace;
use crate::header::{Header, KeyKind, StoredKey};
use crate::hex;
use crate::history::{self, Deed, Head, NewRecord, Record};
use crate::log::{self, Entry};
use crate::packed::{Unpacker, pack};
use crate::random;
use crate::release::{Kept, index_pending};
use crate::scratch::scratch_in;
use crate::secrets::Secrets;
use crate::stopped;
use crate::tables::{self, FORMAT, HISTORY, LISTS, LOG, META, PANES, PENDING, RELEASES, SOURCES, USERS, the};
use crate::witness::{Reach, Witness};

pub(crate) const SECRETS: &str = "secrets";
pub(crate) const STATUS: &str = "status.json";
/// A log of fewer bytes is not worth writing the state for.
const SHORT_LOG: u64 = 1 << 20;
pub(crate) const DAY: i64 = 86_400_000_000;
/// A process that only looks at a state has gone after this time.
const LOOK: Duration = Duration::from_secs(1);

/// How a state begins.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Begin {
    /// Where people are protected: the moment from which on events are taken, in microseconds since 1970; now unless told.
    pub from: Option<i64>,
    /// A file outside of the folder that knows how far the history has come, so that a restored copy is noticed.
    pub witness: Option<PathBuf>,
    /// Where columns are found in files, as whoever reads them wants to find it again.
    pub input: Option<String>,
}

/// A list at every slide, as it was published.
#[derive(Clone, Debug, PartialEq)]
pub struct List<K: StoredKey> {
    /// From 1 on.
    pub number: u64,
    /// The release, as JSON: the same bytes whenever it is asked for.
    pub json: Vec<u8>,
    /// The release itself, if it has been made just now.
    pub release: Option<Release<K>>,
}

/// A folder that keeps a stream: its events, panes, noise and accounts. One process has it at a time.
///
/// **After an error from a method that changes something**, other than a refusal, the state in memory is not what is kept, and everything
/// more is refused: open it again.
pub struct Store<K: StoredKey> {
    pub(crate) folder: PathBuf,
    pub(crate) header: Header,
    pub(crate) database: Database,
    pub(crate) stream: Stream<K>,
    pub(crate) secrets: Secrets,
    witness: Option<Witness>,
    head: Head,
    /// Where panes lie that are in the database.
    kept: BTreeSet<(i64, i64)>,
    /// Runs of users that are in the database.
    kept_runs: BTreeSet<RunOfUsers>,
    log: Log,
    /// Of releases that were charged and are not kept yet.
    pub(crate) ordered: Vec<Mark>,
    /// How many there were.
    commits: u64,
    /// How many events were later than the moment at which they came.
    ahead: u64,
    /// Whether memory and disk may differ.
    broken: bool,
}

#[derive(Default)]
struct Log {
    next: u64,
    bytes: u64,
}

/// What is to be kept together.
#[derive(Default)]
pub(crate) struct Change<'a> {
    pub source: Option<(&'a str, Progress)>,
    /// In place of the state, what came since it was written.
    pub entry: Option<Vec<u8>>,
    /// By their numbers, as JSON.
    pub lists: &'a [(u64, &'a [u8])],
    pub release: Option<Kept<'a>>,
    pub deed: Option<Deed>,
    /// Secrets that are needed beside those of the stream.
    pub secrets: Vec<SecretBytes>,
}

impl<K: StoredKey> Store<K> {
    /// Begins a state in a new folder. What it is asked for is fixed from then on.
    pub fn create(folder: &Path, spec: Spec, keys: Keys<K>, begin: Begin) -> Result<Self> {
        let stream = Stream::new(spec, keys.clone(), begin.from.unwrap_or_else(now))?;
        Self::create_with(folder, stream, keys, begin)
    }

    pub(crate) fn create_with(
        folder: &Path,
        mut stream: Stream<K>,
        keys: Keys<K>,
        begin: Begin,
    ) -> Result<Self> {
        let witness = begin.witness.as_deref();
        let witness = witness.map(|path| Witness::begin(path, folder)).transpose()?;
        let (creation, file) = Creation::begin(folder)?;
        stream.spill_to(&scratch_in(folder));
        let header = Header {
            format: FORMAT,
            store: hex(&*random::<16>()?),
            spec: stream.spec().clone(),
            keys: K::KIND,
            witness: witness.as_ref().map(|witness| witness.path().to_owned()),
            input: begin.input,
        };
        let mut store = Self {
            database: tables::create(folder, file)?,
            secrets: Secrets::open(&folder.join(SECRETS))?,
            witness,
            folder: folder.to_owned(),
            header,
            stream,
            head: Head::default(),
            kept: BTreeSet::new(),
            kept_runs: BTreeSet::new(),
            log: Log::default(),
            ordered: Vec::new(),
            commits: 0,
            ahead: 0,
            broken: false,
        };
        let header = serde_json::to_vec(&store.header)?;
        store.commit_with(
            Change {
                deed: Some(Deed::Began),
                ..Change::default()
            },
            |transaction| {
                let mut meta = transaction.open_table(META)?;
                meta.insert("header", header.as_slice())?;
                meta.insert("keys", keys.to_bytes().as_slice())?;
                drop(meta);
                // So that whoever reads finds them.
                transaction.open_table(SOURCES)?;
                transaction.open_table(LOG)?;
                transaction.open_table(LISTS)?;
                transaction.open_table(RELEASES)?;
                transaction.open_table(PENDING)?;
                Ok(())
            },
        )?;
        creation.finish()?;
        let reach = store.reach();
        if let Some(witness) = &mut store.witness {
            witness.finish_beginning(&store.header.store, &store.head, reach)?;
        }
        Ok(store)
    }

    /// Goes on with a state.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut store = Self::read_when_free(folder)?;
        store.check_commits()?;
        store.check_witness()?;
        store.tidy()?;
        Ok(store)
    }

    /// Goes on with a state that was restored from a copy, of which nobody knows what was released since it was made: all of its past
    /// is marked as spent. Lists at every slide go on with a pane that nobody has seen anything of.
    ///
    /// Refuses a state that shows no sign of being a copy, unless `force` says that it is one all the same; and a clock that is behind what
    /// was done before, because nobody could tell up to where the past is spent.
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
        let Reach { position, lists } = known.unwrap_or_default();
        store.check_clock(position)?;
        store.abandon_releases()?;
        // Events may have come from a clock that was ahead.
        let until = position.max(now().saturating_add(DAY));
        store.guarded(|store| Ok(store.stream.distrust_past(until, lists)?))?;
        // The witness may know of more than this copy has done: its history goes on from there.
        let restored = Change {
            deed: Some(Deed::Restored),
            ..Change::default()
        };
        store.commit_with(restored, stopped::forget)?;
        store.tidy()?;
        Ok(store)
    }

    /// That something shows that this is a copy: what opens and goes on needs no restoring, which would spend all of its budget.
    fn check_not_healthy(&mut self) -> Result<()> {
        if self.is_stopped() || self.check_commits().is_err() {
            return Ok(());
        }
        if self.witness.is_none() {
            return Err(Error::conflict(
                "nothing shows that this is a copy, as it has no witness, and restoring marks all of its past as spent: if you know that it is one, \
                 say so, with `frostpane restore DIR --force`; nothing was changed",
            ));
        }
        match self.check_witness() {
            Err(Error::Busy(message)) => Err(Error::Busy(message)),
            Err(_) => Ok(()),
            Ok(()) => Err(Error::conflict(
                "this is the latest state that its witness knows of, and no copy: go on with it, nothing has to be restored, and nothing was changed \
                 (`frostpane restore DIR --force` marks all of its past as spent all the same)",
            )),
        }
    }

    /// That the clock of the machine is not behind what was done before, here or, as far as the witness knows, elsewhere.
    fn check_clock(&self, position: i64) -> Result<()> {
        if self.stream.spec().longest().is_by_count() {
            return Ok(());
        }
        let now = self.wall_clock();
        let records = self.history(1)?.into_iter();
        let latest = records
            .filter_map(|record| record.at.parse::<Timestamp>().ok())
            .max();
        let latest = latest.map_or(i64::MIN, Timestamp::as_microsecond);
        // Time may have been told a day ahead.
        let reached = position.max(self.stream.now()).saturating_sub(DAY);
        match latest.max(reached) <= now {
            true => Ok(()),
            false => Err(Error::conflict(format!(
                "the clock of this machine says {}, but this state had come to {} before: set the clock, or nobody knows up to where the past is \
                 spent; nothing was changed",
                self.moment(now),
                self.moment(latest.max(reached))
            ))),
        }
    }

    /// That no commit is missing.
    pub(crate) fn check_commits(&self) -> Result<()> {
        match self.commits < self.secrets.commits() {
            true => Err(Error::damaged("it is older than its secrets")),
            false => Ok(()),
        }
    }

    /// What is kept, as it is; also if another process looks at it just now.
    fn read_when_free(folder: &Path) -> Result<Self> {
        let until = Instant::now() + LOOK;
        loop {
            match Self::read(folder) {
                Err(Error::Busy(_)) if Instant::now() < until => std::thread::sleep(LOOK / 40),
                read => return read,
            }
        }
    }

    /// What is kept, as it is.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        match Self::read_as_written(folder) {
            // A page is not what was written last, or its checksum is not: all pages say which.
            Err(_) if tables::is_doubted(folder) => Self::read_as_written(folder),
            read => read,
        }
    }

    fn read_as_written(folder: &Path) -> Result<Self> {
        let database = tables::open(folder)?;
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
        let keys = Keys::from_bytes(&the(&database, "keys")?)?;
        let (state, accounts) = (the(&database, "state")?, the(&database, "accounts")?);
        let mut reading = Reading {
            folder,
            database: &database,
            secrets: &secrets,
            kept: BTreeSet::new(),
            failed: None,
        };
        let restored = Stream::restore(header.spec.clone(), keys, [&state, &accounts], &mut reading);
        // What could not be read looks as if it were not there.
        if let Some(cause) = reading.failed {
            return Err(cause);
        }
        let (mut stream, kept) = (restored?, reading.kept);
        let kept_runs = runs_of(&stream);
        let log = replay(&database, &mut stream)?;
        let head = serde_json::from_slice(&the(&database, "head")?)?;
        let commits = the(&database, "commits")?
            .try_into()
            .map(u64::from_le_bytes)
            .unwrap_or(0);
        Ok(Self {
            folder: folder.to_owned(),
            witness: header.witness.clone().map(Witness::new),
            header,
            database,
            stream,
            secrets,
            head,
            kept,
            kept_runs,
            log,
            ordered: Vec::new(),
            commits,
            ahead: 0,
            broken: false,
        })
    }

    /// That this is not a copy of a state that has gone on, and that no other process goes on with it, or with a copy.
    fn check_witness(&mut self) -> Result<()> {
        let reach = self.reach();
        let Some(witness) = &mut self.witness else {
            return Ok(());
        };
        let head_at = |generation| head_at(&self.database, generation);
        witness.open(&self.header.store, &self.head, reach, head_at)
    }

    /// Ends what a crash has left unfinished: a release that was charged, and secrets that nobody needs.
    fn tidy(&mut self) -> Result<()> {
        self.finish_releases()?;
        self.erase_secrets()?;
        self.tell_status()
    }

    /// What it is asked for, with all choices made, and what tells it from others.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The stream, to be looked at.
    pub fn stream(&self) -> &Stream<K> {
        &self.stream
    }

    /// How many events were later than the moment at which they came, since it was opened, and are left out. For the operator: **it must not be
    /// published**.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }

    /// What was done, from this record on; the first is number 1.
    pub fn history(&self, from: u64) -> Result<Vec<Record>> {
        let table = self.database.begin_read()?.open_table(HISTORY)?;
        let rows = table.range(from..)?;
        rows.map(|row| {
            let entry: history::Entry = serde_json::from_slice(row?.1.value())?;
            Ok(serde_json::from_str(&entry.record)?)
        })
        .collect()
    }

    /// How far its history has come.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Takes events of a source, each of them once: its id is the name of a file or whatever else tells it from others, never what is
    /// in it.
    pub fn feed(&mut self, source: &str) -> Result<Feed<'_, K>> {
        self.check_whole()?;
        self.check_going()?;
        self.check_not_built()?;
        if source.is_empty() {
            return Err(Error::conflict(
                "a source has no id, so nobody could tell whether it comes again: give it one",
            ));
        }
        let table = self.database.begin_read()?.open_table(SOURCES)?;
        let progress = table
            .get(source)?
            .map(|bytes| Progress::from_bytes(bytes.value()));
        let progress = progress.transpose()?.unwrap_or_default();
        Ok(Feed::new(self, source, progress))
    }

    /// Takes a batch, and keeps how far its source has been read with it.
    pub(crate) fn take(
        &mut self,
        source: &str,
        progress: Progress,
        batch: &Batch<K>,
        present: i64,
    ) -> Result<Vec<List<K>>> {
        self.check_whole()?;
        // A batch that is refused has changed nothing.
        self.stream.check(batch)?;
        let taken = self.change(|stream| stream.take(batch, present))?;
        let entry = (Entry::Events(batch), present);
        self.keep(taken, entry, Some((source, progress)), |_| Ok(()))
    }

    /// Time has come to this moment, in microseconds since 1970, whether anything happened or not. It never goes back.
    pub fn tick(&mut self, now: i64) -> Result<Vec<List<K>>> {
        self.check_whole()?;
        if now <= self.stream.clock() {
            return Ok(Vec::new());
        }
        if now > crate::store::now().saturating_add(DAY) {
            return Err(Error::conflict(format!(
                "{} lies in the future, and time never goes back: whatever happens until then would be too late",
                self.moment(now)
            )));
        }
        let taken = self.change(|stream| stream.tick(now))?;
        self.keep(taken, (Entry::Tick, now), None, |_| Ok(()))
    }

    /// Keeps what came, by itself or as the state that it has led to, with more in the same transaction.
    pub(crate) fn keep(
        &mut self,
        taken: Taken<K>,
        (entry, present): (Entry<'_, K>, i64),
        source: Option<(&str, Progress)>,
        more: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<Vec<List<K>>> {
        self.ahead += taken.ahead;
        let lists = self.lists_of(taken.releases)?;
        let long = self.log.bytes + entry.len() > self.stream.open_bytes().max(SHORT_LOG);
        let deed = lists.last().map(|list| Deed::Drew { list: list.number });
        let rows: Vec<(u64, &[u8])> = lists.iter().map(|list| (list.number, &*list.json)).collect();
        let change = Change {
            source,
            entry: (!taken.ticked && !long).then(|| entry.to_bytes(present)),
            lists: &rows,
            deed,
            ..Change::default()
        };
        self.commit_with(change, more)?;
        Ok(lists)
    }

    fn lists_of(&self, releases: Vec<Release<K>>) -> Result<Vec<List<K>>> {
        let first = self.stream.lists() - releases.len() as u64 + 1;
        let list = |(number, release): (u64, Release<K>)| {
            Ok(List {
                number,
                json: serde_json::to_vec(&release)?,
                release: Some(release),
            })
        };
        (first..).zip(releases).map(list).collect()
    }

    /// The lists at every slide after this one, as they were published.
    pub fn lists_after(&self, number: u64) -> Result<Vec<List<K>>> {
        self.some_lists_after(number, usize::MAX)
    }

    /// The same, so many of them at the most.
    pub fn some_lists_after(&self, number: u64, most: usize) -> Result<Vec<List<K>>> {
        // The last may be of a commit that another copy has overtaken.
        self.check_whole()?;
        let table = self.database.begin_read()?.open_table(LISTS)?;
        let rows = table.range(number.saturating_add(1)..)?;
        let mut unpacker = Unpacker::new(&self.database);
        rows.take(most)
            .map(|row| {
                let (number, json) = row?;
                Ok(List {
                    number: number.value(),
                    json: unpacker.unpack(json.value())?,
                    release: None,
                })
            })
            .collect()
    }

    pub(crate) fn commit(&mut self, change: Change<'_>) -> Result<()> {
        self.commit_with(change, |_| Ok(()))
    }

    /// Keeps a change, all of it or nothing: secrets first, then everything else in one transaction, then the witness, which is compared
    /// before it and refuses after it if another copy goes on. If it fails nobody knows how much of it is there, so nothing more is done with what is in memory.
    pub(crate) fn commit_with(
        &mut self,
        change: Change<'_>,
        more: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<()> {
        self.check_whole()?;
        let shows = change.deed.is_some();
        let whole = change.entry.is_none() && change.release.is_none();
        self.guarded(|store| {
            if let Some(witness) = store.witness.as_ref().filter(|_| shows) {
                witness.check()?;
            }
            let of_stream = store
                .stream
                .secrets()
                .into_iter()
                .map(|secret| Zeroizing::new(*secret));
            let needed: Vec<SecretBytes> = of_stream.chain(change.secrets.iter().cloned()).collect();
            store.secrets.keep(needed.iter().map(|secret| &**secret))?;
            let transaction = tables::begin(&store.database)?;
            more(&transaction)?;
            let head = store.write(&transaction, &change, whole)?;
            transaction.commit()?;
            store.head = head;
            store.commits += 1;
            store.secrets.count(store.commits)?;
            let reach = store.reach();
            if let Some(witness) = store.witness.as_mut().filter(|_| shows) {
                witness.advance(&store.header.store, &store.head, reach)?;
            }
            if whole {
                store.kept = store
                    .stream
                    .closed()
                    .into_iter()
                    .map(|pane| (pane.start, pane.end))
                    .collect();
                store.kept_runs = runs_of(&store.stream);
                store.erase_secrets()?;
                store.tell_status()?;
            }
            Ok(())
        })
    }

    /// Writes a change into a transaction.
    fn write(&mut self, transaction: &WriteTransaction, change: &Change<'_>, whole: bool) -> Result<Head> {
        if let Some((source, progress)) = change.source {
            transaction
                .open_table(SOURCES)?
                .insert(source, progress.to_bytes().as_slice())?;
        }
        for (number, json) in change.lists {
            let packed = pack(transaction, json)?;
            transaction.open_table(LISTS)?.insert(number, packed.as_slice())?;
        }
        if let Some(Kept { id, row, pending }) = &change.release {
            let mut waiting = transaction.open_table(PENDING)?;
            match pending {
                true => drop(waiting.insert(*id, ())?),
                false => drop(waiting.remove(*id)?),
            }
            let packed = pack(transaction, row)?;
            transaction.open_table(RELEASES)?.insert(*id, packed.as_slice())?;
        }
        if let Some(entry) = &change.entry {
            transaction
                .open_table(LOG)?
                .insert(self.log.next, entry.as_slice())?;
            self.log.next += 1;
            self.log.bytes += entry.len() as u64;
        }
        if whole {
            self.write_state(transaction)?;
        }
        let mut meta = transaction.open_table(META)?;
        meta.insert("accounts", self.stream.accounts().as_slice())?;
        let head = match &change.deed {
            Some(deed) => record(transaction, &self.head, deed)?,
            None => self.head.clone(),
        };
        meta.insert("head", serde_json::to_vec(&head)?.as_slice())?;
        meta.insert("commits", (self.commits + 1).to_le_bytes().as_slice())?;
        Ok(head)
    }

    /// Writes the state, the panes that are new, and no others; what came before is then in them.
    fn write_state(&mut self, transaction: &WriteTransaction) -> Result<()> {
        let closed = self.stream.closed();
        let mut panes = transaction.open_table(PANES)?;
        for bounds in &closed {
            if !self.kept.contains(&(bounds.start, bounds.end)) {
                let pane = self.stream.closed_pane(bounds)?;
                panes.insert((bounds.start, bounds.end), pane.as_slice())?;
            }
        }
        let closed: BTreeSet<_> = closed.into_iter().map(|pane| (pane.start, pane.end)).collect();
        for gone in self.kept.difference(&closed) {
            panes.remove(*gone)?;
        }
        self.write_users(transaction)?;
        transaction
            .open_table(META)?
            .insert("state", self.stream.state().as_slice())?;
        let mut log = transaction.open_table(LOG)?;
        log.retain(|_, _| false)?;
        self.log.bytes = 0;
        Ok(())
    }

    /// Writes the runs of users that are new, and no others. What of users is in memory is in the state.
    fn write_users(&mut self, transaction: &WriteTransaction) -> Result<()> {
        let runs = self.stream.runs_of_users();
        if runs.is_empty() && self.kept_runs.is_empty() {
            return Ok(());
        }
        let mut users = transaction.open_table(USERS)?;
        for (run, pieces) in &runs {
            for piece in (0..*pieces).filter(|_| !self.kept_runs.contains(run)) {
                let bytes = self.stream.piece_of_run(run, piece)?;
                users.insert(key_of(run, piece), bytes.as_slice())?;
            }
        }
        let there: BTreeSet<RunOfUsers> = runs.into_iter().map(|(run, _)| run).collect();
        for gone in self.kept_runs.difference(&there) {
            users.retain_in(key_of(gone, 0)..=key_of(gone, u64::MAX), |_, _| false)?;
        }
        Ok(())
    }

    /// Panes with these numbers are to be written again.
    pub(crate) fn forget_kept(&mut self, numbers: &Range<i64>) {
        let starts = match self.stream.spec().unit.is_user() {
            true => numbers.clone(),
            false => self.stream.begins(numbers.start)..self.stream.begins(numbers.end),
        };
        self.kept.retain(|(start, _)| !starts.contains(start));
    }

    /// Secrets that no list can ask for any more are overwritten.
    pub(crate) fn erase_secrets(&mut self) -> Result<()> {
        let mut marks: Vec<Mark> = self.stream.secrets().into_iter().map(mark_of).collect();
        marks.extend(&self.ordered);
        self.secrets.erase_others(&marks)
    }

    /// For those who look while this process has the state. It is a courtesy: what is kept does not depend on it.
    pub(crate) fn tell_status(&self) -> Result<()> {
        let (path, status) = (self.folder.join(STATUS), Status::of(self)?.to_bytes()?);
        if replace(&path, &status, false).is_err() {
            // Rather none than an old one.
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    }

    /// Does something after which memory and disk agree, unless it fails.
    pub(crate) fn guarded<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.broken = true;
        let done = act(self)?;
        self.broken = false;
        Ok(done)
    }

    /// Whether something failed, so that it has to be opened again.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn check_whole(&self) -> Result<()> {
        match self.broken {
            false => Ok(()),
            true => Err(Error::broken()),
        }
    }

    fn reach(&self) -> Reach {
        Reach {
            position: self.stream.now(),
            lists: self.stream.lists(),
        }
    }

    /// How late it is by the clock of the machine.
    pub(crate) fn wall_clock(&self) -> i64 {
        now()
    }
}

/// The head that the history had after so many records.
fn head_at(database: &Database, generation: u64) -> Result<Option<Head>> {
    if generation == 0 {
        return Ok(Some(Head::default()));
    }
    let table = database.begin_read()?.open_table(HISTORY)?;
    let Some(bytes) = table.get(generation)? else {
        return Ok(None);
    };
    let entry: history::Entry = serde_json::from_slice(bytes.value())?;
    Ok(Some(Head {
        generation,
        mark: entry.mark,
    }))
}

/// A record at the end of the history.
fn record(transaction: &WriteTransaction, head: &Head, deed: &Deed) -> Result<Head> {
    let record = serde_json::to_string(&NewRecord {
        at: Timestamp::now().to_string(),
        what: deed,
        nonce: hex(&*random::<16>()?),
    })?;
    let after = head.after(record.as_bytes());
    let entry = serde_json::to_vec(&history::Entry {
        record,
        mark: after.mark.clone(),
    })?;
    transaction
        .open_table(HISTORY)?
        .insert(after.generation, entry.as_slice())?;
    Ok(after)
}

/// Brings a state of an earlier format to this one.
fn convert(database: &Database, header: Header) -> Result<Header> {
    if header.format == FORMAT {
        return Ok(header);
    }
    let header = Header {
        format: FORMAT,
        ..header
    };
    let transaction = tables::begin(database)?;
    index_pending(&transaction)?;
    transaction
        .open_table(META)?
        .insert("header", serde_json::to_vec(&header)?.as_slice())?;
    transaction.commit()?;
    Ok(header)
}

/// Takes again what came since the state was written.
fn replay<K: StoredKey>(database: &Database, stream: &mut Stream<K>) -> Result<Log> {
    let mut read = Log::default();
    let table = database.begin_read()?.open_table(LOG)?;
    for row in table.iter()? {
        let (number, entry) = row?;
        log::replay(entry.value(), stream)?;
        read.next = number.value() + 1;
        read.bytes += entry.value().len() as u64;
    }
    Ok(read)
}

fn runs_of<K: StoredKey>(stream: &Stream<K>) -> BTreeSet<RunOfUsers> {
    stream.runs_of_users().into_iter().map(|(run, _)| run).collect()
}

/// Where a piece of a run of users is kept.
fn key_of(run: &RunOfUsers, piece: u64) -> (bool, i64, u32, u64) {
    (run.is_admitted, run.number, run.run, piece)
}

/// The database and the secrets of a state that is being read.
struct Reading<'a> {
    folder: &'a Path,
    database: &'a Database,
    secrets: &'a Secrets,
    kept: BTreeSet<(i64, i64)>,
    /// The first error of reading.
    failed: Option<Error>,
}

impl Reading<'_> {
    fn read_pane(&self, key: (i64, i64)) -> Result<Option<Vec<u8>>> {
        let table = self.database.begin_read()?.open_table(PANES)?;
        Ok(table.get(key)?.map(|pane| pane.value().to_vec()))
    }

    fn read_piece(&self, run: &RunOfUsers, piece: u64) -> Result<Option<Vec<u8>>> {
        let table = self.database.begin_read()?.open_table(USERS)?;
        Ok(table.get(key_of(run, piece))?.map(|bytes| bytes.value().to_vec()))
    }

    /// What was read; an error is remembered.
    fn found<T>(&mut self, read: Result<Option<T>>) -> Option<T> {
        read.unwrap_or_else(|cause| {
            self.failed.get_or_insert(cause);
            None
        })
    }
}

impl Source for Reading<'_> {
    fn pane(&mut self, bounds: Range<i64>) -> Option<Vec<u8>> {
        let key = (bounds.start, bounds.end);
        self.kept.insert(key);
        let pane = self.read_pane(key);
        self.found(pane)
    }

    fn secret(&mut self, mark: &Mark) -> Option<SecretBytes> {
        let secret = self.secrets.find(mark);
        self.found(secret)
    }

    fn scratch(&mut self) -> Option<Scratch> {
        Some(scratch_in(self.folder))
    }

    fn piece(&mut self, run: &RunOfUsers, piece: u64) -> Option<Vec<u8>> {
        let read = self.read_piece(run, piece);
        self.found(read)
    }
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
