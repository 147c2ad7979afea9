//! All streams of a folder, and who may do what with them.

use std::collections::BTreeMap;
use std::fs;
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
    /// Room for bodies that are being read, in bytes.
    pub(crate) bodies: Arc<Semaphore>,
    /// Requests whose events are being unpacked and read.
    pub(crate) reading: Semaphore,
    /// Requests whose answer takes a processor for a while.
    pub thinking: Semaphore,
    stopping: watch::Sender<bool>,
}

/// What stays of a stream that was deleted: its name is not used again.
#[derive(Debug, Serialize, Deserialize)]
struct Gone {
    store: String,
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
        let mut service = Self {
            folder: folder.to_owned(),
            witnesses,
            streams: RwLock::default(),
            failed: Vec::new(),
            changing: tokio::sync::Mutex::default(),
            tokens: Tokens::of(folder),
            limits,
            demo: false,
            connections: AtomicUsize::new(0),
            rate: Rate::default(),
            bodies: Arc::new(Semaphore::new(BODIES)),
            reading: Semaphore::new(2 * thread::available_parallelism().map_or(2, usize::from)),
            thinking: Semaphore::new(2),
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
        if self.gone(name).is_some() {
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

    /// Creates a stream; if it is there and the same, that is fine too. Returns whether it is new.
    pub async fn create(
        self: &Arc<Self>,
        name: &str,
        spec: Spec,
        settings: Settings,
        from: Option<i64>,
    ) -> Result<(Arc<Stream>, bool)> {
        check_stream(name)?;
        let _alone = self.changing.lock().await;
        if self.gone(name).is_some() || self.failed.iter().any(|failed| failed == name) {
            return Err(Problem::conflict(
                "a stream of this name was here before, and its budget is spent with it",
                "take another name; ?replaces= says whose place it takes",
            ));
        }
        if let Some(stream) = self.stream(name) {
            return self.same(stream, spec, &settings).map(|stream| (stream, false));
        }
        let (service, name) = (self.clone(), name.to_owned());
        let created = tokio::task::spawn_blocking(move || service.begin(&name, spec, settings, from)).await;
        created.map_err(|_| Problem::unavailable("the stream could not be begun"))?
    }

    fn begin(
        &self,
        name: &str,
        spec: Spec,
        settings: Settings,
        from: Option<i64>,
    ) -> Result<(Arc<Stream>, bool)> {
        let mut begin = Begin::default();
        begin.from = from;
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
        let created = Stream::create_in(&draft, spec, &settings, begin);
        if let Err(problem) = created {
            let _ = fs::remove_dir_all(&draft);
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
        let asked = crate::plan::decided(spec)?;
        let known = stream.settings();
        match asked == *stream.spec() && known.columns == settings.columns {
            true => Ok(stream),
            false => Err(Problem::conflict(
                "a stream of this name is there, and is asked for something else, which is fixed",
                "take another name",
            )),
        }
    }

    /// Deletes a stream for good. Its name stays taken.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let _alone = self.changing.lock().await;
        let stream = self.stream(name).ok_or_else(|| Problem::unknown("stream"))?;
        let by_count = stream.spec().longest().is_by_count();
        stream.stop().await;
        let gone = Gone {
            store: stream.header().store.clone(),
            until: now(),
            by_count,
        };
        let bytes = serde_json::to_vec_pretty(&gone).unwrap_or_default();
        file::replace(&self.tombstone(name), &bytes)
            .map_err(|_| Problem::unavailable("the stream could not be deleted"))?;
        self.streams
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        let _ = fs::remove_dir_all(self.folder_of(name));
        Ok(())
    }

    fn tombstone(&self, name: &str) -> PathBuf {
        self.folder.join("gone").join(format!("{name}.json"))
    }

    fn gone(&self, name: &str) -> Option<Gone> {
        serde_json::from_slice(&fs::read(self.tombstone(name)).ok()?).ok()
    }

    /// From when on a stream takes events that takes the place of one that is gone.
    pub fn replaces(&self, name: &str) -> Result<i64> {
        check_stream(name)?;
        match self.gone(name) {
            Some(gone) if !gone.by_count => Ok(gone.until),
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
            None if self.gone(name).is_some() => Err(Problem::new(
                StatusCode::GONE,
                "this stream was deleted",
                "ask for another",
            )),
            None => Err(Problem::unknown("stream")),
        }
    }
}
