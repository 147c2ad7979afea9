//! A stream of the service: its handle, shared by requests, and the actor thread that owns its state.

mod actor;
mod command;
mod disk_quota;
mod disk_watch;
mod release_cache;
mod settings;
mod spec_json;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use frostpane::{Bytes, Spec};
use frostpane_events::Format;
use frostpane_store::{Begin, BudgetReport, ClockError, Header, KeyKind, Store, WallClock};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::{Semaphore, oneshot};

use crate::events::{EventCounts, ParseRules, Wrong};
use crate::key::{AnyBatch, ServedKey, SpecKeys};
use crate::limits::Limits;
use crate::log;
use crate::metrics::{IngestStatistics, StreamMetrics};
use crate::problem::{Problem, Result};
use crate::rate_limiter::RateLimiter;
use crate::sync;
use crate::worker_pool::give_way;
use actor::StreamActor;
use command::Reply;
pub(crate) use command::{Acknowledged, Identity, IngestRequest, StreamCommand};
use disk_watch::DiskWatch;
pub use release_cache::{Most, Published, ReleaseCache};
pub use settings::{EventColumns, Settings};
pub(crate) use spec_json::SpecJson;

/// Changes of settings a second, and at once.
const CHANGES: (u32, u32) = (1, 10);
const QUEUE_COMMANDS: usize = 1_024;
pub(crate) const QUEUE_BYTES: usize = 64 << 20;
/// The longest Retry-After, in seconds.
const LONGEST_RETRY_AFTER: u64 = 3_600;
/// Readers that may wait for the actor thread.
const READERS: usize = 8;

/// Microseconds since 1970 by the wall clock. The state decides if it can be believed.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}

pub struct StreamHandle {
    folder: PathBuf,
    settings: RwLock<Arc<Settings>>,
    /// Held while a change of settings is written.
    changing: tokio::sync::Mutex<RateLimiter>,
    pub(crate) spec_json: SpecJson,
    /// The description, as it was last written.
    described: Mutex<Option<(Described, bytes::Bytes)>>,
    pub(crate) shared: Arc<SharedState>,
    commands: SyncSender<StreamCommand>,
    queue_bytes: Arc<Semaphore>,
    readers: Semaphore,
    pub(crate) header: Header,
}

/// The part of a stream on which its description depends: public, closed, number of releases.
pub(crate) type Described = (bool, bool, u64);

/// State that requests share with the actor thread.
pub(crate) struct SharedState {
    pub name: String,
    pub spec: Spec,
    pub cache: ReleaseCache,
    pub metrics: StreamMetrics,
    /// The length of a slide that the clock ends, and its offset, in microseconds; `None` by count.
    pub slide: Option<(i64, i64)>,
    status: Mutex<Status>,
    /// The time, or number of events, that the state has reached.
    clock: AtomicI64,
    pub wall: WallClock,
    /// Events that came too late.
    dropped: AtomicU64,
    /// True while its source cannot be reached, or has not been reached yet.
    pub cut_off: AtomicBool,
    /// True while it catches up with the wall clock.
    behind: AtomicBool,
    pub disk: DiskWatch,
    hung: Duration,
    /// The latest moment at which events were parsed.
    seen: AtomicI64,
    /// By how much an event may be ahead, in microseconds.
    tolerance: i64,
    /// By how much it may be ahead and keep its time: with users, it waits for its epoch.
    ahead: i64,
    budget: RwLock<Option<BudgetReport>>,
}

/// The health of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ready,
    /// Its state cannot be opened or written, or users did not fit into its memory.
    Failed,
    /// The wall clock is not believed, and ends no slides.
    Clock,
    /// It was restored from a copy, and continues at a moment to come.
    Waiting,
    Stopped,
    #[serde(rename = "source")]
    CutOff,
    /// It was off for long, and ends slides until it has reached the wall clock.
    CatchingUp,
    /// A transaction does not end: the disk hangs.
    Hung,
}

impl SharedState {
    fn set_status(&self, status: Status) {
        *sync::lock(&self.status) = status;
    }

    /// The time, or number of events, that the state has reached. For the operator alone.
    pub fn clock(&self) -> i64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The moment that the state has reached; `None` by count. For the operator alone.
    pub fn moment(&self) -> Option<i64> {
        (!self.spec.longest().is_by_count()).then(|| self.clock())
    }

    /// Sets a status by the clock, unless the stream has failed or stopped. Returns true if it is new.
    fn set_status_by_clock(&self, to: Status) -> bool {
        let mut status = sync::lock(&self.status);
        let is_new = matches!(*status, Status::Ready | Status::Clock | Status::Waiting) && *status != to;
        if is_new {
            *status = to;
        }
        is_new
    }

    /// The time of this stream: never before what it has reached, and never that of an implausible clock.
    fn present(&self) -> std::result::Result<i64, ClockError> {
        match self.moment() {
            Some(reached) => self.wall.read((reached > 0).then_some(reached)),
            None => Ok(now()),
        }
    }

    /// The refusal of requests while the clock is implausible.
    fn clock_problem(&self, cause: ClockError) -> Problem {
        let reached = self.clock();
        match (cause, Timestamp::from_microsecond(reached)) {
            (ClockError::Behind, Ok(at)) => {
                let left = u64::try_from((reached - now()) / 1_000_000).unwrap_or(0);
                let then = format!("send the same again after {at:.0}");
                Problem::not_now(cause.to_string(), then).after(left.clamp(1, LONGEST_RETRY_AFTER))
            }
            _ => Problem::unavailable(cause.to_string()),
        }
    }
}

impl StreamHandle {
    pub(crate) fn create_in(folder: &Path, spec: Spec, settings: &Settings, begin: Begin) -> Result<()> {
        match SpecKeys::of(&spec)? {
            SpecKeys::Bytes(keys) => drop(Store::create(folder, spec, keys, begin)?),
            SpecKeys::Integers(keys) => drop(Store::create(folder, spec, keys, begin)?),
        }
        settings.write(folder)
    }

    pub(crate) fn open(name: &str, folder: &Path, limits: &Limits) -> Result<Self> {
        // Only the operator learns why a state cannot be opened.
        let why = |cause: &frostpane_store::Error| log::of_stream(name, cause);
        let header = Header::read(folder).inspect_err(why)?;
        match header.keys {
            KeyKind::Bytes => {
                Self::start::<Bytes>(name, folder, Store::open(folder).inspect_err(why)?, limits)
            }
            KeyKind::Integers => {
                Self::start::<u64>(name, folder, Store::open(folder).inspect_err(why)?, limits)
            }
        }
    }

    fn start<K: ServedKey>(name: &str, folder: &Path, store: Store<K>, limits: &Limits) -> Result<Self> {
        let settings = Settings::read(folder)?;
        let header = store.header().clone();
        let spec = header.spec.clone();
        let slide = (store.stream().clock() != i64::MAX).then(|| slide(&store));
        let timed = settings.columns.time.is_some() || spec.longest().is_by_count();
        // Where only the times of events advance the stream, a clock that is ahead ends no slide.
        let accepted = limits.accept_clock || (slide.is_none() && timed);
        let tolerance = i64::try_from(limits.tolerance.as_micros()).unwrap_or(i64::MAX);
        let is_pulled = limits.pulled.iter().any(|pulled| pulled == name);
        let keeps_time = timed && spec.unit.is_user();
        let shared = Arc::new(SharedState {
            name: name.to_owned(),
            wall: store.clock(limits.tolerance, accepted),
            slide,
            metrics: StreamMetrics::default(),
            cache: ReleaseCache::default(),
            status: Mutex::new(Status::Ready),
            clock: AtomicI64::new(0),
            dropped: AtomicU64::new(0),
            cut_off: AtomicBool::new(is_pulled),
            behind: AtomicBool::new(false),
            disk: DiskWatch::default(),
            hung: limits.hung,
            seen: AtomicI64::new(i64::MIN),
            tolerance,
            ahead: if keeps_time { tolerance } else { 0 },
            budget: RwLock::default(),
            spec,
        });
        if is_pulled {
            // The clock ends no slide before messages that wait are taken, or too much time has passed.
            shared.wall.drain();
        }
        let (commands, asked) = sync_channel(QUEUE_COMMANDS);
        let actor = StreamActor::new(folder.to_owned(), store, shared.clone(), asked, timed, limits)?;
        thread::Builder::new()
            .name(format!("stream {name}"))
            .spawn(|| {
                give_way();
                actor.run();
            })
            .map_err(|_| Problem::unavailable("no thread could be started"))?;
        Ok(Self {
            folder: folder.to_owned(),
            settings: RwLock::new(Arc::new(settings)),
            changing: tokio::sync::Mutex::new(RateLimiter::new(CHANGES.0, CHANGES.1, Instant::now())),
            spec_json: SpecJson::of(name, &header.spec)?,
            described: Mutex::default(),
            shared,
            commands,
            queue_bytes: Arc::new(Semaphore::new(QUEUE_BYTES)),
            readers: Semaphore::new(READERS),
            header,
        })
    }

    pub fn settings(&self) -> Arc<Settings> {
        sync::read(&self.settings).clone()
    }

    /// Changes and stores settings, at a limited rate, on a thread that may wait for the disk.
    pub(crate) async fn set(
        self: &Arc<Self>,
        writing: &Semaphore,
        change: impl FnOnce(&mut Settings),
    ) -> Result<()> {
        let mut limiter = self.changing.lock().await;
        let known = self.settings();
        let mut changed = Settings::clone(&known);
        change(&mut changed);
        if changed == *known {
            return Ok(());
        }
        limiter.turn(Instant::now()).map_err(|_| {
            Problem::too_many(
                "the settings of this stream are changed too often",
                "change them again after the time that Retry-After says",
            )
        })?;
        let _turn = writing.acquire().await;
        let (stream, changed) = (self.clone(), Arc::new(changed));
        let written = changed.clone();
        let failed = || Problem::unavailable("the settings of a stream cannot be written");
        tokio::task::spawn_blocking(move || written.write(&stream.folder)).await.map_err(|_| failed())??;
        *sync::write(&self.settings) = changed;
        Ok(())
    }

    /// The description, written again only when something has changed.
    pub(crate) fn described(&self, of: Described, write: impl FnOnce() -> Vec<u8>) -> bytes::Bytes {
        let mut described = sync::lock(&self.described);
        match &*described {
            Some((known, bytes)) if *known == of => bytes.clone(),
            _ => {
                let bytes = bytes::Bytes::from(write());
                *described = Some((of, bytes.clone()));
                bytes
            }
        }
    }

    /// The rules by which events that come now are parsed.
    pub(crate) fn rules(&self, format: Format, wrong: Wrong) -> Result<ParseRules> {
        let (settings, spec) = (self.settings(), &self.shared.spec);
        let present = self.shared.present().map_err(|cause| self.shared.clock_problem(cause))?;
        self.shared.seen.fetch_max(present, Ordering::Relaxed);
        Ok(ParseRules {
            format,
            wrong,
            keys: self.header.keys,
            has_time: settings.columns.have_time(spec),
            has_user: spec.unit.is_user(),
            columns: settings.columns.clone(),
            since: settings.since,
            present,
            earliest: present.saturating_sub(reach(spec)),
            tolerance: self.shared.tolerance,
            most: usize::MAX,
        })
    }

    /// The budget as of the last pane that ended or release that was made.
    pub(crate) fn budget(&self) -> Option<BudgetReport> {
        sync::read(&self.shared.budget).clone()
    }

    pub(crate) fn status(&self) -> Status {
        let shared = &self.shared;
        let status = *sync::lock(&shared.status);
        match status {
            Status::Stopped => status,
            _ if shared.disk.lasts() > shared.hung => Status::Hung,
            Status::Ready if shared.behind.load(Ordering::Relaxed) => Status::CatchingUp,
            Status::Ready if shared.cut_off.load(Ordering::Relaxed) => Status::CutOff,
            _ => status,
        }
    }

    /// Statistics for the operator. They reveal how many events there were: none where users are protected.
    pub(crate) fn statistics(&self) -> Option<IngestStatistics> {
        let metrics = &self.shared.metrics;
        let commits = metrics.commits.get();
        let statistics = IngestStatistics {
            events: metrics.events.get(),
            late: self.shared.dropped.load(Ordering::Relaxed),
            commits,
            commit_milliseconds: metrics.committing.get() as f64 / 1e3 / commits.max(1) as f64,
            waiting_bytes: QUEUE_BYTES - self.queue_bytes.available_permits(),
            overloads: metrics.refused.get(),
        };
        (!self.shared.spec.unit.is_user()).then_some(statistics)
    }

    /// Takes events, which are durable when this returns. Repeated ones get the receipt of their identity.
    pub(crate) async fn take(
        &self,
        identity: Option<Identity>,
        counts: Option<EventCounts>,
        batch: AnyBatch,
    ) -> Result<Acknowledged> {
        // A batch larger than the queue takes all of it.
        let size = u32::try_from(batch.bytes().clamp(1, QUEUE_BYTES)).unwrap_or(u32::MAX);
        let queue_permit = self.queue_bytes.clone().try_acquire_many_owned(size).map_err(|_| overloaded())?;
        let known = identity.clone();
        let ingest =
            |reply| StreamCommand::Ingest(IngestRequest { identity, counts, batch, queue_permit, reply });
        let sent = {
            // Held until the batch is in the queue, so that none follows the close.
            let settings = sync::read(&self.settings);
            (!settings.closed).then(|| self.send(ingest)).transpose()?
        };
        match sent {
            Some(answer) => answer.await.map_err(|_| stopping())?,
            None => self.recall_or(known, closed()).await,
        }
    }

    /// The answer to a request that was taken before; otherwise this refusal.
    pub(crate) async fn recall_or(
        &self,
        identity: Option<Identity>,
        refusal: Problem,
    ) -> Result<Acknowledged> {
        let known = match identity {
            Some(identity) => self.ask(|reply| StreamCommand::Recall(identity, reply)).await?,
            None => None,
        };
        known.ok_or(refusal)
    }

    /// Sends a command of a reader: only a few at a time, so that they do not delay events.
    pub(crate) async fn look<T>(&self, command: impl FnOnce(Reply<T>) -> StreamCommand) -> Result<T> {
        let _turn = self.readers.try_acquire().map_err(|_| overloaded())?;
        self.ask(command).await
    }

    /// Sends a command to the actor thread.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> StreamCommand) -> Result<T> {
        self.send(command)?.await.map_err(|_| stopping())?
    }

    fn send<T>(
        &self,
        command: impl FnOnce(Reply<T>) -> StreamCommand,
    ) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, answer) = oneshot::channel();
        self.commands.try_send(command(reply)).map_err(|refused| match refused {
            TrySendError::Full(_) => overloaded(),
            TrySendError::Disconnected(_) => stopping(),
        })?;
        Ok(answer)
    }

    /// Closes the state, after all commands that wait.
    pub(crate) async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        let commands = self.commands.clone();
        // The queue may be full.
        let sent =
            tokio::task::spawn_blocking(move || commands.send(StreamCommand::Stop(done)).is_ok()).await;
        if sent.unwrap_or(false) {
            let _ = stopped.await;
        }
        self.shared.cache.wake();
    }
}

/// The length of a slide, or an epoch, and a moment at which one ends.
fn slide<K: ServedKey>(store: &Store<K>) -> (i64, i64) {
    let stream = store.stream();
    let number = stream.numbers().end;
    let slide = stream.begins(number + 1) - stream.begins(number);
    let lateness = i64::try_from(stream.spec().lateness.as_micros()).unwrap_or(0);
    let slide = slide.max(1);
    (slide, (stream.begins(number) + lateness).rem_euclid(slide))
}

/// By how much an event may be late and a window still cover it: twice the longest window, because windows are
/// rounded up to whole slides, and the lateness.
fn reach(spec: &Spec) -> i64 {
    let window = i64::try_from(spec.longest().length()).unwrap_or(i64::MAX);
    window.saturating_mul(2).saturating_add(i64::try_from(spec.lateness.as_micros()).unwrap_or(i64::MAX))
}

pub(crate) fn closed() -> Problem {
    Problem::conflict("this stream is closed, and takes no more events", "send them to another")
}

pub(crate) fn catching_up() -> Problem {
    Problem::not_now(
        "this stream was off for long and is catching up with the clock: nothing of this request was done",
        "send it again after the time that Retry-After says, with the same Idempotency-Key",
    )
}

pub(crate) fn overloaded() -> Problem {
    Problem::too_many(
        "more is coming in than can be kept: nothing of this request was taken",
        "send it again after the time that Retry-After says, with the same Idempotency-Key",
    )
}

fn stopping() -> Problem {
    Problem::unavailable("the stream is being stopped")
}
