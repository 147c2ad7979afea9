//! Append-only log of contributions; spills to disk when memory runs out.

use std::ops::Range;
use std::sync::Mutex;

use super::contributions::{LOGS, UserPlace, UserTable};
use super::counts::Counts;
use super::key_interner::{KeyInterner, Nearby};
use super::log::{Entry, KeyRef, Logs};
use super::log_bounder::{LogBounder, RemainingLogs, begin};
use super::spill::{SpillFactory, SpillFile, check_room, no_room};
use crate::error::Result;
use crate::key::Key;

/// Looks at the memory in use after so many events.
const LOOK_EVERY: u64 = 1 << 12;
/// Events whose keys are looked up at a time: one does not wait for the other.
const TOGETHER: usize = 32;
/// Logs that are bounded to see whether it pays.
const A_FEW: usize = LOGS / 16;
/// Logs of fewer bytes are not worth a thread: twice the least that all of them take.
const MUCH: u64 = 1 << 21;

/// Keys with their numbers, and logs of who came to which. What does not fit into the memory goes to disk, which only time shows.
pub struct ContributionLog<K: Key> {
    pub bounder: LogBounder,
    logs: Logs<K>,
    pub names: KeyInterner<K>,
    /// True if keys that have no number yet are given one.
    pub names_keys: bool,
    pub on_disk: SpillFile,
    scratch: Option<SpillFactory>,
    most_bytes: u64,
    /// True if events that take too much memory are bounded before anything goes to disk.
    bounds_early: bool,
    not_looked: u64,
    /// True if there was no room for some of them: then nothing is made of the others.
    is_full: bool,
}

pub struct FilteredEvent<'a, K: Key> {
    pub user: &'a [u8],
    pub key: K::Ref<'a>,
    /// Slot at which its number may be.
    pub nearby: Nearby,
    pub number: Option<u32>,
    pub place: UserPlace,
    pub period: u32,
}

impl<K: Key> ContributionLog<K> {
    pub fn new(bounder: LogBounder, (most_bytes, scratch): (u64, Option<SpillFactory>)) -> Self {
        Self {
            bounder,
            logs: Logs::new(),
            names: bounder.rule.names(),
            names_keys: true,
            on_disk: SpillFile::default(),
            scratch,
            most_bytes,
            bounds_early: true,
            not_looked: 0,
            is_full: false,
        }
    }

    pub fn take(&mut self, offers: &mut [FilteredEvent<'_, K>]) -> Result<()> {
        for some in offers.chunks_mut(TOGETHER) {
            // Step by step, because a short step has many waits for the memory at once.
            some.iter_mut().for_each(|offer| self.names.look_up(&mut offer.nearby));
            for offer in some.iter_mut() {
                offer.number = match self.names_keys {
                    true => Some(self.names.number_near(offer.key, offer.nearby)),
                    false => self.names.find(offer.key),
                };
            }
            for FilteredEvent { user, key, number, place, period, .. } in &*some {
                let key = number.map_or(KeyRef::Key(*key), KeyRef::Number);
                self.logs.push(place.log(), &Entry { user, period: *period, times: 1, key });
            }
            self.not_looked += some.len() as u64;
            if self.not_looked >= LOOK_EVERY {
                let made = self.make_room();
                self.is_full |= made.is_err();
                made?;
            }
        }
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.not_looked = 0;
        check_room(self.names.is_full)?;
        let names = self.names.bytes();
        self.names_keys &= names <= self.most_bytes / 4;
        // What counting takes when all has come.
        let room = (self.most_bytes - self.most_bytes / 8).saturating_sub(names);
        if self.logs.bytes_in_use() <= room {
            return Ok(());
        }
        if self.bounds_early && (self.names_keys || self.scratch.is_none()) {
            // A few logs tell whether it pays, where there is a disk instead.
            let pays = self.bound(0..A_FEW)?;
            if pays || self.scratch.is_none() {
                self.bound(A_FEW..LOGS)?;
            }
            if self.logs.bytes_in_use() <= room / 2 {
                return Ok(());
            }
            self.bounds_early = self.scratch.is_none();
        }
        match &self.scratch {
            Some(scratch) => {
                self.on_disk.write(scratch, |log| self.logs.blocks(log))?;
                self.logs.clear();
                Ok(())
            }
            None if self.logs.bytes_in_use() <= room - room / 8 => Ok(()),
            None => Err(no_room()),
        }
    }

    /// Leaves in these logs what may count. Whether that is no more than half of what was in them.
    fn bound(&mut self, logs: Range<usize>) -> Result<bool> {
        let mut part = UserTable::default();
        let (mut before, mut after) = (0, 0);
        for log in logs {
            if self.logs.is_empty(log) {
                continue;
            }
            before += self.logs.length(log);
            let blocks = self.logs.take(log);
            begin(&mut part, &blocks, 0);
            for block in blocks {
                self.bounder.offer_all(&mut part, &mut &mut self.names, &block)?;
            }
            let logs = &mut self.logs;
            part.for_each_entry(|user, period, key, times| {
                let key = KeyRef::Number(key);
                let entry = Entry { user, period, times, key };
                logs.push(log, &entry);
            });
            after += self.logs.length(log);
            check_room(self.names.is_full)?;
        }
        Ok(after <= before / 2)
    }

    /// All events have come: what counts of them in so many panes, of which `pane_of` says which a period is in.
    pub fn count(&mut self, panes: usize, pane_of: impl Fn(u32) -> usize + Sync) -> Result<Counts> {
        check_room(self.is_full)?;
        self.logs.keep_none();
        let is_much = self.logs.bytes() >= MUCH || !self.on_disk.runs.is_empty();
        // Counts of two threads take twice the room.
        let has_room = Counts::bytes(panes, self.names.len()) <= self.most_bytes / 16;
        let remaining = RemainingLogs { logs: &mut self.logs, on_disk: &mut self.on_disk, next: 0 };
        let stored = Mutex::new(remaining);
        match self.names_keys && is_much && has_room {
            true => self.bounder.count_on_two_threads(&stored, &self.names, panes, &pane_of),
            false => self.bounder.count(&stored, &mut self.names, panes, pane_of),
        }
    }

    pub fn bytes(&self) -> u64 {
        self.logs.bytes() + self.names.bytes()
    }
}
