//! Events of users as time goes by.

use std::collections::BTreeMap;

use super::calendar::Calendar;
use super::contributions::{Contribution, Contributions, PARTS};
use super::counts::Counts;
use super::door::Door;
use super::names::Names;
use super::scratch::no_room;
use crate::error::Result;
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{PackedCounts, Pane, Parameters};
use crate::spec::Bounds;

const LOOK_EVERY: u64 = 1 << 12;

/// What users do in periods that have not ended, and what was counted of them in epochs that have not: one map, which all
/// events of a user pass through. What has been counted stays counted.
pub struct Live<K: Key> {
    pub door: Door<K>,
    pub(super) bounds: Bounds,
    pub(super) seed: u64,
    calendar: Calendar,
    pub(super) open: BTreeMap<i64, Contributions<K>>,
    /// How many events there were in each of them.
    pub(super) offered: BTreeMap<i64, u64>,
    /// Panes that were counted elsewhere.
    counted: BTreeMap<i64, Pane<K>>,
    /// By epoch; needed only where an epoch has several periods.
    pub(super) admitted: BTreeMap<i64, Contributions<K>>,
    most_bytes: u64,
    /// Whether that is looked at.
    is_limited: bool,
    /// Whether there was no room: some events are missing, and which ones depends on everybody, so nothing is made of the rest.
    is_full: bool,
    fault: Fault,
}

impl<K: Key> Live<K> {
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        calendar: Calendar,
        seed: u64,
        most_bytes: u64,
        fault: Fault,
    ) -> Self {
        Self {
            door: Door::new(keys, &bounds, seed),
            bounds,
            seed,
            calendar,
            open: BTreeMap::new(),
            offered: BTreeMap::new(),
            counted: BTreeMap::new(),
            admitted: BTreeMap::new(),
            most_bytes,
            is_limited: true,
            is_full: false,
            fault,
        }
    }

    /// Whether users may take no more than the memory that was planned: what was taken once has its place.
    pub fn limit_memory(&mut self, limited: bool) {
        self.is_limited = limited;
    }

    /// By how much later panes begin than at multiples of their length.
    pub fn offset(&self) -> i64 {
        self.calendar.offset()
    }

    /// The first pane that can be counted whose time begins now.
    pub fn first_pane_from(&self, time: i64) -> i64 {
        self.calendar.first_pane_from(time)
    }

    /// The pane of a moment.
    pub fn pane_at(&self, time: i64) -> i64 {
        self.calendar.pane_of(self.calendar.period_at(time))
    }

    /// One event of a pane that is open, as its time and the clock say.
    pub fn push<'a>(&mut self, time: i64, user: Option<&'a [u8]>, key: Option<K::Ref<'a>>) -> Result<()> {
        let Some((user, key)) = self.door.admits(user, key) else {
            return Ok(());
        };
        self.door.tally.offered += 1;
        let period = self.calendar.period_at(time);
        *self.offered.entry(period).or_default() += 1;
        let (bounds, seed) = (self.bounds, self.seed);
        let open = self
            .open
            .entry(period)
            .or_insert_with(|| Contributions::new(&bounds, seed));
        let place = open.place(user, 0);
        open.offer(user, place, self.calendar.epoch_of(period), key, 1);
        let looks = self.is_limited && self.door.tally.offered.is_multiple_of(LOOK_EVERY);
        self.is_full |= looks && self.bytes() > self.most_bytes;
        match self.is_full {
            true => Err(no_room()),
            false => Ok(()),
        }
    }

    /// The pane has ended: what counts of it.
    pub fn close(&mut self, pane: i64, made_with: Parameters) -> Result<Pane<K>> {
        if self.is_full {
            return Err(no_room());
        }
        if let Some(counted) = self.counted.remove(&pane) {
            // And so was what was not.
            return Ok(counted);
        }
        let (mut counts, mut names) = (Counts::new(1), Names::new(self.seed));
        let mut offered = 0;
        for period in self.calendar.periods_of(pane) {
            if let Some(contributions) = self.open.remove(&period) {
                self.settle(period, &contributions, |key, times| {
                    counts.add(0, names.number(key), times);
                });
                let admitted = self.admitted.get(&self.calendar.epoch_of(period));
                if contributions.is_full() || names.is_full || admitted.is_some_and(Contributions::is_full) {
                    return Err(no_room());
                }
            }
            offered += self.offered.remove(&period).unwrap_or(0);
            if self.calendar.ends_epoch(period) {
                self.admitted.remove(&self.calendar.epoch_of(period));
            }
        }
        self.door.tally.beyond_bounds += offered - counts.total();
        let mut panes = counts.close(&names, made_with, (offered, self.fault));
        let none = || Pane::exact(made_with, PackedCounts::collect(std::iter::empty()));
        Ok(panes.pop().unwrap_or_else(none))
    }

    /// Visits what counts of a period.
    fn settle(
        &mut self,
        period: i64,
        contributions: &Contributions<K>,
        mut count: impl FnMut(K::Ref<'_>, u32),
    ) {
        let epoch = self.calendar.epoch_of(period);
        let (bounds, seed) = (self.bounds, self.seed);
        let fault = self.fault;
        if fault.is(Mutant::SecondMap) {
            self.admitted.remove(&epoch);
        }
        let mut admitted = self.calendar.splits_epochs().then(|| {
            let admitted = self.admitted.entry(epoch);
            admitted.or_insert_with(|| Contributions::new(&bounds, seed))
        });
        for part in 0..PARTS {
            contributions.for_each_of_part(
                part,
                |_| epoch,
                |Contribution { user, keys, .. }| {
                    for (number, times) in keys {
                        let Some(key) = contributions.names.key(*number) else {
                            continue;
                        };
                        let times = match &mut admitted {
                            Some(admitted) if fault.is(Mutant::RevisedAdmission) => {
                                admitted.revise(user, admitted.place(user, 0), epoch, key, *times)
                            }
                            Some(admitted) => admitted.admit(user, admitted.place(user, 0), key, *times),
                            None => *times,
                        };
                        if times > 0 {
                            count(key, times);
                        }
                    }
                },
            );
        }
    }

    /// Panes that were counted elsewhere, from the one with this number on.
    pub fn prepare(&mut self, first: i64, panes: Vec<Pane<K>>) {
        self.counted = (first..).zip(panes).collect();
    }

    /// About how many bytes users take.
    pub fn bytes(&self) -> u64 {
        let all = self.open.values().chain(self.admitted.values());
        all.map(Contributions::bytes).sum()
    }
}
