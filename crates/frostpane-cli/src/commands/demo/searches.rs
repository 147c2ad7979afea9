//! Made-up searches of the demo, with times and users.

use std::borrow::Cow;

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
/// Users have a generator of their own.
const USER_SEED: u64 = 11;
/// Most users search a few times in the month, some of them thousands of times.
const USERS: f64 = 250_000.0;
/// One user is a program that makes two thirds of these searches.
const WATCHED: &str = "news bonn";
const WATCHERS_SHARE: f64 = 2.0 / 3.0;

pub struct MadeUpSearch {
    pub number: u64,
    /// A number that tells nothing else.
    pub user: u64,
    pub search: Cow<'static, str>,
}

pub fn searches() -> impl Iterator<Item = MadeUpSearch> {
    let mut searches = SearchMaker::new();
    let mut random = Lcg(USER_SEED);
    (0..EVENTS).map(move |number| {
        let search = searches.next(number as f64 / EVENTS as f64);
        MadeUpSearch { number, user: user_of(&search, &mut random), search }
    })
}

fn user_of(search: &str, random: &mut Lcg) -> u64 {
    let rank = if search == WATCHED && random.uniform() < WATCHERS_SHARE {
        0.0
    } else {
        let point = random.uniform();
        USERS * point * point
    };
    // Prime to the modulus, so that every rank has its own number, which does not tell the rank.
    (rank as u64 + 1) * 499_979 % 1_000_000
}

impl MadeUpSearch {
    /// A second of November 2025, which follows from the number alone: times are public.
    pub fn time(&self) -> String {
        let events = |hour: usize| EVENTS_A_DAY * HOURS[hour] / 1_000;
        let (mut left, mut hour) = (self.number % EVENTS_A_DAY, 0);
        while left >= events(hour) {
            left -= events(hour);
            hour += 1;
        }
        let (day, second) = (1 + self.number / EVENTS_A_DAY, 3_600 * left / events(hour));
        format!("2025-11-{day:02}T{hour:02}:{:02}:{:02}Z", second / 60, second % 60)
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
