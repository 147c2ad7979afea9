//! A stream of the service: what requests see of it, and the thread that has its state.

mod clock;
mod command;
mod disk;
mod keeper;
mod published;
mod settings;
mod spec_json;
mod work;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use frostpane::{Bytes, Keys, Spec};
use frostpane_store::{Begin, Budget, Clock, ClockError, Header, KeyKind, Store};
use jiff::Timestamp;
use tokio::sync::{Semaphore, oneshot};

use crate::events::{Format, Has, Reading, Wrong};
use crate::key::{AnyBatch, AnyKeys, ServedKey};
use crate::log;
use crate::metrics::OfStream;
use crate::pace::Pace;
use crate::problem::{Problem, Result};
use crate::workers::give_way;
pub use clock::now;
use command::Reply;
pub use command::{Acknowledged, Command, Identity, Taking};
use keeper::Keeper;
pub use published::{Most, Published, Shelf, Words};
pub use settings::{Columns, Settings};
pub use spec_json::SpecJson;
use work::Work;

/// Changes of settings: how many a second, and how many at once.
const CHANGES: (u32, u32) = (1, 10);
/// How many requests may wait.
const WAITING: usize = 1_024;
/// How many bytes of events may wait.
const ROOM: usize = 64 << 20;
/// After so many seconds at the most whoever has to wait is told to come again: an hour.
const LONGEST_REST: u64 = 3_600;
/// How many of those who read may wait for the thread that takes events.
const READERS: usize = 8;

/// A stream, for those who ask something of it.
pub struct Stream {
    folder: PathBuf,
    settings: RwLock<Arc<Settings>>,
    /// How often settings may change; held while one change is written.
    changing: tokio::sync::Mutex<Pace>,
    spec_json: SpecJson,
    /// What anyone who may read it is told, as it was written last.
    described: Mutex<Option<(Described, bytes::Bytes)>>,
    shared: Arc<Shared>,
    commands: SyncSender<Command>,
    room: Arc<Semaphore>,
    readers: Semaphore,
    header: Header,
}

/// What a description of a stream depends on: whether it is public, whether it is closed, and how many releases there were.
pub type Described = (bool, bool, u64);

/// What requests and the thread of the state share.
pub(crate) struct Shared {
    pub name: String,
    pub spec: Spec,
    pub shelf: Shelf,
    pub metrics: OfStream,
    /// How long a slide is that the clock ends and by how much it is shifted, in microseconds; none by count.
    slide: Option<(i64, i64)>,
    standing: AtomicU8,
    /// What it has come to.
    clock: AtomicI64,
    /// The clock on the wall.
    wall: Clock,
    dropped: AtomicU64,
    /// Whether it pulls from a source that cannot be reached, or has not been yet.
    cut_off: AtomicBool,
    /// Whether its clock is so far behind that it is let come to the present step by step.
    behind: AtomicBool,
    /// What goes on with its state, and for how long that may last.
    work: Work,
    hung: Duration,
    /// Whether its window goes by the clock.
    by_clock: bool,
    /// The latest moment at which events were read.
    seen: AtomicI64,
    /// How much later than the clock an event may be, in microseconds: it counts as of now or, of users, as of its own time.
    tolerance: i64,
    /// How much earlier an event may be, and a window still reach it.
    reach: i64,
    budget: RwLock<Option<Budget>>,
}

/// How a stream is gone on with.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Whether the clock of the machine is right, however far it is ahead of the stream's.
    pub accept_clock: bool,
    /// Whether something waits at a source: the clock ends no slide before that is taken, or too much time has passed.
    pub drains: bool,
    /// How much later than the clock an event may be.
    pub tolerance: Duration,
    /// The most transactions a second.
    pub commits: u32,
    /// The most bytes on disk.
    pub disk: u64,
    /// How long a transaction may take before the disk is said to hang.
    pub hung: Duration,
}

/// How a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Standing {
    /// All is well.
    Ready,
    /// Its state cannot be opened or written, or users did not fit into its memory.
    Failed,
    /// The clock on the wall is not believed, and slides are not ended by it.
    Clock,
    /// It was restored from a copy, and goes on at a moment that is still to come.
    Waiting,
    /// It was told to stop.
    Stopped,
    /// All is well but for its source, which cannot be reached.
    CutOff,
    /// It was off for long, and ends slides one after the other until it has come to the present.
    CatchingUp,
    /// A transaction does not come to its end: the disk hangs.
    Hung,
}

impl Shared {
    fn stand(&self, standing: Standing) {
        self.standing.store(standing as u8, Ordering::Relaxed);
    }

    /// How the clock lets it stand, by which whoever has failed or stopped stays so. Returns whether that is new.
    fn stand_by_clock(&self, to: Standing) -> bool {
        let by_clock = [Standing::Ready, Standing::Clock, Standing::Waiting].map(|standing| standing as u8);
        let changed = self
            .standing
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |from| {
                (by_clock.contains(&from) && from != to as u8).then_some(to as u8)
            });
        changed.is_ok()
    }

    /// What time it is for this stream: never before what it has come to, and never by a clock that is not believed.
    fn present(&self) -> std::result::Result<i64, ClockError> {
        if !self.by_clock {
            return Ok(now());
        }
        let reached = self.clock.load(Ordering::Relaxed);
        self.wall.read((reached > 0).then_some(reached))
    }

    /// What whoever asks is told while the clock is not believed.
    fn doubted(&self, doubt: ClockError) -> Problem {
        let problem = Problem::unavailable(doubt.to_string());
        let reached = self.clock.load(Ordering::Relaxed);
        match (doubt, Timestamp::from_microsecond(reached)) {
            (ClockError::Behind, Ok(at)) => {
                let left = u64::try_from((reached - now()) / 1_000_000).unwrap_or(0);
                let then = format!("send the same again after {at:.0}");
                Problem::new(problem.status(), problem.error(), then).after(left.clamp(1, LONGEST_REST))
            }
            _ => problem,
        }
    }

    fn set_budget(&self, budget: Budget) {
        *self.budget.write().unwrap_or_else(PoisonError::into_inner) = Some(budget);
    }

    fn tell(&self, clock: i64, dropped: u64) {
        self.clock.store(clock, Ordering::Relaxed);
        self.dropped.store(dropped, Ordering::Relaxed);
    }
}

impl Stream {
    /// Begins the state of a stream in a new folder.
    pub fn create_in(folder: &Path, spec: Spec, settings: &Settings, begin: Begin) -> Result<()> {
        match AnyKeys::of(&spec)? {
            AnyKeys::Bytes(keys) => create::<Bytes>(folder, spec, keys, begin)?,
            AnyKeys::Integers(keys) => create::<u64>(folder, spec, keys, begin)?,
        }
        settings.write(folder)
    }

    /// Goes on with one.
    pub fn open(name: &str, folder: &Path, opening: Opening) -> Result<Self> {
        // Whoever asks is not told why a state cannot be opened: its operator is.
        let why = |cause: &frostpane_store::Error| log::of_stream(name, cause);
        let header = Header::read(folder).inspect_err(why)?;
        match header.keys {
            KeyKind::Bytes => {
                let store = Store::<Bytes>::open(folder).inspect_err(why)?;
                Self::start(name, folder, store, opening)
            }
            KeyKind::Integers => {
                let store = Store::<u64>::open(folder).inspect_err(why)?;
                Self::start(name, folder, store, opening)
            }
        }
    }

    fn start<K: ServedKey>(name: &str, folder: &Path, store: Store<K>, opening: Opening) -> Result<Self> {
        let settings = Settings::read(folder)?;
        let header = store.header().clone();
        let spec = header.spec.clone();
        let slide = (store.stream().clock() != i64::MAX).then(|| slide(&store));
        let timed = settings.columns.time.is_some() || spec.longest().is_by_count();
        // Where only the times of events move a stream, a clock that is ahead ends nothing.
        let accepted = opening.accept_clock || (slide.is_none() && timed);
        let tolerance = i64::try_from(opening.tolerance.as_micros()).unwrap_or(i64::MAX);
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            wall: store.clock(opening.tolerance, accepted),
            slide,
            metrics: OfStream::default(),
            shelf: Shelf::default(),
            standing: AtomicU8::new(Standing::Ready as u8),
            clock: AtomicI64::new(0),
            dropped: AtomicU64::new(0),
            cut_off: AtomicBool::new(opening.drains),
            behind: AtomicBool::new(false),
            work: Work::default(),
            hung: opening.hung,
            by_clock: !spec.longest().is_by_count(),
            seen: AtomicI64::new(i64::MIN),
            tolerance,
            reach: reach(&spec),
            budget: RwLock::default(),
            spec,
        });
        if opening.drains {
            shared.wall.drain();
        }
        let (commands, asked) = sync_channel(WAITING);
        let keeper = Keeper::new(folder.to_owned(), store, shared.clone(), asked, timed, &opening)?;
        thread::Builder::new()
            .name(format!("stream {name}"))
            .spawn(|| {
                // Long work of a stream holds up nobody who reads.
                give_way();
                keeper.run();
            })
            .map_err(|_| Problem::unavailable("no thread could be started"))?;
        Ok(Self {
            folder: folder.to_owned(),
            settings: RwLock::new(Arc::new(settings)),
            changing: tokio::sync::Mutex::new(Pace::new(CHANGES.0, CHANGES.1)),
            spec_json: SpecJson::of(name, &header.spec)?,
            described: Mutex::default(),
            shared,
            commands,
            room: Arc::new(Semaphore::new(ROOM)),
            readers: Semaphore::new(READERS),
            header,
        })
    }

    /// What it is asked for, with all choices made.
    pub fn spec(&self) -> &Spec {
        &self.shared.spec
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// What tells its state from all others.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What may change while it goes on.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes that, and keeps it: seldom, on a thread that may wait for the disk, and not at all where nothing changes.
    pub async fn set(
        self: &Arc<Self>,
        writing: &Semaphore,
        change: impl FnOnce(&mut Settings),
    ) -> Result<()> {
        let mut pace = self.changing.lock().await;
        let known = self.settings();
        let mut changed = Settings::clone(&known);
        change(&mut changed);
        if changed == *known {
            return Ok(());
        }
        pace.turn().map_err(|_| changed_too_often())?;
        let _turn = writing.acquire().await;
        let (stream, changed) = (self.clone(), Arc::new(changed));
        let written = changed.clone();
        let failed = || Problem::unavailable("the settings of a stream cannot be written");
        tokio::task::spawn_blocking(move || written.write(&stream.folder))
            .await
            .map_err(|_| failed())??;
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = changed;
        Ok(())
    }

    /// Its specification as JSON.
    pub fn spec_json(&self) -> &SpecJson {
        &self.spec_json
    }

    /// What anyone who may read it is told: written anew only where something changed.
    pub fn described(&self, of: Described, write: impl FnOnce() -> Vec<u8>) -> bytes::Bytes {
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        match &*described {
            Some((known, bytes)) if *known == of => bytes.clone(),
            _ => {
                let bytes = bytes::Bytes::from(write());
                *described = Some((of, bytes.clone()));
                bytes
            }
        }
    }

    /// How events that come now are to be read.
    pub fn reading(&self, format: Format, wrong: Wrong) -> Result<Reading> {
        let settings = self.settings();
        let present = self.present()?;
        Ok(Reading {
            format,
            wrong,
            keys: self.header.keys,
            has: Has {
                time: self.shared.by_clock && settings.columns.time.is_some(),
                user: self.spec().unit.is_user(),
            },
            columns: settings.columns.clone(),
            since: settings.since,
            present,
            earliest: present.saturating_sub(self.shared.reach),
            tolerance: self.shared.tolerance,
            most: usize::MAX,
        })
    }

    /// What has been spent, as of the last pane that ended or release that was made.
    pub fn budget(&self) -> Option<Budget> {
        self.shared
            .budget
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What time it is for this stream, of which events are read now.
    pub fn present(&self) -> Result<i64> {
        let present = self.shared.present();
        let present = present.map_err(|doubt| self.shared.doubted(doubt))?;
        self.shared.seen.fetch_max(present, Ordering::Relaxed);
        Ok(present)
    }

    /// What is published.
    pub fn shelf(&self) -> &Shelf {
        &self.shared.shelf
    }

    /// Numbers for the operator.
    pub(crate) fn metrics(&self) -> &OfStream {
        &self.shared.metrics
    }

    /// How it is.
    pub fn standing(&self) -> Standing {
        match self.shared.standing.load(Ordering::Relaxed) {
            0..4 if self.hangs_for() > self.shared.hung => Standing::Hung,
            0 if self.shared.behind.load(Ordering::Relaxed) => Standing::CatchingUp,
            0 if self.shared.cut_off.load(Ordering::Relaxed) => Standing::CutOff,
            0 => Standing::Ready,
            1 => Standing::Failed,
            2 => Standing::Clock,
            3 => Standing::Waiting,
            _ => Standing::Stopped,
        }
    }

    /// For how long it has been waiting for its disk, as far as that is known without asking the disk.
    pub fn hangs_for(&self) -> Duration {
        self.shared.work.lasts()
    }

    /// Whether it has been done with its disk since so long ago.
    pub fn ended_within(&self, time: Duration) -> bool {
        self.shared.work.ended_within(time)
    }

    /// Whether it does what it should, be that to wait.
    pub fn is_well(&self) -> bool {
        matches!(self.standing(), Standing::Ready | Standing::Waiting)
    }

    /// How far its clock, or its number of events, has come. For the operator.
    pub fn clock(&self) -> i64 {
        self.shared.clock.load(Ordering::Relaxed)
    }

    /// How many events came too late. For the operator.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// How many bytes of events wait, of how many that may. For the operator.
    pub fn waiting(&self) -> (usize, usize) {
        (ROOM - self.room.available_permits(), ROOM)
    }

    /// How many microseconds a slide has, where the clock ends it.
    pub fn slide(&self) -> Option<(i64, i64)> {
        self.shared.slide
    }

    /// Whether the source that it pulls from was reached just now.
    pub fn reaches_source(&self, reached: bool) {
        self.shared.cut_off.store(!reached, Ordering::Relaxed);
    }

    /// What waited at its source has been taken: the clock may end slides.
    pub fn drained(&self) {
        self.shared.wall.drained();
    }

    /// Takes events; they are there for good when this returns. With an identity the receipt is what is answered when they come again.
    pub async fn take(
        &self,
        identity: Option<Identity>,
        receipt: String,
        batch: AnyBatch,
    ) -> Result<Acknowledged> {
        // What is larger than the whole room waits for all of it.
        let size = u32::try_from(batch.bytes().clamp(1, ROOM)).unwrap_or(u32::MAX);
        let room = self
            .room
            .clone()
            .try_acquire_many_owned(size)
            .map_err(|_| overloaded())?;
        let known = identity.clone();
        let taking = |reply| {
            Command::Take(Taking {
                identity,
                receipt,
                batch,
                room,
                reply,
            })
        };
        let sent = {
            // Held until they are in the queue: what is closed meanwhile is closed for them too.
            let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
            match settings.closed {
                true => None,
                false => Some(self.send(taking)?),
            }
        };
        match sent {
            Some(answer) => answer.await.map_err(|_| gone())?,
            None => self.recall_or(known, closed()).await,
        }
    }

    /// What was answered to a request that was taken before, whatever would become of it now; else this refusal.
    pub async fn recall_or(&self, identity: Option<Identity>, refusal: Problem) -> Result<Acknowledged> {
        let known = match identity {
            Some(identity) => self.ask(|reply| Command::Recall(identity, reply)).await?,
            None => None,
        };
        known.ok_or(refusal)
    }

    /// Asks the thread that has the state, for someone who reads: a few at a time, so that they do not hold up events.
    pub async fn look<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T> {
        let _turn = self.readers.try_acquire().map_err(|_| overloaded())?;
        self.ask(command).await
    }

    /// Asks the thread that has the state.
    pub async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T> {
        let answer = self.send(command)?;
        answer.await.map_err(|_| gone())?
    }

    fn send<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<oneshot::Receiver<Result<T>>> {
        let (reply, answer) = oneshot::channel();
        self.commands
            .try_send(command(reply))
            .map_err(|refused| match refused {
                TrySendError::Full(_) => overloaded(),
                TrySendError::Disconnected(_) => gone(),
            })?;
        Ok(answer)
    }

    /// Lets go of the state, after everything that waits.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        let commands = self.commands.clone();
        // It may have to wait for room.
        let sent = tokio::task::spawn_blocking(move || commands.send(Command::Stop(done)).is_ok()).await;
        if sent.unwrap_or(false) {
            let _ = stopped.await;
        }
        self.shared.shelf.wake();
    }
}

fn create<K: ServedKey>(folder: &Path, spec: Spec, keys: Keys<K>, begin: Begin) -> Result<()> {
    Store::create(folder, spec, keys, begin)?;
    Ok(())
}

/// How long a slide, or an epoch, is, and at which moment one ends.
fn slide<K: ServedKey>(store: &Store<K>) -> (i64, i64) {
    let stream = store.stream();
    let number = stream.numbers().end;
    let slide = stream.begins(number + 1) - stream.begins(number);
    let lateness = i64::try_from(stream.spec().lateness.as_micros()).unwrap_or(0);
    let slide = slide.max(1);
    (slide, (stream.begins(number) + lateness).rem_euclid(slide))
}

/// Twice the longest window, because windows are rounded up to whole slides, and as much as events may be late.
fn reach(spec: &Spec) -> i64 {
    let window = i64::try_from(spec.longest().length()).unwrap_or(i64::MAX);
    let lateness = i64::try_from(spec.lateness.as_micros()).unwrap_or(i64::MAX);
    window.saturating_mul(2).saturating_add(lateness)
}

/// That no more events are taken.
pub fn closed() -> Problem {
    Problem::conflict(
        "this stream is closed, and takes no more events",
        "send them to another",
    )
}

fn changed_too_often() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "the settings of this stream are changed too often",
        "change them again after the time that Retry-After says",
    )
    .after(1)
}

/// That its clock has not come to the present.
pub fn catching_up() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "this stream was off for long and is catching up with the clock: nothing of this request was done",
        "send it again after the time that Retry-After says, with the same Idempotency-Key",
    )
    .after(5)
}

/// That more comes in than can be kept.
pub fn overloaded() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "more is coming in than can be kept: nothing of this request was taken",
        "send it again after the time that Retry-After says, with the same Idempotency-Key",
    )
    .after(1)
}

fn gone() -> Problem {
    Problem::unavailable("the stream is being stopped")
}
