//! `frostpane demo`: a private list beside the truth, on a stream that is made up.

mod searches;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::Style;
use frostpane::{Bytes, Edge, Heavy, HeavyHitters, Key, Keys, Norm, Release, Window};
use frostpane_render::{TextLayout, likelier};

use crate::failure::{Failure, Result};
use crate::output_file::OutputFile;
use crate::screen::layout_of;
use crate::settings::values::grouped;
use crate::terminal::tell;
use frostpane_render::guarantee::write_for_operator;
use frostpane_render::table::{RowLayout, interval, write_rest};
use frostpane_render::text::{cut, printable, width, write_wrapped};
use searches::{EVENTS, GONE, MadeUpSearch, searches};

/// Show a private list beside the truth, on a stream that is made up: start here.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Write the made-up searches to a file instead, .tsv or .csv, each with a time and a user: a stream to
    /// try the other commands on
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

const WINDOW: u64 = 1_000_000;
const ROWS_SHOWN: usize = 20;

type Truth = HashMap<Cow<'static, str>, u64>;

pub fn run(args: &DemoArgs) -> Result<()> {
    args.save.as_deref().map_or_else(show, save)
}

fn show() -> Result<()> {
    let mut out = io::stdout().lock();
    let screen = layout_of(&out);
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .epsilon(1.0)
        .delta(1e-9)
        .norm(Norm::L2)
        .alpha(0.05)
        .window(Window::events(WINDOW))
        .until(Edge::Event(EVENTS))
        .build()?;
    writeln!(out, "Making up {} searches, in memory ...", grouped(EVENTS))?;
    out.flush()?;
    let (mut truth, mut gone) = (Truth::new(), 0);
    for MadeUpSearch { number, search, .. } in searches() {
        gone += u64::from(search == GONE);
        hitters.update(search.as_bytes())?;
        if number >= EVENTS - WINDOW {
            *truth.entry(search).or_default() += 1;
        }
    }
    let release = hitters.release()?;
    write_comparison(&mut out, &release, &truth, &screen)?;
    write_for_operator(&mut out, &release, &screen)?;
    writeln!(out)?;
    write_wrapped(&mut out, "", &about_searches(&release, &truth, gone), screen.width, Style::new())?;
    writeln!(
        out,
        "\nNext: frostpane list FILE   (one event a line; more with frostpane list --help)\n\
         To protect people, and not single searches: frostpane list --user COLUMN"
    )?;
    Ok(())
}

/// Writes the released counts beside the true ones: a table with columns of numbers, a bar and the search.
fn write_comparison(
    out: &mut impl Write,
    release: &Release<Bytes>,
    truth: &Truth,
    screen: &TextLayout,
) -> io::Result<()> {
    let title = format!(
        "The last {} of them, as they may be published, beside the truth, which stays with you:",
        grouped(release.window.events)
    );
    write_wrapped(out, "", &title, screen.width, Style::new())?;
    writeln!(out)?;
    let shown: Vec<(&Heavy<Bytes>, String)> =
        release.heavy.iter().take(ROWS_SHOWN).map(|heavy| (heavy, printable(&heavy.key.shown()))).collect();
    let widest = shown.iter().map(|(_, search)| width(search)).max();
    let room = RowLayout::beside(&[9, 17, 7], widest.unwrap_or(0), screen);
    let (blank, dim) = (" ".repeat(room.bar_width), screen.styles.interval);
    let most = release.heavy.first().map_or(0, |heavy| heavy.count);
    writeln!(out, "  {:>9}  {:<17}  {:>7}  {blank}  search", "published", "between", "true")?;
    for (heavy, search) in &shown {
        let (count, interval) = (grouped(heavy.count), interval(heavy));
        let exact = grouped(truth.get(search.as_str()).copied().unwrap_or(0));
        let (bar, search) = (room.bar(heavy.count, most, screen), cut(search, room.key_width));
        writeln!(out, "  {count:>9}  {dim}{interval:<17}{dim:#}  {exact:>7}  {bar}  {search}")?;
    }
    write_rest(out, release.heavy.len() - shown.len())?;
    writeln!(out)
}

/// The searches that the list does not show, and the reason.
fn about_searches(release: &Release<Bytes>, truth: &Truth, gone: u64) -> String {
    let once = truth.values().filter(|searches| **searches == 1).count() as u64;
    format!(
        "In plain words: anyone who reads this list learns next to nothing about any one search. Had one of \
         them been different, any list would be at most {} as likely or unlikely as it is now (e to the \
         epsilon), but for a chance of one in a billion. {} searches that were made only once stay unseen. \
         \"{GONE}\", searched {} times, is not listed either: it had left the window.",
        likelier(release.epsilon),
        grouped(once),
        grouped(gone),
    )
}

/// Saves the made-up searches as a file, each with a time and a user.
fn save(file: &Path) -> Result<()> {
    let separator = separator(file)?;
    if file.exists() {
        return Err(Failure::Message(format!(
            "{} is there already, and is not replaced by made-up searches: give another name, or remove it first",
            file.display()
        )));
    }
    OutputFile::write("searches", file, |out| write_searches(out, separator))?;
    tell(format_args!(
        "{} made-up searches of November 2025 are in {name}, with their times and users; \
         next: frostpane list --top 5 --key search --time time --user user --per-user 4 --window 7d \
         --until 2025-12-01 {name}",
        grouped(EVENTS),
        name = file.display()
    ));
    Ok(())
}

fn separator(file: &Path) -> Result<char> {
    match file.extension().and_then(|end| end.to_str()) {
        Some("tsv") => Ok('\t'),
        Some("csv") => Ok(','),
        _ => Err(Failure::Message(format!(
            "cannot tell from the name {} what to write: let it end with .tsv or .csv",
            file.display()
        ))),
    }
}

fn write_searches(out: &mut impl Write, separator: char) -> io::Result<()> {
    writeln!(out, "time{separator}user{separator}search")?;
    for made in searches() {
        writeln!(out, "{}{separator}u{:06}{separator}{}", made.time(), made.user, made.search)?;
    }
    Ok(())
}
