//! Reads events, and releases at every slide that they or the clock end.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use frostpane::{Continual, History, Spec, Tally};
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
    spec: &Spec,
    output: &SharedOutput<K>,
) -> Result<EventTally> {
    let mut progress = Progress::new(source);
    let admit = |_: EventRef<'_>| {
        progress.step();
        true
    };
    feed(source, admit, |batch: &EventBatch| Ok(history.extend(batch.events().map(K::event))?))?;
    let filter = TimeFilter::open(clock);
    let counted = Tally { late: 0, ..history.tally() };
    let tally = EventTally::new(spec.unit, progress.finish(), &filter, counted);
    tally.tell(source, &filter);
    let continual = history.finish(|continual| output.lock().release(continual, None))?;
    notes::tell_of_bounds(continual.tally());
    output.lock().outcome()?;
    Ok(tally)
}

/// Counts events as they come, which end slides.
pub fn follow_events<K: TextKey>(
    mut continual: Continual<K>,
    source: &mut Source,
    clock: &TimeSettings,
    spec: &Spec,
    output: &SharedOutput<K>,
) -> Result<EventTally> {
    let window = spec.longest();
    let mut progress = Progress::new(source).unless(io::stdout().is_terminal());
    let mut filter = TimeFilter::new(clock, window);
    let admit = |event: EventRef<'_>| {
        progress.step();
        filter.admits(event.time)
    };
    let mut told = false;
    let mut order = OrderCheck::of(window);
    feed(source, admit, |batch: &EventBatch| {
        let order = RefCell::new(&mut order);
        let events = batch.events().map(|event| {
            if let Some(order) = order.borrow_mut().as_mut() {
                order.see(event);
            }
            K::event(event.timed(!window.is_by_count()))
        });
        continual.extend(events, |continual| {
            let warning = order.borrow().as_ref().and_then(OrderCheck::warning);
            output.lock().release(continual, warning);
        })?;
        warn_of_time_ahead(continual.late_in_a_row(), &mut told);
        output.lock().outcome()
    })?;
    if let Some(end) = filter.latest.and_then(|latest| last_end(clock, spec, latest)) {
        advance(&mut continual, end, output)?;
    }
    output.lock().outcome()?;
    Ok(tell(source, spec, progress.finish(), &filter, continual.tally()))
}

/// Counts events of users as they come. The clock ends slides, whether events come or not.
pub fn follow_users<K: TextKey>(
    continual: Continual<K>,
    source: &mut Source,
    clock: &TimeSettings,
    spec: &Spec,
    output: &SharedOutput<K>,
) -> Result<EventTally> {
    let mut progress = Progress::new(source).unless(io::stdout().is_terminal());
    let admit = |_: EventRef<'_>| {
        progress.step();
        true
    };
    let mut told = false;
    let continual = Mutex::new(continual);
    let tick = || {
        let now = Timestamp::now().as_microsecond();
        advance(&mut *lock(&continual), now, output)
    };
    let ahead = i64::try_from(clock.ahead.as_micros()).unwrap_or(i64::MAX);
    lock(&continual).allow_ahead(ahead);
    tick()?;
    let is_over = AtomicBool::new(false);
    let read = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(TICK);
                if let Err(cause) = tick() {
                    output.lock().fail(cause);
                }
            }
        });
        let read = feed(source, admit, |batch: &EventBatch| {
            tick()?;
            let mut continual = lock(&continual);
            continual.extend(batch.events().map(K::event), |continual| {
                output.lock().release(continual, None);
            })?;
            warn_of_time_ahead(continual.late_in_a_row(), &mut told);
            output.lock().outcome()
        });
        is_over.store(true, Ordering::Relaxed);
        read
    });
    read?;
    output.lock().outcome()?;
    let counted = lock(&continual).tally();
    Ok(tell(source, spec, progress.finish(), &TimeFilter::open(clock), counted))
}

/// Tells what became of the events of a live stream.
fn tell(source: &Source, spec: &Spec, events: u64, filter: &TimeFilter, counted: Tally) -> EventTally {
    let tally = EventTally::new(spec.unit, events, filter, counted);
    tally.tell(source, filter);
    notes::tell_of_bounds(counted);
    tally
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

/// Warns when the clock is wrong, and not the events, unless the operator was just told.
fn warn_of_time_ahead(late_in_a_row: u64, told: &mut bool) {
    let ahead = late_in_a_row >= LATE_IN_A_ROW;
    if ahead && !*told {
        warn(Warning::of_time_ahead(LATE_IN_A_ROW));
    }
    *told = ahead;
}
