//! All streams of a folder, and who may do what with them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use axum::http::StatusCode;
use frostpane::Spec;
use frostpane_store::Begin;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};

use crate::file;
use crate::limits::Limits;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::rate::Rate;
use crate::stream::{Opening, Settings, Stream, now};
use crate::token::Tokens;

/// Bytes of bodies that may be on their way at once, of all requests.
const BODIES: usize = 256 << 20;

/// A service: everything that requests share.
pub struct Service {
    folder: PathBuf,
    witnesses: Option<PathBuf>,
    streams: RwLock<BTreeMap<String, Arc<Stream>>>,
    /// Streams whose state could not be opened.
    failed: Vec<String>,
    /// One stream is created or deleted at a time.
    changing: tokio::sync::Mutex<()>,
    /// Who may do what.
    pub tokens: Tokens,
    /// How much a request may ask for.
    pub limits: Limits,
    /// Whether it is the one with a stream that is made up.
    pub demo: bool,
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// How often an address asked.
    pub(crate) rate: Rate,
    /// Places for those who listen without a token: half of all connections.
    pub(crate) listeners: Arc<Semaphore>,
    /// Room for bodies that are being read, in bytes.
    pub(crate) bodies: Arc<Semaphore>,
    /// Requests whose events are being unpacked and read.
    pub(crate) reading: Arc<Semaphore>,
    /// Requests whose answer takes a processor for a while.
    pub(crate) thinking: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
    /// No other process serves this folder.
    _lock: File,
}

/// What stays of a stream that was deleted: its name is not used again.
#[derive(Debug, Serialize, Deserialize)]
struct Gone {
    store: String,
    /// Of people: how long epochs are and by how much they are shifted, in microseconds.
    #[serde(default)]
    epoch: Option<(i64, i64)>,
    /// No event of it was later, in microseconds since 1970.
    until: i64,
    /// Whether it went by the number of events.
    by_count: bool,
}

impl Service {
    /// Opens a folder, and every stream in it.
    pub fn open(folder: &Path, witnesses: Option<PathBuf>, limits: Limits) -> Result<Self> {
        let failed = |_| Problem::unavailable(format!("{} cannot be made or read", folder.display()));
        for part in ["streams", "gone"] {
            file::make_folder(&folder.join(part)).map_err(failed)?;
        }
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        lock.try_lock()
            .map_err(|_| Problem::unavailable(format!("another process serves {}", folder.display())))?;
        let mut service = Self {
            folder: folder.to_owned(),
            witnesses,
            streams: RwLock::default(),
            failed: Vec::new(),
            changing: tokio::sync::Mutex::default(),
            tokens: Tokens::of(folder),
            listeners: Arc::new(Semaphore::new(limits.connections.div_ceil(2))),
            limits,
            _lock: lock,
            demo: false,
            connections: AtomicUsize::new(0),
            rate: Rate::default(),
            bodies: Arc::new(Semaphore::new(BODIES)),
            reading: Arc::new(Semaphore::new(
                2 * thread::available_parallelism().map_or(2, usize::from),
            )),
            thinking: Arc::new(Semaphore::new(1)),
            stopping: watch::Sender::new(false),
        };
        for entry in fs::read_dir(folder.join("streams")).map_err(failed)?.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            service.resume(&name);
        }
        Ok(service)
    }

    /// Goes on with a stream, or with its deletion.
    fn resume(&mut self, name: &str) {
        let folder = self.folder_of(name);
        if check_stream(name).is_err() {
            return;
        }
        if self.is_gone(name) {
            let _ = fs::remove_dir_all(&folder);
            return;
        }
        let Limits {
            accept_clock, pulled, ..
        } = &self.limits;
        let opening = Opening {
            accept_clock: *accept_clock,
            drains: pulled.iter().any(|pulled| pulled == name),
        };
        match Stream::open(name, &folder, opening) {
            Ok(stream) => self.insert(name, stream),
            Err(problem) => {
                crate::log::failed(name, &problem);
                self.failed.push(name.to_owned());
            }
        }
    }

    fn insert(&self, name: &str, stream: Stream) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(name.to_owned(), Arc::new(stream));
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

    /// The names of streams whose state could not be opened.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Creates a stream; if it is there and the same, that is fine too. Returns whether it is new. It goes on if whoever asked has gone.
    pub async fn create(
        self: &Arc<Self>,
        name: &str,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<Stream>, bool)> {
        let (service, name) = (self.clone(), name.to_owned());
        let created = tokio::spawn(async move { service.create_alone(&name, spec, settings).await });
        created
            .await
            .map_err(|_| Problem::unavailable("the stream could not be begun"))?
    }

    async fn create_alone(
        self: Arc<Self>,
        name: &str,
        spec: Spec,
        settings: Settings,
    ) -> Result<(Arc<Stream>, bool)> {
        check_stream(name)?;
        let _alone = self.changing.lock().await;
        if self.is_gone(name) || self.failed.iter().any(|failed| failed == name) {
            return Err(Problem::conflict(
                "a stream of this name was here before, and its budget is spent with it",
                "take another name; ?replaces= says whose place it takes",
            ));
        }
        if let Some(stream) = self.stream(name) {
            return self.same(stream, spec, &settings).map(|stream| (stream, false));
        }
        let (service, name) = (self.clone(), name.to_owned());
        let created = tokio::task::spawn_blocking(move || service.begin(&name, spec, settings)).await;
        created.map_err(|_| Problem::unavailable("the stream could not be begun"))?
    }

    fn begin(&self, name: &str, spec: Spec, settings: Settings) -> Result<(Arc<Stream>, bool)> {
        let mut begin = Begin::default();
        begin.from = settings.since;
        begin.witness = self
            .witnesses
            .as_ref()
            .map(|folder| folder.join(format!("{name}.witness")));
        begin.input = serde_json::to_string(&settings.columns).ok();
        // Under a name that no stream has, until it is whole.
        let (folder, draft) = (self.folder_of(name), self.folder_of(&format!(".{name}")));
        if draft.exists() {
            // Begun by a process that ended before anyone was told: its witness is of nothing.
            let _ = fs::remove_dir_all(&draft);
            begin
                .witness
                .iter()
                .for_each(|witness| drop(fs::remove_file(witness)));
        }
        let witness = begin.witness.clone().filter(|witness| !witness.exists());
        let created = Stream::create_in(&draft, spec, &settings, begin);
        if let Err(problem) = created {
            let _ = fs::remove_dir_all(&draft);
            witness.iter().for_each(|witness| drop(fs::remove_file(witness)));
            return Err(problem);
        }
        let moved =
            fs::rename(&draft, &folder).and_then(|()| file::sync_folder(&self.folder.join("streams")));
        moved.map_err(|_| Problem::unavailable("the stream could not be begun"))?;
        let stream = Stream::open(name, &folder, Opening::default())?;
        self.insert(name, stream);
        let stream = self.stream(name);
        stream
            .map(|stream| (stream, true))
            .ok_or_else(|| Problem::unknown("stream"))
    }

    /// A stream that is there, if it is what was asked for.
    fn same(&self, stream: Arc<Stream>, spec: Spec, settings: &Settings) -> Result<Arc<Stream>> {
        let known = stream.settings();
        let is_same = (known.asked.as_ref() == Some(&spec) || spec == *stream.spec())
            && known.columns == settings.columns;
        match is_same && (settings.since.is_none() || known.since == settings.since) {
            true => Ok(stream),
            false => Err(Problem::conflict(
                "a stream of this name is there, and is asked for something else, which is fixed",
                "take another name",
            )),
        }
    }

    /// Deletes a stream for good. Its name stays taken. It goes on if whoever asked has gone.
    pub async fn delete(self: &Arc<Self>, name: &str) -> Result<()> {
        let (service, name) = (self.clone(), name.to_owned());
        let deleted = tokio::spawn(async move { service.delete_alone(&name).await });
        deleted
            .await
            .map_err(|_| Problem::unavailable("the stream could not be deleted"))?
    }

    async fn delete_alone(&self, name: &str) -> Result<()> {
        let _alone = self.changing.lock().await;
        let stream = self.stream(name).ok_or_else(|| Problem::unknown("stream"))?;
        let by_count = stream.spec().longest().is_by_count();
        stream.stop().await;
        let gone = Gone {
            store: stream.header().store.clone(),
            epoch: epoch_of(stream.spec()),
            until: now().max(stream.present()),
            by_count,
        };
        let bytes = serde_json::to_vec_pretty(&gone).unwrap_or_default();
        for tombstone in self.tombstones(name) {
            file::replace(&tombstone, &bytes)
                .map_err(|_| Problem::unavailable("the stream could not be deleted"))?;
        }
        self.streams
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        let _ = fs::remove_dir_all(self.folder_of(name));
        Ok(())
    }

    /// Where it is written that a stream was deleted: also beside the witnesses, where a restored copy does not reach.
    fn tombstones(&self, name: &str) -> Vec<PathBuf> {
        let beside = self
            .witnesses
            .as_ref()
            .map(|folder| folder.join(format!("{name}.gone.json")));
        let within = self.folder.join("gone").join(format!("{name}.json"));
        [Some(within), beside].into_iter().flatten().collect()
    }

    /// Whether a stream of this name was deleted: also if what is written about it cannot be read.
    fn is_gone(&self, name: &str) -> bool {
        let is_there = |path: &PathBuf| path.try_exists().unwrap_or(true);
        self.tombstones(name).iter().any(is_there)
    }

    fn gone(&self, name: &str) -> Option<Gone> {
        let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
        self.tombstones(name).into_iter().find_map(read)
    }

    /// From when on a stream takes events that takes the place of one that is gone: from the next epoch of both on, where people are protected.
    pub fn replaces(&self, name: &str, spec: &Spec, arrival: bool) -> Result<i64> {
        check_stream(name)?;
        if spec.longest().is_by_count() || arrival {
            return Err(Problem::invalid(
                "the stream goes by the number of events, or by when they arrive, so nobody can tell which come from before",
                "let it go by the times of events, or leave out ?replaces= and send it nothing that was sent before",
            ));
        }
        match self.gone(name) {
            Some(gone) if !gone.by_count => {
                let epochs = [gone.epoch, epoch_of(spec)].into_iter().flatten();
                Ok(epochs.fold(gone.until, next_epoch))
            }
            Some(_) => Err(Problem::invalid(
                "the stream that was here before went by the number of events, so nobody can tell which it has released",
                "begin another with events that no list has shown, and leave out ?replaces=",
            )),
            None => Err(Problem::invalid(
                "no stream of the name in ?replaces= was deleted here",
                "name one that was, or leave it out",
            )),
        }
    }

    /// Tells everyone who listens, then every stream, to come to an end; nothing that waits is lost and no slide is ended early.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        for stream in self.streams() {
            stream.stop().await;
        }
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
            None if self.failed.iter().any(|failed| failed == name) => Err(Problem::unavailable(
                "the state of this stream could not be opened",
            )),
            None if self.is_gone(name) => Err(Problem::new(
                StatusCode::GONE,
                "this stream was deleted",
                "ask for another",
            )),
            None => Err(Problem::unknown("stream")),
        }
    }
}

/// How long epochs of people are and by how much they are shifted, in microseconds.
fn epoch_of(spec: &Spec) -> Option<(i64, i64)> {
    let bounds = spec.unit.bounds()?;
    let micros = |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Some((micros(bounds.epoch).max(1), micros(bounds.offset)))
}

/// Where the next epoch begins after a moment.
fn next_epoch(moment: i64, (length, offset): (i64, i64)) -> i64 {
    offset + ((moment - offset).div_euclid(length) + 1).saturating_mul(length)
}
