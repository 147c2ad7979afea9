//! Events of users between two moments that are known before the first: they may come in any order.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::calendar::Calendar;
use super::contributions::Rule;
use super::desk::{Desk, Offer};
use super::door::{Door, Tally};
use super::scratch::Scratch;
use super::settling::Settling;
use crate::error::Result;
use crate::fault::Fault;
use crate::key::{Key, Keys};
use crate::pane::{Pane, Parameters};
use crate::spec::Bounds;

/// Events that are written down at a time.
const SHEET: usize = 1 << 10;
/// Sheets on their way from one thread to the other.
const WAITING: usize = 4;
/// Fewer events are not worth a thread.
const MANY: usize = 1 << 15;

/// Everything that users did in some periods. It is written down as it comes, and bounded user by user when all has come, or when
/// it takes too much memory.
pub struct AtRest<K: Key> {
    entrance: Entrance<K>,
    desk: Desk<K>,
    fault: Fault,
}

/// Says of each event what it offers, by that event alone.
struct Entrance<K: Key> {
    door: Door<K>,
    rule: Rule,
    calendar: Calendar,
    periods: Range<i64>,
}

/// The time of an event, its user and its key.
type Given<'a, K> = (i64, Option<&'a [u8]>, Option<<K as Key>::Ref<'a>>);

impl<K: Key> AtRest<K> {
    /// Of these periods, in so much memory.
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        calendar: Calendar,
        periods: Range<i64>,
        seed: u64,
        memory: (u64, Option<Scratch>),
        fault: Fault,
    ) -> Self {
        let rule = Rule::new(&bounds, seed);
        let settling = Settling {
            rule,
            bounds,
            seed,
            calendar,
            first: periods.start,
            fault,
        };
        Self {
            entrance: Entrance {
                door: Door::new(keys, &bounds, seed),
                rule,
                calendar,
                periods,
            },
            desk: Desk::new(settling, memory),
            fault,
        }
    }

    /// One event.
    pub fn push<'a>(&mut self, time: i64, user: Option<&'a [u8]>, key: Option<K::Ref<'a>>) -> Result<()> {
        match self.entrance.offer((time, user, key)) {
            Some(offer) => self.desk.take(&mut [offer]),
            None => Ok(()),
        }
    }

    /// Many events, on two threads if that pays.
    pub fn extend<'a>(&mut self, events: impl Iterator<Item = Given<'a, K>>) -> Result<()> {
        let are_many = events.size_hint().1.is_some_and(|most| most >= MANY);
        match are_many && thread::available_parallelism().is_ok_and(|threads| threads > NonZeroUsize::MIN) {
            true => self.extend_on_two_threads(events),
            false => self.extend_on_one(events),
        }
    }

    fn extend_on_one<'a>(&mut self, mut events: impl Iterator<Item = Given<'a, K>>) -> Result<()> {
        let mut sheet = Vec::new();
        while self.entrance.fill(&mut sheet, &mut events) {
            self.desk.take(&mut sheet)?;
        }
        Ok(())
    }

    /// One thread looks at events while the other writes down those before them, in the same order.
    fn extend_on_two_threads<'a>(&mut self, mut events: impl Iterator<Item = Given<'a, K>>) -> Result<()> {
        let (to_desk, written) = sync_channel(WAITING);
        let (done, blank) = sync_channel(2 * WAITING);
        let (entrance, desk) = (&mut self.entrance, &mut self.desk);
        thread::scope(|scope| {
            let writing = scope.spawn(move || write_all(desk, &written, &done));
            let mut sheet = Vec::new();
            // A desk that takes no more has an error to tell.
            while entrance.fill(&mut sheet, &mut events) && to_desk.send(sheet).is_ok() {
                sheet = blank.try_recv().unwrap_or_default();
            }
            drop(to_desk);
            let written = writing.join();
            written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// All events have come: the counts of panes, of which `pane_of` says which a period is in, and what became of the events.
    pub fn close(
        &mut self,
        panes: usize,
        pane_of: impl Fn(i64) -> usize + Sync,
        made_with: Parameters,
    ) -> Result<(Vec<Pane<K>>, Tally)> {
        let first = self.entrance.periods.start;
        let counts = self
            .desk
            .count(panes, |period| pane_of(first + i64::from(period)))?;
        let tally = Tally {
            beyond_bounds: self.tally().offered - counts.total(),
            ..*self.tally()
        };
        let broken = (tally.offered, self.fault);
        Ok((counts.close(&self.desk.names, made_with, broken), tally))
    }

    /// What became of the events, for the operator alone.
    pub fn tally(&self) -> &Tally {
        &self.entrance.door.tally
    }

    /// About how many bytes users take.
    pub fn bytes(&self) -> u64 {
        self.desk.bytes()
    }
}

impl<K: Key> Entrance<K> {
    /// Fills a sheet with what the next events offer. Whether there were any.
    fn fill<'a>(
        &mut self,
        sheet: &mut Vec<Offer<'a, K>>,
        events: &mut impl Iterator<Item = Given<'a, K>>,
    ) -> bool {
        sheet.clear();
        let Some(first) = events.next() else { return false };
        let some = std::iter::once(first).chain(events.take(SHEET - 1));
        some.for_each(|event| sheet.extend(self.offer(event)));
        true
    }

    /// What an event offers, if it may count.
    #[inline]
    fn offer<'a>(&mut self, (time, user, key): Given<'a, K>) -> Option<Offer<'a, K>> {
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
            nearby: self.rule.nearby::<K>(key),
            number: None,
            place: self.rule.place(user, period),
            period,
        })
    }
}

/// Writes down what comes, and gives the sheets back.
fn write_all<'a, K: Key>(
    desk: &mut Desk<K>,
    written: &Receiver<Vec<Offer<'a, K>>>,
    done: &SyncSender<Vec<Offer<'a, K>>>,
) -> Result<()> {
    for mut sheet in written {
        desk.take(&mut sheet)?;
        // One more than is wanted is let go.
        let _ = done.try_send(sheet);
    }
    Ok(())
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
            let mut one_by_one = at_rest(per_user, u64::MAX, false);
            for (time, user, key) in &events {
                one_by_one.push(*time, Some(user), Some(key)).unwrap();
            }
            assert!(counts(one_by_one) == expected, "on one thread and on two");
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
                        on_disk.desk.on_disk.runs() == 0,
                        helps,
                        "{users} users, {memory} bytes"
                    );
                    assert_eq!(on_disk.desk.names_keys, memory > 1_000);
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
