//! All streams of a folder, and who may do what with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Instant;

use axum::http::StatusCode;
use frostpane::Spec;
use frostpane_store::Begin;
use futures_util::future::join_all;
use tokio::sync::{Semaphore, watch};

use crate::connections::Connections;
use crate::crowd::{Crowd, Who};
use crate::file;
use crate::gone::{Epochs, Gone, Tombstones};
use crate::limits::Limits;
use crate::lock::Lock;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::rate::Rate;
use crate::stream::{Columns, Opening, Settings, Stream, now};
use crate::token::Tokens;
use crate::workers::Workers;

/// Bodies of the largest size that may be on their way at once, of all requests and of one producer's.
const BODIES: (usize, usize) = (8, 2);
/// Of so many eighths of the connections all who listen with a token, and all who listen without one, have no more.
const LISTENERS: usize = 3;
/// Files that are written at once for requests that change settings.
const WRITERS: usize = 2;
/// Plans that may be asked for at once, and those of them that are made at once.
const PLANS: (usize, usize) = (64, 1);
/// The file that a process has while it serves a folder.
const LOCK: &str = "lock";

/// A service: everything that requests share.
pub struct Service {
    folder: PathBuf,
    witnesses: Option<PathBuf>,
    streams: RwLock<BTreeMap<String, Arc<Stream>>>,
    /// Streams whose state could not be opened, and whether anyone may read them.
    failed: RwLock<BTreeMap<String, bool>>,
    gone: Tombstones,
    /// No other process has the folder as long as this is held.
    lock: Mutex<Option<Lock>>,
    /// One stream is created or deleted at a time.
    changing: Arc<tokio::sync::Mutex<()>>,
    /// Who may do what.
    pub tokens: Tokens,
    /// How much a request may ask for.
    pub limits: Limits,
    /// Whether it is the one with a stream that is made up.
    pub demo: bool,
    /// Connections that are open.
    pub(crate) connections: Arc<Connections>,
    /// Requests of each token, and of each address, that are being answered.
    pub(crate) asking: Crowd<Who>,
    /// How often an address asked.
    pub(crate) rate: Rate,
    /// How often an address asked for a plan.
    pub(crate) plan_rate: Rate,
    /// Plans that each token, and each address, waits for.
    pub(crate) planners: Crowd<Who>,
    /// Room for bodies that are being read, in bytes.
    pub(crate) bodies: Arc<Semaphore>,
    /// What each producer may take of that, and of turns to read.
    of_producers: Mutex<BTreeMap<String, Arc<Producer>>>,
    /// Turns to write settings.
    pub(crate) writing: Arc<Semaphore>,
    /// Requests whose events are being unpacked and read.
    pub(crate) reading: Arc<Semaphore>,
    /// Threads for long work.
    pub(crate) workers: Workers,
    /// Connections of each token.
    pub(crate) connected: Crowd<Who>,
    /// Requests for plans.
    pub(crate) planning: Arc<Semaphore>,
    /// Those of them that take a processor for a while.
    pub(crate) thinking: Arc<Semaphore>,
    /// Places for those who listen.
    pub(crate) listeners: Listeners,
    /// How many of those places each token, and each address, has.
    pub(crate) listening: Crowd<Who>,
    /// Counts what changes the list of streams, except releases.
    revision: AtomicU64,
    /// The list of streams as strangers see it.
    pub(crate) listed: Mutex<Option<Listed>>,
    stopping: watch::Sender<bool>,
}

/// Places for those who listen with a token, and for those who listen without one.
pub(crate) struct Listeners {
    /// With a token.
    pub with_token: Arc<Semaphore>,
    /// Without one.
    pub without: Arc<Semaphore>,
}

/// What one producer may take at once.
pub(crate) struct Producer {
    /// Room for bodies, in bytes.
    pub bodies: Arc<Semaphore>,
    /// Turns to unpack and read: one processor is left to others.
    pub reading: Arc<Semaphore>,
}

/// The list of streams as it was written last.
pub(crate) struct Listed {
    /// What it is of.
    pub revision: u64,
    /// When it was written.
    pub at: Instant,
    /// The same bytes for everybody.
    pub body: bytes::Bytes,
}

impl Service {
    /// Opens a folder, and every stream in it.
    pub fn open(folder: &Path, witnesses: Option<PathBuf>, limits: Limits) -> Result<Self> {
        let failed = |_| Problem::unavailable(format!("{} cannot be made or read", folder.display()));
        file::make_folder(&folder.join("streams")).map_err(failed)?;
        let lock = lock_folder(folder)?;
        let stones = [Some(folder), witnesses.as_deref()];
        let stones = stones.into_iter().flatten().map(|folder| folder.join("gone"));
        let service = Self {
            folder: folder.to_owned(),
            gone: Tombstones::read(stones.collect()).map_err(failed)?,
            lock: Mutex::new(Some(lock)),
            witnesses,
            streams: RwLock::default(),
            failed: RwLock::default(),
            changing: Arc::default(),
            tokens: Tokens::of(folder),
            demo: false,
            connections: Connections::new(limits.connections),
            asking: Crowd::default(),
            rate: Rate::default(),
            plan_rate: Rate::default(),
            planners: Crowd::default(),
            writing: Arc::new(Semaphore::new(WRITERS)),
            revision: AtomicU64::new(0),
            listed: Mutex::default(),
            bodies: Arc::new(Semaphore::new(BODIES.0 * limits.body)),
            of_producers: Mutex::default(),
            reading: Arc::new(Semaphore::new(2 * processors())),
            workers: Workers::start(2 * processors() + 1).map_err(failed)?,
            connected: Crowd::default(),
            planning: Arc::new(Semaphore::new(PLANS.0)),
            thinking: Arc::new(Semaphore::new(PLANS.1)),
            listeners: {
                let places = || Arc::new(Semaphore::new((LISTENERS * limits.connections).div_ceil(8)));
                Listeners {
                    with_token: places(),
                    without: places(),
                }
            },
            listening: Crowd::default(),
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

    /// Goes on with a stream, or with its deletion.
    fn resume(&self, name: &str) {
        if check_stream(name).is_err() {
            return;
        }
        if self.gone.has(name) {
            let _ = fs::remove_dir_all(self.folder_of(name));
            return;
        }
        match Stream::open(name, &self.folder_of(name), self.opening(name)) {
            Ok(stream) => {
                if self.witnesses.is_some() && stream.header().witness.is_none() {
                    crate::log::of_stream(
                        name,
                        "it was begun without --witness and has none: that it is a copy would not be noticed",
                    );
                }
                drop(self.insert(name, stream));
            }
            Err(problem) => {
                crate::log::failed(name, &problem);
                self.fail(name);
            }
        }
    }

    fn fail(&self, name: &str) {
        let public = Settings::read(&self.folder_of(name)).is_ok_and(|settings| settings.public);
        let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
        failed.insert(name.to_owned(), public);
    }

    fn opening(&self, name: &str) -> Opening {
        let limits = &self.limits;
        Opening {
            accept_clock: limits.accept_clock,
            drains: limits.pulled.iter().any(|pulled| pulled == name),
            tolerance: limits.tolerance,
            commits: limits.commits,
            disk: limits.disk,
            hung: limits.hung,
        }
    }

    fn insert(&self, name: &str, stream: Stream) -> Arc<Stream> {
        let stream = Arc::new(stream);
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(name.to_owned(), stream.clone());
        drop(streams);
        self.revise();
        stream
    }

    /// Something in the list of streams is another.
    pub(crate) fn revise(&self) {
        self.revision.fetch_add(1, Ordering::Relaxed);
    }

    /// Which list of streams is the present one.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join("streams").join(name)
    }

    /// The stream of a name.
    pub fn stream(&self, name: &str) -> Option<Arc<Stream>> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.get(name).cloned()
    }

    /// All of them, in the order of their names.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.values().cloned().collect()
    }

    /// What a producer may take at once.
    pub(crate) fn producer(&self, name: &str) -> Arc<Producer> {
        let mut all = self.of_producers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(name) {
            return known.clone();
        }
        let new = Arc::new(Producer {
            bodies: Arc::new(Semaphore::new(BODIES.1 * self.limits.body)),
            reading: Arc::new(Semaphore::new(processors().saturating_sub(1).max(1))),
        });
        all.insert(name.to_owned(), new.clone());
        new
    }

    /// Whether a transaction has lasted for more than so many times as long as one may, and no stream has ended one meanwhile: the disk
    /// hangs, and not one stream alone. The disk is not asked.
    pub fn hangs(&self, times: u32) -> bool {
        let most = self.limits.hung * times;
        let streams = self.streams();
        streams.iter().any(|stream| stream.hangs_for() > most)
            && !streams.iter().any(|stream| stream.ended_within(most))
    }

    /// Streams whose state could not be opened.
    pub fn failed(&self) -> BTreeSet<String> {
        let failed = self.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.keys().cloned().collect()
    }

    /// Whether the state of a stream that anyone may read could not be opened.
    pub fn has_failed_in_public(&self, name: &str) -> bool {
        let failed = self.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.get(name).copied().unwrap_or(false)
    }

    /// Whether every stream's state could be opened.
    pub fn is_whole(&self) -> bool {
        self.failed
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    fn has_failed(&self, name: &str) -> bool {
        let failed = self.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.contains_key(name)
    }

    /// Whether there are streams, or were, that may have been given the events of this one.
    pub fn has_others(&self) -> bool {
        self.streams().len() > 1 || !self.gone.is_empty() || !self.is_whole()
    }

    /// Creates a stream; if it is there and the same, that is fine too. Returns whether it is new.
    pub async fn create(
        self: &Arc<Self>,
        name: &str,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<Stream>, bool)> {
        check_stream(name)?;
        let (service, name) = (self.clone(), name.to_owned());
        // Whoever asked may go: what was begun is finished, alone.
        let created = tokio::spawn(async move {
            let _alone = service.changing.clone().lock_owned().await;
            service.create_alone(name, spec, settings).await
        });
        created.await.map_err(|_| not_begun())?
    }

    async fn create_alone(
        self: &Arc<Self>,
        name: String,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<Stream>, bool)> {
        if *self.stopping.borrow() {
            return Err(Problem::unavailable("the service is being stopped"));
        }
        if self.has_failed(&name) {
            return Err(Problem::conflict(
                "a stream of this name is there, and its state cannot be opened",
                "look at the log of the service, or take another name",
            ));
        }
        if self.gone.has(&name) {
            return Err(Problem::conflict(
                "a stream of this name was here before, and its budget is spent with it",
                "take another name; ?replaces= says whose place it takes",
            ));
        }
        if let Some(stream) = self.stream(&name) {
            return self.same(stream, spec, &settings).map(|stream| (stream, false));
        }
        let service = self.clone();
        let begun = tokio::task::spawn_blocking(move || service.begin(&name, spec, &settings));
        begun.await.map_err(|_| not_begun())?.map(|stream| (stream, true))
    }

    fn begin(&self, name: &str, spec: Spec, settings: &Settings) -> Result<Arc<Stream>> {
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
        begin.witness = self
            .witnesses
            .as_ref()
            .map(|folder| folder.join(format!("{name}.witness")));
        begin.input = serde_json::to_string(&settings.columns).ok();
        // Under a name that no stream has, until it is whole.
        let (folder, draft) = (self.folder_of(name), self.folder_of(&format!(".{name}")));
        let witness = begin.witness.clone();
        if draft.exists() {
            // Begun by a process that ended before anyone was told.
            undo(&draft, witness.as_deref());
        }
        let is_new = !witness.as_ref().is_some_and(|witness| witness.exists());
        let created = Stream::create_in(&draft, spec, settings, begin).and_then(|()| {
            let moved = fs::rename(&draft, &folder);
            moved.map_err(|_| not_begun())
        });
        if let Err(problem) = created {
            undo(&draft, witness.as_deref().filter(|_| is_new));
            return Err(problem);
        }
        let synced = file::sync_folder(&self.folder.join("streams")).map_err(|_| not_begun());
        match synced.and_then(|()| Stream::open(name, &folder, self.opening(name))) {
            Ok(stream) => Ok(self.insert(name, stream)),
            Err(problem) => {
                self.fail(name);
                Err(problem)
            }
        }
    }

    /// A stream that is there, if it is what was asked for.
    fn same(&self, stream: Arc<Stream>, spec: Spec, settings: &Settings) -> Result<Arc<Stream>> {
        let known = stream.settings();
        let asked = known.asked.as_ref() == Some(&spec) || spec == *stream.spec();
        let is_same = asked && known.columns == settings.columns && known.since == settings.since;
        match is_same {
            true => Ok(stream),
            false => Err(Problem::conflict(
                "a stream of this name is there, and is asked for something else, which is fixed",
                "take another name",
            )),
        }
    }

    /// Deletes a stream for good. Its name stays taken.
    pub async fn delete(self: &Arc<Self>, name: &str) -> Result<()> {
        let (service, name) = (self.clone(), name.to_owned());
        let deleted = tokio::spawn(async move {
            let _alone = service.changing.clone().lock_owned().await;
            service.delete_alone(name).await
        });
        deleted.await.map_err(|_| not_deleted())?
    }

    async fn delete_alone(self: &Arc<Self>, name: String) -> Result<()> {
        let stream = self.stream(&name).ok_or_else(|| Problem::unknown("stream"))?;
        stream.stop().await;
        let service = self.clone();
        let buried = tokio::task::spawn_blocking(move || service.bury(&name, &stream));
        buried.await.map_err(|_| not_deleted())?
    }

    fn bury(&self, name: &str, stream: &Stream) -> Result<()> {
        let spec = stream.spec();
        let gone = Gone {
            store: stream.header().store.clone(),
            until: match spec.longest().is_by_count() {
                true => now(),
                false => now().max(stream.clock()),
            },
            by_count: spec.longest().is_by_count(),
            epochs: Epochs::of(spec),
        };
        let buried = self.gone.put(name, gone);
        self.streams
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        self.revise();
        if buried.is_err() {
            self.resume(name);
            return Err(not_deleted());
        }
        let _ = fs::remove_dir_all(self.folder_of(name));
        Ok(())
    }

    /// From when on a stream takes events that takes the place of one that is gone.
    pub fn replaces(&self, name: &str, spec: &Spec, columns: &Columns) -> Result<i64> {
        check_stream(name)?;
        let gone = self.gone.find(name).ok_or_else(|| {
            Problem::invalid(
                "no stream of the name in ?replaces= was deleted here",
                "name one that was, or leave it out",
            )
        })?;
        if spec.longest().is_by_count() || columns.time.is_none() {
            return Err(Problem::invalid(
                "events of this stream have no time of their own, so nobody can tell which the one before has released",
                "have it go by the times of events, or begin it with events that no list has shown, and leave out ?replaces=",
            ));
        }
        match gone {
            Some(gone) if !gone.by_count => Ok(gone.replaced_from(spec)),
            _ => Err(Problem::invalid(
                "the stream that was here before went by the number of events, or what is known of it cannot be read, so nobody can tell which it \
                 has released",
                "begin another with events that no list has shown, and leave out ?replaces=",
            )),
        }
    }

    /// Tells everyone who listens, then every stream, to come to an end; nothing that waits is lost and no slide is ended early.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let _alone = self.changing.lock().await;
        let streams = self.streams();
        join_all(streams.iter().map(|stream| stream.stop())).await;
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Ends those who listen.
    pub fn close_listeners(&self) {
        self.stopping.send_replace(true);
    }

    /// To be told when the service stops.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// The stream of a name, for whoever asked and may know that it is there.
    pub fn known(&self, name: &str) -> Result<Arc<Stream>> {
        match self.stream(name) {
            Some(stream) => Ok(stream),
            None if self.has_failed(name) => {
                Err(Problem::unavailable("the state of the stream cannot be opened"))
            }
            None if self.gone.has(name) => Err(Problem::new(
                StatusCode::GONE,
                "this stream was deleted",
                "ask for another",
            )),
            None => Err(Problem::unknown("stream")),
        }
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

/// The folder, for this process alone.
pub fn lock_folder(folder: &Path) -> Result<Lock> {
    let failed = |_| Problem::unavailable(format!("{} cannot be made or read", folder.display()));
    Lock::take(&folder.join(LOCK)).map_err(failed)?.ok_or_else(|| {
        Problem::conflict(
            format!("another process has {}", folder.display()),
            "stop it first",
        )
    })
}

/// What was begun is gone: its witness is of nothing.
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

    /// A file that nobody reads from is a disk that does not answer: however many streams change, two threads wait for it.
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
        let drafts = ["one", "two"].map(|name| service.folder_of(name).join("service.json.draft"));
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
        // What was waited for cannot be kept, and the next one has its turn.
        let kept = join_all(changes).await;
        assert_eq!(free, 0);
        assert_eq!(
            kept.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [false, false, true]
        );
        service.stop().await;
        fs::remove_dir_all(&folder).unwrap();
    }
}
