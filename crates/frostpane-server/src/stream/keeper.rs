//! The thread that has a stream's state: it takes what many requests bring in one transaction, and ends slides by the clock on the wall.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use frostpane::{Batch, ErrorKind, Span};
use frostpane_store::{ClockError, Deed, Delivery, DryRun, Forms, List, Outcome, Store};
use jiff::Timestamp;

use super::clock::now;
use super::command::{Acknowledged, Command, Identity, Taking};
use super::disk::Disk;
use super::published::{HELD, HELD_BYTES, Most, Published, Words};
use super::settings::Columns;
use super::{Opening, Shared, Standing, catching_up};
use crate::key::ServedKey;
use crate::log;
use crate::pace::Pace;
use crate::problem::{Problem, Result};

/// Bytes of events that are taken together.
const TOGETHER: usize = 1 << 25;
/// Slides that are ended in one transaction, at the most.
const SLIDES: i64 = 64;
/// A transaction that ends slides and takes longer than this is followed by one that ends fewer, so that nobody waits for long.
const LONG_STEP: Duration = Duration::from_millis(250);
/// A state that could not be opened again is tried again after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// Records of the history that are looked at for a copy that was restored.
const LATEST: u64 = 16;
/// The form of a release that has its words.
const WORDS: &str = "words";

/// The longest wait while nobody asks.
const IDLE: Duration = Duration::from_secs(3_600);

pub(super) struct Keeper<K: ServedKey> {
    folder: PathBuf,
    /// None after a failure, until it can be opened again.
    store: Option<Store<K>>,
    shared: Arc<Shared>,
    commands: Receiver<Command>,
    /// Whether the events have the times that producers gave them.
    timed: bool,
    /// Whether it was restored from a copy: then it is ahead for a reason, all of a day is spent.
    is_restored: bool,
    /// When the stream was begun, in microseconds since 1970, if it was not begun for events of before.
    began_at: Option<i64>,
    /// Whether users did not fit into the memory, so that nothing is taken, ended or released.
    is_full: bool,
    /// How often a transaction is begun for requests.
    pace: Pace,
    /// Its share of the disk.
    disk: Disk,
    /// When it was last tried to open the state again.
    tried: Option<Instant>,
    /// The ids of single releases, in the order in which they were charged, with their numbers.
    charged: Vec<String>,
    numbers: HashMap<String, u64>,
    /// What the budget was last reckoned for: the panes, and how many releases.
    reckoned: Option<(Range<i64>, usize)>,
    /// When the clock is next looked at, in microseconds since 1970.
    due: i64,
    /// Slides that the next transaction may end.
    slides: i64,
}

/// How far a step of the clock has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// To the present.
    There,
    /// Not to the present: there is more to do.
    OnTheWay,
    /// Nowhere.
    Failed,
}

impl<K: ServedKey> Keeper<K> {
    pub fn new(
        folder: PathBuf,
        store: Store<K>,
        shared: Arc<Shared>,
        commands: Receiver<Command>,
        timed: bool,
        opening: &Opening,
    ) -> Result<Self> {
        let mut keeper = Self {
            is_restored: is_restored(&store)?,
            began_at: began_at(&store)?,
            charged: Vec::new(),
            numbers: HashMap::new(),
            reckoned: None,
            folder,
            store: Some(store),
            shared,
            commands,
            timed,
            is_full: false,
            pace: Pace::new(opening.commits, opening.commits),
            disk: Disk::new(opening.disk),
            tried: None,
            due: 0,
            slides: SLIDES,
        };
        keeper.recall()?;
        keeper.set_behind(keeper.is_far_behind());
        keeper.stand_if_full();
        Ok(keeper)
    }

    /// Does what it is asked to until it is told to stop.
    pub fn run(mut self) {
        let _watch = Watch(self.shared.clone());
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
                    // What comes meanwhile is taken with it.
                    if let Err(wait) = self.pace.turn() {
                        thread::sleep(wait);
                    }
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
        let ready = self.check_room().and_then(|()| self.check_caught_up());
        let present = match ready.and_then(|()| self.present()) {
            Ok(present) => present,
            Err(problem) => return self.refuse(all, &problem),
        };
        let latest = self.latest(present);
        let mut all = self.not_ahead(all, present, latest);
        if !self.timed {
            all.iter_mut().for_each(|taking| taking.batch.stamp(present));
        }
        let none = Batch::new();
        let deliveries: Vec<Delivery<'_, K>> = all
            .iter()
            .map(|taking| Delivery {
                id: taking.identity.as_ref().map(|identity| identity.id.as_str()),
                digest: taking
                    .identity
                    .as_ref()
                    .map_or([0; 32], |identity| identity.digest),
                terms: taking.identity.as_ref().map_or("", |identity| &identity.terms),
                receipt: &taking.receipt,
                batch: K::batch(&taking.batch).unwrap_or(&none),
                timed: self.timed,
            })
            .collect();
        let began = Instant::now();
        let (outcomes, lists) = match self.with(|store| store.take_deliveries(&deliveries, latest)) {
            Ok(taken) => taken,
            Err(problem) => return self.refuse(all, &problem),
        };
        self.shared.metrics.committed(began.elapsed());
        self.publish(lists);
        let events = outcomes.iter().zip(&deliveries);
        let events = events.filter(|(outcome, _)| **outcome == Outcome::Taken);
        self.shared
            .metrics
            .took(events.map(|(_, delivery)| delivery.batch.len() as u64).sum());
        for (outcome, taking) in outcomes.into_iter().zip(all) {
            let answer = self.answer_to(outcome, taking.identity.as_ref());
            drop(taking.room);
            let _ = taking.reply.send(answer);
        }
    }

    /// Nothing of them is taken. Whether one had been taken before is asked first: that it was is still true.
    fn refuse(&self, all: Vec<Taking>, problem: &Problem) {
        for taking in all {
            let known = taking
                .identity
                .as_ref()
                .map(|identity| self.acknowledged(identity));
            let answer = match known {
                Some(Ok(Some(acknowledged))) => Ok(acknowledged),
                Some(Err(problem)) => Err(problem),
                Some(Ok(None)) | None => Err(problem.clone()),
            };
            let _ = taking.reply.send(answer);
        }
    }

    /// What was answered to a request that had this identity, if it was taken.
    fn acknowledged(&self, identity: &Identity) -> Result<Option<Acknowledged>> {
        let store = self.store.as_ref().ok_or_else(not_open)?;
        let outcome = store.delivered(&identity.id, identity.digest, &identity.terms)?;
        outcome
            .map(|outcome| self.answer_to(outcome, Some(identity)))
            .transpose()
    }

    fn answer_to(&self, outcome: Outcome, identity: Option<&Identity>) -> Result<Acknowledged> {
        match (outcome, &self.store, identity) {
            (Outcome::Again, Some(store), Some(identity)) => Ok(Acknowledged::Again(
                store.receipt(&identity.id)?.filter(|text| !text.is_empty()),
            )),
            (Outcome::Again, ..) => Ok(Acknowledged::Again(None)),
            (Outcome::Taken, ..) => Ok(Acknowledged::First),
            (Outcome::Other, ..) => Err(Problem::conflict(
                "another body was taken under this Idempotency-Key: nothing of this one was taken",
                "give other events another key",
            )),
            (Outcome::OtherTerms, ..) => Err(Problem::conflict(
                "the same body was taken under this Idempotency-Key with another Content-Type or another ?wrong=: it was not taken again",
                "send the request as it was sent first to get its answer again; give other events another key",
            )),
            (Outcome::Refused(cause), ..) => Err(cause.into()),
        }
    }

    /// The latest time that an event may have which comes now: of users one that is a little ahead waits for its epoch.
    fn latest(&self, present: i64) -> i64 {
        match self.timed && self.shared.spec.unit.is_user() {
            true => present.saturating_add(self.shared.tolerance),
            false => present,
        }
    }

    /// Where the clock was set back since events were read, those that have none of the future: the library would leave it out.
    fn not_ahead(&self, all: Vec<Taking>, present: i64, latest: i64) -> Vec<Taking> {
        if !self.timed || self.shared.seen.load(Ordering::Relaxed) <= present {
            return all;
        }
        let mut rest = Vec::with_capacity(all.len());
        for taking in all {
            match taking.batch.is_ahead_of(latest) {
                false => rest.push(taking),
                true => {
                    let problem = Problem::unavailable("the clock of this machine was set back");
                    self.refuse(vec![taking], &problem);
                }
            }
        }
        rest
    }

    fn answer(&mut self, command: Command) {
        match command {
            Command::Release { id, window, reply } => {
                let _ = reply.send(self.release(&id, window));
            }
            Command::DryRun { window, reply } => {
                let _ = reply.send(self.dry_run(window));
            }
            Command::After { number, most, reply } => {
                let _ = reply.send(self.after(number, most));
            }
            Command::Find(id, reply) => {
                let _ = reply.send(self.find(&id));
            }
            Command::Recall(identity, reply) => {
                let _ = reply.send(self.acknowledged(&identity));
            }
            Command::Take(_) | Command::Stop(_) => {}
        }
    }

    /// Does something with the state. After a failure that is no refusal what is in memory is not what is kept: it is opened again.
    fn with<T>(&mut self, act: impl FnOnce(&mut Store<K>) -> frostpane_store::Result<T>) -> Result<T> {
        let store = self.store.as_mut().ok_or_else(not_open)?;
        let working = self.shared.work.begin();
        let cause = match act(store) {
            Ok(done) => return Ok(done),
            Err(cause) => cause,
        };
        drop(working);
        let is_whole = !store.is_broken() && !matches!(cause, frostpane_store::Error::File(_));
        // For good, also where not even the mark of it could be written.
        self.is_full |= is_memory(&cause);
        if !is_whole {
            log::of_stream(&self.shared.name, &cause);
            self.reopen();
        }
        self.stand_if_full();
        Err(cause.into())
    }

    /// Users who did not fit into the memory stop a stream for good.
    fn stand_if_full(&mut self) {
        self.is_full |= self.store.as_ref().is_some_and(Store::is_stopped);
        if !self.is_full {
            return;
        }
        self.shared.stand(Standing::Failed);
        if let Some(store) = self.store.as_mut().filter(|store| !store.is_stopped()) {
            let _ = store.stop();
        }
    }

    /// That nobody had to be left out, and that it has no more than its share of the disk.
    fn check_room(&mut self) -> Result<()> {
        self.stand_if_full();
        match (self.is_full, self.has_disk()) {
            (true, _) => Err(Problem::full()),
            (false, false) => Err(Problem::disk()),
            (false, true) => Ok(()),
        }
    }

    /// Whether it has no more than its share of the disk; else it is no longer ready, and its operator is told.
    fn has_disk(&mut self) -> bool {
        let (was, is) = (self.disk.is_over(), self.disk.look(&self.folder));
        if was && !is && !self.is_full && self.store.is_some() {
            self.shared.stand(Standing::Ready);
        }
        if !was && is {
            self.shared.stand(Standing::Failed);
            log::of_stream(
                &self.shared.name,
                "it has more than its share of the disk: it takes no events and ends no slides; --most-disk gives it more",
            );
        }
        !is
    }

    /// Not too often: everything that is kept is looked at.
    fn reopen(&mut self) {
        drop(self.store.take());
        self.shared.stand(Standing::Failed);
        if self.tried.is_some_and(|tried| tried.elapsed() < PATIENCE) {
            return;
        }
        self.tried = Some(Instant::now());
        let shared = self.shared.clone();
        let _working = shared.work.begin();
        match Store::open(&self.folder) {
            Ok(store) => {
                self.store = Some(store);
                self.shared.stand(Standing::Ready);
                let _ = self.recall();
                self.stand_if_full();
            }
            Err(cause) => {
                log::of_stream(&self.shared.name, &cause);
            }
        }
    }

    /// Has what was published before ready for those who read.
    fn recall(&mut self) -> Result<()> {
        let latest = self.shared.shelf.latest().map_or(0, |latest| latest.number);
        self.charged = match self.shared.spec.continual {
            // Its history has a record of every list, and no id.
            true => Vec::new(),
            false => self.with(|store| charged(store))?,
        };
        self.numbers = (1..)
            .zip(&self.charged)
            .map(|(number, id)| (id.clone(), number))
            .collect();
        let of_all = match self.shared.spec.continual {
            true => self.with(|store| Ok(store.stream().lists()))?,
            false => self.charged.len() as u64,
        };
        let after = self.latest_after(latest, of_all)?;
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

    /// Those after a number that are held in memory, from the oldest on: looked for from the latest back.
    fn latest_after(&mut self, number: u64, latest: u64) -> Result<Vec<Arc<Published>>> {
        let (mut found, mut left) = (Vec::new(), Most::new(HELD, HELD_BYTES));
        for before in (number..latest).rev().take(HELD) {
            let Some(next) = self.after(before, Most::new(1, usize::MAX))?.pop() else {
                continue;
            };
            if next.number == before + 1 && !left.take(&next) {
                break;
            }
            if next.number == before + 1 {
                found.push(next);
            }
            if left.is_used() {
                break;
            }
        }
        found.reverse();
        Ok(found)
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
        let reckoned = (store.stream().numbers(), self.charged.len());
        if self.reckoned.as_ref() != Some(&reckoned)
            && let Ok(budget) = store.budget()
        {
            self.shared.set_budget(budget);
            self.reckoned = Some(reckoned);
        }
    }

    fn dry_run(&mut self, window: Option<Span>) -> Result<(DryRun, [String; 2])> {
        self.check_ended()?;
        self.with(|store| {
            let window = window.unwrap_or_else(|| store.header().spec.longest());
            let dry = store.dry_run(window)?;
            let ends = [dry.from, dry.to].map(|number| store.moment(store.stream().begins(number)));
            Ok((dry, ends))
        })
    }

    /// That there is something to release of people: an epoch that has ended since the stream began. Otherwise a budget would be spent
    /// for nothing, and how many events there were does not say so, because that is hidden.
    fn check_ended(&mut self) -> Result<()> {
        // Of people the clock says which epochs have ended.
        if !self.is_draining() {
            self.step();
        }
        self.check_caught_up()?;
        let Some((store, began)) = self.store.as_ref().zip(self.began_at) else {
            return Ok(());
        };
        let stream = store.stream();
        let open = stream.begins(stream.end_of_window());
        match open > began {
            true => Ok(()),
            false => Err(Problem::conflict(
                "no epoch has ended since the stream was begun: there is nothing to release, and nothing was charged",
                format!(
                    "ask again after {}",
                    store.moment(stream.begins(stream.end_of_window() + 1))
                ),
            )),
        }
    }

    fn release(&mut self, id: &str, window: Option<Span>) -> Result<(Arc<Published>, bool)> {
        self.check_room()?;
        self.check_ended()?;
        let released = self.with(|store| {
            let window = window.unwrap_or_else(|| store.header().spec.longest());
            store.release_in_forms(id, window, |release| {
                let words = serde_json::to_string(&Words::of(release)).unwrap_or_default();
                Forms::from([(WORDS.to_owned(), words)])
            })
        })?;
        let again = released.again;
        if !self.numbers.contains_key(id) {
            self.charged.push(id.to_owned());
            self.numbers.insert(id.to_owned(), self.charged.len() as u64);
        }
        self.tell();
        let published = match self.shared.shelf.of(id) {
            Some(published) => published,
            None => {
                let published = self.find(id)?.ok_or_else(not_open)?;
                if !again {
                    self.shared.shelf.put((*published).clone());
                    self.shared.metrics.released();
                }
                published
            }
        };
        Ok((published, again))
    }

    /// The release of an id, whose number is its place among all that were charged.
    fn find(&mut self, id: &str) -> Result<Option<Arc<Published>>> {
        let Some(number) = self.numbers.get(id).copied() else {
            return Ok(None);
        };
        // Of one that was charged, and given up when the state was restored, there is nothing to show.
        let released = self.with(|store| match store.released(id) {
            Err(frostpane_store::Error::Conflict(_)) => Ok(None),
            released => released,
        })?;
        Ok(released.map(|released| {
            let words = released.forms.get(WORDS);
            let words = words.and_then(|words| serde_json::from_str(words).ok());
            Arc::new(Published::new(number, Some(id.to_owned()), released.json, words))
        }))
    }

    /// Releases after a number, one read after the other until no more fit.
    fn after(&mut self, number: u64, most: Most) -> Result<Vec<Arc<Published>>> {
        let (mut found, mut left, mut number) = (Vec::new(), most, number);
        while !left.is_used()
            && let Some(next) = self.next_after(number)?
        {
            number = next.number;
            if !left.take(&next) {
                break;
            }
            found.push(next);
        }
        Ok(found)
    }

    fn next_after(&mut self, number: u64) -> Result<Option<Arc<Published>>> {
        if self.shared.spec.continual {
            let next = self.with(|store| Ok(store.some_lists_after(number, 1)?.pop()))?;
            return Ok(next.map(|list| Arc::new(Published::new(list.number, None, list.json, None))));
        }
        // Of some that were charged there is nothing to show.
        let before = usize::try_from(number).unwrap_or(usize::MAX);
        for place in before..self.charged.len() {
            let id = self.charged[place].clone();
            if let Some(found) = self.find(&id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn wait(&self) -> Duration {
        match (&self.store, self.shared.slide) {
            (None, _) => PATIENCE,
            (_, None) => IDLE,
            _ if self.is_draining() => PATIENCE,
            _ => Duration::from_micros(u64::try_from(self.due - now()).unwrap_or(0)).min(IDLE),
        }
    }

    /// Ends slides whose time has come, whether anything happened or not.
    fn tick_if_due(&mut self) {
        if self.store.is_none() {
            self.reopen();
        }
        let Some((slide, offset)) = self.shared.slide else {
            return;
        };
        let now = now();
        // A moment that is further away than a slide is of a clock that was wrong.
        let is_early = now < self.due && self.due - now <= slide;
        if self.is_draining() || is_early || self.store.is_none() {
            return;
        }
        self.due = match self.step() {
            Step::There => offset + ((now - offset).div_euclid(slide) + 1).saturating_mul(slide),
            Step::OnTheWay => now,
            Step::Failed => now + PATIENCE.as_micros() as i64,
        };
    }

    /// Lets the time come nearer to where it is, by a few slides in one transaction. What waits to be answered, or to stop, comes between
    /// two of them.
    fn step(&mut self) -> Step {
        let step = self.step_on();
        if step != Step::Failed {
            self.set_behind(step == Step::OnTheWay);
        }
        step
    }

    fn step_on(&mut self) -> Step {
        let Some((slide, _)) = self.shared.slide.filter(|_| !self.is_full) else {
            return Step::There;
        };
        if !self.has_disk() {
            return Step::There;
        }
        let Ok(present) = self.present() else {
            return Step::Failed;
        };
        let Some(store) = &self.store else {
            return Step::Failed;
        };
        let reached = store.stream().clock();
        let stride = slide.saturating_mul(self.slides);
        let until = match reached > 0 {
            true => reached.saturating_add(stride).min(present),
            false => present,
        };
        let began = Instant::now();
        match self.with(|store| store.tick(until)) {
            Ok(lists) => self.publish(lists),
            Err(problem) => {
                log::failed(&self.shared.name, &problem);
                return Step::Failed;
            }
        }
        self.slides = match began.elapsed() > LONG_STEP {
            true => (self.slides / 2).max(1),
            false => (self.slides * 2).min(SLIDES),
        };
        let store = self.store.as_ref();
        let moved = store.is_some_and(|store| store.stream().clock() > reached);
        match until == present || !moved {
            true => Step::There,
            false => Step::OnTheWay,
        }
    }

    /// Whether more slides have to be ended than one transaction ends.
    fn is_far_behind(&self) -> bool {
        let reached = self.store.as_ref().map_or(0, |store| store.stream().clock());
        self.shared
            .slide
            .is_some_and(|(slide, _)| reached > 0 && (now() - reached) / slide > SLIDES)
    }

    fn set_behind(&self, behind: bool) {
        self.shared.behind.store(behind, Ordering::Relaxed);
    }

    fn is_behind(&self) -> bool {
        self.shared.behind.load(Ordering::Relaxed)
    }

    /// That the clock has come to the present: what comes would end all slides up to it at once. A source that is drained comes first.
    fn check_caught_up(&self) -> Result<()> {
        match self.is_behind() && !self.is_draining() {
            false => Ok(()),
            true => {
                let present = self.shared.present();
                Err(present.map_or_else(|doubt| self.shared.doubted(doubt), |_| catching_up()))
            }
        }
    }

    /// What time it is, if that can be known; how the stream stands follows from it.
    fn present(&mut self) -> Result<i64> {
        if self.store.is_none() {
            return Err(not_open());
        }
        let present = self.shared.present();
        let standing = match present {
            Ok(_) => Standing::Ready,
            Err(ClockError::Behind) if self.is_restored => Standing::Waiting,
            Err(_) => Standing::Clock,
        };
        let is_new = self.shared.stand_by_clock(standing);
        present.map_err(|doubt| {
            if is_new {
                log::of_stream(&self.shared.name, doubt);
            }
            self.shared.doubted(doubt)
        })
    }

    /// Whether what waits at a source comes before the clock.
    fn is_draining(&self) -> bool {
        self.shared.wall.is_draining()
    }
}

/// Notices when the thread ends by itself.
struct Watch(Arc<Shared>);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stand(Standing::Failed);
        }
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

/// Whether users did not fit into the memory.
fn is_memory(cause: &frostpane_store::Error) -> bool {
    match cause {
        frostpane_store::Error::Stopped(_) => true,
        frostpane_store::Error::Stream(cause) => cause.kind() == ErrorKind::Memory,
        _ => false,
    }
}

/// Where people are protected and lists are asked for: when the service began it. One that `frostpane init` began may be of events from before.
fn began_at<K: ServedKey>(store: &Store<K>) -> Result<Option<i64>> {
    let spec = &store.header().spec;
    // The history of a list at every slide has a record of each, and none is asked for.
    if spec.continual || !spec.unit.is_user() || !is_of_service(store) {
        return Ok(None);
    }
    let first = store.history(1)?.into_iter().next();
    let at = first.and_then(|record| record.at.parse::<Timestamp>().ok());
    Ok(at.map(Timestamp::as_microsecond))
}

/// Its columns are written as the service writes them.
fn is_of_service<K: ServedKey>(store: &Store<K>) -> bool {
    let input = store.header().input.as_deref();
    input.is_some_and(|input| serde_json::from_str::<Columns>(input).is_ok())
}

fn is_restored<K: ServedKey>(store: &Store<K>) -> Result<bool> {
    let latest = store.history(store.head().generation.saturating_sub(LATEST).max(1))?;
    Ok(latest.iter().any(|record| record.what == Deed::Restored))
}

fn not_open() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the state of this stream cannot be opened",
        "the operator has to look at the log of the service",
    )
    .after(5)
}
