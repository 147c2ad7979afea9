//! The thread that owns the state of a stream.

mod clock;
mod releases;

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use frostpane::{Batch, ErrorKind, Tally};
use frostpane_store::{Action, Delivery, DeliveryOutcome, Store};
use jiff::Timestamp;

use super::command::{Acknowledged, Identity, IngestRequest, StreamCommand};
use super::disk_quota::DiskQuota;
use super::settings::EventColumns;
use super::{SharedState, Status};
use crate::events::EventCounts;
use crate::key::ServedKey;
use crate::limits::Limits;
use crate::log;
use crate::problem::{Problem, Result};
use crate::rate_limiter::RateLimiter;

/// Bytes of events in one transaction, at most.
const TOGETHER: usize = 1 << 25;
/// The wait before a state that could not be opened is opened again.
const PATIENCE: Duration = Duration::from_secs(1);
/// Records of the history that are searched for a restore.
const LATEST: u64 = 16;

pub(super) struct StreamActor<K: ServedKey> {
    folder: PathBuf,
    /// `None` after a failure, until it can be opened again.
    store: Option<Store<K>>,
    shared: Arc<SharedState>,
    commands: Receiver<StreamCommand>,
    timed: bool,
    /// It was restored from a copy: it is ahead of the wall clock because all of a day is spent.
    is_restored: bool,
    /// Creation by the service, in microseconds since 1970; `None` if there may be earlier events.
    began_at: Option<i64>,
    /// Users did not fit into the memory: nothing is taken, ended or released.
    is_full: bool,
    commits: RateLimiter,
    disk_quota: DiskQuota,
    /// The time of the last attempt to open the state again.
    reopened_at: Option<Instant>,
    /// The ids of single releases, in the order in which they were charged.
    charged: Vec<String>,
    numbers: HashMap<String, u64>,
    /// The panes, and the number of releases, for which the budget was last computed.
    budget_of: Option<(Range<i64>, usize)>,
    /// The next time to look at the clock, in microseconds since 1970.
    due: i64,
    slides: i64,
}

impl<K: ServedKey> StreamActor<K> {
    pub fn new(
        folder: PathBuf,
        store: Store<K>,
        shared: Arc<SharedState>,
        commands: Receiver<StreamCommand>,
        timed: bool,
        limits: &Limits,
    ) -> Result<Self> {
        let mut actor = Self {
            is_restored: is_restored(&store)?,
            began_at: began_at(&store)?,
            charged: Vec::new(),
            numbers: HashMap::new(),
            budget_of: None,
            folder,
            store: Some(store),
            shared,
            commands,
            timed,
            is_full: false,
            commits: RateLimiter::new(limits.commits, limits.commits, Instant::now()),
            disk_quota: DiskQuota::new(limits.disk),
            reopened_at: None,
            due: 0,
            slides: clock::SLIDES,
        };
        actor.recall()?;
        actor.shared.behind.store(actor.is_far_behind(), Ordering::Relaxed);
        actor.stop_if_full();
        Ok(actor)
    }

    pub fn run(mut self) {
        let _watch = PanicRecord(self.shared.clone());
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
                StreamCommand::Ingest(first) => {
                    // Batches that arrive meanwhile share the transaction.
                    if let Err(wait) = self.commits.turn(Instant::now()) {
                        thread::sleep(wait);
                    }
                    let (all, after) = self.gather(first);
                    next = after;
                    self.take(all);
                }
                StreamCommand::Stop(done) => {
                    drop(self.store.take());
                    self.shared.set_status(Status::Stopped);
                    let _ = done.send(());
                    return;
                }
                StreamCommand::Release { id, window, reply } => drop(reply.send(self.release(&id, window))),
                StreamCommand::DryRun { window, reply } => drop(reply.send(self.dry_run(window))),
                StreamCommand::After { number, most, reply } => drop(reply.send(self.after(number, most))),
                StreamCommand::Find(id, reply) => drop(reply.send(self.find(&id))),
                StreamCommand::Recall(identity, reply) => drop(reply.send(self.acknowledged(&identity))),
            }
        }
    }

    /// Collects all batches that wait, up to the first other command.
    fn gather(&self, first: IngestRequest) -> (Vec<IngestRequest>, Option<StreamCommand>) {
        let mut bytes = first.batch.bytes();
        let mut all = vec![first];
        while bytes < TOGETHER {
            match self.commands.try_recv() {
                Ok(StreamCommand::Ingest(request)) => {
                    bytes += request.batch.bytes();
                    all.push(request);
                }
                Ok(other) => return (all, Some(other)),
                Err(_) => break,
            }
        }
        (all, None)
    }

    /// Takes batches in one transaction, and acknowledges them when it is on disk.
    fn take(&mut self, all: Vec<IngestRequest>) {
        let ready = self.check_room().and_then(|()| self.check_caught_up());
        let present = match ready.and_then(|()| self.present()) {
            Ok(present) => present,
            Err(problem) => return self.refuse(all, &problem),
        };
        // With users, an event that is a little ahead waits for its epoch.
        let latest = present.saturating_add(self.shared.ahead);
        let mut all = self.not_ahead(all, present, latest);
        if !self.timed {
            all.iter_mut().for_each(|request| request.batch.stamp(present));
        }
        let none = Batch::new();
        let receipts: Vec<_> =
            all.iter().map(|request| move |tally: &Tally| request.receipt(tally)).collect();
        let deliveries: Vec<Delivery<'_, K>> = all
            .iter()
            .zip(&receipts)
            .map(|(request, receipt)| Delivery {
                id: request.identity.as_ref().map(|identity| identity.id.as_str()),
                digest: request.identity.as_ref().map_or([0; 32], |identity| identity.digest),
                terms: request.identity.as_ref().map_or("", |identity| &identity.terms),
                receipt,
                batch: K::batch(&request.batch).unwrap_or(&none),
                timed: self.timed,
            })
            .collect();
        let began = Instant::now();
        let (outcomes, lists) = match self.with(|store| store.take_deliveries(&deliveries, latest)) {
            Ok(taken) => taken,
            Err(problem) => return self.refuse(all, &problem),
        };
        self.shared.metrics.commits.inc();
        self.shared.metrics.committing.inc_by(began.elapsed().as_micros() as u64);
        self.publish(lists);
        let events = outcomes.iter().zip(&deliveries);
        let events = events.filter(|(outcome, _)| matches!(outcome, DeliveryOutcome::Taken(_)));
        self.shared.metrics.events.inc_by(events.map(|(_, delivery)| delivery.batch.len() as u64).sum());
        for (outcome, request) in outcomes.into_iter().zip(all) {
            let answer = self.answer_to(outcome, request.identity.as_ref(), request.counts);
            drop(request.queue_permit);
            let _ = request.reply.send(answer);
        }
    }

    /// Refuses batches, except those that had been taken before.
    fn refuse(&self, all: Vec<IngestRequest>, problem: &Problem) {
        for request in all {
            let known =
                request.identity.as_ref().and_then(|identity| self.acknowledged(identity).transpose());
            let _ = request.reply.send(known.unwrap_or_else(|| Err(problem.clone())));
        }
    }

    /// The answer to a request, if it was taken before.
    fn acknowledged(&self, identity: &Identity) -> Result<Option<Acknowledged>> {
        let store = self.store.as_ref().ok_or_else(not_open)?;
        let outcome = store.delivered(&identity.id, identity.digest, &identity.terms)?;
        outcome.map(|outcome| self.answer_to(outcome, Some(identity), None)).transpose()
    }

    fn answer_to(
        &self,
        outcome: DeliveryOutcome,
        identity: Option<&Identity>,
        counts: Option<EventCounts>,
    ) -> Result<Acknowledged> {
        match (outcome, &self.store, identity) {
            (DeliveryOutcome::Again, Some(store), Some(identity)) => {
                Ok(Acknowledged::Again(store.receipt(&identity.id)?.filter(|text| !text.is_empty())))
            }
            (DeliveryOutcome::Again, ..) => Ok(Acknowledged::Again(None)),
            (DeliveryOutcome::Taken(tally), ..) => {
                Ok(Acknowledged::First(counts.unwrap_or_default().with(&tally)))
            }
            (DeliveryOutcome::Other, ..) => Err(Problem::conflict(
                "another body was taken under this Idempotency-Key: nothing of this one was taken",
                "give other events another key",
            )),
            (DeliveryOutcome::OtherTerms, ..) => Err(Problem::conflict(
                "the same body was taken under this Idempotency-Key with another Content-Type or another ?wrong=: it was not taken again",
                "send the request as it was sent first to get its answer again; give other events another key",
            )),
            (DeliveryOutcome::Refused(cause), ..) => Err(cause.into()),
        }
    }

    /// If the clock was set back since events were parsed, refuses batches with events in the future: the
    /// library would leave such events out.
    fn not_ahead(&self, all: Vec<IngestRequest>, present: i64, latest: i64) -> Vec<IngestRequest> {
        if !self.timed || self.shared.seen.load(Ordering::Relaxed) <= present {
            return all;
        }
        let mut rest = Vec::with_capacity(all.len());
        for request in all {
            if request.batch.is_ahead_of(latest) {
                let problem = Problem::unavailable("the clock of this machine was set back");
                self.refuse(vec![request], &problem);
            } else {
                rest.push(request);
            }
        }
        rest
    }

    /// Uses the state. After a failure that is no refusal, memory differs from disk: it is opened again.
    fn with<T>(&mut self, act: impl FnOnce(&mut Store<K>) -> frostpane_store::Result<T>) -> Result<T> {
        let store = self.store.as_mut().ok_or_else(not_open)?;
        let operation = self.shared.disk.begin();
        let cause = match act(store) {
            Ok(done) => return Ok(done),
            Err(cause) => cause,
        };
        drop(operation);
        let is_whole = !store.is_broken() && !matches!(cause, frostpane_store::Error::File(_));
        // For good, even if that could not be stored.
        self.is_full |= match &cause {
            frostpane_store::Error::Stopped(_) => true,
            frostpane_store::Error::Stream(cause) => cause.kind() == ErrorKind::Memory,
            _ => false,
        };
        if !is_whole {
            log::of_stream(&self.shared.name, &cause);
            self.reopen();
        }
        self.stop_if_full();
        Err(cause.into())
    }

    /// Users that did not fit into the memory stop a stream for good.
    fn stop_if_full(&mut self) {
        self.is_full |= self.store.as_ref().is_some_and(Store::is_stopped);
        if !self.is_full {
            return;
        }
        self.shared.set_status(Status::Failed);
        if let Some(store) = self.store.as_mut().filter(|store| !store.is_stopped()) {
            let _ = store.stop();
        }
    }

    /// Fails if the stream is out of memory or over its disk quota.
    fn check_room(&mut self) -> Result<()> {
        self.stop_if_full();
        // The quota is looked at even if the memory is full.
        match (self.has_disk(), self.is_full) {
            (_, true) => Err(Problem::full()),
            (false, _) => Err(Problem::disk()),
            (true, false) => Ok(()),
        }
    }

    /// Returns false, and tells the operator once, while the stream is over its disk quota.
    fn has_disk(&mut self) -> bool {
        let (was, is) = (self.disk_quota.is_over, self.disk_quota.look(&self.folder));
        if was && !is && !self.is_full && self.store.is_some() {
            self.shared.set_status(Status::Ready);
        }
        if !was && is {
            self.shared.set_status(Status::Failed);
            log::of_stream(
                &self.shared.name,
                "it has more than its share of the disk: it takes no events and ends no slides; --most-disk gives it more",
            );
        }
        !is
    }

    /// Opens the state again, not too often: that reads all of it.
    fn reopen(&mut self) {
        drop(self.store.take());
        self.shared.set_status(Status::Failed);
        if self.reopened_at.is_some_and(|reopened_at| reopened_at.elapsed() < PATIENCE) {
            return;
        }
        self.reopened_at = Some(Instant::now());
        let shared = self.shared.clone();
        let _operation = shared.disk.begin();
        match Store::open(&self.folder) {
            Ok(store) => {
                self.store = Some(store);
                self.shared.set_status(Status::Ready);
                let _ = self.recall();
                self.stop_if_full();
            }
            Err(cause) => log::of_stream(&self.shared.name, &cause),
        }
    }
}

/// Records that the thread has panicked.
struct PanicRecord(Arc<SharedState>);

impl Drop for PanicRecord {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.set_status(Status::Failed);
        }
    }
}

/// For single releases of users: when the service created the stream. One that `frostpane init` created may
/// have events from before.
fn began_at<K: ServedKey>(store: &Store<K>) -> Result<Option<i64>> {
    let spec = &store.header().spec;
    // The history of continual release has a record of every release.
    // The service writes the columns in a way of its own.
    let input = store.header().input.as_deref();
    let is_of_service = input.is_some_and(|input| serde_json::from_str::<EventColumns>(input).is_ok());
    if spec.continual || !spec.unit.is_user() || !is_of_service {
        return Ok(None);
    }
    let first = store.history(1)?.into_iter().next();
    Ok(first.and_then(|record| record.at.parse::<Timestamp>().ok()).map(Timestamp::as_microsecond))
}

fn is_restored<K: ServedKey>(store: &Store<K>) -> Result<bool> {
    let latest = store.history(store.head().generation.saturating_sub(LATEST).max(1))?;
    Ok(latest.iter().any(|record| record.what == Action::Restored))
}

fn not_open() -> Problem {
    Problem::not_now(
        "the state of this stream cannot be opened",
        "the operator has to look at the log of the service",
    )
}
