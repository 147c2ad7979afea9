//! Reads events, and releases at every slide that they or the clock end.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use frostpane::{Continual, History, Spec};
use frostpane_render::Warning;
use jiff::Timestamp;

use super::output::SharedOutput;
use crate::commands::notes::{self, EventTally};
use crate::events::TextKey;
use crate::events::batch::EventBatch;
use crate::events::feed::feed;
use crate::events::order_check::OrderCheck;
use crate::events::time_filter::TimeFilter;
use crate::failure::Result;
use crate::settings::TimeSettings;
use crate::terminal::progress::Progress;
use crate::terminal::{lock, warn};
use frostpane_events::{EventRef, Source};

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(100);
/// After so many late events in a row the clock of the events is at fault.
const LATE_IN_A_ROW: u64 = 1_000;

/// Counts users of a time that is over: first all events, in any order, and then the releases.
pub fn replay<K: TextKey>(
    mut history: History<K>,
    source: &mut Source,
    clock: &TimeSettings,
    output: &SharedOutput<K>,
) -> Result<EventTally> {
    let mut progress = Progress::new(source);
    let admit = |_: EventRef<'_>| {
        progress.step();
        true
    };
    feed(source, admit, |batch: &EventBatch| {
        let events = batch.events().map(|event| event.timed(true));
        Ok(history.extend(events.map(K::event))?)
    })?;
    let events = progress.finish();
    let tally = EventTally {
        events,
        set_aside: 0,
        late: 0,
        without_user: history.tally().without_user,
        without_key: history.tally().without_key,
        looked_at: events - history.tally().without_user,
    };
    tally.tell(source, &TimeFilter::new(clock));
    let continual = history.finish(|continual| output.lock().release(continual, None))?;
    notes::tell_of_bounds(continual.tally().beyond_bounds, continual.tally().offered);
    output.lock().outcome()?;
    Ok(tally)
}

/// Counts events as they come. Events without users end slides; where users are protected the clock does,
/// whether events come or not.
pub fn follow<K: TextKey>(
    continual: Continual<K>,
    source: &mut Source,
    clock: &TimeSettings,
    spec: &Spec,
    output: &SharedOutput<K>,
) -> Result<EventTally> {
    let (of_users, by_count) = (spec.unit.is_user(), spec.longest().is_by_count());
    let mut progress = Progress::new(source).unless(io::stdout().is_terminal());
    let mut filter = TimeFilter::new(clock);
    let admit = |event: EventRef<'_>| {
        progress.step();
        by_count || of_users || filter.admits(event.time)
    };
    let mut late = LateWarning::default();
    let mut order = OrderCheck::default();
    let continual = Mutex::new(continual);
    let tick = || {
        let now = Timestamp::now().as_microsecond();
        advance(&mut *lock(&continual), now, output)
    };
    if of_users {
        let ahead = i64::try_from(clock.ahead().as_micros()).unwrap_or(i64::MAX);
        lock(&continual).allow_ahead(ahead);
        tick()?;
    }
    let is_over = AtomicBool::new(false);
    let read = thread::scope(|scope| {
        if of_users {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    thread::sleep(TICK);
                    if let Err(cause) = tick() {
                        output.lock().fail(cause);
                    }
                }
            });
        }
        let read = feed(source, admit, |batch: &EventBatch| {
            if of_users {
                tick()?;
            }
            let mut continual = lock(&continual);
            let order = RefCell::new(&mut order);
            let events = batch.events().map(|event| {
                if by_count {
                    order.borrow_mut().see(event);
                }
                K::event(event.timed(!by_count))
            });
            continual.extend(events, |continual| {
                let warning = order.borrow().warning();
                output.lock().release(continual, warning);
            })?;
            late.look(continual.late_in_a_row());
            output.lock().outcome()
        });
        is_over.store(true, Ordering::Relaxed);
        read
    });
    read?;
    let mut continual = continual.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(end) = filter.latest().and_then(|latest| last_end(clock, spec, latest)) {
        advance(&mut continual, end, output)?;
    }
    output.lock().outcome()?;
    let (events, late) = (progress.finish(), continual.tally().late);
    let tally = EventTally {
        events,
        set_aside: filter.set_aside(),
        late,
        without_user: continual.tally().without_user,
        without_key: continual.tally().without_key,
        looked_at: (events - filter.set_aside() - late).saturating_sub(continual.tally().without_user),
    };
    tally.tell(source, &filter);
    notes::tell_of_bounds(continual.tally().beyond_bounds, continual.tally().offered);
    Ok(tally)
}

fn advance<K: TextKey>(continual: &mut Continual<K>, to: i64, output: &SharedOutput<K>) -> Result<()> {
    Ok(continual.advance(to, |continual| output.lock().release(continual, None))?)
}

/// The time up to which slides are complete once no more events come: the end, if one was given, and else
/// that of the slide of the latest event, if it has passed.
fn last_end(clock: &TimeSettings, spec: &Spec, latest: i64) -> Option<i64> {
    let slide = spec.slide.map_or(1, |slide| slide.length() as i64);
    let last = (latest.div_euclid(slide) + 1) * slide;
    let end = match clock.until {
        Some(until) => until.as_microsecond(),
        None if clock.has_passed(last) => last,
        None => return None,
    };
    Some(end + spec.lateness.as_micros() as i64)
}

/// Warns when the clock is wrong, and not the events.
#[derive(Default)]
struct LateWarning {
    told: bool,
}

impl LateWarning {
    fn look(&mut self, late_in_a_row: u64) {
        let ahead = late_in_a_row >= LATE_IN_A_ROW;
        if ahead && !self.told {
            warn(Warning::of_time_ahead(LATE_IN_A_ROW));
        }
        self.told = ahead;
    }
}
