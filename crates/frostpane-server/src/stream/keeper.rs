//! The thread that has a stream's state: it takes what many requests bring in one transaction, and ends slides by the clock on the wall.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use frostpane::{Batch, Event};
use frostpane_store::{Deed, Delivery, Forms, List, Outcome, Store};
use jiff::Timestamp;

use super::command::{Command, Taking};
use super::published::{Published, Words};
use super::{Shared, Standing};
use crate::key::ServedKey;
use crate::log;
use crate::problem::{Problem, Result};

/// Bytes of events that are taken together.
const TOGETHER: usize = 1 << 25;
/// The clock on the wall may go this much faster or slower than it should before it is not believed: an hour.
const BELIEVED: Duration = Duration::from_secs(3_600);
/// A state whose clock stood still for longer is gone on with only if that is said to be right: 31 days.
const AWAY: i64 = 31 * 86_400_000_000;
/// A state that could not be opened again is tried again after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// The form of a release that has its words.
const WORDS: &str = "words";

/// For so long what waits at a source holds up the clock.
const DRAINING: Duration = Duration::from_secs(60);
/// What is done while nobody asks.
const IDLE: Duration = Duration::from_secs(3_600);

pub(super) struct Keeper<K: ServedKey> {
    folder: PathBuf,
    /// None after a failure, until it can be opened again.
    store: Option<Store<K>>,
    shared: Arc<Shared>,
    commands: Receiver<Command>,
    /// Whether the events have the times that producers gave them.
    timed: bool,
    began: (Instant, i64),
    /// Whether the clock on the wall was right when it began.
    believed: bool,
    /// When the clock is next looked at, in microseconds since 1970.
    due: i64,
}

impl<K: ServedKey> Keeper<K> {
    pub fn new(
        folder: PathBuf,
        store: Store<K>,
        shared: Arc<Shared>,
        commands: Receiver<Command>,
        (timed, accept_clock): (bool, bool),
    ) -> Result<Self> {
        let clock = store.stream().clock();
        let is_new = clock <= 0 || clock == i64::MAX;
        let mut keeper = Self {
            believed: accept_clock || is_new || now().saturating_sub(clock) <= AWAY,
            folder,
            store: Some(store),
            shared,
            commands,
            timed,
            began: (Instant::now(), now()),
            due: 0,
        };
        keeper.recall()?;
        Ok(keeper)
    }

    /// Does what it is asked to until it is told to stop.
    pub fn run(mut self) {
        let mut next = None;
        loop {
            self.tick_if_due();
            let command = match next.take() {
                Some(command) => command,
                None => match self.commands.recv_timeout(self.wait()) {
                    Ok(command) => command,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
            };
            match command {
                Command::Take(first) => {
                    let (all, after) = self.gather(first);
                    next = after;
                    self.take(all);
                }
                Command::Stop(done) => {
                    drop(self.store.take());
                    self.shared.stand(Standing::Stopped);
                    let _ = done.send(());
                    return;
                }
                other => self.answer(other),
            }
        }
    }

    /// All requests that wait, up to the first that is no delivery.
    fn gather(&self, first: Taking) -> (Vec<Taking>, Option<Command>) {
        let mut bytes = first.batch.bytes();
        let mut all = vec![first];
        while bytes < TOGETHER {
            match self.commands.try_recv() {
                Ok(Command::Take(taking)) => {
                    bytes += taking.batch.bytes();
                    all.push(taking);
                }
                Ok(other) => return (all, Some(other)),
                Err(_) => break,
            }
        }
        (all, None)
    }

    /// Takes deliveries in one transaction, and answers when it is on disk.
    fn take(&mut self, all: Vec<Taking>) {
        let present = now();
        let stamped = (!self.timed).then_some(present);
        let mut batches = Vec::with_capacity(all.len());
        let mut askers = Vec::with_capacity(all.len());
        for Taking {
            id,
            digest,
            batch,
            room,
            reply,
        } in all
        {
            batches.push(
                K::batch(batch)
                    .map(|batch| stamp(batch, stamped))
                    .unwrap_or_default(),
            );
            askers.push((id, digest, room, reply));
        }
        let deliveries: Vec<Delivery<'_, K>> = askers
            .iter()
            .zip(&batches)
            .map(|((id, digest, ..), batch)| Delivery {
                id: id.as_deref(),
                digest: *digest,
                batch,
                timed: self.timed,
            })
            .collect();
        let began = Instant::now();
        let believed = self.check_clock(present);
        let taken = believed.and_then(|()| {
            self.with(|store| {
                let (outcomes, lists) = store.take_deliveries(&deliveries, present)?;
                Ok((outcomes, lists))
            })
        });
        match taken {
            Ok((outcomes, lists)) => {
                self.shared.metrics.committed(began.elapsed());
                self.publish(lists);
                let events = outcomes
                    .iter()
                    .zip(&batches)
                    .filter(|(outcome, _)| **outcome == Outcome::Taken)
                    .map(|(_, batch)| batch.len() as u64)
                    .sum();
                self.shared.metrics.took(events);
                for (outcome, (.., room, reply)) in outcomes.into_iter().zip(askers) {
                    drop(room);
                    let _ = reply.send(answer(outcome));
                }
            }
            Err(problem) => askers.into_iter().for_each(|(.., reply)| {
                let _ = reply.send(Err(problem.clone()));
            }),
        }
    }

    fn answer(&mut self, command: Command) {
        match command {
            Command::Release { id, window, reply } => {
                let _ = reply.send(self.release(&id, window));
            }
            Command::DryRun { window, reply } => {
                let _ = reply.send(self.with(|store| {
                    let window = window.unwrap_or_else(|| store.header().spec.longest());
                    store.dry_run(window)
                }));
            }
            Command::Budget(reply) => {
                let _ = reply.send(self.with(|store| store.budget()));
            }
            Command::History(from, reply) => {
                let _ = reply.send(self.with(|store| store.history(from)));
            }
            Command::After { number, most, reply } => {
                let _ = reply.send(self.after(number, most));
            }
            Command::Find(id, reply) => {
                let _ = reply.send(self.find(&id));
            }
            Command::Take(_) | Command::Stop(_) => {}
        }
    }

    /// Does something with the state. After a failure that is no refusal what is in memory is not what is kept: it is opened again.
    fn with<T>(&mut self, act: impl FnOnce(&mut Store<K>) -> frostpane_store::Result<T>) -> Result<T> {
        let store = self.store.as_mut().ok_or_else(stopped)?;
        let cause = match act(store) {
            Ok(done) => return Ok(done),
            Err(cause) => cause,
        };
        let is_whole = !store.is_broken() && !matches!(cause, frostpane_store::Error::File(_));
        if !is_whole {
            log::tell(format_args!("stream {}: {cause}", self.shared.name));
            self.reopen();
        }
        Err(cause.into())
    }

    fn reopen(&mut self) {
        drop(self.store.take());
        match Store::open(&self.folder) {
            Ok(store) => {
                self.store = Some(store);
                self.shared.stand(Standing::Ready);
                let _ = self.recall();
            }
            Err(cause) => {
                log::tell(format_args!("stream {}: {cause}", self.shared.name));
                self.shared.stand(Standing::Failed);
            }
        }
    }

    /// Has what was published before ready for those who read.
    fn recall(&mut self) -> Result<()> {
        let latest = self.shared.shelf.latest().map_or(0, |latest| latest.number);
        let held = super::HELD as u64;
        let of_all = self.with(|store| Ok(published_so_far(store)?))?;
        let from = latest.max(of_all.saturating_sub(held));
        let after = self.after(from, super::HELD)?;
        let words = self.with(|store| Ok(store.stream().latest()))?;
        for published in after {
            let mut published = Arc::unwrap_or_clone(published);
            if let Some(release) = words.as_ref().filter(|_| published.number == of_all)
                && serde_json::to_vec(release).is_ok_and(|json| *json == *published.json)
            {
                published.words = Some(Arc::new(Words::of(release)));
            }
            self.shared.shelf.put(published);
        }
        self.tell();
        Ok(())
    }

    fn publish(&mut self, lists: Vec<List<K>>) {
        for List {
            number,
            json,
            release,
        } in lists
        {
            let words = release.as_ref().map(Words::of);
            self.shared.shelf.put(Published::new(number, None, json, words));
            self.shared.metrics.released();
        }
        self.tell();
    }

    /// What others may know without asking this thread.
    fn tell(&mut self) {
        let Some(store) = &self.store else { return };
        self.shared.tell(store.stream().now(), store.stream().dropped());
    }

    fn release(&mut self, id: &str, window: Option<frostpane::Span>) -> Result<(Arc<Published>, bool)> {
        // Of people the clock says which epochs have ended.
        self.tick();
        let released = self.with(|store| {
            let window = window.unwrap_or_else(|| store.header().spec.longest());
            store.release_in_forms(id, window, |release| {
                let words = serde_json::to_string(&Words::of(release)).unwrap_or_default();
                Forms::from([(WORDS.to_owned(), words)])
            })
        })?;
        let again = released.again;
        let published = match self.shared.shelf.of(id) {
            Some(published) => published,
            None => {
                let published = self.find(id)?.ok_or_else(stopped)?;
                if !again {
                    self.shared.shelf.put((*published).clone());
                    self.shared.metrics.released();
                }
                published
            }
        };
        Ok((published, again))
    }

    /// The release of an id, whose number is its place in the history.
    fn find(&mut self, id: &str) -> Result<Option<Arc<Published>>> {
        self.with(|store| {
            let number = charged(store)?.iter().position(|charged| charged == id);
            let released = store.released(id)?;
            Ok(released.zip(number).map(|(released, number)| {
                let words = released.forms.get(WORDS);
                let words = words.and_then(|words| serde_json::from_str(words).ok());
                Arc::new(Published::new(
                    number as u64 + 1,
                    Some(id.to_owned()),
                    released.json,
                    words,
                ))
            }))
        })
    }

    fn after(&mut self, number: u64, most: usize) -> Result<Vec<Arc<Published>>> {
        let continual = self.shared.spec.continual;
        if continual {
            return self.with(|store| {
                let lists = store.some_lists_after(number, most)?.into_iter();
                Ok(lists
                    .map(|list| Arc::new(Published::new(list.number, None, list.json, None)))
                    .collect())
            });
        }
        let ids = self.with(|store| charged(store))?;
        let ids = ids
            .iter()
            .skip(usize::try_from(number).unwrap_or(usize::MAX))
            .take(most);
        let found = ids.map(|id| self.find(id)).collect::<Result<Vec<_>>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    fn wait(&self) -> Duration {
        match (&self.store, self.shared.slide) {
            (None, _) => PATIENCE,
            (_, None) => IDLE,
            _ if self.shared.draining.load(Ordering::Relaxed) => PATIENCE,
            _ => Duration::from_micros(u64::try_from(self.due - now()).unwrap_or(0)).min(IDLE),
        }
    }

    /// Ends slides whose time has come, whether anything happened or not.
    fn tick_if_due(&mut self) {
        if self.store.is_none() {
            self.reopen();
        }
        let Some(slide) = self.shared.slide else { return };
        let now = now();
        if self.shared.draining.load(Ordering::Relaxed) && self.began.0.elapsed() < DRAINING {
            return;
        }
        if now < self.due || self.store.is_none() {
            return;
        }
        self.tick();
        let (slide, offset) = slide;
        self.due = offset + ((now - offset).div_euclid(slide) + 1).saturating_mul(slide);
    }

    fn tick(&mut self) {
        if self.shared.slide.is_none() {
            return;
        }
        let now = now();
        if self.check_clock(now).is_err() {
            return;
        }
        match self.with(|store| store.tick(now)) {
            Ok(lists) => self.publish(lists),
            Err(problem) => log::failed(&self.shared.name, &problem),
        }
    }

    /// That events may come at this moment.
    fn check_clock(&mut self, now: i64) -> Result<()> {
        if self.shared.slide.is_none() || self.is_believed(now) {
            return Ok(());
        }
        self.shared.stand(Standing::Clock);
        Err(Problem::unavailable(
            "the clock of this machine has jumped: no slide is ended and no event taken until the operator says that it is right",
        ))
    }

    /// Whether the clock on the wall went as fast as time does: one that jumped would end slides for good.
    fn is_believed(&self, now: i64) -> bool {
        let (began, at) = self.began;
        let expected = at.saturating_add(i64::try_from(began.elapsed().as_micros()).unwrap_or(i64::MAX));
        self.believed && now.abs_diff(expected) <= BELIEVED.as_micros() as u64
    }
}

/// With the time of arrival, where events have none of their own.
fn stamp<K: ServedKey>(batch: Batch<K>, at: Option<i64>) -> Batch<K> {
    let Some(at) = at else { return batch };
    let mut stamped = Batch::new();
    for event in batch.events() {
        stamped.push(Event {
            time: Some(at),
            ..event
        });
    }
    stamped
}

fn answer(outcome: Outcome) -> Result<bool> {
    match outcome {
        Outcome::Taken => Ok(false),
        Outcome::Again => Ok(true),
        Outcome::Other => Err(Problem::conflict(
            "this Idempotency-Key came before with another body: nothing of this one was taken",
            "give other events another key",
        )),
        Outcome::Refused(cause) => Err(cause.into()),
    }
}

/// The ids of releases in the order in which they were charged.
fn charged<K: ServedKey>(store: &Store<K>) -> frostpane_store::Result<Vec<String>> {
    let records = store.history(1)?.into_iter();
    Ok(records
        .filter_map(|record| match record.what {
            Deed::Charged { id, .. } => Some(id),
            _ => None,
        })
        .collect())
}

fn published_so_far<K: ServedKey>(store: &Store<K>) -> frostpane_store::Result<u64> {
    match store.header().spec.continual {
        true => Ok(store.stream().lists()),
        false => Ok(charged(store)?.len() as u64),
    }
}

fn stopped() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the state of this stream cannot be opened",
        "the operator has to look at the log of the service",
    )
    .after(5)
}

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
