//! Events of users as time goes by.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::calendar::Calendar;
use super::contributions::{Contribution, Contributions, LOGS, Rule};
use super::counts::Counts;
use super::event_filter::EventFilter;
use super::log::{self, Entry, KeyRef};
use super::log_bounder::not_as_it_was;
use super::spill::{SpillFactory, SpillFile, check_room, no_room};
use crate::error::Result;
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{PackedCounts, Pane, Parameters};
use crate::spec::Bounds;

const LOOK_EVERY: u64 = 1 << 12;

/// What users do in periods that have not ended, and what was counted of them in epochs that have not: one map, which all
/// events of a user pass through. What has been counted stays counted.
pub struct StreamingBounder<K: Key> {
    pub filter: EventFilter<K>,
    pub(super) rule: Rule,
    pub calendar: Calendar,
    pub(super) open: BTreeMap<i64, Users<K>>,
    pub(super) offered: BTreeMap<i64, u64>,
    counted: BTreeMap<i64, Pane<K>>,
    /// By epoch; needed only where an epoch has several periods.
    pub(super) admitted: BTreeMap<i64, Users<K>>,
    pub most_bytes: u64,
    /// Files for users that do not fit into the memory.
    pub scratch: Option<SpillFactory>,
    /// True if more users than fit are an error where there is no disk: what was taken once has its place.
    pub is_limited: bool,
    /// True if events are missing for want of room or by a fault of the disk: which ones depends on everybody, so no others count.
    is_full: bool,
    fault: Fault,
}

impl<K: Key> StreamingBounder<K> {
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        calendar: Calendar,
        seed: u64,
        most_bytes: u64,
        fault: Fault,
    ) -> Self {
        Self {
            filter: EventFilter::new(keys, &bounds, seed),
            rule: Rule::new(&bounds, seed),
            calendar,
            open: BTreeMap::new(),
            offered: BTreeMap::new(),
            counted: BTreeMap::new(),
            admitted: BTreeMap::new(),
            most_bytes,
            scratch: None,
            is_limited: true,
            is_full: false,
            fault,
        }
    }

    /// One event, if it lies in one of these panes. The clock decides which they are, and no event does.
    pub fn push_within<'a>(
        &mut self,
        panes: RangeInclusive<i64>,
        time: i64,
        user: Option<&'a [u8]>,
        key: Option<K::Ref<'a>>,
    ) -> Result<()> {
        let pane = self.calendar.pane_at(time);
        if panes.contains(&pane) {
            return self.push(time, user, key);
        }
        let tally = &mut self.filter.tally;
        *if pane < *panes.start() { &mut tally.late } else { &mut tally.ahead } += 1;
        Ok(())
    }

    pub fn push<'a>(&mut self, time: i64, user: Option<&'a [u8]>, key: Option<K::Ref<'a>>) -> Result<()> {
        let Some((user, key)) = self.filter.admits(user, key) else {
            return Ok(());
        };
        self.filter.tally.offered += 1;
        let period = self.calendar.period_at(time);
        *self.offered.entry(period).or_default() += 1;
        let open = self.open.entry(period).or_insert_with(|| Users::new(self.rule));
        let place = self.rule.place(user, 0);
        let epoch = self.calendar.epoch_of(period);
        open.memory.offer(user, place, epoch, key, 1);
        if self.filter.tally.offered.is_multiple_of(LOOK_EVERY) {
            self.make_room()?;
        }
        check_room(self.is_full)
    }

    /// Has users go to disk if they take more than they may. When that happens shows in nothing but time.
    fn make_room(&mut self) -> Result<()> {
        let bytes = self.bytes();
        if bytes <= self.most_bytes {
            return Ok(());
        }
        let made = match &self.scratch {
            Some(scratch) => {
                let all = self.open.values_mut().chain(self.admitted.values_mut());
                spill_largest(all.collect(), bytes - self.most_bytes / 2, scratch)
            }
            None if self.is_limited => Err(no_room()),
            None => Ok(()),
        };
        self.is_full |= made.is_err();
        made
    }

    pub fn close(&mut self, pane: i64, made_with: Parameters) -> Result<Pane<K>> {
        check_room(self.is_full)?;
        if let Some(counted) = self.counted.remove(&pane) {
            // And so was what was not.
            return Ok(counted);
        }
        let (mut counts, mut names) = (Counts::new(1), self.rule.names());
        let mut offered = 0;
        for period in self.calendar.periods_of(pane) {
            if let Some(users) = self.open.remove(&period) {
                let settled = self.settle(period, users, |key, times| {
                    counts.add(0, names.number(key), times);
                });
                self.is_full |= settled.is_err() || names.is_full;
                settled?;
                check_room(names.is_full)?;
            }
            offered += self.offered.remove(&period).unwrap_or(0);
            if self.calendar.ends_epoch(period) {
                self.admitted.remove(&self.calendar.epoch_of(period));
            }
        }
        let Some(beyond) = offered.checked_sub(counts.total()) else {
            self.is_full = true;
            return Err(not_as_it_was());
        };
        self.filter.tally.beyond_bounds += beyond;
        let mut panes = counts.close(&names, made_with, (offered, self.fault));
        let none = || Pane::exact(made_with, PackedCounts::collect(std::iter::empty()));
        Ok(panes.pop().unwrap_or_else(none))
    }

    fn settle(
        &mut self,
        period: i64,
        mut users: Users<K>,
        mut count: impl FnMut(K::Ref<'_>, u32),
    ) -> Result<()> {
        let epoch = self.calendar.epoch_of(period);
        if self.fault.is(Mutant::SecondMap) {
            self.admitted.remove(&epoch);
        }
        let fault = self.fault;
        let splits = self.calendar.splits_epochs();
        if splits {
            self.admitted.entry(epoch).or_insert_with(|| Users::new(self.rule));
        }
        let admitted = self.admitted.get_mut(&epoch).filter(|_| splits);
        if !users.are_on_disk() && admitted.as_ref().is_none_or(|users| !users.are_on_disk()) {
            let admitted = admitted.map(|users| &mut users.memory);
            return admit((epoch, fault), &users.memory, admitted, |_, key, times| count(key, times));
        }
        for log in 0..LOGS {
            let candidates = users.of_log(log, epoch)?;
            let Some(admitted) = self.admitted.get_mut(&epoch).filter(|_| splits) else {
                admit((epoch, fault), &candidates, None, |_, key, times| count(key, times))?;
                continue;
            };
            let mut before = admitted.of_log(log, epoch)?;
            admit((epoch, fault), &candidates, Some(&mut before), |user, key, times| {
                count(key, times);
                let place = self.rule.place(user, 0);
                admitted.memory.offer(user, place, epoch, key, times);
            })?;
            self.make_room()?;
        }
        Ok(())
    }

    pub fn prepare(&mut self, first: i64, panes: Vec<Pane<K>>) {
        self.counted = (first..).zip(panes).collect();
    }

    pub fn bytes(&self) -> u64 {
        let all = self.open.values().chain(self.admitted.values());
        all.map(|users| users.memory.bytes()).sum()
    }
}

fn spill_largest<K: Key>(mut all: Vec<&mut Users<K>>, mut more: u64, scratch: &SpillFactory) -> Result<()> {
    all.sort_by_key(|users| Reverse(users.memory.bytes()));
    for users in all {
        if more == 0 {
            break;
        }
        more = more.saturating_sub(users.memory.bytes());
        users.spill(scratch)?;
    }
    Ok(())
}

/// Takes candidates of a period for good, and visits what counts of them: user, key and how often. What was admitted in the epoch before is
/// in `admitted`, where an epoch has several periods, and so is afterwards what is now.
fn admit<K: Key>(
    (epoch, fault): (i64, Fault),
    candidates: &Contributions<K>,
    mut admitted: Option<&mut Contributions<K>>,
    mut count: impl FnMut(&[u8], K::Ref<'_>, u32),
) -> Result<()> {
    candidates.for_each(epoch, |Contribution { user, keys, .. }| {
        for (number, times) in keys {
            let Some(key) = candidates.names.key(*number) else {
                continue;
            };
            let times = match admitted.as_deref_mut() {
                None => *times,
                Some(admitted) => {
                    let place = admitted.rule.place(user, 0);
                    match fault.is(Mutant::RevisedAdmission) {
                        true => admitted.revise(user, place, epoch, key, *times),
                        false => admitted.admit(user, place, key, *times),
                    }
                }
            };
            if times > 0 {
                count(user, key, times);
            }
        }
    });
    check_room(candidates.is_full() || admitted.is_some_and(|admitted| admitted.is_full()))
}

/// What users came to in one period, or what was admitted of them in one epoch. A user may be in memory and in several runs on disk:
/// all that counts is found log by log.
pub struct Users<K> {
    pub memory: Contributions<K>,
    pub on_disk: SpillFile,
}

impl<K: Key> Users<K> {
    pub fn new(rule: Rule) -> Self {
        Self { memory: Contributions::new(rule), on_disk: SpillFile::default() }
    }

    pub fn are_on_disk(&self) -> bool {
        !self.on_disk.runs.is_empty()
    }

    pub fn spill(&mut self, scratch: &SpillFactory) -> Result<()> {
        check_room(self.memory.is_full())?;
        let memory = &self.memory;
        self.on_disk.write(scratch, |log| std::iter::once(memory.packed_log(log)))?;
        self.memory = Contributions::new(memory.rule);
        Ok(())
    }

    /// All users of a log, in a table of their own. The order of preference is that of an epoch.
    pub fn of_log(&mut self, log: usize, epoch: i64) -> Result<Contributions<K>> {
        let mut gathered = Contributions::new(self.memory.rule);
        let mut packed = self.memory.packed_log(log);
        gathered.offer_packed(&packed, epoch)?;
        for run in 0..self.on_disk.runs.len() {
            self.on_disk.read(run, log, &mut packed)?;
            gathered.offer_packed(&packed, epoch)?;
        }
        check_room(gathered.is_full()).map(|()| gathered)
    }
}

impl<K: Key> Contributions<K> {
    fn packed_log(&self, log: usize) -> Vec<u8> {
        let mut packed = Vec::new();
        self.for_each_of_log(log, |user, number, times| {
            if let Some(key) = self.names.key(number) {
                let key = KeyRef::<K>::Key(key);
                let entry = Entry { user, period: 0, times, key };
                log::pack(&entry, &mut packed);
            }
        });
        packed
    }

    fn offer_packed(&mut self, mut packed: &[u8], epoch: i64) -> Result<()> {
        while !packed.is_empty() {
            let entry = log::unpack::<K>(&mut packed).ok_or_else(not_as_it_was)?;
            let KeyRef::Key(key) = entry.key else {
                return Err(not_as_it_was());
            };
            let place = self.rule.place(entry.user, 0);
            self.offer(entry.user, place, epoch, key, entry.times);
        }
        Ok(())
    }
}
