//! `frostpane watch`: a private list at every slide.

mod files;
mod frame;
mod interrupt;
mod people;
mod shown;

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use frostpane::Keys;
use frostpane::words::Warning;
use frostpane::{Continual, Span, Spec};

use crate::args::WatchArgs;
use crate::batch::Batch;
use crate::clock::Clock;
use crate::draft::Draft;
use crate::failure::{Failure, Result};
use crate::feed::feed;
use crate::gate::Gate;
use crate::input::{Event, Selection, Source};
use crate::list::{TextKey, lines_of, selection, without_keys};
use crate::progress::Progress;
use crate::request::{AnyKeys, Request};
use crate::sorted_watch::SortedWatch;
use crate::state;
use crate::survey;
use crate::warnings::tell;
pub use shown::Shared;

/// When so many events in a row were too late, they are not what is wrong.
const LATE_IN_A_ROW: u64 = 1_000;

pub fn run(args: &WatchArgs) -> Result<()> {
    if let Some(dir) = state::watched(args) {
        return state::watch(args, &dir);
    }
    if args.id.is_some() || args.after.is_some() || args.accept_clock {
        return Err(Failure::Message(
            "--id, --after and --accept-clock are for a state: give its folder first, as in `frostpane watch DIR`".to_owned(),
        ));
    }
    let clock = args.clock.resolve()?;
    let request = args.resolve()?.of_users(args.input.user.is_some(), &clock)?;
    if request.is_printed(lines_of)? {
        return Ok(());
    }
    match request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => watch(args, clock, &request, keys),
        AnyKeys::Integers(keys) => watch(args, clock, &request, keys),
    }
}

fn watch<K: TextKey>(args: &WatchArgs, clock: Clock, request: &Request, keys: Keys<K>) -> Result<()> {
    request.check_column(args.input.has_users())?;
    let builder = request.builder(keys);
    let spec = builder.spec()?;
    let window = request.windows[0].clone();
    if let Span::Events(events) = window.span {
        let warning = Warning::of_forecast(&spec, &builder.forecast(events, None)?);
        warning.into_iter().for_each(tell);
    }
    let selection = Selection {
        live: true,
        timezone: clock.timezone.clone(),
        ..selection(&args.input, window.span)?
    };
    let mut source = Source::new(&args.input.files, selection)?;
    source.note_of_order().into_iter().for_each(tell);
    let outputs: Vec<&Path> = [&args.report, &args.guarantee]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    Draft::check_apart(&outputs, &[source.files(), request.files()].concat())?;
    let shown = Shared::new(args, window)?;
    if request.is_of_users() {
        return people::watch(args, builder, (&clock, &spec), &mut source, &shown);
    }
    let mut continual = builder.continual()?;
    let by_count = !request.by_clock();
    let mut progress = Progress::new(source.total_bytes()).unless(io::stdout().is_terminal());
    let bytes_read = source.bytes_read();
    let mut late = LateWatch::default();
    let mut sorted = SortedWatch::default();
    let mut gate = Gate::new(&clock);
    let admit = |event: Event<'_>| {
        progress.step(bytes_read.get());
        by_count || gate.admits(event.time)
    };
    let read = feed(&mut source, admit, |batch: &Batch| {
        let sorted = RefCell::new(&mut sorted);
        let events = batch.events().inspect(|event| {
            if by_count {
                sorted.borrow_mut().see(*event);
            }
        });
        let mut failure = None;
        let events = events.map(|event| event.timed(!by_count));
        let counted = continual.extend(events.map(K::event), |continual| {
            if failure.is_none() {
                let order = sorted.borrow().warning();
                let release = continual.release().map_err(Failure::from);
                failure = release
                    .and_then(|release| shown.lock().show(release, order))
                    .err();
            }
        });
        late.look(continual.late_in_a_row());
        match failure {
            Some(failure) => Err(failure),
            None => Ok(counted?),
        }
    });
    let events = progress.finish();
    let read = read.and_then(|()| match (by_count, gate.latest()) {
        (false, Some(latest)) => finish(&mut continual, &shown, &clock, &spec, latest),
        _ => Ok(()),
    });
    let releases = shown.lock().releases();
    // Files are finished even if nobody reads the rest.
    shown.lock().finish()?;
    read?;
    source.notes().into_iter().for_each(tell);
    gate.note().into_iter().for_each(tell);
    // Nobody has looked at the keys of what was set aside or came too late.
    let looked_at = events - gate.set_aside() - continual.dropped();
    let no_keys = looked_at > 0 && continual.without_key() == looked_at;
    let without = if no_keys { 0 } else { continual.without_key() };
    for note in Warning::of_events(events, continual.dropped(), without) {
        tell(note);
    }
    match events - gate.set_aside() {
        0 if events == 0 => return Err(survey::no_events()),
        0 => return Err(survey::no_time()),
        _ => {}
    }
    if releases == 0 {
        tell("no slide has ended, so there is no release: give more events, or a shorter --slide");
    }
    if no_keys {
        return Err(without_keys(&args.input));
    }
    Ok(())
}

/// Nothing more will come: what is complete is released. That is every slide up to the end, if one was given, and else the one of the
/// latest event, if it has passed.
fn finish<K: TextKey>(
    continual: &mut Continual<K>,
    shown: &Shared<K>,
    clock: &Clock,
    spec: &Spec,
    latest: i64,
) -> Result<()> {
    let slide = spec.slide.map_or(1, |slide| slide.length() as i64);
    let last = (latest.div_euclid(slide) + 1) * slide;
    let end = match clock.until {
        Some(until) => until.as_microsecond(),
        None if clock.has_passed(last) => last,
        None => return Ok(()),
    };
    let mut failure = None;
    continual.advance(end + spec.lateness.as_micros() as i64, |continual| {
        if failure.is_none() {
            let release = continual.release().map_err(Failure::from);
            failure = release.and_then(|release| shown.lock().show(release, None)).err();
        }
    })?;
    failure.map_or(Ok(()), Err)
}

/// Tells when it is the clock that is wrong, and not the events.
#[derive(Default)]
struct LateWatch {
    told: bool,
}

impl LateWatch {
    fn look(&mut self, late_in_a_row: u64) {
        let ahead = late_in_a_row >= LATE_IN_A_ROW;
        if ahead && !self.told {
            tell(format_args!("warning: {}", Warning::TimeAhead(LATE_IN_A_ROW)));
        }
        self.told = ahead;
    }
}
