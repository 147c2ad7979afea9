//! `frostpane watch`: a private list at every slide.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use frostpane::{Continual, Keys, Release};

use crate::args::WatchArgs;
use crate::failure::{Failure, Result};
use crate::input::{Event, Selection, Source};
use crate::list::{TextKey, lines_of, selection};
use crate::report::{self, Total};
use crate::request::AnyKeys;
use crate::screen::Screen;
use crate::table;
use crate::units::{Asked, grouped};
use crate::warnings::{self, tell};

/// From the top left corner, with everything erased.
const FROM_THE_TOP: &str = "\x1b[H\x1b[2J";
/// Lines of a terminal that the guarantee and the heading take.
const GUARANTEE_LINES: usize = 16;
const FEWEST_ROWS: usize = 5;

pub fn run(args: &WatchArgs) -> Result<()> {
    match args.request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => watch(args, keys),
        AnyKeys::Integers(keys) => watch(args, keys),
    }
}

fn watch<K: TextKey>(args: &WatchArgs, keys: Keys<K>) -> Result<()> {
    let windows = args.request.windows()?;
    let [window] = &windows[..] else {
        return Err(Failure::Message(format!(
            "{} windows were given, but a list at every slide has one: run one program for each, each costs its epsilon",
            windows.len()
        )));
    };
    let selection = Selection {
        live: true,
        ..selection(&args.input, window.extent)?
    };
    let mut source = Source::new(&args.input.files, selection)?;
    let (builder, _) = args.request.builder(keys)?;
    let mut continual = builder.horizon(args.horizon).continual()?;
    let by_clock = args.request.by_clock();
    args.report.as_deref().map(report::check).transpose()?;
    let mut page = args.report.clone().map(|file| Page::new(file, window.clone()));
    let mut shown = Shown::new(args, window.clone());
    let mut events = 0;
    source.for_each(|event| {
        events += 1;
        for release in push(&mut continual, event, by_clock)? {
            shown.show(&release).map_err(Failure::Output)?;
            page.as_mut().map(|page| page.add(release)).transpose()?;
        }
        Ok(())
    })?;
    page.map(Page::finish).transpose()?;
    source.notes().into_iter().for_each(tell);
    for note in warnings::about_events(events, continual.dropped(), continual.without_key()) {
        tell(note);
    }
    if shown.releases == 0 {
        tell("no slide has ended, so there is no release: give more events, or a shorter --slide");
    }
    Ok(())
}

fn push<K: TextKey>(
    continual: &mut Continual<K>,
    event: Event<'_>,
    by_clock: bool,
) -> frostpane::Result<Vec<Release<K>>> {
    let time = event.time.filter(|_| by_clock);
    K::read(event.key, |key| match (time, key) {
        (Some(time), Some(key)) => continual.update_at(time, key),
        (Some(time), None) => continual.update_without_key_at(time),
        (None, Some(key)) => continual.update(key),
        (None, None) => continual.update_without_key(),
    })
}

/// Where releases go.
struct Shown {
    window: Asked,
    as_json: bool,
    releases: u64,
}

impl Shown {
    fn new(args: &WatchArgs, window: Asked) -> Self {
        Self {
            window,
            as_json: args.json || !io::stdout().is_terminal(),
            releases: 0,
        }
    }

    /// Writes a release, at once: someone may be waiting for it.
    fn show<K: TextKey>(&mut self, release: &Release<K>) -> io::Result<()> {
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
            writeln!(
                page,
                "Release {number}; together they cost epsilon once. Ctrl-C ends."
            )?;
        }
        let mut out = io::stdout().lock();
        out.write_all(&page)?;
        out.flush()
    }
}

/// A page looks back over so many releases and shows some of them, evenly spaced.
const LOOKS_BACK: usize = 96;
const SHOWN: usize = 16;
/// It is not written more often.
const PAUSE: Duration = Duration::from_secs(1);

/// The page of the latest releases.
struct Page<K: TextKey> {
    file: PathBuf,
    window: Asked,
    releases: VecDeque<Release<K>>,
    saved: Option<Instant>,
}

impl<K: TextKey> Page<K> {
    fn new(file: PathBuf, window: Asked) -> Self {
        Self {
            file,
            window,
            releases: VecDeque::new(),
            saved: None,
        }
    }

    fn add(&mut self, release: Release<K>) -> Result<()> {
        if self.releases.len() == LOOKS_BACK {
            self.releases.pop_front();
        }
        self.releases.push_back(release);
        if self.saved.is_some_and(|saved| saved.elapsed() < PAUSE) {
            return Ok(());
        }
        self.save()
    }

    /// All releases together cost what each of them says.
    fn save(&mut self) -> Result<()> {
        let Some(last) = self.releases.back() else {
            return Ok(());
        };
        let every = self.releases.len().div_ceil(SHOWN);
        let mut shown: Vec<Release<K>> = self.releases.iter().rev().step_by(every).cloned().collect();
        shown.reverse();
        let total = Total {
            epsilon: last.epsilon,
            delta: last.delta,
        };
        report::save(&self.file, &shown, std::slice::from_ref(&self.window), total)?;
        self.saved = Some(Instant::now());
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.save()?;
        if !self.releases.is_empty() {
            tell(format_args!("the report is in {}", self.file.display()));
        }
        Ok(())
    }
}
