//! Events of users between two moments that are known before the first: they may come in any order.

use std::ops::Range;

use super::calendar::Calendar;
use super::contributions::{LOGS, Part, Place, Rule};
use super::counts::Counts;
use super::door::{Door, Tally};
use super::log::{Entry, Logged, Logs};
use super::names::{Names, Nearby};
use super::scratch::{OnDisk, Scratch, no_room};
use super::settling::{Settling, Stored, begin};
use crate::error::Result;
use crate::fault::Fault;
use crate::key::{Key, Keys};
use crate::pane::{Pane, Parameters};
use crate::spec::Bounds;

/// Looks at the memory in use after so many events.
const LOOK_EVERY: u64 = 1 << 12;
/// Events whose keys are looked up at a time: one does not wait for the other.
const TOGETHER: usize = 32;

/// Everything that users did in some periods. It is written down as it comes, and bounded user by user when all has come, or when
/// it takes too much memory. What does not fit even so goes to disk: where it was in between shows in nothing but time.
pub struct AtRest<K: Key> {
    pub door: Door<K>,
    rule: Rule,
    settling: Settling,
    calendar: Calendar,
    periods: Range<i64>,
    logs: Logs<K>,
    names: Names<K>,
    /// Whether keys that have no number yet are given one.
    names_keys: bool,
    on_disk: OnDisk,
    scratch: Option<Scratch>,
    most_bytes: u64,
    fault: Fault,
    /// Whether events that take too much memory are bounded before anything goes to disk.
    bounds_early: bool,
    /// The memory is looked at when so many events were offered.
    next_look: u64,
}

/// An event that may count.
struct Offer<'a, K: Key> {
    user: &'a [u8],
    key: K::Ref<'a>,
    /// Where its number may be.
    nearby: Nearby,
    number: Option<u32>,
    place: Place,
    period: u32,
}

impl<K: Key> AtRest<K> {
    /// Of these periods, in so much memory.
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        calendar: Calendar,
        periods: Range<i64>,
        seed: u64,
        (most_bytes, scratch): (u64, Option<Scratch>),
        fault: Fault,
    ) -> Self {
        let rule = Rule::new(&bounds, seed);
        Self {
            door: Door::new(keys, &bounds, seed),
            rule,
            settling: Settling {
                rule,
                bounds,
                seed,
                calendar,
                first: periods.start,
                fault,
            },
            logs: Logs::new(),
            names: rule.names(),
            names_keys: true,
            calendar,
            periods,
            on_disk: OnDisk::default(),
            scratch,
            most_bytes,
            fault,
            bounds_early: true,
            next_look: LOOK_EVERY,
        }
    }

    /// One event.
    pub fn push<'a>(&mut self, time: i64, user: Option<&'a [u8]>, key: Option<K::Ref<'a>>) -> Result<()> {
        self.extend(std::iter::once((time, user, key)))
    }

    /// Many events: their time, user and key.
    pub fn extend<'a>(
        &mut self,
        mut events: impl Iterator<Item = (i64, Option<&'a [u8]>, Option<K::Ref<'a>>)>,
    ) -> Result<()> {
        let mut offers = Vec::with_capacity(TOGETHER);
        while let Some(first) = events.next() {
            offers.clear();
            let some = std::iter::once(first).chain(events.by_ref().take(TOGETHER - 1));
            offers.extend(some.filter_map(|event| self.offer(event)));
            // Step by step, because a short step has many waits for the memory at once.
            offers
                .iter_mut()
                .for_each(|offer| self.names.look_up(&mut offer.nearby));
            offers.iter_mut().for_each(|offer| self.number(offer));
            offers.iter().for_each(|offer| self.write(offer));
            if self.door.tally.offered >= self.next_look {
                self.make_room()?;
            }
        }
        Ok(())
    }

    /// Finds the number of the key, and gives it one if all keys have one.
    #[inline]
    fn number(&mut self, offer: &mut Offer<'_, K>) {
        offer.number = match self.names_keys {
            true => Some(self.names.number_near(offer.key, offer.nearby)),
            false => self.names.find(offer.key),
        };
    }

    /// Writes down what an event offers.
    #[inline]
    fn write(&mut self, offer: &Offer<'_, K>) {
        let entry = Entry {
            user: offer.user,
            period: offer.period,
            times: 1,
            key: offer.number.map_or(Logged::Key(offer.key), Logged::Number),
        };
        self.logs.push(offer.place.log(), &entry);
    }

    /// What an event offers, if it may count.
    #[inline]
    fn offer<'a>(
        &mut self,
        (time, user, key): (i64, Option<&'a [u8]>, Option<K::Ref<'a>>),
    ) -> Option<Offer<'a, K>> {
        let (user, key) = self.door.admits(user, key)?;
        let period = self.calendar.period_at(time);
        if !self.periods.contains(&period) {
            self.door.tally.outside += 1;
            return None;
        }
        self.door.tally.offered += 1;
        let period = (period - self.periods.start) as u32;
        Some(Offer {
            user,
            key,
            nearby: self.names.hashed(key),
            number: None,
            place: self.rule.place(user, period),
            period,
        })
    }

    /// Has users go to disk if they take more than they may.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.next_look = self.door.tally.offered + LOOK_EVERY;
        self.check_numbers()?;
        let names = self.names.bytes();
        self.names_keys &= names <= self.most_bytes / 4;
        // What counting takes when all has come.
        let room = (self.most_bytes - self.most_bytes / 8).saturating_sub(names);
        if self.logs.bytes_in_use() <= room {
            return Ok(());
        }
        if self.bounds_early && (self.names_keys || self.scratch.is_none()) {
            self.bound()?;
            if self.logs.bytes_in_use() <= room / 2 {
                return Ok(());
            }
            // It takes time that has not paid.
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

    /// Leaves of all that is written down what may count.
    fn bound(&mut self) -> Result<()> {
        let mut part = Part::default();
        for log in 0..LOGS {
            if self.logs.is_empty(log) {
                continue;
            }
            let blocks = self.logs.take(log);
            begin(&mut part, &blocks, 0);
            for block in blocks {
                self.settling.offer_all(&mut part, &mut &mut self.names, &block)?;
            }
            let logs = &mut self.logs;
            part.for_each_entry(|user, period, key, times| {
                let key = Logged::Number(key);
                let entry = Entry {
                    user,
                    period,
                    times,
                    key,
                };
                logs.push(log, &entry);
            });
            self.check_numbers()?;
        }
        Ok(())
    }

    /// All events have come: the counts of panes, of which `pane_of` says which a period is in, and what became of the events.
    pub fn close(
        &mut self,
        panes: usize,
        pane_of: impl Fn(i64) -> usize + Sync,
        made_with: Parameters,
    ) -> Result<(Vec<Pane<K>>, Tally)> {
        self.logs.keep_none();
        let (first, settling) = (self.periods.start, self.settling);
        let pane_of = |period: u32| pane_of(first + i64::from(period));
        let stored = Stored::new(&mut self.logs, &mut self.on_disk);
        // Counts of two threads take twice the room.
        let has_room = Counts::bytes(panes, self.names.len()) <= self.most_bytes / 16;
        let counts = match self.names_keys && has_room {
            true => settling.count_on_two_threads(&stored, &self.names, panes, &pane_of)?,
            false => settling.count(&stored, &mut self.names, panes, pane_of)?,
        };
        let tally = Tally {
            beyond_bounds: self.door.tally.offered - counts.total(),
            ..self.door.tally
        };
        let broken = (self.door.tally.offered, self.fault);
        Ok((counts.close(&self.names, made_with, broken), tally))
    }

    /// That every key has a number.
    fn check_numbers(&self) -> Result<()> {
        match self.names.is_full {
            true => Err(no_room()),
            false => Ok(()),
        }
    }

    /// About how many bytes users take.
    pub fn bytes(&self) -> u64 {
        self.logs.bytes() + self.names.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::time::Duration;

    use super::*;
    use crate::key::Bytes;
    use crate::pane::PaneShape;

    const PERIODS: i64 = 4;

    /// When, who and what.
    type Event = (i64, Vec<u8>, Vec<u8>);

    /// So many users, who come back now and then.
    fn crowd(events: u64, users: u64) -> Vec<Event> {
        let event = |number: u64| {
            let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let user = format!("user {}", mixed % users).into_bytes();
            let key = format!("key {}", (mixed >> 13) % 300).into_bytes();
            (((mixed >> 7) % PERIODS as u64) as i64, user, key)
        };
        (0..events).map(event).collect()
    }

    fn at_rest(per_user: u32, memory: u64, has_disk: bool) -> AtRest<Bytes> {
        let bounds = Bounds::new(per_user).epoch(Duration::from_micros(1));
        let calendar = Calendar::new(&bounds, 1);
        let scratch = has_disk.then(|| Scratch::new(|| Ok(Box::new(Cursor::new(Vec::new())))));
        AtRest::new(
            Keys::Open,
            bounds,
            calendar,
            0..PERIODS,
            7,
            (memory, scratch),
            Fault::default(),
        )
    }

    fn fill<'a>(at_rest: &mut AtRest<Bytes>, events: impl Iterator<Item = &'a Event>) -> Result<()> {
        at_rest.extend(events.map(|(time, user, key)| (*time, Some(user.as_slice()), Some(key.as_slice()))))
    }

    /// Of each pane the keys with their counts, and what was beyond the bounds.
    fn counts(mut at_rest: AtRest<Bytes>) -> (Vec<Vec<(Bytes, u64)>>, u64) {
        let made_with = PaneShape::new(u32::MAX, 0, None, 7).unwrap().parameters();
        let (panes, tally) = at_rest
            .close(PERIODS as usize, |period| period as usize, made_with)
            .unwrap();
        let sorted = |pane: &Pane<Bytes>| {
            let mut counts: Vec<_> = pane
                .counts()
                .iter()
                .map(|(key, count)| (key.into(), count))
                .collect();
            counts.sort_unstable();
            counts
        };
        (panes.iter().map(sorted).collect(), tally.beyond_bounds)
    }

    /// On disk by number and by name, bounded early and not, in whatever order: the same.
    #[test]
    fn where_users_were_shows_in_nothing() {
        for (users, per_user) in [(700, 2), (9_000, 50)] {
            let events = crowd(300_000, users);
            let mut in_memory = at_rest(per_user, u64::MAX, false);
            fill(&mut in_memory, events.iter()).unwrap();
            let expected = counts(in_memory);
            assert!(expected.0.iter().all(|pane| pane.len() > 250));
            for memory in [1_000, 2_000_000, 3_500_000] {
                for turned in [false, true] {
                    let mut on_disk = at_rest(per_user, memory, true);
                    match turned {
                        true => fill(&mut on_disk, events.iter().rev()).unwrap(),
                        false => fill(&mut on_disk, events.iter()).unwrap(),
                    }
                    let helps = users == 700 && memory > 3_000_000;
                    assert_eq!(
                        on_disk.on_disk.runs() == 0,
                        helps,
                        "{users} users, {memory} bytes"
                    );
                    assert_eq!(on_disk.names_keys, memory > 1_000);
                    assert!(on_disk.bytes() < memory + 1_200_000);
                    assert!(counts(on_disk) == expected, "{users} users, {memory} bytes");
                }
            }
        }
    }

    /// Those who come back take no more room, those who are new do.
    #[test]
    fn without_a_disk_there_may_be_as_many_events_as_there_are_if_what_counts_has_room() {
        let room_for = |users| fill(&mut at_rest(2, 3_500_000, false), crowd(600_000, users).iter());
        assert!(room_for(700).is_ok());
        assert!(room_for(100_000).is_err());
    }
}
