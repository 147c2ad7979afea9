//! `frostpane demo`: a private list beside the truth, on a stream that is made up.

mod save;
mod searches;
mod truth;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use frostpane::{Bounds, Bytes, Edge, Heavy, HeavyHitters, Key, Keys, Norm, Release, Unit, Window};
use frostpane_render::likelier;
use frostpane_store::scratch;

use crate::failure::Result;
use crate::screen::Screen;
use crate::settings::values::grouped;
use frostpane_render::guarantee::write_for_operator;
use frostpane_render::table::{RowLayout, interval, write_rest};
use frostpane_render::text::{printable, width, write_wrapped};
use searches::{END, EVENTS, GONE, Habits, MadeUpSearch, WATCHED, searches};
use truth::{TrueNumbers, Truth, WindowSearches};

/// Show a private list beside the truth, on a stream that is made up: start here.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Write the made-up searches to a file instead, .tsv or .csv, each with a time and a user: a stream to
    /// try the other commands on
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Protect users instead of single searches: count at most so many different searches of each user and
    /// day
    #[arg(long, value_name = "C", conflicts_with = "save")]
    per_user: Option<u32>,
}

/// Searches of the window if single ones are protected, and its days if users are.
const WINDOW: u64 = 1_000_000;
const DAYS: u32 = 7;
const DAY: Duration = Duration::from_secs(86_400);
const ROWS_SHOWN: usize = 20;

pub fn run(args: &DemoArgs) -> Result<()> {
    match &args.save {
        Some(file) => save::run(file),
        None => show(args.per_user),
    }
}

fn show(per_user: Option<u32>) -> Result<()> {
    let mut out = io::stdout().lock();
    let screen = Screen::of(&out);
    let builder = HeavyHitters::<Bytes>::builder(Keys::open()).epsilon(1.0).delta(1e-9);
    let builder = match per_user {
        None => builder.norm(Norm::L2).alpha(0.05).window(Window::events(WINDOW)).until(Edge::Event(EVENTS)),
        Some(per_user) => builder
            .unit(Unit::User(Bounds::new(per_user)))
            .top(ROWS_SHOWN as u64)
            .window(Window::clock(DAY * DAYS))
            .until(Edge::Instant(END))
            .scratch(scratch),
    };
    let mut hitters = builder.build()?;
    let place = per_user.map_or("", |_| " of a town");
    writeln!(out, "Making up {} searches{place}, in memory ...", grouped(EVENTS))?;
    out.flush()?;
    let from = END.as_microsecond() - (DAY * DAYS).as_micros() as i64;
    let (mut window, mut gone) = (WindowSearches::default(), 0);
    for (number, MadeUpSearch { time, user, search }) in (0..).zip(searches(Habits::Busy)) {
        gone += u64::from(search == GONE);
        let is_in_window = if per_user.is_some() {
            hitters.update_by(user.to_string().as_bytes(), time.micros(), search.as_bytes())?;
            time.micros() >= from
        } else {
            hitters.update(search.as_bytes())?;
            number >= EVENTS - WINDOW
        };
        if is_in_window {
            window.push(time.day(), user, search);
        }
    }
    let release = hitters.release()?;
    let by_one = window.most_by_one(WATCHED);
    let truth = window.truth(per_user.unwrap_or(u32::MAX));
    let comparison = Comparison::new(per_user, &release);
    comparison.write(&mut out, &release, &truth, &screen)?;
    write_for_operator(&mut out, &release, &screen)?;
    let paragraphs = match per_user {
        None => vec![about_searches(&release, &truth, gone)],
        Some(per_user) => vec![about_columns(per_user), about_one(by_one, &truth), about_users(&release)],
    };
    for paragraph in paragraphs {
        writeln!(out)?;
        write_wrapped(&mut out, "", &paragraph, screen.width, Style::new())?;
    }
    match per_user {
        None => writeln!(
            out,
            "\nNext: frostpane list FILE   (one event a line; more with frostpane list --help)\n\
             To protect people, and not single searches: frostpane demo --per-user 4"
        )?,
        Some(per_user) => writeln!(
            out,
            "\nNext: frostpane plan --per-user {per_user} --window 7d --events 100000   (what to expect of other bounds)"
        )?,
    }
    Ok(())
}

/// A column of true numbers: its heading, width and value.
type TrueColumn = (&'static str, usize, fn(&TrueNumbers) -> u64);

/// The released counts beside the true ones: a table with columns of numbers, a bar and the search.
struct Comparison {
    title: String,
    /// The widths of counts, of intervals, and of true numbers under their headings.
    widths: [usize; 2],
    true_columns: &'static [TrueColumn],
}

impl Comparison {
    fn new(per_user: Option<u32>, release: &Release<Bytes>) -> Self {
        let (which, interval): (_, _) = match per_user {
            None => (format!("The last {} of them", grouped(release.window.events)), 17),
            Some(_) => (format!("The last {DAYS} days of them, counted by people"), 15),
        };
        Self {
            title: format!("{which}, as they may be published, beside the truth, which stays with you:"),
            widths: [9, interval],
            true_columns: match per_user {
                None => &[("true", 7, |numbers| numbers.searches)],
                Some(_) => &[
                    ("bounded", 7, |numbers| numbers.bounded.round() as u64),
                    ("people", 6, |numbers| numbers.users),
                    ("searches", 8, |numbers| numbers.searches),
                ],
            },
        }
    }

    fn write(
        &self,
        out: &mut impl Write,
        release: &Release<Bytes>,
        truth: &Truth<'_>,
        screen: &Screen,
    ) -> io::Result<()> {
        write_wrapped(out, "", &self.title, screen.width, Style::new())?;
        writeln!(out)?;
        let shown: Vec<(&Heavy<Bytes>, String)> = release
            .heavy
            .iter()
            .take(ROWS_SHOWN)
            .map(|heavy| (heavy, printable(&heavy.key.shown())))
            .collect();
        let widest = shown.iter().map(|(_, search)| width(search)).max();
        let widths: Vec<usize> =
            self.widths.into_iter().chain(self.true_columns.iter().map(|(_, width, _)| *width)).collect();
        let room = RowLayout::beside(&widths, widest.unwrap_or(0), screen);
        let (blank, dim) = (" ".repeat(room.bar_width), screen.styles.interval);
        let most = release.heavy.first().map_or(0, |heavy| heavy.count);
        let [counts, intervals] = self.widths;
        write!(out, "  {:>counts$}  {:<intervals$}", "published", "between")?;
        for (heading, width, _) in self.true_columns {
            write!(out, "  {heading:>width$}")?;
        }
        writeln!(out, "  {blank}  search")?;
        let unseen = TrueNumbers::default();
        for (heavy, search) in &shown {
            let (count, interval) = (grouped(heavy.count), interval(heavy));
            write!(out, "  {count:>counts$}  {dim}{interval:<intervals$}{dim:#}")?;
            let numbers = truth.get(search.as_str()).unwrap_or(&unseen);
            for (_, width, number) in self.true_columns {
                write!(out, "  {:>width$}", grouped(number(numbers)))?;
            }
            writeln!(out, "  {}  {}", room.bar(heavy.count, most, screen), room.key(search))?;
        }
        write_rest(out, release.heavy.len() - shown.len())?;
        writeln!(out)
    }
}

/// The searches that the list does not show, and the reason.
fn about_searches(release: &Release<Bytes>, truth: &Truth<'_>, gone: u64) -> String {
    let once = truth.values().filter(|numbers| numbers.searches == 1).count() as u64;
    format!(
        "In plain words: whoever reads this list learns next to nothing about any one search. Had one of \
         them been different, any list would be at most {} as likely or unlikely as it is now (e to the \
         epsilon), but for a chance of one in a billion. {} searches that were made only once stay unseen. \
         \"{GONE}\", searched {} times, is not listed either: it had left the window.",
        likelier(release.epsilon),
        grouped(once),
        grouped(gone),
    )
}

fn about_columns(per_user: u32) -> String {
    format!(
        "The truth: \"searches\" is how often a search was made, \"people\" how many people made it, each \
         counted once a day, and \"bounded\" what is left of that if no more than {} of a person and day \
         count: in the mean, because which of them do is chosen at random and kept secret; intervals are \
         around what was chosen. A larger --per-user leaves more, under more noise.",
        match per_user {
            1 => "one search".to_owned(),
            searches => format!("{} different searches", grouped(searches.into())),
        }
    )
}

/// The effect of bounds on a user that does one thing all day.
fn about_one(by_one: u64, truth: &Truth<'_>) -> String {
    let unseen = TrueNumbers::default();
    let watched = truth.get(WATCHED).unwrap_or(&unseen);
    let rank = |of: fn(&TrueNumbers) -> u64| {
        1 + truth.values().filter(|other| of(other) > of(watched)).count() as u64
    };
    format!(
        "One of them is a program: {} of all {} searches for \"{WATCHED}\" are its own, and make it number \
         {} by searches. By people the program counts once a day like everybody else, {DAYS} times at the \
         most, and \"{WATCHED}\" is number {}.",
        grouped(by_one),
        grouped(watched.searches),
        grouped(rank(|numbers| numbers.searches)),
        grouped(rank(|numbers| numbers.users))
    )
}

fn about_users(release: &Release<Bytes>) -> String {
    format!(
        "In plain words: whoever reads this list learns next to nothing about what any one person did on any \
         one day, however much that was. Had one of them stayed away on a day, any list would be at most {} \
         as likely or unlikely as it is now (e to the epsilon), but for a chance of one in a billion.",
        likelier(release.epsilon)
    )
}
