//! Events of one source, each of which is taken once.

use frostpane::{Batch, Event};
use xxhash_rust::xxh3::Xxh3;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::{List, Store};

/// Events that are taken together.
const TOGETHER: usize = 1 << 20;
const BYTES_TOGETHER: usize = 1 << 25;
/// Events of the past that are looked at together.
const LOOKED_AT: usize = 1 << 14;

/// How far a source has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// So many events.
    pub events: u64,
    /// A hash of them: the source must still begin with them.
    pub digest: u128,
    /// The same of the first few, so that another source is noticed soon.
    pub first: (u64, u128),
    /// Whether it was said that there are no more: more are taken all the same, after those that were.
    pub complete: bool,
}

/// So few.
const FIRST: u64 = 64;

impl Progress {
    pub fn to_bytes(self) -> Vec<u8> {
        let (first, first_digest) = self.first;
        [
            self.events.to_le_bytes().as_slice(),
            &self.digest.to_le_bytes(),
            &first.to_le_bytes(),
            &first_digest.to_le_bytes(),
            &[self.complete.into()],
        ]
        .concat()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = || {
            let (events, rest) = bytes.split_first_chunk()?;
            let (digest, rest) = rest.split_first_chunk()?;
            let (first, rest) = rest.split_first_chunk()?;
            let (first_digest, rest) = rest.split_first_chunk()?;
            let [complete] = rest else { return None };
            Some(Self {
                events: u64::from_le_bytes(*events),
                digest: u128::from_le_bytes(*digest),
                first: (u64::from_le_bytes(*first), u128::from_le_bytes(*first_digest)),
                complete: *complete != 0,
            })
        };
        read().ok_or_else(|| Error::damaged("how far a source was read is not known"))
    }
}

/// Takes the events of a source that is given from its beginning, whatever was taken of it before: those are passed over, and must be
/// the same. What was pushed is there for good when it has been acknowledged: a batch by the push that completes it, the rest by
/// [`finish`](Self::finish).
pub struct Feed<'a, K: StoredKey> {
    store: &'a mut Store<K>,
    source: String,
    before: Progress,
    batch: Batch<K>,
    hasher: Xxh3,
    events: u64,
    first: (u64, u128),
    present: i64,
    lists: Vec<List<K>>,
}

impl<'a, K: StoredKey> Feed<'a, K> {
    pub(crate) fn new(store: &'a mut Store<K>, source: &str, before: Progress) -> Self {
        Self {
            present: store.wall_clock(),
            store,
            source: source.to_owned(),
            before,
            batch: Batch::new(),
            hasher: Xxh3::new(),
            events: 0,
            first: (0, 0),
            lists: Vec::new(),
        }
    }

    /// The events come at this moment and not at the present one, in microseconds since 1970: where people are protected none may be
    /// later.
    pub fn at(self, present: i64) -> Self {
        Self { present, ..self }
    }

    /// Events that come from now on come at this moment.
    pub fn set_present(&mut self, present: i64) {
        self.present = present;
    }

    /// Time has come to this moment: [`Store::tick`], after all that was pushed.
    pub fn tick(&mut self, now: i64) -> Result<()> {
        self.acknowledge(false)?;
        let lists = self.store.tick(now)?;
        self.lists.extend(lists);
        Ok(())
    }

    /// The same by the wall clock: [`Store::tick_by`].
    pub fn tick_by(&mut self, clock: &Clock) -> Result<()> {
        self.acknowledge(false)?;
        let lists = self.store.tick_by(clock)?;
        self.lists.extend(lists);
        Ok(())
    }

    /// Whether what was taken before has not come again yet.
    pub fn is_behind(&self) -> bool {
        self.events < self.before.events
    }

    /// How many events of the source had been taken before.
    pub fn before(&self) -> u64 {
        self.before.events
    }

    /// Whether it was said before that there are no more.
    pub fn was_complete(&self) -> bool {
        self.before.complete
    }

    /// One more event. Returns whether all up to it have been acknowledged.
    pub fn push(&mut self, event: Event<'_, K>) -> Result<bool> {
        self.batch.push(event);
        let left = self.before.events.saturating_sub(self.events) as usize;
        match left {
            0 if !self.is_full() => Ok(false),
            0 => self.acknowledge(false).map(|()| true),
            left if self.batch.len() < left.min(self.looks_at()) => Ok(true),
            _ => self.pass_over().map(|()| true),
        }
    }

    /// Many more events, as one by one and sooner.
    pub fn append(&mut self, batch: &Batch<K>) -> Result<bool> {
        if self.events < self.before.events {
            return batch.events().try_fold(true, |_, event| self.push(event));
        }
        self.batch.append(batch);
        match self.is_full() {
            true => self.acknowledge(false).map(|()| true),
            false => Ok(false),
        }
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= TOGETHER || self.batch.as_bytes().len() >= BYTES_TOGETHER
    }

    /// Events that were taken before.
    fn pass_over(&mut self) -> Result<()> {
        self.count();
        self.batch.clear();
        let digest = self.hasher.digest128();
        let is_another = |(events, known): (u64, u128)| self.events == events && digest != known;
        match is_another((self.before.events, self.before.digest)) || is_another(self.before.first) {
            true => Err(self.another("does not begin with the events that were taken of it before")),
            false => Ok(()),
        }
    }

    /// How many events of the past are looked at together: at first the few that tell another source.
    fn looks_at(&self) -> usize {
        match self.before.first.0.saturating_sub(self.events) {
            0 => LOOKED_AT,
            first => first as usize,
        }
    }

    fn count(&mut self) {
        if self.events < FIRST {
            self.count_first();
        }
        self.hasher.update(self.batch.as_bytes());
        self.events += self.batch.len() as u64;
    }

    /// A hash of the first few events, as far as they have come.
    fn count_first(&mut self) {
        let mut hasher = self.hasher.clone();
        let mut few = Batch::new();
        let left = (FIRST - self.events) as usize;
        self.batch.events().take(left).for_each(|event| few.push(event));
        hasher.update(few.as_bytes());
        self.first = (self.events + few.len() as u64, hasher.digest128());
    }

    fn another(&self, how: &str) -> Error {
        Error::conflict(format!(
            "{} {how}: nothing more was taken. If it is the same source give all of it again, unchanged from its first event on; if it is another one, and \
             none of its events was taken, give it an id of its own, with --id, under which all of them count",
            self.source
        ))
    }

    /// Has what was pushed kept for good.
    pub fn acknowledge(&mut self, complete: bool) -> Result<()> {
        if self.events < self.before.events {
            return Ok(());
        }
        if self.batch.is_empty() && complete == self.before.complete {
            return Ok(());
        }
        self.count();
        let progress = Progress {
            events: self.events,
            digest: self.hasher.digest128(),
            first: self.first,
            complete,
        };
        let lists = self
            .store
            .take(&self.source, progress, &self.batch, self.present)?;
        self.lists.extend(lists);
        self.before = progress;
        self.batch.clear();
        Ok(())
    }

    /// The lists that the events have brought about, each of them once.
    pub fn lists(&mut self) -> Vec<List<K>> {
        std::mem::take(&mut self.lists)
    }

    /// There are no more events for now or, if it is said that the source is complete, for ever. One that has more all the same is gone on with. Returns how many were taken, now and before, and the
    /// lists that they have brought about.
    pub fn finish(mut self, complete: bool) -> Result<(u64, Vec<List<K>>)> {
        if self.events < self.before.events {
            self.pass_over()?;
            if self.events < self.before.events {
                return Err(self.another("has fewer events than were taken of it before"));
            }
        }
        self.acknowledge(complete || self.before.complete)?;
        Ok((self.events, self.lists))
    }
}
