//! `frostpane demo`: a private list beside the truth, on a stream that is made up.

mod by_person;
mod people;
mod save;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use anstyle::Style;
use frostpane::words::likelier;
use frostpane::{Bytes, Edge, Heavy, HeavyHitters, Key, Keys, Norm, Release, Window};

use crate::args::DemoArgs;
use crate::failure::Result;
use crate::guarantee::write_guarantee;
use crate::screen::Screen;
use crate::table::{Room, interval, write_rest};
use crate::text::{printable, width, write_wrapped};
use crate::units::grouped;

const EVENTS: u64 = 3_000_000;
const WINDOW: u64 = 1_000_000;
const SEED: u64 = 2_026;
const ROWS_SHOWN: usize = 20;

/// One search in this many asks after a parcel by its number, and hardly anyone else asks after that one.
const PARCELS: f64 = 20.0;
const PARCEL_NUMBERS: u32 = 100_000_000;

const SUBJECTS: [&str; 24] = [
    "weather",
    "train",
    "football",
    "pancakes",
    "guitar",
    "visa",
    "rent",
    "phone",
    "museum",
    "running shoes",
    "coffee",
    "tax",
    "bicycle",
    "jobs",
    "recipe",
    "dentist",
    "laptop",
    "hotel",
    "flights",
    "garden",
    "chess",
    "news",
    "bread",
    "yoga",
];
const INTENTS: [&str; 20] = [
    "",
    "cheap",
    "tomorrow",
    "near me",
    "today",
    "second hand",
    "open now",
    "for beginners",
    "price",
    "reviews",
    "rules",
    "repair",
    "online",
    "tickets",
    "delivery",
    "timetable",
    "meaning",
    "pictures",
    "history",
    "lessons",
];
const PLACES: [&str; 40] = [
    "", "lisbon", "oslo", "turin", "lyon", "porto", "gdansk", "malmo", "bergen", "graz", "cork", "leeds",
    "delft", "ghent", "brno", "split", "tartu", "vilnius", "varna", "chania", "palma", "bilbao", "genoa",
    "basel", "bonn", "kiel", "nantes", "tampere", "aarhus", "utrecht", "bruges", "riga", "zadar", "pecs",
    "lodz", "cluj", "faro", "bath", "york", "nice",
];

/// Searches whose share of all searches changes along the stream.
struct Trend {
    search: &'static str,
    /// The share at a point of the stream between 0 and 1.
    share: fn(f64) -> f64,
}

const TRENDS: [Trend; 4] = [
    Trend {
        search: "world cup final",
        share: |x| if x < 0.5 { 0.03 } else { 0.0 },
    },
    Trend {
        search: "snow tomorrow",
        share: |x| 0.02 * (x - 0.5).max(0.0) * 2.0,
    },
    Trend {
        search: "power cut",
        share: |x| if (0.93..0.95).contains(&x) { 0.2 } else { 0.0 },
    },
    Trend {
        search: "summer festival",
        share: |x| 0.02 * (1.0 - x),
    },
];

pub fn run(args: &DemoArgs) -> Result<()> {
    match (&args.save, args.per_user) {
        (Some(file), _) => save::run(file),
        (None, Some(per_user)) => by_person::show(per_user),
        (None, None) => show(),
    }
}

fn show() -> Result<()> {
    let mut out = io::stdout().lock();
    let screen = Screen::of(&out);
    writeln!(out, "Making up {} searches, in memory ...", grouped(EVENTS))?;
    out.flush()?;
    let stream: Vec<_> = Searches::new().stream().collect();
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .norm(Norm::L2)
        .alpha(0.05)
        .epsilon(1.0)
        .delta(1e-9)
        .window(Window::events(WINDOW))
        .until(Edge::Event(EVENTS))
        .build()?;
    for search in &stream {
        hitters.update(search.as_bytes())?;
    }
    let release = hitters.release()?;
    let truth = truth(&stream, &release);
    write_comparison(&mut out, &release, &truth, &screen)?;
    write_guarantee(&mut out, &release, &screen)?;
    write_words(&mut out, &release, &stream, &truth, &screen)?;
    Ok(())
}

type Truth<'a> = HashMap<&'a [u8], u64>;

/// True counts of the window that a release covered.
fn truth<'a>(stream: &'a [Cow<'static, str>], release: &Release<Bytes>) -> Truth<'a> {
    let from = match release.window.from {
        Some(Edge::Event(from)) => from as usize,
        _ => 0,
    };
    let mut counts = Truth::new();
    for search in &stream[from..] {
        *counts.entry(search.as_bytes()).or_insert(0) += 1;
    }
    counts
}

fn write_comparison(
    out: &mut impl Write,
    release: &Release<Bytes>,
    truth: &Truth<'_>,
    screen: &Screen,
) -> io::Result<()> {
    let title = format!(
        "The last {} of them, as they may be published, beside the truth, which stays with you:",
        grouped(release.window.events)
    );
    write_wrapped(out, "", &title, screen.width, Style::new())?;
    writeln!(out)?;
    let shown: Vec<(&Heavy<Bytes>, String)> = release
        .heavy
        .iter()
        .take(ROWS_SHOWN)
        .map(|heavy| (heavy, printable(&heavy.key.shown())))
        .collect();
    let widest = shown.iter().map(|(_, search)| width(search)).max();
    let room = Room::beside(&[9, 17, 7], widest.unwrap_or(0), screen);
    let blank = " ".repeat(room.bar_width);
    let (most, dim) = (
        release.heavy.first().map_or(0, |heavy| heavy.count),
        screen.styles.interval,
    );

    writeln!(
        out,
        "  {:>9}  {:<17}  {:>7}  {blank}  search",
        "published", "between", "true"
    )?;
    for (heavy, search) in &shown {
        writeln!(
            out,
            "  {:>9}  {dim}{:<17}{dim:#}  {:>7}  {}  {}",
            grouped(heavy.count),
            interval(heavy),
            grouped(truth.get(heavy.key.as_ref()).copied().unwrap_or(0)),
            room.bar(heavy.count, most, screen),
            room.key(search)
        )?;
    }
    write_rest(out, release.heavy.len() - shown.len())?;
    writeln!(out)
}

/// What the list did not show, and why that is the point.
fn write_words(
    out: &mut impl Write,
    release: &Release<Bytes>,
    stream: &[Cow<'static, str>],
    truth: &Truth<'_>,
    screen: &Screen,
) -> io::Result<()> {
    let once = truth.values().filter(|count| **count == 1).count() as u64;
    let gone = TRENDS[0].search;
    let past = stream.iter().filter(|search| *search == gone).count() as u64;
    let words = format!(
        "In plain words: whoever reads this list learns next to nothing about any one search. Had one of them been \
         different, any list would be at most {} as likely or unlikely as it is now (e to the epsilon), \
         but for a chance of one in a billion. {} searches that were made only once stay unseen. \
         \"{gone}\", searched {} times, is not listed either: it had left the window.",
        likelier(release.epsilon),
        grouped(once),
        grouped(past),
    );
    writeln!(out)?;
    write_wrapped(out, "", &words, screen.width, Style::new())?;
    writeln!(
        out,
        "\nNext: frostpane list FILE   (one event a line; more with frostpane list --help)\n\
         To protect people, and not single searches: frostpane demo --per-user 4"
    )
}

/// Makes up searches: many combinations of words, short ones popular; the trends; and parcels.
struct Searches {
    searches: Vec<&'static str>,
    cumulative: Vec<f64>,
    chance: Chance,
}

impl Searches {
    fn new() -> Self {
        let mut made = Self {
            searches: Vec::new(),
            cumulative: Vec::new(),
            chance: Chance(SEED),
        };
        let mut ranked: Vec<(f64, String)> = Vec::new();
        for (subject, intent) in SUBJECTS
            .iter()
            .flat_map(|subject| INTENTS.map(|intent| (*subject, intent)))
        {
            for place in PLACES {
                let words: Vec<&str> = [subject, intent, place]
                    .into_iter()
                    .filter(|word| !word.is_empty())
                    .collect();
                ranked.push((words.len() as f64 + 1.5 * made.chance.uniform(), words.join(" ")));
            }
        }
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut sum = 0.0;
        for (rank, (_, search)) in ranked.into_iter().enumerate() {
            sum += (rank as f64 + 5.0).powf(-1.05);
            made.cumulative.push(sum);
            made.searches.push(search.leak());
        }
        made
    }

    fn stream(mut self) -> impl Iterator<Item = Cow<'static, str>> {
        (0..EVENTS).map(move |event| self.next(event as f64 / EVENTS as f64))
    }

    fn next(&mut self, along: f64) -> Cow<'static, str> {
        let mut point = self.chance.uniform();
        for trend in &TRENDS {
            let share = (trend.share)(along);
            if point < share {
                return trend.search.into();
            }
            point -= share;
        }
        if self.chance.uniform() * PARCELS < 1.0 {
            let number = (self.chance.uniform() * f64::from(PARCEL_NUMBERS)) as u32;
            return format!("where is parcel {number:08}").into();
        }
        let total = self.cumulative[self.cumulative.len() - 1];
        let target = self.chance.uniform() * total;
        let rank = self.cumulative.partition_point(|sum| *sum <= target);
        self.searches[rank.min(self.searches.len() - 1)].into()
    }
}

/// What is made up has to be repeatable, not secret.
struct Chance(u64);

impl Chance {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
