//! What counts the events of a stream, of either unit, for single lists or for one at every slide.

use std::cell::Cell;
use std::ops::Range;

use super::Taken;
use super::paid::Paid;
use crate::codec::{Reader, Writer, damaged};
use crate::door::{Batch, Builder, Continual, Event, HeavyHitters, has_no_time, needs_time};
use crate::error::{Error, Result};
use crate::key::Key;
#[cfg(any(test, feature = "insecure"))]
use crate::noise::Entropy;
use crate::pane::Parameters;
use crate::people::{Calendar, Live, Standing};
use crate::release::{Release, Request};
use crate::spec::window::Grid;
use crate::spec::{Span, Unit};
use crate::tree::NodeKey;
use crate::tree::node_key::Purpose;
use crate::tree::stored::{Mark, SecretBytes};

pub(super) enum Engine<K: Key> {
    /// Single lists of events.
    Once(Box<HeavyHitters<K>>),
    /// Single lists of people.
    People(Box<People<K>>),
    /// A list at every slide, of either.
    Always(Box<Continual<K>>),
}

/// Epochs of people, and what a release of them is asked to be.
pub(super) struct People<K: Key> {
    standing: Standing<K>,
    request: Request<K>,
    calendar: Calendar,
}

impl<K: Key> People<K> {
    /// Whether an epoch has ended, and a window can still reach it.
    pub fn has_ended(&self, epoch: i64) -> bool {
        epoch < self.standing.open()
    }

    pub fn place(&mut self, epoch: i64, bytes: &[u8]) -> Result<()> {
        self.standing.place(epoch, bytes)
    }

    /// How long an epoch waits for events that come late.
    pub fn lateness(&self) -> i64 {
        self.request.spec.grid().lateness
    }

    pub fn remove(&mut self, epoch: i64) {
        self.standing.remove(epoch);
    }
}

impl<K: Key> Engine<K> {
    pub fn new(builder: &Builder<K>, begin: i64, seed: u64) -> Result<Self> {
        let builder = builder.clone().seeded(seed);
        if builder.is_continual() {
            let mut continual = builder.continual()?;
            if continual.is_of_people() {
                continual.begin_after(begin)?;
            }
            return Ok(Self::Always(Box::new(continual)));
        }
        let (plan, request) = builder.requested()?;
        let Unit::User(bounds) = request.spec.unit else {
            return Ok(Self::Once(Box::new(builder.build()?)));
        };
        let calendar = Calendar::of_epochs(&bounds);
        let mut live = Live::new(
            request.keys.clone(),
            bounds,
            calendar,
            seed,
            plan.memory.users,
            request.fault,
        );
        live.spill_to(builder.spills_to());
        let Grid { length, lateness, .. } = request.spec.grid();
        let made_with = request.shape.parameters();
        Ok(Self::People(Box::new(People {
            standing: Standing::new(live, calendar, made_with, (length, lateness), begin),
            request,
            calendar,
        })))
    }

    /// With noise from another source than the operating system's.
    #[cfg(any(test, feature = "insecure"))]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        match self {
            Self::Once(hitters) => Self::Once(Box::new(hitters.drawing_from(source()))),
            Self::Always(continual) => Self::Always(Box::new(continual.drawing_from(source))),
            people => people,
        }
    }

    /// That a batch can be taken as a whole: what a key or a user is never decides it.
    pub fn check(&self, batch: &Batch<K>) -> Result<()> {
        let (by_count, of_people) = match self {
            Self::Once(hitters) => (hitters.longest().is_by_count(), false),
            Self::People(_) => (false, true),
            Self::Always(continual) => (continual.is_by_count(), continual.is_of_people()),
        };
        match (by_count, batch.times()) {
            (true, _) if batch.is_untimed() => Ok(()),
            (true, _) => Err(has_no_time()),
            (false, (false, _)) => Err(needs_time()),
            // Of people a time that cannot be is that of an event outside, which stops nobody's.
            (false, (true, in_calendar)) if in_calendar || of_people => Ok(()),
            _ => Err(Error::window(
                "a time lies outside the calendar: give microseconds since 1970",
            )),
        }
    }

    pub fn take(&mut self, batch: &Batch<K>, present: i64) -> Result<Taken<K>> {
        let mut releases = Vec::new();
        let ahead = Cell::new(0);
        let latest = self.latest(present);
        // An event of the future is left out by itself, and moves nothing; by count there is none.
        let in_time = |event: &Event<'_, K>| {
            let is_ahead = event.time.is_some_and(|time| time > latest);
            ahead.set(ahead.get() + u64::from(is_ahead));
            !is_ahead
        };
        let mut events = batch.events().filter(in_time);
        let ticked = match self {
            Self::Once(hitters) => {
                let before = hitters.ticks();
                hitters.extend(events)?;
                hitters.ticks() != before
            }
            Self::People(people) => {
                events.try_for_each(|event| {
                    let time = event.time.ok_or_else(needs_time)?;
                    people.standing.push((time, event.user, event.key), latest)
                })?;
                false
            }
            Self::Always(continual) => {
                continual.expect_until(latest);
                let before = continual.ticks();
                continual.extend(events, |continual| releases.push(continual.release()))?;
                continual.ticks() != before
            }
        };
        let releases = releases.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Taken {
            ticked,
            releases,
            ahead: ahead.get(),
        })
    }

    /// The latest time that an event may have which comes by this moment: of users also what the clock has come to, which is never
    /// told again.
    fn latest(&self, present: i64) -> i64 {
        match self {
            Self::People(people) => present.max(people.standing.now()),
            Self::Always(continual) if continual.is_of_people() => present.max(continual.now()),
            _ => present,
        }
    }

    /// Whether a tick would end a pane, or begin the first.
    pub fn ends_by(&self, now: i64) -> bool {
        match self {
            Self::Once(_) => false,
            Self::People(people) => people.standing.ends_by(now),
            Self::Always(continual) => continual.ends_by(now),
        }
    }

    pub fn tick(&mut self, now: i64) -> Result<Taken<K>> {
        let mut releases = Vec::new();
        let ticked = match self {
            Self::Once(_) => false,
            Self::People(people) => {
                let before = people.standing.open();
                people.standing.advance(now)?;
                people.standing.open() != before
            }
            Self::Always(continual) if continual.is_by_count() => false,
            Self::Always(continual) => {
                let before = continual.ticks();
                continual.advance(now, |continual| releases.push(continual.release()))?;
                continual.ticks() != before
            }
        };
        let releases = releases.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Taken {
            ticked,
            releases,
            ahead: 0,
        })
    }

    /// Whom a release of a window would be charged to.
    pub fn asks_for(&self, span: Span) -> Result<Paid> {
        match self {
            Self::Once(hitters) => {
                let length = hitters.length_of(span)?;
                let spans = hitters.timeline().spans(length);
                let (covered, beside) = spans.ok_or_else(no_events)?;
                let slide = hitters.slide();
                let numbers = |positions: Range<i64>| {
                    positions.start.div_euclid(slide)..(positions.end - 1).div_euclid(slide) + 1
                };
                Ok(Paid::asked(length, numbers(covered), beside.map(numbers)))
            }
            Self::People(people) => {
                let (spec, epoch) = (&people.request.spec, people.calendar.length_of_epoch());
                let grid = Grid {
                    slide: epoch,
                    ..spec.grid()
                };
                let length = spec.window().shorter(span, &grid)? as i64;
                if length % epoch != 0 {
                    return Err(Error::window(format!(
                        "a window of {span} was asked for, which is no whole number of epochs: ask for whole ones"
                    )));
                }
                Ok(Paid::asked(length, people.standing.epochs(length), None))
            }
            Self::Always(_) => Err(Error::window("a list at every slide is not asked for")),
        }
    }

    pub fn release(&mut self, paid: &Paid, secret: &SecretBytes) -> Result<Release<K>> {
        let mut entropy = NodeKey::from_secret(secret.clone()).entropy(Purpose::Release);
        match self {
            Self::Once(hitters) => hitters.release_charged(paid.length(), paid.paid_beside(), &mut entropy),
            Self::People(people) => {
                if paid.length() > people.request.spec.window().longest().length() as i64 {
                    return Err(damaged("a window is longer than the longest"));
                }
                let window = people.standing.window(paid.length());
                crate::door::release_of_people(&people.request, window, &mut entropy)
            }
            Self::Always(continual) => continual.release(),
        }
    }

    pub fn numbers(&self) -> Range<i64> {
        let open = match self {
            Self::Once(hitters) => hitters.now().div_euclid(hitters.slide()),
            Self::People(people) => people.standing.open(),
            Self::Always(continual) => continual.open_pane(),
        };
        open - self.panes_of_window()..open + 1
    }

    /// Whether nothing has come yet that says where it is.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Once(hitters) => hitters.timeline().newest().is_none(),
            Self::People(_) => false,
            Self::Always(continual) => continual.ticks().1 == i64::MIN,
        }
    }

    /// The number after the last of a window that ends now: single lists of events cover the pane that goes on.
    pub fn end_of_window(&self) -> i64 {
        match self {
            Self::Once(_) => self.numbers().end,
            _ => self.numbers().end - 1,
        }
    }

    /// Whether ticks move anything.
    pub fn has_clock(&self) -> bool {
        match self {
            Self::Once(_) => false,
            Self::People(_) => true,
            Self::Always(continual) => !continual.is_by_count(),
        }
    }

    pub fn begins(&self, number: i64) -> i64 {
        match self {
            Self::Once(hitters) => number.saturating_mul(hitters.slide()),
            Self::People(people) => people.calendar.start_of(number),
            Self::Always(continual) => continual.begins(number),
        }
    }

    pub fn panes_of_window(&self) -> i64 {
        match self {
            Self::Once(hitters) => hitters.longest().length() as i64 / hitters.slide(),
            Self::People(people) => {
                let longest = people.request.spec.window().longest().length();
                people.calendar.epochs_in(longest as i64)
            }
            Self::Always(continual) => continual.panes(),
        }
    }

    pub fn now(&self) -> i64 {
        match self {
            Self::Once(hitters) => hitters.now(),
            Self::People(people) => people.standing.now(),
            Self::Always(continual) => continual.now(),
        }
    }

    pub fn lists(&self) -> u64 {
        match self {
            Self::Always(continual) => continual.lists(),
            _ => 0,
        }
    }

    /// By count: how many events have come.
    pub fn counted(&self) -> u64 {
        let arrived = match self {
            Self::Once(hitters) => hitters.timeline().newest().map_or(0, |latest| latest + 1),
            Self::People(_) => 0,
            Self::Always(continual) => continual.now(),
        };
        u64::try_from(arrived).unwrap_or(0)
    }

    pub fn dropped(&self) -> u64 {
        match self {
            Self::Once(hitters) => hitters.dropped(),
            Self::People(people) => people.standing.tally().outside,
            Self::Always(continual) => continual.dropped(),
        }
    }

    pub fn open_bytes(&self) -> u64 {
        match self {
            Self::Once(hitters) => hitters.timeline().open_bytes(),
            Self::People(people) => people.standing.live.bytes(),
            Self::Always(continual) => continual.open_bytes(),
        }
    }

    /// What panes are made with, and how long they are.
    pub fn made_with(&self) -> (Parameters, i64) {
        match self {
            Self::Once(hitters) => (hitters.made_with(), hitters.slide()),
            Self::People(people) => (
                people.request.shape.parameters(),
                people.calendar.length_of_epoch(),
            ),
            Self::Always(continual) => (continual.made_with(), continual.begins(1) - continual.begins(0)),
        }
    }

    /// The noise of a list at every slide, in words that tell it from any other.
    pub fn noise(&self) -> String {
        match self {
            Self::Always(continual) => continual.noise(),
            _ => String::new(),
        }
    }

    /// Forgets what has noise that another copy may have shown.
    pub fn distrust_past(
        &mut self,
        builder: &Builder<K>,
        seed: u64,
        (until, lists): (i64, u64),
    ) -> Result<()> {
        if let Self::Always(continual) = self {
            let (until, lists) = (until.max(continual.now()), lists.max(continual.lists()));
            let mut fresh = builder.clone().seeded(seed).continual()?;
            fresh.begin_after(until)?;
            fresh.go_on_from(lists);
            **continual = fresh;
        }
        Ok(())
    }

    /// The number of the pane, or epoch, of a moment.
    pub fn number_at(&self, moment: i64) -> i64 {
        match self {
            Self::Once(hitters) => moment.div_euclid(hitters.slide()),
            Self::People(people) => people.calendar.period_at(moment),
            Self::Always(continual) => continual.pane_at(moment),
        }
    }

    /// The oldest number that a pane has, or a window can reach.
    pub fn oldest_number(&self) -> i64 {
        let oldest = self.numbers().start;
        match self {
            Self::Once(hitters) => {
                let first = hitters.timeline().closed().next();
                first.map_or(oldest, |pane| oldest.min(pane.start.div_euclid(hitters.slide())))
            }
            _ => oldest,
        }
    }

    /// Whether users may take no more than the memory that is planned for them.
    pub fn limit_memory(&mut self, limited: bool) {
        match self {
            Self::Once(_) => {}
            Self::People(people) => people.standing.live.limit_memory(limited),
            Self::Always(continual) => continual.limit_memory(limited),
        }
    }

    /// What users do, where they are protected.
    pub fn live(&self) -> Option<&Live<K>> {
        match self {
            Self::Once(_) => None,
            Self::People(people) => Some(&people.standing.live),
            Self::Always(continual) => continual.live(),
        }
    }

    pub fn live_mut(&mut self) -> Option<&mut Live<K>> {
        match self {
            Self::Once(_) => None,
            Self::People(people) => Some(&mut people.standing.live),
            Self::Always(continual) => continual.live_mut(),
        }
    }

    /// The secrets of noise that may still be asked for.
    pub fn secrets(&self) -> Vec<&[u8; 32]> {
        match self {
            Self::Always(continual) => continual.secrets().collect(),
            _ => Vec::new(),
        }
    }

    pub fn save(&mut self, to: &mut Writer) {
        match self {
            Self::Once(hitters) => hitters.save(to),
            Self::People(people) => people.standing.save(to),
            Self::Always(continual) => continual.save(to),
        }
    }

    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut dyn FnMut(Range<i64>) -> Result<Vec<u8>>,
        secret: impl FnMut(&Mark) -> Option<SecretBytes>,
    ) -> Result<()> {
        match self {
            Self::Once(hitters) => hitters.load(from, panes),
            Self::People(people) => people.standing.load(from, |epoch| panes(epoch..epoch + 1)),
            Self::Always(continual) => continual.load(from, panes, secret),
        }
    }

    /// Where closed panes lie: positions, or of people the numbers of epochs.
    pub fn closed(&self) -> Vec<Range<i64>> {
        match self {
            Self::Once(hitters) => hitters.timeline().closed().collect(),
            Self::People(people) => people.standing.closed().map(|epoch| epoch..epoch + 1).collect(),
            Self::Always(continual) => continual.timeline().closed().collect(),
        }
    }

    pub fn closed_pane(&self, bounds: &Range<i64>) -> Option<Vec<u8>> {
        match self {
            Self::Once(hitters) => hitters.timeline().closed_pane(bounds),
            Self::People(people) => people.standing.closed_pane(bounds.start),
            Self::Always(continual) => continual.timeline().closed_pane(bounds),
        }
    }
}

fn no_events() -> Error {
    Error::window("there was no event so far: nothing can be released, and nothing was charged")
}
