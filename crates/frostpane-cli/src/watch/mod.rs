//! `frostpane watch`: a private list at every slide.

mod page;

use std::io::{self, IsTerminal, Write};

use frostpane::{Continual, Keys, Policy, Release};

use crate::args::WatchArgs;
use crate::failure::{Failure, Result};
use crate::input::{Event, Selection, Source};
use crate::list::{SORTED, TextKey, lines_of, selection};
use crate::progress::Progress;
use crate::report;
use crate::request::{AnyKeys, PolicyArg};
use crate::screen::Screen;
use crate::sorted_watch::SortedWatch;
use crate::table;
use crate::units::{Asked, grouped};
use crate::warnings::{self, tell};
use page::Page;

/// From the top left corner, with everything erased.
const FROM_THE_TOP: &str = "\x1b[H\x1b[2J";
/// Lines of a terminal that the guarantee and the heading take.
const GUARANTEE_LINES: usize = 16;
const FEWEST_ROWS: usize = 5;
/// When so many events in a row were too late, they are not what is wrong.
const LATE_IN_A_ROW: u64 = 1_000;
const TIME_AHEAD: &str = "warning: 1,000 events in a row came too late and were left out: was there a time far in the future? The clock \
                          does not go back; start again without it";

pub fn run(args: &WatchArgs) -> Result<()> {
    match args.request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => watch(args, keys),
        AnyKeys::Integers(keys) => watch(args, keys),
    }
}

fn watch<K: TextKey>(args: &WatchArgs, keys: Keys<K>) -> Result<()> {
    let window = the_window(args)?;
    let selection = Selection {
        live: true,
        ..selection(&args.input, window.extent)?
    };
    let mut source = Source::new(&args.input.files, selection)?;
    let (builder, _) = args.request.builder(keys)?;
    let mut continual = builder
        .policy(Policy::Uniform)
        .horizon(args.horizon)
        .together(args.together)
        .continual()?;
    args.report.as_deref().map(report::check).transpose()?;
    let page = args.report.clone().map(|file| Page::new(file, window.clone()));
    let mut shown = Shown::new(args, window, page);
    let by_clock = args.request.by_clock();
    let mut progress = Progress::new(source.total_bytes()).unless(io::stdout().is_terminal());
    let bytes_read = source.bytes_read();
    let mut sorted = SortedWatch::default();
    let mut late_in_a_row = 0;
    let read = source.for_each(|event| {
        if let (false, Some(key)) = (by_clock, event.key) {
            sorted.see(key);
        }
        progress.step(bytes_read.get());
        let late = continual.dropped();
        push(&mut continual, event, by_clock, |continual| {
            shown.show(continual.release()?, sorted.looks_sorted())
        })?;
        late_in_a_row = if continual.dropped() > late {
            late_in_a_row + 1
        } else {
            0
        };
        if late_in_a_row == LATE_IN_A_ROW {
            tell(TIME_AHEAD);
        }
        Ok(())
    });
    let events = progress.finish();
    let releases = shown.releases;
    // The page is finished even if nobody reads the rest.
    shown.page.map(Page::finish).transpose()?;
    read?;
    source.notes().into_iter().for_each(tell);
    for note in warnings::about_events(events, continual.dropped(), continual.without_key()) {
        tell(note);
    }
    if releases == 0 {
        tell("no slide has ended, so there is no release: give more events, or a shorter --slide");
    }
    Ok(())
}

/// A sequence has one window, and panes of equal length.
fn the_window(args: &WatchArgs) -> Result<Asked> {
    if let PolicyArg::Exponential | PolicyArg::Smooth = args.request.policy {
        return Err(Failure::Message(
            "a list at every slide is made from panes of equal length: leave --policy out".to_owned(),
        ));
    }
    let windows = args.request.windows()?;
    match &windows[..] {
        [window] => Ok(window.clone()),
        _ => Err(Failure::Message(format!(
            "{} windows were given, but a list at every slide has one: run one program for each, each costs its epsilon",
            windows.len()
        ))),
    }
}

fn push<K: TextKey>(
    continual: &mut Continual<K>,
    event: Event<'_>,
    by_clock: bool,
    mut due: impl FnMut(&Continual<K>) -> Result<()>,
) -> Result<()> {
    let mut failure = None;
    let time = event.time.filter(|_| by_clock);
    let pushed = K::read(event.key, |key| {
        let due = |continual: &Continual<K>| {
            if failure.is_none() {
                failure = due(continual).err();
            }
        };
        match time {
            Some(time) => continual.push_at(time, key, due),
            None => continual.push(key, due),
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => Ok(pushed?),
    }
}

/// Where releases go.
struct Shown<K: TextKey> {
    window: Asked,
    as_json: bool,
    releases: u64,
    page: Option<Page<K>>,
    warned: bool,
    warned_of_order: bool,
}

impl<K: TextKey> Shown<K> {
    fn new(args: &WatchArgs, window: Asked, page: Option<Page<K>>) -> Self {
        Self {
            window,
            as_json: args.json || !io::stdout().is_terminal(),
            releases: 0,
            page,
            warned: false,
            warned_of_order: false,
        }
    }

    fn show(&mut self, release: Release<K>, looks_sorted: bool) -> Result<()> {
        self.write(&release).map_err(Failure::Output)?;
        if !self.warned {
            let warnings = warnings::about_sequence(&release);
            self.warned = !warnings.is_empty();
            for warning in warnings {
                tell(format_args!("warning: {warning}"));
            }
        }
        if looks_sorted && !self.warned_of_order {
            self.warned_of_order = true;
            tell(format_args!("warning: {SORTED}"));
        }
        if let Some(warning) = warnings::horizon(&release) {
            tell(format_args!("warning: {warning}"));
        }
        if let Some(page) = &mut self.page {
            page.add(release);
        }
        Ok(())
    }

    /// Writes a release, at once: someone may be waiting for it.
    fn write(&mut self, release: &Release<K>) -> io::Result<()> {
        self.releases += 1;
        let mut page = Vec::new();
        if self.as_json {
            serde_json::to_writer(&mut page, release)?;
            writeln!(page)?;
        } else {
            let screen = Screen::of(&io::stdout());
            write!(page, "{FROM_THE_TOP}")?;
            let rows = screen.height.saturating_sub(GUARANTEE_LINES).max(FEWEST_ROWS);
            let one = [(self.window.clone(), release.clone())];
            table::write_releases(&mut page, &one, &screen, Some(rows))?;
            let number = grouped(self.releases);
            writeln!(page, "Release {number}. Ctrl-C ends.")?;
        }
        let mut out = io::stdout().lock();
        out.write_all(&page)?;
        out.flush()
    }
}
