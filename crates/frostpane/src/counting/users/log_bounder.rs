//! Bounds logged contributions user by user, when all have come: log by log, because no two logs have a user in common.

use std::borrow::Borrow;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::calendar::Calendar;
use super::contributions::{Candidate, Contribution, Contributions, LOGS, Rule, UserTable};
use super::counts::Counts;
use super::key_interner::KeyInterner;
use super::log::{self, KeyRef, Logs};
use super::spill::{SpillFile, check_room};
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::Key;

/// Bytes of an entry, about.
const AN_ENTRY: usize = 16;

/// Logs that nobody has counted yet, from the next one on.
pub struct RemainingLogs<'a, K> {
    pub logs: &'a mut Logs<K>,
    pub on_disk: &'a mut SpillFile,
    pub next: usize,
}

impl<K: Key> RemainingLogs<'_, K> {
    fn take(&mut self) -> Option<(usize, Vec<Vec<u8>>)> {
        let holds_some = |log: &usize| !self.logs.is_empty(*log) || self.on_disk.length(*log) > 0;
        let log = (self.next..LOGS).find(holds_some)?;
        self.next = log + 1;
        Some((log, self.logs.take(log)))
    }
}

/// Numbers of keys: where new ones are given out, or where threads share those that there are.
pub trait KeyNumbering<K: Key>: Borrow<KeyInterner<K>> {
    /// The number of a key that was logged; nothing if it is nobody's.
    fn logged(&mut self, key: &KeyRef<'_, K>) -> Option<u32>;
}

impl<K: Key> KeyNumbering<K> for &KeyInterner<K> {
    #[inline]
    fn logged(&mut self, key: &KeyRef<'_, K>) -> Option<u32> {
        match key {
            KeyRef::Number(number) => Some(*number).filter(|number| (*number as usize) < self.len()),
            KeyRef::Key(key) => self.find(*key),
        }
    }
}

impl<K: Key> KeyNumbering<K> for &mut KeyInterner<K> {
    #[inline]
    fn logged(&mut self, key: &KeyRef<'_, K>) -> Option<u32> {
        match key {
            KeyRef::Number(_) => (&**self).logged(key),
            KeyRef::Key(key) => Some(self.number(*key)),
        }
    }
}

/// The bounds of users, in periods from the first one on.
#[derive(Clone, Copy)]
pub struct LogBounder {
    pub rule: Rule,
    pub calendar: Calendar,
    pub first: i64,
    pub fault: Fault,
}

impl LogBounder {
    pub fn count<K: Key>(
        self,
        stored: &Mutex<RemainingLogs<'_, K>>,
        mut names: impl KeyNumbering<K>,
        panes: usize,
        pane_of: impl Fn(u32) -> usize,
    ) -> Result<Counts> {
        let left = || stored.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = Counts::new(panes);
        let (mut part, mut packed) = (UserTable::default(), Vec::new());
        loop {
            let (taken, runs) = {
                let mut left = left();
                let taken = left.take();
                let on_disk = |log| left.on_disk.length(log);
                (taken.map(|(log, blocks)| (log, blocks, on_disk(log))), left.on_disk.runs.len())
            };
            let Some((log, blocks, on_disk)) = taken else {
                return Ok(counts);
            };
            begin(&mut part, &blocks, on_disk);
            for block in blocks {
                self.offer_all(&mut part, &mut names, &block)?;
            }
            for run in 0..runs {
                left().on_disk.read(run, log, &mut packed)?;
                self.offer_all(&mut part, &mut names, &packed)?;
            }
            let names = names.borrow();
            check_room(names.is_full)?;
            self.settle(&part, names, |period, key, times| counts.add(pane_of(period), key, times));
        }
    }

    /// The same on two threads, where all keys have a number: counts are sums, so that it does not matter who counts whom.
    pub fn count_on_two_threads<K: Key>(
        self,
        stored: &Mutex<RemainingLogs<'_, K>>,
        names: &KeyInterner<K>,
        panes: usize,
        pane_of: &(impl Fn(u32) -> usize + Sync),
    ) -> Result<Counts> {
        thread::scope(|scope| {
            let other = scope.spawn(|| self.count(stored, names, panes, pane_of));
            let mut counts = self.count(stored, names, panes, pane_of);
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            if let Ok(counts) = &mut counts {
                counts.merge(&other);
            }
            counts
        })
    }

    pub fn offer_all<K: Key>(
        self,
        part: &mut UserTable,
        names: &mut impl KeyNumbering<K>,
        mut entries: &[u8],
    ) -> Result<()> {
        while !entries.is_empty() {
            let entry = log::unpack::<K>(&mut entries).ok_or_else(not_as_it_was)?;
            let offer = Candidate {
                user: entry.user,
                place: self.rule.place(entry.user, entry.period),
                epoch: self.calendar.epoch_of(self.first + i64::from(entry.period)),
                key: names.logged(&entry.key).ok_or_else(not_as_it_was)?,
                times: entry.times,
            };
            part.offer(self.rule, (*names).borrow(), &offer);
        }
        check_room(part.is_full)
    }

    fn settle<K: Key>(self, part: &UserTable, names: &KeyInterner<K>, mut count: impl FnMut(u32, u32, u32)) {
        if !self.calendar.splits_epochs() || self.fault.is(Mutant::SecondMap) {
            return part.for_each_key(count);
        }
        let epoch_of = |period: u32| self.calendar.epoch_of(self.first + i64::from(period));
        let mut admitted = Contributions::<K>::new(self.rule);
        part.for_each(self.rule, names, epoch_of, |Contribution { period, user, keys }| {
            let epoch = (epoch_of(period) - self.calendar.epoch_of(self.first)) as u32;
            let place = self.rule.place(user, epoch);
            for (number, times) in keys {
                if let Some(key) = names.key(*number) {
                    count(period, *number, admitted.admit(user, place, key, *times));
                }
            }
        });
    }
}

/// Makes room for the users of a log, of which so many bytes are on disk.
pub fn begin(part: &mut UserTable, blocks: &[Vec<u8>], on_disk: usize) {
    let bytes = blocks.iter().map(Vec::len).sum::<usize>() + on_disk;
    part.begin(bytes / AN_ENTRY);
}

pub fn not_as_it_was() -> Error {
    Error::window("what went to disk did not come back as it was: nothing was released")
}
