//! Events of users between two moments that are known before the first: they may come in any order.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::calendar::Calendar;
use super::contribution_log::{ContributionLog, FilteredEvent};
use super::contributions::Rule;
use super::event_filter::EventFilter;
use super::log_bounder::LogBounder;
use super::spill::SpillFactory;
use crate::counting::Tally;
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

/// Everything that users did in some periods: written down as it comes, and bounded user by user at the end or for want of memory.
pub struct BatchBounder<K: Key> {
    candidates: CandidateFilter<K>,
    log: ContributionLog<K>,
}

struct CandidateFilter<K: Key> {
    filter: EventFilter<K>,
    rule: Rule,
    calendar: Calendar,
    periods: Range<i64>,
}

/// The time of an event, its user and its key.
type OfferedEvent<'a, K> = (i64, Option<&'a [u8]>, Option<<K as Key>::Ref<'a>>);

impl<K: Key> BatchBounder<K> {
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        calendar: Calendar,
        periods: Range<i64>,
        seed: u64,
        memory: (u64, Option<SpillFactory>),
        fault: Fault,
    ) -> Self {
        let rule = Rule::new(&bounds, seed);
        let bounder = LogBounder { rule, calendar, first: periods.start, fault };
        Self {
            candidates: CandidateFilter {
                filter: EventFilter::new(keys, &bounds, seed),
                rule,
                calendar,
                periods,
            },
            log: ContributionLog::new(bounder, memory),
        }
    }

    pub fn push<'a>(&mut self, time: i64, user: Option<&'a [u8]>, key: Option<K::Ref<'a>>) -> Result<()> {
        match self.candidates.offer((time, user, key)) {
            Some(offer) => self.log.take(&mut [offer]),
            None => Ok(()),
        }
    }

    pub fn extend<'a>(&mut self, mut events: impl Iterator<Item = OfferedEvent<'a, K>>) -> Result<()> {
        let are_many = events.size_hint().1.is_some_and(|most| most >= MANY);
        if are_many && thread::available_parallelism().is_ok_and(|threads| threads > NonZeroUsize::MIN) {
            return self.extend_on_two_threads(events);
        }
        let mut chunk = Vec::new();
        while self.candidates.fill(&mut chunk, &mut events) {
            self.log.take(&mut chunk)?;
        }
        Ok(())
    }

    /// One thread looks at events while the other writes down those before them, in the same order.
    fn extend_on_two_threads<'a>(
        &mut self,
        mut events: impl Iterator<Item = OfferedEvent<'a, K>>,
    ) -> Result<()> {
        let (to_log, written) = sync_channel(WAITING);
        let (done, blank) = sync_channel(2 * WAITING);
        let (candidates, log) = (&mut self.candidates, &mut self.log);
        thread::scope(|scope| {
            let writing = scope.spawn(move || write_all(log, &written, &done));
            let mut chunk = Vec::new();
            // A log that takes no more has an error to tell.
            while candidates.fill(&mut chunk, &mut events) && to_log.send(chunk).is_ok() {
                chunk = blank.try_recv().unwrap_or_default();
            }
            drop(to_log);
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
        let first = self.candidates.periods.start;
        let counts = self.log.count(panes, |period| pane_of(first + i64::from(period)))?;
        let tally = Tally { beyond_bounds: self.tally().offered - counts.total(), ..*self.tally() };
        let broken = (tally.offered, self.log.bounder.fault);
        Ok((counts.close(&self.log.names, made_with, broken), tally))
    }

    pub fn tally(&self) -> &Tally {
        &self.candidates.filter.tally
    }

    pub fn bytes(&self) -> u64 {
        self.log.bytes()
    }
}

impl<K: Key> CandidateFilter<K> {
    fn fill<'a>(
        &mut self,
        chunk: &mut Vec<FilteredEvent<'a, K>>,
        events: &mut impl Iterator<Item = OfferedEvent<'a, K>>,
    ) -> bool {
        chunk.clear();
        let Some(first) = events.next() else { return false };
        let some = std::iter::once(first).chain(events.take(SHEET - 1));
        some.for_each(|event| chunk.extend(self.offer(event)));
        true
    }

    /// The contribution of an event, if it may count.
    #[inline]
    fn offer<'a>(&mut self, (time, user, key): OfferedEvent<'a, K>) -> Option<FilteredEvent<'a, K>> {
        let (user, key) = self.filter.admits(user, key)?;
        let period = self.calendar.period_at(time);
        if !self.periods.contains(&period) {
            self.filter.tally.outside += 1;
            return None;
        }
        self.filter.tally.offered += 1;
        let period = (period - self.periods.start) as u32;
        Some(FilteredEvent {
            user,
            key,
            nearby: self.rule.nearby::<K>(key),
            number: None,
            place: self.rule.place(user, period),
            period,
        })
    }
}

fn write_all<'a, K: Key>(
    log: &mut ContributionLog<K>,
    written: &Receiver<Vec<FilteredEvent<'a, K>>>,
    done: &SyncSender<Vec<FilteredEvent<'a, K>>>,
) -> Result<()> {
    for mut chunk in written {
        log.take(&mut chunk)?;
        // One more than is wanted is let go.
        let _ = done.try_send(chunk);
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

    type Event = (i64, Vec<u8>, Vec<u8>);

    fn crowd(events: u64, users: u64) -> Vec<Event> {
        let event = |number: u64| {
            let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let user = format!("user {}", mixed % users).into_bytes();
            let key = format!("key {}", (mixed >> 13) % 300).into_bytes();
            (((mixed >> 7) % PERIODS as u64) as i64, user, key)
        };
        (0..events).map(event).collect()
    }

    fn bounder(per_user: u32, memory: u64, has_disk: bool) -> BatchBounder<Bytes> {
        let bounds = Bounds::new(per_user).epoch(Duration::from_micros(1));
        let calendar = Calendar::new(&bounds, 1);
        let scratch = has_disk.then(|| SpillFactory::new(|| Ok(Box::new(Cursor::new(Vec::new())))));
        BatchBounder::new(Keys::Open, bounds, calendar, 0..PERIODS, 7, (memory, scratch), Fault::default())
    }

    fn fill<'a>(bounder: &mut BatchBounder<Bytes>, events: impl Iterator<Item = &'a Event>) -> Result<()> {
        bounder.extend(events.map(|(time, user, key)| (*time, Some(user.as_slice()), Some(key.as_slice()))))
    }

    fn counts(mut bounder: BatchBounder<Bytes>) -> (Vec<Vec<(Bytes, u64)>>, u64) {
        let made_with = PaneShape::new(u32::MAX, 0, None, 7).unwrap().parameters();
        let (panes, tally) = bounder.close(PERIODS as usize, |period| period as usize, made_with).unwrap();
        let sorted = |pane: &Pane<Bytes>| {
            let mut counts: Vec<_> = pane.counts().iter().map(|(key, count)| (key.into(), count)).collect();
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
            let mut in_memory = bounder(per_user, u64::MAX, false);
            fill(&mut in_memory, events.iter()).unwrap();
            let expected = counts(in_memory);
            let mut one_by_one = bounder(per_user, u64::MAX, false);
            for (time, user, key) in &events {
                one_by_one.push(*time, Some(user), Some(key)).unwrap();
            }
            assert!(counts(one_by_one) == expected, "on one thread and on two");
            assert!(expected.0.iter().all(|pane| pane.len() > 250));
            for memory in [1_000, 2_000_000, 3_500_000] {
                for turned in [false, true] {
                    let mut on_disk = bounder(per_user, memory, true);
                    match turned {
                        true => fill(&mut on_disk, events.iter().rev()).unwrap(),
                        false => fill(&mut on_disk, events.iter()).unwrap(),
                    }
                    let helps = users == 700 && memory > 3_000_000;
                    assert_eq!(on_disk.log.on_disk.runs.is_empty(), helps, "{users} users, {memory} bytes");
                    assert_eq!(on_disk.log.names_keys, memory > 1_000);
                    assert!(on_disk.bytes() < memory + 1_200_000);
                    assert!(counts(on_disk) == expected, "{users} users, {memory} bytes");
                }
            }
        }
    }

    /// Those who come back take no more room, those who are new do.
    #[test]
    fn without_a_disk_there_may_be_as_many_events_as_there_are_if_what_counts_has_room() {
        let room_for = |users| fill(&mut bounder(2, 3_500_000, false), crowd(600_000, users).iter());
        assert!(room_for(700).is_ok());
        assert!(room_for(100_000).is_err());
    }
}
