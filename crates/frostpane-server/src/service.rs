//! All streams of a folder, and the limits and permits that requests share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Instant;

use axum::http::StatusCode;
use frostpane::Spec;
use frostpane_store::Begin;
use futures_util::future::join_all;
use tokio::sync::{Semaphore, watch};

use crate::auth::{AddressRates, Tokens};
use crate::http::connection_limit::ConnectionLimit;
use crate::http::connections::Connections;
use crate::limits::Limits;
use crate::lock::Lock;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::stream::{EventColumns, Most, Settings, StreamHandle, now};
use crate::tombstone::{EpochCycle, Tombstone, Tombstones};
use crate::worker_pool::WorkerPool;
use crate::{atomic_file, sync};

/// Bodies of the largest size that may be in memory at once, of all requests and of one producer.
const BODIES: (usize, usize) = (8, 2);
/// Eighths of the connections for listeners with a token, and for those without one.
const LISTENERS: usize = 3;
/// Settings files that are written at once.
const WRITERS: usize = 2;
/// Plans that may be requested at once, and those that are made at once.
const PLANS: (usize, usize) = (64, 1);
/// Locked by the process that serves a folder.
const LOCK: &str = "lock";

/// The state that requests share.
pub struct Service {
    folder: PathBuf,
    witnesses: Option<PathBuf>,
    streams: RwLock<BTreeMap<String, Arc<StreamHandle>>>,
    /// Streams whose state could not be opened; true if anyone may read them.
    failed: RwLock<BTreeMap<String, bool>>,
    tombstones: Tombstones,
    /// Held for as long as this process serves the folder.
    lock: Mutex<Option<Lock>>,
    /// Held while a stream is created or deleted.
    changing: tokio::sync::Mutex<()>,
    /// Access tokens.
    pub tokens: Tokens,
    /// The limits of requests, streams and connections.
    pub limits: Limits,
    /// True for `--demo`: the events are synthetic.
    pub demo: bool,
    pub(crate) connections: Arc<Connections>,
    /// Open requests of each token and of each address.
    pub(crate) request_limit: ConnectionLimit,
    pub(crate) rate: AddressRates,
    pub(crate) plan_rate: AddressRates,
    /// Requests for plans of each token and of each address.
    pub(crate) plan_limit: ConnectionLimit,
    /// Permits for bytes of bodies.
    pub(crate) bodies: Arc<Semaphore>,
    producers: Mutex<BTreeMap<String, Arc<Producer>>>,
    pub(crate) writing: Arc<Semaphore>,
    /// Permits to decompress and parse events.
    pub(crate) reading: Arc<Semaphore>,
    pub(crate) workers: WorkerPool,
    /// Connections of each token.
    pub(crate) token_limit: ConnectionLimit,
    pub(crate) plan_queue: Arc<Semaphore>,
    pub(crate) plan_turns: Arc<Semaphore>,
    /// Permits to listen with a token.
    pub(crate) token_listeners: Arc<Semaphore>,
    /// Permits to listen without a token.
    pub(crate) other_listeners: Arc<Semaphore>,
    /// Listeners of each token and of each address.
    pub(crate) listener_limit: ConnectionLimit,
    /// The list of streams for clients without a token, and when it was written; none after a change.
    pub(crate) listed: Mutex<Option<(Instant, bytes::Bytes)>>,
    stopping: watch::Sender<bool>,
}

/// The permits of one producer.
pub(crate) struct Producer {
    /// For bytes of bodies.
    pub bodies: Arc<Semaphore>,
    /// To decompress and parse events: one processor is left to others.
    pub reading: Arc<Semaphore>,
    /// Held between two parts of a body.
    pub receiving: tokio::sync::Mutex<()>,
    /// Held while a part of a refused body is received.
    pub refused: tokio::sync::Mutex<()>,
}

impl Service {
    /// Opens a folder and all of its streams.
    pub fn open(folder: &Path, witnesses: Option<PathBuf>, limits: Limits) -> Result<Self> {
        let failed = |_| Problem::unavailable(format!("{} cannot be made or read", folder.display()));
        atomic_file::make_folder(&folder.join("streams")).map_err(failed)?;
        let lock = lock_folder(folder)?;
        let tombstones = [Some(folder), witnesses.as_deref()];
        let tombstones = tombstones.into_iter().flatten().map(|folder| folder.join("gone"));
        let listeners = || Arc::new(Semaphore::new((LISTENERS * limits.connections).div_ceil(8)));
        let service = Self {
            folder: folder.to_owned(),
            tombstones: Tombstones::read(tombstones.collect()).map_err(failed)?,
            lock: Mutex::new(Some(lock)),
            witnesses,
            streams: RwLock::default(),
            failed: RwLock::default(),
            changing: tokio::sync::Mutex::default(),
            tokens: Tokens::of(folder),
            demo: false,
            connections: Connections::new(limits.connections),
            request_limit: ConnectionLimit::default(),
            rate: AddressRates::default(),
            plan_rate: AddressRates::default(),
            plan_limit: ConnectionLimit::default(),
            writing: Arc::new(Semaphore::new(WRITERS)),
            listed: Mutex::default(),
            bodies: Arc::new(Semaphore::new(BODIES.0 * limits.body)),
            producers: Mutex::default(),
            reading: Arc::new(Semaphore::new(2 * processors())),
            workers: WorkerPool::start(2 * processors() + 1).map_err(failed)?,
            token_limit: ConnectionLimit::default(),
            plan_queue: Arc::new(Semaphore::new(PLANS.0)),
            plan_turns: Arc::new(Semaphore::new(PLANS.1)),
            token_listeners: listeners(),
            other_listeners: listeners(),
            listener_limit: ConnectionLimit::default(),
            limits,
            stopping: watch::Sender::new(false),
        };
        for entry in fs::read_dir(folder.join("streams")).map_err(failed)? {
            let Ok(name) = entry.map_err(failed)?.file_name().into_string() else {
                continue;
            };
            service.resume(&name);
        }
        Ok(service)
    }

    /// Opens a stream, or completes its deletion.
    fn resume(&self, name: &str) {
        if check_stream(name).is_err() {
            return;
        }
        if self.tombstones.find(name).is_some() {
            let _ = fs::remove_dir_all(self.folder_of(name));
            return;
        }
        match StreamHandle::open(name, &self.folder_of(name), &self.limits) {
            Ok(stream) => {
                if self.witnesses.is_some() && stream.header.witness.is_none() {
                    crate::log::of_stream(
                        name,
                        "it was begun without --witness and has none: that it is a copy would not be noticed",
                    );
                }
                drop(self.insert(name, stream));
            }
            Err(problem) => {
                crate::log::of_stream(name, &problem);
                self.fail(name);
            }
        }
    }

    fn fail(&self, name: &str) {
        let public = Settings::read(&self.folder_of(name)).is_ok_and(|settings| settings.public);
        sync::write(&self.failed).insert(name.to_owned(), public);
    }

    fn insert(&self, name: &str, stream: StreamHandle) -> Arc<StreamHandle> {
        let stream = Arc::new(stream);
        sync::write(&self.streams).insert(name.to_owned(), stream.clone());
        self.revise();
        stream
    }

    /// Records a change of the list of streams.
    pub(crate) fn revise(&self) {
        sync::lock(&self.listed).take();
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join("streams").join(name)
    }

    pub(crate) fn stream(&self, name: &str) -> Option<Arc<StreamHandle>> {
        sync::read(&self.streams).get(name).cloned()
    }

    /// Returns true if all releases of a stream after a number are held in memory. For tests.
    #[doc(hidden)]
    pub fn holds_after(&self, name: &str, number: u64) -> bool {
        self.stream(name).is_some_and(|stream| stream.shared.cache.after(number, Most::new(1, 1)).is_some())
    }

    pub(crate) fn streams(&self) -> Vec<Arc<StreamHandle>> {
        sync::read(&self.streams).values().cloned().collect()
    }

    pub(crate) fn producer(&self, name: &str) -> Arc<Producer> {
        let mut all = sync::lock(&self.producers);
        let new = || Producer {
            bodies: Arc::new(Semaphore::new(BODIES.1 * self.limits.body)),
            reading: Arc::new(Semaphore::new(processors().saturating_sub(1).max(1))),
            receiving: tokio::sync::Mutex::default(),
            refused: tokio::sync::Mutex::default(),
        };
        all.entry(name.to_owned()).or_insert_with(|| Arc::new(new())).clone()
    }

    /// Returns true if a transaction has lasted longer than so many times the limit, and no stream has ended
    /// one meanwhile: then the disk hangs, and not one stream alone. The disk is not asked.
    pub(crate) fn hangs(&self, times: u32) -> bool {
        let most = self.limits.hung * times;
        let streams = self.streams();
        streams.iter().any(|stream| stream.shared.disk.lasts() > most)
            && !streams.iter().any(|stream| stream.shared.disk.ended_within(most))
    }

    pub(crate) fn failed(&self) -> BTreeSet<String> {
        sync::read(&self.failed).keys().cloned().collect()
    }

    pub(crate) fn has_failed_in_public(&self, name: &str) -> bool {
        sync::read(&self.failed).get(name).copied().unwrap_or(false)
    }

    /// Returns true if other streams exist, or existed, that may have been given the same events.
    pub(crate) fn has_others(&self) -> bool {
        self.streams().len() > 1 || !self.tombstones.is_empty() || !sync::read(&self.failed).is_empty()
    }

    /// Creates a stream; the same stream again is no error. Returns true if it is new.
    pub(crate) async fn create(
        self: &Arc<Self>,
        name: &str,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<StreamHandle>, bool)> {
        check_stream(name)?;
        let (service, name) = (self.clone(), name.to_owned());
        // Completed even if the client goes.
        let created = tokio::spawn(async move {
            let _alone = service.changing.lock().await;
            service.create_alone(name, spec, settings).await
        });
        created.await.map_err(|_| not_begun())?
    }

    async fn create_alone(
        self: &Arc<Self>,
        name: String,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<StreamHandle>, bool)> {
        if *self.stopping.borrow() {
            return Err(Problem::unavailable("the service is being stopped"));
        }
        if sync::read(&self.failed).contains_key(&name) {
            return Err(Problem::conflict(
                "a stream of this name is there, and its state cannot be opened",
                "look at the log of the service, or take another name",
            ));
        }
        if self.tombstones.find(&name).is_some() {
            return Err(Problem::conflict(
                "a stream of this name was here before, and its budget is spent with it",
                "take another name; ?replaces= says whose place it takes",
            ));
        }
        if let Some(stream) = self.stream(&name) {
            let known = stream.settings();
            let asked = known.asked.as_ref() == Some(&spec) || spec == stream.shared.spec;
            if asked && known.columns == settings.columns && known.since == settings.since {
                return Ok((stream, false));
            }
            return Err(Problem::conflict(
                "a stream of this name is there, and is asked for something else, which is fixed",
                "take another name",
            ));
        }
        let service = self.clone();
        let begun = tokio::task::spawn_blocking(move || service.begin(&name, spec, &settings));
        begun.await.map_err(|_| not_begun())?.map(|stream| (stream, true))
    }

    fn begin(&self, name: &str, spec: Spec, settings: &Settings) -> Result<Arc<StreamHandle>> {
        if spec.memory.0 > self.limits.memory {
            return Err(Problem::invalid(
                format!(
                    "memory is more than the {} bytes that a stream of this service may take",
                    self.limits.memory
                ),
                "give less, or ask the operator for more, with --most-memory",
            ));
        }
        let mut begin = Begin::default();
        begin.witness = self.witnesses.as_ref().map(|folder| folder.join(format!("{name}.witness")));
        begin.input = serde_json::to_string(&settings.columns).ok();
        // Complete before it gets its name.
        let (folder, draft) = (self.folder_of(name), self.folder_of(&format!(".{name}")));
        let witness = begin.witness.clone();
        if draft.exists() {
            // Left by a process that ended before it could answer.
            undo(&draft, witness.as_deref());
        }
        let is_new = !witness.as_ref().is_some_and(|witness| witness.exists());
        let created = StreamHandle::create_in(&draft, spec, settings, begin)
            .and_then(|()| fs::rename(&draft, &folder).map_err(|_| not_begun()));
        if let Err(problem) = created {
            undo(&draft, witness.as_deref().filter(|_| is_new));
            return Err(problem);
        }
        let synced = fs::File::open(self.folder.join("streams")).and_then(|streams| streams.sync_all());
        match synced.map_err(|_| not_begun()).and_then(|()| StreamHandle::open(name, &folder, &self.limits)) {
            Ok(stream) => Ok(self.insert(name, stream)),
            Err(problem) => {
                self.fail(name);
                Err(problem)
            }
        }
    }

    /// Deletes a stream for good. Its name stays taken.
    pub(crate) async fn delete(self: &Arc<Self>, name: &str) -> Result<()> {
        let (service, name) = (self.clone(), name.to_owned());
        let deleted = tokio::spawn(async move {
            let _alone = service.changing.lock().await;
            let stream = service.stream(&name).ok_or_else(|| Problem::unknown("stream"))?;
            stream.stop().await;
            let grave = service.clone();
            let buried = tokio::task::spawn_blocking(move || grave.bury(&name, &stream));
            buried.await.map_err(|_| not_deleted())?
        });
        deleted.await.map_err(|_| not_deleted())?
    }

    fn bury(&self, name: &str, stream: &StreamHandle) -> Result<()> {
        let tombstone = Tombstone {
            store: stream.header.store.clone(),
            until: now().max(stream.shared.moment().unwrap_or(0)),
            by_count: stream.shared.moment().is_none(),
            epochs: EpochCycle::of(&stream.shared.spec),
        };
        let buried = self.tombstones.put(name, tombstone);
        sync::write(&self.streams).remove(name);
        self.revise();
        if buried.is_err() {
            self.resume(name);
            return Err(not_deleted());
        }
        let _ = fs::remove_dir_all(self.folder_of(name));
        Ok(())
    }

    /// The moment from which a stream takes events if it replaces a deleted one.
    pub(crate) fn replaces(&self, name: &str, spec: &Spec, columns: &EventColumns) -> Result<i64> {
        check_stream(name)?;
        let tombstone = self.tombstones.find(name).ok_or_else(|| {
            Problem::invalid(
                "no stream of the name in ?replaces= was deleted here",
                "name one that was, or leave it out",
            )
        })?;
        if !columns.have_time(spec) {
            return Err(Problem::invalid(
                "events of this stream have no time of their own, so nobody can tell which the one before has released",
                "have it go by the times of events, or begin it with events that no list has shown, and leave out ?replaces=",
            ));
        }
        tombstone.and_then(|tombstone| tombstone.replaced_from(spec)).ok_or_else(|| {
            Problem::invalid(
                "the stream that was here before went by the number of events, or what is known of it cannot be read, so nobody can tell which it \
                 has released",
                "begin another with events that no list has shown, and leave out ?replaces=",
            )
        })
    }

    /// Closes listeners, then every stream; batches that wait are taken, and no slide ends early.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let _alone = self.changing.lock().await;
        join_all(self.streams().iter().map(|stream| stream.stop())).await;
        drop(sync::lock(&self.lock).take());
    }

    pub(crate) fn close_listeners(&self) {
        self.stopping.send_replace(true);
    }

    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// The stream, for a caller that may know if it exists.
    pub(crate) fn known(&self, name: &str) -> Result<Arc<StreamHandle>> {
        match self.stream(name) {
            Some(stream) => Ok(stream),
            None if sync::read(&self.failed).contains_key(name) => {
                Err(Problem::unavailable("the state of the stream cannot be opened"))
            }
            None if self.tombstones.find(name).is_some() => {
                Err(Problem::new(StatusCode::GONE, "this stream was deleted", "ask for another"))
            }
            None => Err(Problem::unknown("stream")),
        }
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

pub fn lock_folder(folder: &Path) -> Result<Lock> {
    let failed = |_| Problem::unavailable(format!("{} cannot be made or read", folder.display()));
    Lock::take(&folder.join(LOCK)).map_err(failed)?.ok_or_else(|| {
        Problem::conflict(format!("another process has {}", folder.display()), "stop it first")
    })
}

/// Removes a state that was not completed, and its witness.
fn undo(draft: &Path, witness: Option<&Path>) {
    let _ = fs::remove_dir_all(draft);
    if let Some(witness) = witness {
        let _ = frostpane_store::remove_witness(witness);
    }
}

fn not_begun() -> Problem {
    Problem::unavailable("the stream could not be begun")
}

fn not_deleted() -> Problem {
    Problem::unavailable("the stream could not be deleted")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;
    use std::process::Command;

    use futures_util::FutureExt;

    use super::*;

    /// A FIFO without a reader is a disk that hangs: however many streams change, two threads wait for it.
    #[tokio::test]
    async fn settings_of_many_streams_are_written_two_at_a_time() {
        let folder = std::env::temp_dir().join(format!("frostpane-writers-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let service = Service::open(&folder, None, Limits::default()).unwrap();
        let begin = |name: &str| {
            let spec = serde_json::from_str(r#"{ "window": 1000, "slide": 100, "top": 5 }"#).unwrap();
            service.begin(name, spec, &Settings::default()).unwrap()
        };
        let streams = ["one", "two", "three"].map(begin);
        let drafts = ["one", "two"].map(|name| service.folder_of(name).join("service.json.frostpane-draft"));
        assert!(Command::new("mkfifo").args(&drafts).status().unwrap().success());
        let publish = |settings: &mut Settings| settings.public = true;
        let mut changes =
            [0, 1, 2].map(|number: usize| Box::pin(streams[number].set(&service.writing, publish)));
        for change in &mut changes {
            assert!(change.now_or_never().is_none(), "it is not written at once");
        }
        let free = service.writing.available_permits();
        let without_waiting = 0o4000;
        let mut options = fs::File::options();
        options.read(true).custom_flags(without_waiting);
        let _readers = drafts.map(|draft| options.open(draft).unwrap());
        // A FIFO cannot be stored; then the next change has its turn.
        let kept = join_all(changes).await;
        assert_eq!(free, 0);
        assert_eq!(kept.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, false, true]);
        service.stop().await;
        fs::remove_dir_all(&folder).unwrap();
    }
}
