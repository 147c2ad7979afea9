//! Events into panes: which are counted, and where.

use std::cmp::Reverse;
use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::counting::Tally;
use crate::counting::event::{Event, check_time};
use crate::counting::events::Timeline;
use crate::error::{Error, Result};
use crate::key::{Key, Keys};

/// Events that may be brought into the order of their panes.
const TOGETHER: usize = 1 << 12;

/// Reads a closed pane that was written.
pub(crate) type ReadPane<'a> = dyn FnMut(Range<i64>) -> Result<Vec<u8>> + 'a;

/// Takes events one at a time or many at once, says which are counted, and lays them on the timeline.
pub(crate) struct Intake<K: Key> {
    pub timeline: Timeline<K>,
    keys: Keys<K>,
    pub by_count: bool,
    /// By count: how many events there were.
    pub arrived: i64,
    pub tally: Tally,
    /// Up to the latest event.
    pub late_in_a_row: u64,
}

impl<K: Key> Intake<K> {
    pub fn new(timeline: Timeline<K>, keys: Keys<K>, by_count: bool) -> Self {
        Self { timeline, keys, by_count, arrived: 0, tally: Tally::default(), late_in_a_row: 0 }
    }

    /// One event. After an error it has not been counted.
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>) -> Result<()> {
        match event.time {
            None => self.push_next(event.key),
            Some(time) => self.push_at(time, event.key),
        }
    }

    /// Many events, in the order of their arrival: the same as one by one, sooner.
    pub fn extend<'a>(&mut self, mut events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        if self.timeline.is_fixed() && !self.by_count {
            return self.push_by_pane(events);
        }
        self.pass_by(&mut events)?;
        while let Some(first) = events.next() {
            self.push(first)?;
            self.fill(&mut events, usize::MAX)?;
        }
        Ok(())
    }

    /// By count: events before windows whose end is known, which no pane takes.
    fn pass_by<'a>(&mut self, events: &mut impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        let begin = self.timeline.begin().filter(|_| self.by_count).unwrap_or(i64::MIN);
        while self.arrived < begin
            && let Some(event) = events.next()
        {
            if event.time.is_some() {
                return Err(has_no_time());
            }
            counted(&self.keys, event.key, &mut self.tally.without_key);
            self.arrived += 1;
        }
        Ok(())
    }

    #[inline]
    pub fn push_next(&mut self, key: Option<K::Ref<'_>>) -> Result<()> {
        if !self.by_count {
            return Err(needs_time());
        }
        let key = counted(&self.keys, key, &mut self.tally.without_key);
        self.timeline.update(self.arrived, key)?;
        self.arrived += 1;
        Ok(())
    }

    #[inline]
    pub fn push_at(&mut self, time: i64, key: Option<K::Ref<'_>>) -> Result<()> {
        self.check_time(time)?;
        let key = key.filter(|&key| self.keys.may_name(key));
        if self.timeline.update(time, key)? {
            self.tally.without_key += u64::from(key.is_none());
            self.late_in_a_row = 0;
        } else if self.timeline.is_fixed() {
            self.tally.outside += 1;
        } else {
            self.drop_late(time);
        }
        Ok(())
    }

    /// Many events of a window by the clock whose panes were fixed: some thousands at a time pane by pane, so that few panes are
    /// packed and opened again. Each pane has its events in the order of their arrival, whichever were taken together.
    fn push_by_pane<'a>(&mut self, mut events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        let mut together = Vec::new();
        loop {
            together.extend(events.by_ref().take(TOGETHER));
            if together.is_empty() {
                return Ok(());
            }
            let can_be = |event: &&Event<'a, K>| event.time.is_some_and(|time| check_time(time).is_ok());
            let before_error = together.iter().take_while(can_be).count();
            let in_time = &mut together[..before_error];
            if !in_time.is_sorted_by_key(|event| event.time) {
                let pane = |event: &Event<'a, K>| event.time.and_then(|time| self.timeline.pane_at(time));
                // To and fro: where panes were left off some are open.
                match in_time.iter().map(pane).max() > Some(self.timeline.head_at()) {
                    true => in_time.sort_by_cached_key(pane),
                    false => in_time.sort_by_cached_key(|event| Reverse(pane(event))),
                }
            }
            together.drain(..).try_for_each(|event| self.push(event))?;
        }
    }

    #[inline]
    pub fn check_time(&self, time: i64) -> Result<()> {
        if self.by_count {
            return Err(has_no_time());
        }
        check_time(time)
    }

    /// By count: takes as many events, up to a number, as the head pane has room for.
    pub fn fill<'a>(&mut self, events: &mut impl Iterator<Item = Event<'a, K>>, most: usize) -> Result<()> {
        let Some((block, room)) = self.timeline.room(self.arrived).filter(|_| self.by_count) else {
            return Ok(());
        };
        let before = block.events();
        let mut time = None;
        let keys = events.take(room.min(most)).map_while(|event| {
            time = event.time;
            time.is_none().then_some(event.key)
        });
        match &self.keys {
            Keys::Open => {
                self.tally.without_key += block.extend(keys.map(|key| key.filter(|key| K::fits(*key))))
            }
            declared => {
                block.extend(keys.map(|key| counted(declared, key, &mut self.tally.without_key)));
            }
        }
        self.arrived += (block.events() - before) as i64;
        self.timeline.pass(self.arrived - 1);
        time.map_or(Ok(()), |_| Err(has_no_time()))
    }

    pub fn drop_late(&mut self, time: i64) {
        self.timeline.miss(time);
        self.tally.late += 1;
        self.late_in_a_row += 1;
    }

    pub fn save(&mut self, to: &mut Writer) {
        to.signed(self.arrived);
        let Tally { late, outside, without_key, .. } = self.tally;
        [late, outside, self.late_in_a_row, without_key].into_iter().for_each(|number| to.number(number));
        self.timeline.save(to);
    }

    pub fn load(&mut self, from: &mut Reader<'_>, panes: &mut ReadPane<'_>) -> Result<()> {
        self.arrived = from.position()?;
        let Tally { late, outside, without_key, .. } = &mut self.tally;
        for number in [late, outside, &mut self.late_in_a_row, without_key] {
            *number = from.count()?;
        }
        self.timeline.load(from, panes)
    }
}

#[cold]
pub fn needs_time() -> Error {
    Error::window("this window goes by the clock: give the time of the event with update_at")
}

#[cold]
pub fn has_no_time() -> Error {
    Error::window("this window goes by the number of events: give the event without a time, with update")
}

#[inline]
fn counted<'a, K: Key>(keys: &Keys<K>, key: Option<K::Ref<'a>>, without_key: &mut u64) -> Option<K::Ref<'a>> {
    let counted = key.filter(|&key| keys.may_name(key));
    *without_key += u64::from(counted.is_none());
    counted
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::spec::{Norm, Window};
    use crate::stream::HeavyHitters;

    /// The one with a time is the second that the head pane has room for.
    #[test]
    fn a_batch_by_count_is_counted_up_to_an_event_that_has_a_time() {
        for keys in [Keys::open(), Keys::range(0..5).unwrap()] {
            let mut hitters = HeavyHitters::<u64>::builder(keys)
                .norm(Norm::L1)
                .window(Window::events(100).slide(10))
                .build()
                .unwrap();
            let events = [Event::of(1), Event::of(2), Event::at(5, 3), Event::of(4)];
            assert!(hitters.extend(events).is_err());
            assert_eq!(hitters.release().unwrap().window.events, 2);
        }
    }

    #[test]
    fn late_events_are_counted_in_a_row_until_one_is_in_time() {
        let second = Duration::from_secs(1);
        let mut continual = HeavyHitters::<u64>::builder(Keys::range(0..5).unwrap())
            .norm(Norm::L1)
            .window(Window::clock(60 * second).slide(10 * second))
            .continual()
            .unwrap();
        let mut after = |seconds: i64| {
            continual.update_at(seconds * 1_000_000, 1).unwrap();
            (continual.late_in_a_row(), continual.tally().late)
        };
        assert_eq!([100, 5, 6, 7].map(&mut after), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!([101, 5, 102].map(&mut after), [(0, 3), (1, 4), (0, 4)]);
    }
}
