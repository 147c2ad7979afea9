//! The made-up searches as those of people: when, whose and which.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;

use super::{Chance, EVENTS, Searches};

const DAYS: u64 = 30;
const EVENTS_A_DAY: u64 = EVENTS / DAYS;
/// How many searches of a thousand are made in each hour of a day.
const HOURS: [u64; 24] = [
    15, 9, 6, 5, 6, 12, 25, 42, 53, 55, 54, 54, 56, 54, 52, 52, 54, 58, 64, 70, 72, 62, 43, 27,
];
/// The first of November 2025, in seconds since 1970.
const FIRST_DAY: u64 = 1_761_955_200;

/// The first moment after them.
pub const END: Timestamp = Timestamp::constant((FIRST_DAY + DAYS * 86_400) as i64, 0);

/// Not the generator of the searches, which are the same with users and without.
const SEED: u64 = 11;
/// One user is a program: two thirds of this search are its own.
pub const WATCHED: &str = "news bonn";
const WATCHERS_SHARE: f64 = 2.0 / 3.0;

/// A made-up search of somebody.
pub struct Search {
    pub time: Time,
    pub user: User,
    pub search: Cow<'static, str>,
}

/// The searches of the demo, in the order of time; only the users depend on the habits.
pub fn searches(habits: Habits) -> impl Iterator<Item = Search> {
    let mut users = Users {
        habits,
        chance: Chance(SEED),
    };
    (0..)
        .zip(Searches::new().stream())
        .map(move |(event, search)| Search {
            time: Time::of(event),
            user: users.next(&search),
            search,
        })
}

/// A second of November 2025.
pub struct Time {
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

    /// The day of the month.
    pub fn day(&self) -> u64 {
        self.day
    }

    /// In microseconds since 1970.
    pub fn micros(&self) -> i64 {
        let hours = 24 * (self.day - 1) + self.hour as u64;
        (FIRST_DAY + 3_600 * hours + self.second) as i64 * 1_000_000
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

/// Somebody, by a number that tells nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(u64);

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{:06}", self.0)
    }
}

/// How searches fall to people.
#[derive(Clone, Copy)]
pub enum Habits {
    /// Of a large city: most people search a few times in the month, some of them thousands of times.
    Scattered,
    /// Of a town: most people search a few times a day, a few per cent of them hundreds of times.
    Busy,
}

impl Habits {
    const CITY: f64 = 250_000.0;
    const TOWN: f64 = 12_000.0;
    /// Of the town, who search all day, and their share of all searches.
    const BUSY: f64 = 300.0;
    const BUSY_SHARE: f64 = 0.6;

    /// The rank of whoever searches next.
    fn rank(self, chance: &mut Chance) -> f64 {
        let point = chance.uniform();
        match self {
            Habits::Scattered => Self::CITY * point * point,
            Habits::Busy if point < Self::BUSY_SHARE => Self::BUSY * point / Self::BUSY_SHARE,
            Habits::Busy => {
                let point = (point - Self::BUSY_SHARE) / (1.0 - Self::BUSY_SHARE);
                Self::BUSY + Self::TOWN * point * point
            }
        }
    }
}

/// Makes up who searches.
struct Users {
    habits: Habits,
    chance: Chance,
}

impl Users {
    fn next(&mut self, search: &str) -> User {
        let rank = if search == WATCHED && self.chance.uniform() < WATCHERS_SHARE {
            0.0
        } else {
            self.habits.rank(&mut self.chance)
        };
        // Prime to the modulus, so that every rank has its own number, which does not tell the rank.
        User((rank as u64 + 1) * 499_979 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_few_per_cent_of_the_town_search_hundreds_of_times_a_day_and_most_a_few_times() {
        let mut days: HashMap<u64, HashMap<User, u64>> = HashMap::new();
        for Search { time, user, .. } in searches(Habits::Busy) {
            *days.entry(time.day).or_default().entry(user).or_default() += 1;
        }
        assert_eq!(days.len(), 30);
        for (day, users) in days {
            let mut counts: Vec<u64> = users.into_values().collect();
            counts.sort_unstable();
            let busy = counts.iter().filter(|count| **count >= 100).count();
            assert!(
                (2 * counts.len()..5 * counts.len()).contains(&(100 * busy)),
                "day {day}: {busy} of {}",
                counts.len()
            );
            assert!(counts[counts.len() / 2] <= 5, "day {day}");
        }
    }

    #[test]
    fn a_time_is_the_same_as_a_number_and_as_a_text() {
        for time in [0, 1, 12_345, EVENTS / 2, EVENTS - 1].map(Time::of) {
            let read: jiff::Timestamp = time.to_string().parse().unwrap();
            assert_eq!(read.as_microsecond(), time.micros());
        }
    }
}
