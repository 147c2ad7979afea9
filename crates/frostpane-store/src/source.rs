//! Sources: each event of a source is ingested once, however often the source is given.

use frostpane::{Batch, Event, Tally};
use xxhash_rust::xxh3::Xxh3;

use crate::clock::WallClock;
use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::{ContinualRelease, Store, now};

const TOGETHER: usize = 1 << 20;
const BYTES_TOGETHER: usize = 1 << 25;
/// Known events that are compared together.
const LOOKED_AT: usize = 1 << 14;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceProgress {
    pub events: u64,
    /// A hash of these events: the source must still begin with them.
    pub digest: u128,
    /// Number and hash of the first few events, so that another source is noticed soon.
    pub first: (u64, u128),
    /// The source was declared complete. Further events are ingested all the same.
    pub complete: bool,
}

/// Events that tell another source soon.
const FIRST: u64 = 64;

impl SourceProgress {
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

/// The outcome of the events of a source.
#[derive(Debug)]
pub struct SourceOutcome<K: StoredKey> {
    /// The number of events that are stored, now and before.
    pub events: u64,
    /// Those stored now. For the operator: **it must not be published**.
    pub tally: Tally,
    /// The continual releases that they have brought about.
    pub lists: Vec<ContinualRelease<K>>,
}

/// Writes the events of a source into a store. The source is given from its beginning each time: events that
/// were written before are skipped, and must be the same. Events are durable once they are acknowledged: a
/// batch by the push that completes it, the rest by [`finish`](Self::finish).
pub struct SourceWriter<'a, K: StoredKey> {
    store: &'a mut Store<K>,
    source: String,
    before: SourceProgress,
    batch: Batch<K>,
    hasher: Xxh3,
    events: u64,
    first: (u64, u128),
    present: i64,
    tally: Tally,
    lists: Vec<ContinualRelease<K>>,
}

impl<'a, K: StoredKey> SourceWriter<'a, K> {
    pub(crate) fn new(store: &'a mut Store<K>, source: &str, before: SourceProgress) -> Self {
        Self {
            present: now(),
            store,
            source: source.to_owned(),
            before,
            batch: Batch::new(),
            hasher: Xxh3::new(),
            events: 0,
            first: (0, 0),
            tally: Tally::default(),
            lists: Vec::new(),
        }
    }

    /// Sets the moment of arrival, in microseconds since 1970; by default the present. If users are
    /// protected, no event may be later.
    pub fn at(self, present: i64) -> Self {
        Self { present, ..self }
    }

    /// Sets the moment of arrival of the events that are pushed from now on.
    pub fn set_present(&mut self, present: i64) {
        self.present = present;
    }

    /// Acknowledges the events that were pushed, then calls [`Store::tick_by`].
    pub fn tick_by(&mut self, clock: &WallClock) -> Result<()> {
        self.acknowledge(false)?;
        let lists = self.store.tick_by(clock)?;
        self.lists.extend(lists);
        Ok(())
    }

    /// Returns true if fewer events were pushed than were written before.
    pub fn is_behind(&self) -> bool {
        self.events < self.before.events
    }

    /// The number of events that were written before.
    pub fn before(&self) -> u64 {
        self.before.events
    }

    /// Returns true if the source was declared complete before.
    pub fn was_complete(&self) -> bool {
        self.before.complete
    }

    /// Pushes an event. Returns true if all events up to it are acknowledged.
    pub fn push(&mut self, event: Event<'_, K>) -> Result<bool> {
        self.batch.push(event);
        let left = self.before.events.saturating_sub(self.events) as usize;
        match left {
            0 if !self.is_full() => Ok(false),
            0 => self.acknowledge(false).map(|()| true),
            left if self.batch.len() < left.min(self.compared_together()) => Ok(true),
            _ => self.skip_known().map(|()| true),
        }
    }

    /// Pushes all events of a batch. Returns true if all of them are acknowledged.
    pub fn append(&mut self, batch: &Batch<K>) -> Result<bool> {
        if self.is_behind() {
            return batch.events().try_fold(true, |_, event| self.push(event));
        }
        self.batch.append(batch);
        if !self.is_full() {
            return Ok(false);
        }
        self.acknowledge(false).map(|()| true)
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= TOGETHER || self.batch.as_bytes().len() >= BYTES_TOGETHER
    }

    /// Skips events that were written before, and checks that they are the same.
    fn skip_known(&mut self) -> Result<()> {
        self.count();
        self.batch.clear();
        let digest = self.hasher.digest128();
        let is_another = |(events, known): (u64, u128)| self.events == events && digest != known;
        if is_another((self.before.events, self.before.digest)) || is_another(self.before.first) {
            return Err(self.another("does not begin with the events that were taken of it before"));
        }
        Ok(())
    }

    /// The number of known events that are compared together: at first the few that tell another source.
    fn compared_together(&self) -> usize {
        match self.before.first.0.saturating_sub(self.events) {
            0 => LOOKED_AT,
            first => first as usize,
        }
    }

    fn count(&mut self) {
        if self.events < FIRST {
            let mut hasher = self.hasher.clone();
            let mut few = Batch::new();
            let left = (FIRST - self.events) as usize;
            self.batch.events().take(left).for_each(|event| few.push(event));
            hasher.update(few.as_bytes());
            self.first = (self.events + few.len() as u64, hasher.digest128());
        }
        self.hasher.update(self.batch.as_bytes());
        self.events += self.batch.len() as u64;
    }

    fn another(&self, how: &str) -> Error {
        Error::conflict(format!(
            "{} {how}: nothing more was taken. If it is the same source give all of it again, unchanged from \
             its first event on; if it is another one, and none of its events was taken, give it an id of \
             its own, with --id, under which all of them count",
            self.source
        ))
    }

    /// Makes all events that were pushed durable.
    pub fn acknowledge(&mut self, complete: bool) -> Result<()> {
        if self.is_behind() || self.batch.is_empty() && complete == self.before.complete {
            return Ok(());
        }
        self.count();
        let progress = SourceProgress {
            events: self.events,
            digest: self.hasher.digest128(),
            first: self.first,
            complete,
        };
        let (tally, lists) = self.store.take(&self.source, progress, &self.batch, self.present)?;
        self.tally += tally;
        self.lists.extend(lists);
        self.before = progress;
        self.batch.clear();
        Ok(())
    }

    /// The continual releases that the events have brought about, each of them once.
    pub fn lists(&mut self) -> Vec<ContinualRelease<K>> {
        std::mem::take(&mut self.lists)
    }

    /// Acknowledges all events, and declares the source complete if it is.
    pub fn finish(mut self, complete: bool) -> Result<SourceOutcome<K>> {
        if self.is_behind() {
            self.skip_known()?;
            if self.is_behind() {
                return Err(self.another("has fewer events than were taken of it before"));
            }
        }
        self.acknowledge(complete || self.before.complete)?;
        Ok(SourceOutcome { events: self.events, tally: self.tally, lists: self.lists })
    }
}
