//! Made-up searches of the demo, with times and users.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;

pub const EVENTS: u64 = 3_000_000;
const SEED: u64 = 2_026;

/// One search in this many is for a parcel by its number, and hardly any of these is made twice.
const PARCELS: f64 = 20.0;
const PARCEL_NUMBERS: u32 = 100_000_000;

/// Words that searches are made of, with commas between them.
const SUBJECTS: &str = "\
    weather,train,football,pancakes,guitar,visa,rent,phone,museum,running shoes,coffee,tax,bicycle,\
    jobs,recipe,dentist,laptop,hotel,flights,garden,chess,news,bread,yoga";
const INTENTS: &str = "\
    ,cheap,tomorrow,near me,today,second hand,open now,for beginners,price,reviews,rules,repair,\
    online,tickets,delivery,timetable,meaning,pictures,history,lessons";
const PLACES: &str = "\
    ,lisbon,oslo,turin,lyon,porto,gdansk,malmo,bergen,graz,cork,leeds,delft,ghent,brno,split,tartu,\
    vilnius,varna,chania,palma,bilbao,genoa,basel,bonn,kiel,nantes,tampere,aarhus,utrecht,bruges,\
    riga,zadar,pecs,lodz,cluj,faro,bath,york,nice";

/// A search of the first half of the stream only.
pub const GONE: &str = "world cup final";

/// A search whose share of all searches changes along the stream.
struct SearchTrend {
    search: &'static str,
    /// The share at a point of the stream between 0 and 1.
    share: fn(f64) -> f64,
}

const TRENDS: [SearchTrend; 4] = [
    SearchTrend { search: GONE, share: |x| if x < 0.5 { 0.03 } else { 0.0 } },
    SearchTrend { search: "snow tomorrow", share: |x| 0.02 * (x - 0.5).max(0.0) * 2.0 },
    SearchTrend { search: "power cut", share: |x| if (0.93..0.95).contains(&x) { 0.2 } else { 0.0 } },
    SearchTrend { search: "summer festival", share: |x| 0.02 * (1.0 - x) },
];

const DAYS: u64 = 30;
const EVENTS_A_DAY: u64 = EVENTS / DAYS;
/// Searches of a thousand by the hour of the day.
const HOURS: [u64; 24] =
    [15, 9, 6, 5, 6, 12, 25, 42, 53, 55, 54, 54, 56, 54, 52, 52, 54, 58, 64, 70, 72, 62, 43, 27];
/// The first of November 2025, in seconds since 1970.
const FIRST_DAY: u64 = 1_761_955_200;

/// The end of the stream.
pub const END: Timestamp = Timestamp::constant((FIRST_DAY + DAYS * 86_400) as i64, 0);

/// Users have a generator of their own: searches are the same whatever the habits are.
const USER_SEED: u64 = 11;
/// One user is a program that makes two thirds of these searches.
pub const WATCHED: &str = "news bonn";
const WATCHERS_SHARE: f64 = 2.0 / 3.0;

pub struct MadeUpSearch {
    pub time: SearchTime,
    pub user: MadeUpUser,
    pub search: Cow<'static, str>,
}

/// The searches of the demo, in the order of time; only the users depend on the habits.
pub fn searches(habits: Habits) -> impl Iterator<Item = MadeUpSearch> {
    let mut searches = SearchMaker::new();
    let mut users = UserMaker { habits, random: Lcg(USER_SEED) };
    (0..EVENTS).map(move |event| {
        let search = searches.next(event as f64 / EVENTS as f64);
        MadeUpSearch { time: SearchTime::of(event), user: users.next(&search), search }
    })
}

/// A second of November 2025.
pub struct SearchTime {
    day: u64,
    hour: usize,
    second: u64,
}

impl SearchTime {
    /// When an event takes place follows from its number alone: times are public.
    fn of(event: u64) -> Self {
        let mut left = event % EVENTS_A_DAY;
        let mut hour = 0;
        let events = |hour: usize| EVENTS_A_DAY * HOURS[hour] / 1_000;
        while left >= events(hour) {
            left -= events(hour);
            hour += 1;
        }
        Self { day: 1 + event / EVENTS_A_DAY, hour, second: 3_600 * left / events(hour) }
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

impl fmt::Display for SearchTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { day, hour, second } = self;
        write!(f, "2025-11-{day:02}T{hour:02}:{:02}:{:02}Z", second / 60, second % 60)
    }
}

/// A user, by a number that tells nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MadeUpUser(u64);

impl fmt::Display for MadeUpUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{:06}", self.0)
    }
}

/// The distribution of searches over users.
#[derive(Clone, Copy)]
pub enum Habits {
    /// A large city: most users search a few times in the month, some of them thousands of times.
    Scattered,
    /// A town: most users search a few times a day, a few per cent of them hundreds of times.
    Busy,
}

impl Habits {
    const CITY: f64 = 250_000.0;
    const TOWN: f64 = 12_000.0;
    /// Users of the town who search all day, and their share of all searches.
    const BUSY: f64 = 300.0;
    const BUSY_SHARE: f64 = 0.6;

    /// The rank of the next user.
    fn rank(self, random: &mut Lcg) -> f64 {
        let point = random.uniform();
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

struct UserMaker {
    habits: Habits,
    random: Lcg,
}

impl UserMaker {
    fn next(&mut self, search: &str) -> MadeUpUser {
        let rank = if search == WATCHED && self.random.uniform() < WATCHERS_SHARE {
            0.0
        } else {
            self.habits.rank(&mut self.random)
        };
        // Prime to the modulus, so that every rank has its own number, which does not tell the rank.
        MadeUpUser((rank as u64 + 1) * 499_979 % 1_000_000)
    }
}

/// Makes up searches: many combinations of words, short ones popular; the trends; and parcels.
struct SearchMaker {
    searches: Vec<&'static str>,
    cumulative: Vec<f64>,
    random: Lcg,
}

impl SearchMaker {
    fn new() -> Self {
        let mut made = Self { searches: Vec::new(), cumulative: Vec::new(), random: Lcg(SEED) };
        let mut ranked: Vec<(f64, String)> = Vec::new();
        for subject in SUBJECTS.split(',') {
            for intent in INTENTS.split(',') {
                for place in PLACES.split(',') {
                    let mut words = vec![subject, intent, place];
                    words.retain(|word| !word.is_empty());
                    ranked.push((words.len() as f64 + 1.5 * made.random.uniform(), words.join(" ")));
                }
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

    fn next(&mut self, along: f64) -> Cow<'static, str> {
        let mut point = self.random.uniform();
        for trend in &TRENDS {
            let share = (trend.share)(along);
            if point < share {
                return trend.search.into();
            }
            point -= share;
        }
        if self.random.uniform() * PARCELS < 1.0 {
            let number = (self.random.uniform() * f64::from(PARCEL_NUMBERS)) as u32;
            return format!("where is parcel {number:08}").into();
        }
        let total = self.cumulative[self.cumulative.len() - 1];
        let target = self.random.uniform() * total;
        let rank = self.cumulative.partition_point(|sum| *sum <= target);
        self.searches[rank.min(self.searches.len() - 1)].into()
    }
}

/// A linear congruential generator: made-up searches are repeatable, not secret.
struct Lcg(u64);

impl Lcg {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_few_per_cent_of_the_town_search_hundreds_of_times_a_day_and_most_a_few_times() {
        let mut days: HashMap<u64, HashMap<MadeUpUser, u64>> = HashMap::new();
        for MadeUpSearch { time, user, .. } in searches(Habits::Busy) {
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
        for time in [0, 1, 12_345, EVENTS / 2, EVENTS - 1].map(SearchTime::of) {
            let read: Timestamp = time.to_string().parse().unwrap();
            assert_eq!(read.as_microsecond(), time.micros());
        }
    }
}
