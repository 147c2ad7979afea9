//! `frostpane list`: private lists of the end of a stream, one for each window.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use frostpane::words::{Warning, together};
use frostpane::{Bytes, HeavyHitters, Key, Keys, Release, Span};
use frostpane_store::StoredKey;

use crate::args::{InputArgs, ListArgs};
use crate::batch::Batch;
use crate::clock::Clock;
use crate::draft::Draft;
use crate::ending::Ending;
use crate::failure::{Failure, Result};
use crate::feed::feed;
use crate::gate::{self, Gate};
use crate::guarantee;
use crate::input::{Column, Event, Pattern, Selection, Source};
use crate::progress::Progress;
use crate::report::About;
use crate::request::{AnyKeys, Request};
use crate::screen::Screen;
use crate::sorted_watch::SortedWatch;
use crate::survey::{self, INSTEAD};
use crate::units::{Asked, grouped};
use crate::warnings::tell;
use crate::{csv, report, table, warnings};

pub fn run(args: &ListArgs) -> Result<()> {
    let clock = args.clock.resolve()?;
    let request = args.request.resolve(false)?;
    let request = request.of_users(args.input.user.is_some(), &clock)?;
    if request.is_printed(lines_of)? {
        return Ok(());
    }
    match request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => list(args, clock, &request, keys),
        AnyKeys::Integers(keys) => list(args, clock, &request, keys),
    }
}

/// The lines of a file of keys.
pub fn lines_of(file: &Path) -> Result<Vec<Bytes>> {
    let mut keys = Vec::new();
    Source::lines(file)?.for_each(|line| {
        keys.extend(line.key.map(Bytes::from));
        Ok(())
    })?;
    Ok(keys)
}

fn list<K: TextKey>(args: &ListArgs, clock: Clock, request: &Request, keys: Keys<K>) -> Result<()> {
    request.check_column(args.input.has_users())?;
    let selection = Selection {
        timezone: clock.timezone.clone(),
        ..selection(&args.input, request.longest())?
    };
    let source = || Source::new(&args.input.files, selection.clone());
    args.report.as_deref().map(report::check).transpose()?;
    args.guarantee.as_deref().map(guarantee::check).transpose()?;
    let outputs: Vec<&Path> = [&args.report, &args.guarantee]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    Draft::check_apart(&outputs, &[source()?.files(), request.files()].concat())?;
    let ending = Ending::find(request, &keys, clock, source)?;
    let request = &ending.request;
    let builder = request.builder(keys).decided()?;
    let mut hitters = builder.clone().build()?;
    for window in &request.windows {
        hitters.check_window(window.span)?;
    }
    let counted = count(&mut hitters, &ending, source()?)?;
    let mut releases = Vec::new();
    for window in &request.windows {
        let release = hitters.release_over(window.span)?;
        releases.push((window.clone(), release));
    }
    if request.is_of_users() {
        let notes = people_notes(hitters.beyond_bounds(), counted.within);
        notes.into_iter().chain(elsewhere(&counted)).for_each(tell);
    } else if releases.iter().all(|(_, release)| release.window.events == 0) {
        return Err(no_events(&counted));
    }
    let longer = warnings::about_length(request, &builder, counted.key_bytes);
    let about = warnings::about(request, &releases, counted.gate.first());
    for warning in longer.into_iter().chain(about) {
        tell(format_args!("warning: {warning}"));
    }
    let published = publish(args, releases);
    match counted.without_keys {
        // Whether anybody was there is not told by how this ends.
        _ if request.is_of_users() => {
            nobody(counted.events, counted.without_keys)
                .into_iter()
                .for_each(tell);
            published
        }
        true => published.and(Err(without_keys(&args.input))),
        false => published,
    }
}

/// What became of the events.
struct Counted {
    events: u64,
    /// Of people: those in the window, with a user and a key.
    within: u64,
    gate: Gate,
    /// Whether none had a key that counts.
    without_keys: bool,
    /// The mean length of keys.
    key_bytes: u64,
}

/// Counts all events, and tells what the operator should know about them.
fn count<K: TextKey>(hitters: &mut HeavyHitters<K>, ending: &Ending, mut source: Source) -> Result<Counted> {
    let by_clock = ending.request.by_clock();
    let mut progress = Progress::new(source.total_bytes());
    let bytes_read = source.bytes_read();
    let mut sorted = SortedWatch::default();
    let mut gate = Gate::new(&ending.clock);
    let (mut keys, mut bytes) = (0, 0);
    let admit = |event: Event<'_>| {
        if let Some(key) = event.key {
            keys += 1;
            bytes += key.len() as u64;
        }
        if !by_clock {
            sorted.see(event);
        }
        progress.step(bytes_read.get());
        !by_clock || gate.admits(event.time)
    };
    feed(&mut source, admit, |batch: &Batch| {
        let events = batch.events().map(|event| event.timed(by_clock));
        Ok(hitters.extend(events.map(K::event))?)
    })?;
    let events = progress.finish();
    ending.check(events)?;
    source.notes().into_iter().for_each(tell);
    gate.note().into_iter().for_each(tell);
    if let Some(warning) = sorted.warning() {
        tell(format_args!("warning: {warning}"));
    }
    let (without_user, seen) = (hitters.without_user(), events - gate.set_aside());
    without_user_note(without_user).into_iter().for_each(tell);
    let of_someone = seen - without_user;
    // Of people, where all were set aside or nobody's, it is not the keys that are missing.
    let without_keys =
        hitters.without_key() == of_someone && (of_someone > 0 || !ending.request.is_of_users());
    let without = if without_keys { 0 } else { hitters.without_key() };
    for note in Warning::of_events(events, hitters.dropped(), without) {
        tell(note);
    }
    Ok(Counted {
        events,
        within: hitters.offered(),
        gate,
        without_keys,
        key_bytes: bytes.div_ceil(u64::max(keys, 1)),
    })
}

/// What the bounds of people kept from being counted, for the operator alone.
pub fn people_notes(beyond: u64, offered: u64) -> Option<String> {
    (beyond > 0).then(|| {
        format!(
            "{} of the {} events of people in the window were beyond what they may contribute, and are not counted: --per-user and \
             --per-key say how much that is (these numbers are for you, not for publication)",
            grouped(beyond),
            grouped(offered)
        )
    })
}

/// That no event of anybody lies in the window, for the operator alone: the list is made all the same.
fn elsewhere(Counted { within, gate, .. }: &Counted) -> Option<String> {
    let (first, latest) = gate.first().zip(gate.latest()).filter(|_| *within == 0)?;
    Some(format!(
        "no event that counts lies in the window; events before its end are from {} to {}: is --until right?",
        gate::shown(first),
        gate::shown(latest)
    ))
}

/// That events were of nobody.
pub fn without_user_note(events: u64) -> Option<String> {
    (events > 0).then(|| {
        let (events, are) = match events {
            1 => ("1 event has".to_owned(), "is"),
            events => (format!("{} events have", grouped(events)), "are"),
        };
        format!("{events} no user, and {are} not counted, because what one person did could not be bounded")
    })
}

/// Why a list is of nobody, where that is not told already.
pub fn nobody(events: u64, without_keys: bool) -> Option<&'static str> {
    match events {
        0 => Some("warning: there was no event, so the list is of nobody: are these the right files?"),
        _ if without_keys => Some(
            "warning: none of the events of users has a key that counts, so the list is of nobody: is --key right, and --keys?",
        ),
        _ => None,
    }
}

/// Writes the releases wherever they are wanted. Files are written even if nobody reads the rest: the budget is spent.
fn publish<K: Key>(args: &ListArgs, releases: Vec<(Asked, Release<K>)>) -> Result<()> {
    let shown = write(args, &releases);
    if let Some(file) = &args.guarantee {
        guarantee::save(file, &releases)?;
        tell(format_args!("the guarantee is in {}", file.display()));
    }
    if let Some(file) = &args.report {
        save(file, releases, &args.about)?;
    }
    shown
}

/// Numbers of events are public, and so is that there are none.
fn no_events(Counted { events, gate, .. }: &Counted) -> Failure {
    match events - gate.set_aside() {
        0 if *events == 0 => return survey::no_events(),
        0 => return survey::no_time(),
        _ => {}
    }
    Failure::Message(match (gate.first(), gate.latest()) {
        (Some(first), Some(latest)) => format!(
            "no event lies in the window: {INSTEAD}; they are from {} to {}: --until TIME says where the window ends",
            gate::shown(first),
            gate::shown(latest)
        ),
        _ => format!("no event lies in the window: {INSTEAD}"),
    })
}

/// The list was written, but of no keys.
pub fn without_keys(input: &InputArgs) -> Failure {
    let key = match &input.key {
        Some(key) => format!("is --key {key} right, and --keys?"),
        None => "are they empty lines, or is --keys another list?".to_owned(),
    };
    Failure::NoKeys(format!(
        "the list is empty because none of the events has a key that counts: {key}"
    ))
}

fn save<K: Key>(file: &Path, releases: Vec<(Asked, Release<K>)>, about: &About) -> Result<()> {
    let (windows, releases): (Vec<_>, Vec<_>) = releases.into_iter().unzip();
    report::save(file, &releases, &windows, about)?;
    tell(format_args!("the report is in {}", file.display()));
    Ok(())
}

fn write<K: Key>(args: &ListArgs, releases: &[(Asked, Release<K>)]) -> Result<()> {
    let stdout = io::stdout().lock();
    let screen = Screen::of(&stdout);
    let mut out = BufWriter::new(stdout);
    if args.json {
        for (_, release) in releases {
            serde_json::to_writer(&mut out, release).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    } else if args.csv {
        csv::write_releases(&mut out, releases)?;
    } else {
        let on_a_terminal = || Some(table::rows_on_a_terminal(&releases.first()?.1));
        let rows = match io::stdout().is_terminal() {
            true => args.rows.or_else(on_a_terminal),
            false => args.rows,
        };
        table::write_releases(&mut out, releases, &screen, rows)?;
    }
    out.flush()?;
    if args.csv && args.guarantee.is_none() && args.report.is_none() {
        tell("what these counts can be trusted for was not written: --guarantee FILE does");
    } else if args.json && releases.len() > 1 {
        tell(together(releases.iter().map(|(_, release)| release)));
    }
    Ok(())
}

/// Which parts of the input are the events, for a window of this kind.
pub fn selection(args: &InputArgs, window: Span) -> Result<Selection> {
    let column = |text: &Option<String>| text.as_deref().map(Column::new).transpose();
    let group = |name| args.pattern.as_ref().and_then(|pattern| pattern.group(name));
    let key = column(&args.key)?.or_else(|| group("key"));
    let time = column(&args.time)?.or_else(|| group("time"));
    let group_of_users = || args.pattern.as_ref().and_then(Pattern::group_of_users);
    let user = column(&args.user)?.or_else(group_of_users);
    let fault = match (&key, &time, window) {
        (None, _, _) if args.pattern.is_some() => {
            "--pattern has no group (?<key>...): name one so, or say which group is the key, with --key"
        }
        _ if args.multiline && args.user.is_some() => {
            "--multiline was asked for with a column of users, but a quote that somebody left open would swallow what others did: write the \
             file as JSON Lines or Parquet, or with one line an event"
        }
        (None, Some(_), _) => "--time is for files with columns: say which one holds the key, with --key",
        (None, None, _) if user.is_some() => {
            "--user is for files with columns: say which one holds the key, with --key"
        }
        (_, None, Span::Clock(_)) if user.is_some() => {
            "people are protected by the clock, which needs the times of the events: say which column holds them, with --time"
        }
        (_, None, Span::Clock(_)) => {
            "a window by time needs the times of the events: say which column holds them, with --time, or give the window as a number of events"
        }
        _ => {
            return Ok(Selection {
                key,
                header: args.header || [&time, &user].into_iter().flatten().any(Column::is_named),
                show_names: args.header || args.show_input,
                show_input: args.show_input,
                // A window by count only looks whether order follows from keys where times are equal.
                by_clock: matches!(window, Span::Clock(_)),
                time,
                user,
                format: args.format,
                packing: args.packing,
                delimiter: args.delimiter,
                pattern: args.pattern.clone(),
                time_format: args.time_format.clone().unwrap_or_default(),
                multiline: args.multiline,
                ..Selection::default()
            });
        }
    };
    Err(Failure::Message(fault.to_owned()))
}

/// A key that can be read from text.
pub trait TextKey: StoredKey {
    /// The key that the text stands for, if it stands for one.
    fn parse(text: &[u8]) -> Option<Self::Ref<'_>>;

    /// The event with that key.
    #[inline]
    fn event(event: Event<'_>) -> frostpane::Event<'_, Self> {
        frostpane::Event {
            time: event.time,
            key: event.key.and_then(Self::parse),
            user: event.user,
        }
    }
}

impl TextKey for Bytes {
    #[inline]
    fn parse(text: &[u8]) -> Option<&[u8]> {
        Some(text)
    }
}

impl TextKey for u64 {
    #[inline]
    fn parse(text: &[u8]) -> Option<u64> {
        str::from_utf8(text).ok()?.parse().ok()
    }
}
