//! `frostpane demo --save`: the made-up searches as a file, each with a time and a user.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use super::{Chance, EVENTS, Searches};
use crate::draft::Draft;
use crate::failure::{Failure, Result};
use crate::units::grouped;
use crate::warnings::tell;

const DAYS: u64 = 30;
const EVENTS_A_DAY: u64 = EVENTS / DAYS;
/// How many searches of a thousand are made in each hour of a day.
const HOURS: [u64; 24] = [
    15, 9, 6, 5, 6, 12, 25, 42, 53, 55, 54, 54, 56, 54, 52, 52, 54, 58, 64, 70, 72, 62, 43, 27,
];

const USERS: f64 = 250_000.0;
/// Not the generator of the searches, which are the same with users and without.
const SEED: u64 = 11;
/// One user is a program: two thirds of this search are its own.
const WATCHED: &str = "news bonn";
const WATCHERS_SHARE: f64 = 2.0 / 3.0;

pub fn run(file: &Path) -> Result<()> {
    let separator = separator(file)?;
    if file.exists() {
        return Err(Failure::Message(format!(
            "{} is there already, and is not replaced by made-up searches: give another name, or remove it first",
            file.display()
        )));
    }
    let mut draft = Draft::create("searches", file)?;
    let written = write(&mut draft, separator);
    draft.finish(written)?;
    tell(format_args!(
        "{} made-up searches of November 2025 are in {name}, with their times and users; \
         next: frostpane list --key search --time time --window 7d --until 2025-12-01 --top 20 {name}",
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

fn write(out: &mut impl Write, separator: char) -> io::Result<()> {
    writeln!(out, "time{separator}user{separator}search")?;
    let mut users = Users(Chance(SEED));
    for (event, search) in (0..).zip(Searches::new().stream()) {
        let (time, user) = (Time::of(event), users.next(&search));
        writeln!(out, "{time}{separator}u{user:06}{separator}{search}")?;
    }
    Ok(())
}

/// A second of November 2025.
struct Time {
    day: u64,
    hour: usize,
    second: u64,
}

impl Time {
    /// When an event takes place follows from its number alone: times are public.
    fn of(event: u64) -> Self {
        let mut left = event % EVENTS_A_DAY;
        let mut hour = 0;
        let events = |hour: usize| EVENTS_A_DAY * HOURS[hour] / 1_000;
        while left >= events(hour) {
            left -= events(hour);
            hour += 1;
        }
        Self {
            day: 1 + event / EVENTS_A_DAY,
            hour,
            second: 3_600 * left / events(hour),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { day, hour, second } = self;
        write!(
            f,
            "2025-11-{day:02}T{hour:02}:{:02}:{:02}Z",
            second / 60,
            second % 60
        )
    }
}

/// Makes up who searches: most people a few times, some of them thousands of times.
struct Users(Chance);

impl Users {
    fn next(&mut self, search: &str) -> u64 {
        let rank = if search == WATCHED && self.0.uniform() < WATCHERS_SHARE {
            0.0
        } else {
            let point = self.0.uniform();
            USERS * point * point
        };
        // Prime to the modulus, so that every rank has its own number, which does not tell the rank.
        (rank as u64 + 1) * 499_979 % 1_000_000
    }
}
