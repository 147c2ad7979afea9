//! `frostpane demo --per-user`: a private list of what people searched beside the truth, with their bounds and without.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use frostpane::words::likelier;
use frostpane::{Bounds, Bytes, Edge, Heavy, HeavyHitters, Key, Keys, Release, Unit, Window};
use frostpane_store::scratch;

use super::people::{END, Habits, Search, User, WATCHED, searches};
use super::{EVENTS, ROWS_SHOWN};
use crate::failure::Result;
use crate::guarantee::write_guarantee;
use crate::screen::Screen;
use crate::table::{Room, interval, write_rest};
use crate::text::{printable, width, write_wrapped};
use crate::units::grouped;

const DAYS: u64 = 7;
const DAY: Duration = Duration::from_secs(86_400);

/// The numbers of a row, before its bar.
const WIDTHS: [usize; 5] = [9, 15, 7, 6, 8];

pub fn show(per_user: u32) -> Result<()> {
    let mut out = io::stdout().lock();
    let screen = Screen::of(&out);
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .unit(Unit::User(Bounds::new(per_user)))
        .top(ROWS_SHOWN as u64)
        .epsilon(1.0)
        .delta(1e-9)
        .window(Window::clock(DAY * DAYS as u32))
        .until(Edge::Instant(END))
        .scratch(scratch)
        .build()?;
    writeln!(
        out,
        "Making up {} searches of a town, in memory ...",
        grouped(EVENTS)
    )?;
    out.flush()?;
    let mut town = Town::default();
    for Search { time, user, search } in searches(Habits::Busy) {
        hitters.update_by(user.to_string().as_bytes(), time.micros(), search.as_bytes())?;
        if time.micros() >= END.as_microsecond() - (DAY * DAYS as u32).as_micros() as i64 {
            town.searches.push((time.day(), user, search));
        }
    }
    let release = hitters.release()?;
    let by_one = town.most_by_one(WATCHED);
    let truth = town.truth(per_user);
    write_comparison(&mut out, &release, &truth, &screen)?;
    write_guarantee(&mut out, &release, &screen)?;
    let texts = [
        about_columns(per_user),
        about_one(by_one, &truth),
        in_plain_words(&release),
    ];
    for text in texts {
        writeln!(out)?;
        write_wrapped(&mut out, "", &text, screen.width, Style::new())?;
    }
    writeln!(
        out,
        "\nNext: frostpane plan --per-user {per_user} --window 7d --events 100000   (what to expect of other bounds)"
    )?;
    Ok(())
}

/// What people searched in the window, on which day.
#[derive(Default)]
struct Town {
    searches: Vec<(u64, User, Cow<'static, str>)>,
}

/// The true numbers of a search.
#[derive(Default)]
struct True {
    searches: u64,
    /// Each once a day.
    people: u64,
    /// The same within the bounds, in the mean: which searches of a person count is chosen at random.
    bounded: f64,
}

type Truth<'a> = HashMap<&'a str, True>;

impl Town {
    fn truth(&mut self, per_user: u32) -> Truth<'_> {
        self.searches.sort_unstable();
        let mut truth = Truth::new();
        for day in self
            .searches
            .chunk_by(|(day, user, _), next| (day, user) == (&next.0, &next.1))
        {
            let different = || day.chunk_by(|(.., search), (.., next)| search == next);
            let counted = f64::min(1.0, f64::from(per_user) / different().count() as f64);
            for same in different() {
                let true_numbers = truth.entry(same[0].2.as_ref()).or_default();
                true_numbers.searches += same.len() as u64;
                true_numbers.people += 1;
                true_numbers.bounded += counted;
            }
        }
        truth
    }

    /// How often a search was made by whoever made it most often.
    fn most_by_one(&self, search: &str) -> u64 {
        let mut users: HashMap<User, u64> = HashMap::new();
        for (_, user, _) in self.searches.iter().filter(|(.., made)| made == search) {
            *users.entry(*user).or_default() += 1;
        }
        users.into_values().max().unwrap_or(0)
    }
}

fn write_comparison(
    out: &mut impl Write,
    release: &Release<Bytes>,
    truth: &Truth<'_>,
    screen: &Screen,
) -> io::Result<()> {
    let title = format!(
        "The last {DAYS} days of them, counted by people, as they may be published, beside the truth, which stays with you:"
    );
    write_wrapped(out, "", &title, screen.width, Style::new())?;
    writeln!(out)?;
    let shown: Vec<(&Heavy<Bytes>, String)> = release
        .heavy
        .iter()
        .map(|heavy| (heavy, printable(&heavy.key.shown())))
        .collect();
    let widest = shown.iter().map(|(_, search)| width(search)).max();
    let room = Room::beside(&WIDTHS, widest.unwrap_or(0), screen);
    let (blank, dim) = (" ".repeat(room.bar_width), screen.styles.interval);
    let most = release.heavy.first().map_or(0, |heavy| heavy.count);
    let [first, second, third, fourth, fifth] = WIDTHS;
    writeln!(
        out,
        "  {:>first$}  {:<second$}  {:>third$}  {:>fourth$}  {:>fifth$}  {blank}  search",
        "published", "between", "bounded", "people", "searches"
    )?;
    let unseen = True::default();
    for (heavy, search) in &shown {
        let numbers = truth.get(search.as_str()).unwrap_or(&unseen);
        writeln!(
            out,
            "  {:>first$}  {dim}{:<second$}{dim:#}  {:>third$}  {:>fourth$}  {:>fifth$}  {}  {}",
            grouped(heavy.count),
            interval(heavy),
            grouped(numbers.bounded.round() as u64),
            grouped(numbers.people),
            grouped(numbers.searches),
            room.bar(heavy.count, most, screen),
            room.key(search)
        )?;
    }
    write_rest(out, release.heavy.len() - shown.len())?;
    writeln!(out)
}

fn about_columns(per_user: u32) -> String {
    format!(
        "The truth: \"searches\" is how often a search was made, \"people\" how many people made it, each counted once a day, and \
         \"bounded\" what is left of that if no more than {} of a person and day count: in the mean, because which of them do is chosen \
         at random and kept secret; intervals are around what was chosen. A larger --per-user leaves more, under more noise.",
        match per_user {
            1 => "one search".to_owned(),
            searches => format!("{} different searches", grouped(searches.into())),
        }
    )
}

/// What bounds make of someone who does one thing all day.
fn about_one(by_one: u64, truth: &Truth<'_>) -> String {
    let unseen = True::default();
    let watched = truth.get(WATCHED).unwrap_or(&unseen);
    let rank =
        |of: fn(&True) -> u64| 1 + truth.values().filter(|other| of(other) > of(watched)).count() as u64;
    format!(
        "One of them is a program: {} of all {} searches for \"{WATCHED}\" are its own, and make it number {} by searches. By people the \
         program counts once a day like everybody else, {DAYS} times at the most, and \"{WATCHED}\" is number {}.",
        grouped(by_one),
        grouped(watched.searches),
        grouped(rank(|truth| truth.searches)),
        grouped(rank(|truth| truth.people))
    )
}

fn in_plain_words(release: &Release<Bytes>) -> String {
    format!(
        "In plain words: whoever reads this list learns next to nothing about what any one person did on any one day, however much \
         that was. Had one of them stayed away on a day, any list would be at most {} as likely or unlikely as it is now (e to the \
         epsilon), but for a chance of one in a billion.",
        likelier(release.epsilon)
    )
}
