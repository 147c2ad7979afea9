//! `frostpane list`: one private list of the end of a stream.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use frostpane::{Bytes, HeavyHitters, Key, Keys, Window};

use crate::args::ListArgs;
use crate::failure::{Failure, Result};
use crate::input::{Column, Event, Selection, Source};
use crate::sorted_watch::SortedWatch;
use crate::table;
use crate::units::{Declared, Extent, grouped};

/// Events between two looks at the clock.
const PROGRESS_STEP: u64 = 1 << 18;

const SORTED: &str = "the events seem to be sorted by key, and a window by count is not private then: give them in the order in which they took place, or use a window by time";

pub fn run(args: &ListArgs) -> Result<()> {
    match &args.keys {
        None => list::<Bytes>(args, Keys::open()),
        Some(Declared::Range(range)) => list::<u64>(args, Keys::range(range.clone())?),
        Some(Declared::File(file)) => {
            let mut keys: Vec<Bytes> = Vec::new();
            Source::lines(file)?.for_each(|line| {
                keys.extend(line.key.map(Bytes::from));
                Ok(())
            })?;
            list::<Bytes>(args, Keys::list(keys)?)
        }
    }
}

fn list<K: TextKey>(args: &ListArgs, keys: Keys<K>) -> Result<()> {
    let mut source = Source::new(&args.files, selection(args)?)?;
    let mut hitters = HeavyHitters::builder(keys)
        .norm(args.norm.into())
        .alpha(args.alpha)
        .epsilon(args.epsilon)
        .delta(args.delta)
        .window(window(args)?)
        .build()?;
    let by_clock = matches!(args.window, Extent::Clock(_));
    let mut progress = Progress::new();
    let mut sorted = SortedWatch::default();
    source.for_each(|event| {
        push(&mut hitters, event, by_clock)?;
        if let (false, Some(key)) = (by_clock, event.key) {
            sorted.see(key);
        }
        progress.step();
        Ok(())
    })?;
    progress.finish();
    for note in source.notes() {
        eprintln!("frostpane: {note}");
    }
    if sorted.looks_sorted() {
        eprintln!("frostpane: {SORTED}");
    }
    if hitters.dropped() > 0 {
        eprintln!(
            "frostpane: {} events came too late and were left out; allow for them with --lateness",
            grouped(hitters.dropped())
        );
    }
    let release = hitters.release()?;
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &release).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        table::write_release(&mut out, &release)?;
    }
    Ok(())
}

fn selection(args: &ListArgs) -> Result<Selection> {
    let fault = match (&args.key, &args.time, args.window) {
        (None, Some(_), _) => "--time is for files with columns: say which one holds the key, with --key",
        (_, None, Extent::Clock(_)) => {
            "a window by time needs the times of the events: say which column holds them, with --time, or give the window as a number of events"
        }
        _ => {
            let column = |text: &Option<String>| text.as_deref().map(Column::new).transpose();
            return Ok(Selection {
                key: column(&args.key)?,
                time: column(&args.time)?,
                header: args.header,
                format: args.format,
                skip_bad_lines: args.skip_bad_lines,
            });
        }
    };
    Err(Failure::Message(fault.to_owned()))
}

fn window(args: &ListArgs) -> Result<Window> {
    match (args.window, args.slide) {
        (Extent::Events(length), None) => Ok(Window::events(length).into()),
        (Extent::Events(length), Some(Extent::Events(slide))) => {
            Ok(Window::events(length).slide(slide).into())
        }
        (Extent::Clock(length), None) => Ok(Window::clock(length).lateness(args.lateness).into()),
        (Extent::Clock(length), Some(Extent::Clock(slide))) => {
            Ok(Window::clock(length).slide(slide).lateness(args.lateness).into())
        }
        _ => Err(Failure::Message(
            "--window and --slide must both be numbers of events or both be times".to_owned(),
        )),
    }
}

/// A key that can be read from text.
trait TextKey: Key + 'static {
    /// Hands over the key that the text stands for, if it stands for one.
    fn read<R>(text: Option<&[u8]>, then: impl FnOnce(Option<&Self::Borrowed>) -> R) -> R;
}

impl TextKey for Bytes {
    fn read<R>(text: Option<&[u8]>, then: impl FnOnce(Option<&[u8]>) -> R) -> R {
        then(text)
    }
}

impl TextKey for u64 {
    fn read<R>(text: Option<&[u8]>, then: impl FnOnce(Option<&u64>) -> R) -> R {
        let number = text.and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        then(number.as_ref())
    }
}

fn push<K: TextKey>(
    hitters: &mut HeavyHitters<K>,
    event: Event<'_>,
    by_clock: bool,
) -> frostpane::Result<()> {
    let time = event.time.filter(|_| by_clock);
    K::read(event.key, |key| match (time, key) {
        (Some(time), Some(key)) => hitters.update_at(time, key),
        (Some(time), None) => hitters.update_without_key_at(time),
        (None, Some(key)) => hitters.update(key),
        (None, None) => hitters.update_without_key(),
    })
}

/// How many events have been read, on standard error where a person looks at it.
struct Progress {
    shown: bool,
    events: u64,
    start: Instant,
}

impl Progress {
    fn new() -> Self {
        Self {
            shown: io::stderr().is_terminal(),
            events: 0,
            start: Instant::now(),
        }
    }

    fn step(&mut self) {
        self.events += 1;
        if self.shown && self.events.is_multiple_of(PROGRESS_STEP) {
            let rate = self.events as f64 / self.start.elapsed().as_secs_f64() / 1e6;
            eprint!("\r{} events, {rate:.1} million a second ", grouped(self.events));
        }
    }

    fn finish(&self) {
        if self.shown && self.events >= PROGRESS_STEP {
            eprint!("\r\x1b[K");
        }
    }
}
