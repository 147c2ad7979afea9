//! Lists at every slide of people: their events do not tell the time.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use frostpane::words::Warning;
use frostpane::{Builder, Continual, Edge, History, Spec};
use jiff::Timestamp;

use super::Shared;
use crate::args::WatchArgs;
use crate::batch::Batch;
use crate::clock::Clock;
use crate::failure::{Failure, Result};
use crate::feed::feed;
use crate::input::{Event, Source};
use crate::list::{TextKey, nobody, people_notes, without_user_note};
use crate::progress::Progress;
use crate::warnings::tell;

/// The clock on the wall is looked at so often.
const TICK: Duration = Duration::from_millis(100);

/// How many events there were, and of those how many had no user.
struct Seen {
    events: u64,
    without_user: u64,
}

/// Of files whose end was said, all at once; else as time goes by.
pub fn watch<K: TextKey>(
    args: &WatchArgs,
    builder: Builder<K>,
    (clock, spec): (&Clock, &Spec),
    source: &mut Source,
    shown: &Shared<K>,
) -> Result<()> {
    let seen = match clock.until {
        Some(until) => {
            let from = first_moment(args, clock, spec, until)?;
            over(
                builder.history(Edge::Instant(from), Edge::Instant(until))?,
                source,
                shown,
            )
        }
        None if source.total_bytes().is_some() => Err(Failure::Message(
            "people are protected, so events do not say where the lists end: give --until TIME, such as --until 2025-12-01".to_owned(),
        )),
        None => live(builder.continual()?, clock, source, shown),
    };
    // Files are finished even if nobody reads the rest.
    shown.lock().finish()?;
    let Seen { events, without_user } = seen?;
    without_user_note(without_user).into_iter().for_each(tell);
    nobody(events, false).into_iter().for_each(tell);
    Ok(())
}

/// Where the first slide begins: where that was said, or a window before the end.
fn first_moment(args: &WatchArgs, clock: &Clock, spec: &Spec, until: Timestamp) -> Result<Timestamp> {
    match &args.from {
        Some(text) => clock.moment("--from", text),
        None => {
            let window = spec.longest().length() as i64;
            let micros = until.as_microsecond().saturating_sub(window);
            Timestamp::from_microsecond(micros).map_err(|_| {
                Failure::Message(
                    "the window reaches beyond the calendar: give a shorter one, or --from".to_owned(),
                )
            })
        }
    }
}

/// A time that is over: all events first, in any order, and then the lists.
fn over<K: TextKey>(mut history: History<K>, source: &mut Source, shown: &Shared<K>) -> Result<Seen> {
    let mut progress = Progress::new(source.total_bytes());
    let bytes_read = source.bytes_read();
    let admit = |_: Event<'_>| {
        progress.step(bytes_read.get());
        true
    };
    feed(source, admit, |batch: &Batch| {
        let events = batch.events().map(|event| event.timed(true));
        Ok(history.extend(events.map(K::event))?)
    })?;
    let events = progress.finish();
    source.notes().into_iter().for_each(tell);
    let (without_user, without_key) = (history.without_user(), history.without_key());
    for note in Warning::of_events(events, 0, without_key) {
        tell(note);
    }
    let mut failure = None;
    let continual = history.finish(|continual| show(continual, shown, &mut failure))?;
    people_notes(continual.beyond_bounds(), continual.offered())
        .into_iter()
        .for_each(tell);
    failure.map_or(Ok(Seen { events, without_user }), Err)
}

/// As time goes by: the clock on the wall ends slides, whether events come or not.
fn live<K: TextKey>(
    mut continual: Continual<K>,
    clock: &Clock,
    source: &mut Source,
    shown: &Shared<K>,
) -> Result<Seen> {
    continual.allow_ahead(i64::try_from(clock.ahead().as_micros()).unwrap_or(i64::MAX));
    let mut failure = None;
    tick(&mut continual, shown, &mut failure)?;
    let state = Mutex::new((continual, failure));
    let over = std::sync::atomic::AtomicBool::new(false);
    let mut events = 0;
    let fed = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                thread::sleep(TICK);
                let (continual, failure) = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(cause) = tick(continual, shown, failure) {
                    failure.get_or_insert(cause);
                }
            }
        });
        let fed = feed(
            source,
            |_| {
                events += 1;
                true
            },
            |batch: &Batch| {
                let (continual, failure) = &mut *state.lock().unwrap_or_else(PoisonError::into_inner);
                tick(continual, shown, failure)?;
                let events = batch.events().map(|event| event.timed(true));
                continual.extend(events.map(K::event), |_| ())?;
                failure.take().map_or(Ok(()), Err)
            },
        );
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        fed
    });
    let (continual, failure) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    fed?;
    source.notes().into_iter().for_each(tell);
    for note in Warning::of_events(events, continual.dropped(), continual.without_key()) {
        tell(note);
    }
    let without_user = continual.without_user();
    people_notes(continual.beyond_bounds(), continual.offered())
        .into_iter()
        .for_each(tell);
    failure.map_or(Ok(Seen { events, without_user }), Err)
}

/// It is now: what is due is shown.
fn tick<K: TextKey>(
    continual: &mut Continual<K>,
    shown: &Shared<K>,
    failure: &mut Option<Failure>,
) -> Result<()> {
    let now = Timestamp::now().as_microsecond();
    Ok(continual.advance(now, |continual| show(continual, shown, failure))?)
}

fn show<K: TextKey>(continual: &Continual<K>, shown: &Shared<K>, failure: &mut Option<Failure>) {
    if failure.is_none() {
        let release = continual.release().map_err(Failure::from);
        *failure = release.and_then(|release| shown.lock().show(release, None)).err();
    }
}
