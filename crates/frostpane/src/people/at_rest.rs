//! Events of users between two moments that are known before the first: they may come in any order.

use std::hint::black_box;
use std::ops::Range;

use super::calendar::Calendar;
use super::contributions::{Contribution, Contributions, PARTS, Place};
use super::counts::Counts;
use super::door::{Door, Tally};
use super::scratch::{Run, Scratch, no_room};
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{Pane, Parameters};
use crate::spec::Bounds;

/// Looks at the memory in use after so many events.
const LOOK_EVERY: u64 = 1 << 12;
/// Slots that are asked for at a time.
const TOGETHER: usize = 32;

/// Everything that users did in some periods, as far as it may count. What does not fit into the memory goes to disk and comes
/// back user by user: where it was in between shows in nothing but time.
pub struct AtRest<K: Key> {
    pub door: Door<K>,
    bounds: Bounds,
    seed: u64,
    calendar: Calendar,
    periods: Range<i64>,
    contributions: Contributions<K>,
    runs: Vec<Run>,
    scratch: Option<Scratch>,
    most_bytes: u64,
    fault: Fault,
    /// The memory is looked at when so many events were offered.
    next_look: u64,
}

/// An event that may count.
struct Offer<'a, K: Key> {
    user: &'a [u8],
    key: K::Ref<'a>,
    place: Place,
    epoch: i64,
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
        Self {
            door: Door::new(keys, &bounds, seed),
            contributions: Contributions::new(&bounds, seed),
            bounds,
            seed,
            calendar,
            periods,
            runs: Vec::new(),
            scratch,
            most_bytes,
            fault,
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
            self.ask_for(&offers);
            for offer in &offers {
                let Offer {
                    user,
                    key,
                    place,
                    epoch,
                } = *offer;
                self.contributions.offer(user, place, epoch, key, 1);
            }
            if self.door.tally.offered >= self.next_look {
                self.make_room()?;
            }
        }
        Ok(())
    }

    /// Has on its way from the memory what these will look at: one does not wait for the other.
    fn ask_for(&self, offers: &[Offer<'_, K>]) {
        let mut ids = [0; TOGETHER];
        for (offer, id) in offers.iter().zip(&mut ids) {
            *id = self.contributions.ask_for(offer.place);
        }
        let mut bytes = 0;
        for (offer, id) in offers.iter().zip(ids) {
            bytes ^= self.contributions.ask_for_id(offer.place, id);
        }
        black_box(bytes);
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
        Some(Offer {
            user,
            key,
            place: self
                .contributions
                .place(user, (period - self.periods.start) as u32),
            epoch: self.calendar.epoch_of(period),
        })
    }

    /// Has users go to disk if they take more than they may.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        self.next_look = self.door.tally.offered + LOOK_EVERY;
        self.check_numbers()?;
        if self.contributions.bytes() <= self.most_bytes {
            return Ok(());
        }
        let file = self.scratch.as_ref().ok_or_else(no_room)?.create()?;
        let contributions = &self.contributions;
        self.runs.push(Run::write(file, |part, bytes| {
            contributions.pack_part(part, bytes)
        })?);
        (0..PARTS).for_each(|part| self.contributions.clear_part(part));
        self.contributions.names.clear();
        Ok(())
    }

    /// All events have come: the counts of panes, of which `pane_of` says which a period is in, and what became of the events.
    pub fn close(
        &mut self,
        panes: usize,
        pane_of: impl Fn(i64) -> usize,
        made_with: Parameters,
    ) -> Result<(Vec<Pane<K>>, Tally)> {
        let mut counts = Counts::new(panes);
        let first = self.periods.start;
        for part in 0..PARTS {
            self.bring_back(part)?;
            self.check_numbers()?;
            self.settle(part, |period, key, times| {
                counts.add(pane_of(first + i64::from(period)), key, times);
            });
            self.contributions.clear_part(part);
        }
        let tally = Tally {
            beyond_bounds: self.door.tally.offered - counts.total(),
            ..self.door.tally
        };
        let broken = (self.door.tally.offered, self.fault);
        let panes = counts.close(&self.contributions.names, made_with, broken);
        Ok((panes, tally))
    }

    /// That everybody has a number.
    fn check_numbers(&self) -> Result<()> {
        match self.contributions.is_full() {
            true => Err(no_room()),
            false => Ok(()),
        }
    }

    /// About how many bytes users take.
    pub fn bytes(&self) -> u64 {
        self.contributions.bytes()
    }

    /// What went to disk of a part.
    fn bring_back(&mut self, part: usize) -> Result<()> {
        let (calendar, first) = (self.calendar, self.periods.start);
        for run in &mut self.runs {
            let packed = run.read(part)?;
            self.contributions
                .offer_packed(&packed, |period| calendar.epoch_of(first + i64::from(period)))
                .ok_or_else(|| {
                    Error::window("what went to disk did not come back as it was: nothing was released")
                })?;
        }
        Ok(())
    }

    /// Visits what counts of the users of a part.
    fn settle(&self, part: usize, mut count: impl FnMut(u32, u32, u32)) {
        let (calendar, first) = (self.calendar, self.periods.start);
        let epoch_of = |period: u32| calendar.epoch_of(first + i64::from(period));
        let one_map = calendar.splits_epochs() && !self.fault.is(Mutant::SecondMap);
        let mut admitted = one_map.then(|| Contributions::<K>::new(&self.bounds, self.seed));
        self.contributions
            .for_each_of_part(part, epoch_of, |Contribution { period, user, keys }| {
                for (number, times) in keys {
                    let times = match (&mut admitted, self.contributions.names.key(*number)) {
                        (Some(admitted), Some(key)) => {
                            let epoch = (epoch_of(period) - calendar.epoch_of(first)) as u32;
                            admitted.admit(user, admitted.place(user, epoch), key, *times)
                        }
                        _ => *times,
                    };
                    count(period, *number, times);
                }
            });
    }
}
