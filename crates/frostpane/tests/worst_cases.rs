//! The rate of untrue statements on worst-case streams: as many keys as possible have the count at which
//! noise is most likely to make a statement untrue. `--nocapture` prints the rates; one far below the allowed
//! chance shows a bound that is too loose.
//!
//! With about 70 limits, a false alarm in fewer than one in 10,000 runs of all of them.

use crate::common::{most_failures, norm_of, releases};
use frostpane::testing::InsecureSeededEntropy;
use frostpane::{Builder, Edge, Event, HeavyHitters, Keys, Norm, Release, Window};

const EVENTS: u64 = 20_000;
/// The chance of an untrue statement.
const UNTRUE: f64 = 0.05;
const FALSE_ALARM: f64 = 1e-6;
/// Steps until the counts of a stream agree with its own release, and the number of last steps averaged.
const STEPS: usize = 24;
const SETTLED: usize = 8;

/// Counts of keys from key 0 on. The other events have no key.
struct CountedStream {
    counts: Vec<u64>,
    /// True if keys alternate, so that every pane has all of them.
    in_turns: bool,
}

impl CountedStream {
    /// As many keys with this count as there is room for.
    fn full_of(count: u64, most_keys: u64, in_turns: bool) -> Self {
        let count = count.clamp(1, EVENTS);
        Self { counts: vec![count; (EVENTS / count).min(most_keys) as usize], in_turns }
    }

    fn keys(&self) -> Vec<Option<u64>> {
        let mut places: Vec<(u64, u64)> = Vec::new();
        for (key, count) in self.counts.iter().enumerate() {
            // Evenly over the stream.
            let turn = |i: u64| if self.in_turns { i * EVENTS / count } else { 0 };
            places.extend((0..*count).map(|i| (turn(i), key as u64)));
        }
        places.sort_unstable();
        let mut keys: Vec<_> = places.into_iter().map(|(_, key)| Some(key)).collect();
        assert!(keys.len() as u64 <= EVENTS);
        keys.resize(EVENTS as usize, None);
        keys
    }

    fn truth(&self, key: u64) -> u64 {
        self.counts.get(key as usize).copied().unwrap_or(0)
    }

    /// Returns true if the intervals, `complete_above`, `nothing_below` and the promises made are all true.
    fn bears_out(&self, release: &Release<u64>) -> bool {
        let listed = |least: u64| {
            let frequent = release.heavy.iter().filter(|heavy| self.truth(heavy.key) >= least);
            frequent.count() == self.counts.iter().filter(|count| **count >= least).count()
        };
        let line =
            release.alpha.map(|alpha| alpha * norm_of(release.norm, self.counts_and_rest(release.norm)));
        let right = |line: f64| {
            release.heavy.iter().all(|heavy| {
                let truth = self.truth(heavy.key) as f64;
                truth > line / 2.0 && (heavy.count as f64 - truth).abs() <= line / 4.0
            })
        };
        let kept = |line: f64| listed((line.ceil() as u64).max(1)) && right(line);
        let stated = release.heavy.iter().all(|heavy| {
            let truth = self.truth(heavy.key);
            (heavy.low..=heavy.high).contains(&truth) && truth >= release.nothing_below
        });
        stated && listed(release.complete_above) && (!release.held() || line.is_some_and(kept))
    }

    /// L1 counts all events, also those without a key.
    fn counts_and_rest(&self, norm: Norm) -> impl Iterator<Item = u64> {
        let rest = match norm {
            Norm::L1 => EVENTS - self.counts.iter().sum::<u64>(),
            Norm::L2 => 0,
        };
        self.counts.iter().copied().chain([rest])
    }
}

#[derive(Clone)]
struct WorstCaseSetting {
    name: &'static str,
    builder: Builder<u64>,
    universe: u64,
    in_turns: bool,
}

impl WorstCaseSetting {
    fn open(name: &'static str, change: fn(Builder<u64>) -> Builder<u64>) -> Self {
        Self::new(name, Keys::open(), EVENTS, change)
    }

    fn declared(name: &'static str, universe: u64, change: fn(Builder<u64>) -> Builder<u64>) -> Self {
        Self::new(name, Keys::range(0..universe).unwrap(), universe, change)
    }

    fn new(
        name: &'static str,
        keys: Keys<u64>,
        universe: u64,
        change: fn(Builder<u64>) -> Builder<u64>,
    ) -> Self {
        let builder = HeavyHitters::builder(keys)
            .window(Window::events(EVENTS))
            .until(Edge::Event(EVENTS))
            .releases(20_000);
        Self { name, builder: change(builder), universe, in_turns: false }
    }

    fn hitters(&self, stream: &CountedStream) -> HeavyHitters<u64> {
        let mut hitters = self.builder.clone().build().unwrap();
        let events = stream.keys().into_iter().map(|key| Event { time: None, key, user: None });
        hitters.extend(events).unwrap();
        hitters
    }

    /// As many keys as possible, all with the count that `count` reads from a release of that stream.
    fn all_at(&self, count: fn(&Release<u64>) -> u64) -> CountedStream {
        let full_of = |count| CountedStream::full_of(count, self.universe, self.in_turns);
        let mut counts = vec![500];
        for step in 0..STEPS {
            let mut entropy = InsecureSeededEntropy::new(step as u64);
            let mut hitters = self.hitters(&full_of(counts[step]));
            counts.push(count(&hitters.release_with_entropy(EVENTS, &mut entropy).unwrap()));
        }
        let settled: u64 = counts.iter().rev().take(SETTLED).sum();
        full_of((settled + SETTLED as u64 / 2) / SETTLED as u64)
    }

    fn check(&self, name: &str, stream: &CountedStream) {
        let mut hitters = self.hitters(stream);
        let mut entropy = InsecureSeededEntropy::new(1);
        let (mut untrue, mut listed) = (0, 0);
        let releases = releases(600, 10_000);
        for _ in 0..releases {
            let release = hitters.release_with_entropy(EVENTS, &mut entropy).unwrap();
            untrue += u64::from(!stream.bears_out(&release));
            listed += release.heavy.len();
        }
        let share = untrue as f64 / releases as f64;
        println!(
            "{:<26} {name:<34} {:>6} keys of {:>5}, {:>8.1} listed, untrue {share:.4}{}",
            self.name,
            stream.counts.len(),
            stream.counts[0],
            listed as f64 / releases as f64,
            if share < UNTRUE / 10.0 { "  (below a tenth)" } else { "" }
        );
        let limit = most_failures(releases, UNTRUE, FALSE_ALARM);
        assert!(
            untrue <= limit,
            "{}, {name}: {untrue} of {releases} releases untrue, {limit} allowed",
            self.name
        );
    }

    /// The worst streams for a list of all keys above a threshold.
    fn check_all(&self) {
        self.check("all at complete_above", &self.all_at(|release| release.complete_above));
        self.check("all at the threshold", &self.all_at(|release| release.threshold));
        self.check("all just below nothing_below", &self.all_at(|release| release.nothing_below.max(2) - 1));
        self.check("all far above the threshold", &self.far_above());
        self.check_simple();
    }

    /// Every key is listed, whatever the sign of its noise.
    fn far_above(&self) -> CountedStream {
        self.all_at(|release| release.threshold + release.cut + 2 * release.noise)
    }

    fn check_simple(&self) {
        let stream = |keys: u64, count: u64| CountedStream {
            counts: vec![count; keys as usize],
            in_turns: self.in_turns,
        };
        self.check("a hundred of equal counts", &stream(100, EVENTS / 100));
        self.check("one key", &stream(1, EVENTS));
        self.check("all different", &stream(EVENTS.min(self.universe), 1));
    }

    fn with_top(&self, keys: usize) -> Self {
        Self { builder: self.builder.clone().top(keys as u64), ..self.clone() }
    }

    /// The worst streams for a full list.
    fn check_top(&self) {
        let (twenty, with_room) = (self.with_top(20), self.with_top(1_000_000));
        twenty.check("all at the threshold", &with_room.all_at(|release| release.threshold));
        twenty.check("all far above the threshold", &with_room.far_above());
        let (stream, keys) = with_room.frequent_keys_and_rivals();
        self.with_top(keys).check("frequent keys and a few rivals", &stream);
        twenty.check_simple();
    }

    /// Keys just frequent enough to be listed, and the number of them, which is the length of the list. A few
    /// others displace one of them if its noise is too low.
    fn frequent_keys_and_rivals(&self) -> (CountedStream, usize) {
        let mut stream = self.all_at(|release| release.complete_above + 5);
        let mut entropy = InsecureSeededEntropy::new(1);
        let release = self.hitters(&stream).release_with_entropy(EVENTS, &mut entropy).unwrap();
        let (frequent, rivals) = (stream.counts[0], 3);
        let shortfall = release.complete_above - release.threshold;
        let keys = stream.counts.len() - rivals;
        stream.counts[keys..].fill(frequent - shortfall - 4);
        (stream, keys)
    }
}

#[test]
fn open_keys_relative_to_l1() {
    WorstCaseSetting::open("open, L1 0.001", |builder| builder.norm(Norm::L1).alpha(0.001)).check_all();
    WorstCaseSetting::open("open, L1 0.01", |builder| builder.norm(Norm::L1).alpha(0.01)).check_all();
}

#[test]
fn open_keys_relative_to_l2() {
    WorstCaseSetting::open("open, L2 0.05", |builder| builder.alpha(0.05)).check_all();
}

#[test]
fn all_open_keys() {
    WorstCaseSetting::open("open, all", |builder| builder.all()).check_all();
}

#[test]
fn the_top_of_open_keys() {
    WorstCaseSetting::open("open, top", |builder| builder).check_top();
}

/// With so few entries every count in every pane is cut.
#[test]
fn open_keys_that_are_cut() {
    for cut in [
        WorstCaseSetting::open("open, all, cut", |builder| builder.all().entries(160)),
        WorstCaseSetting::open("open, L2 0.05, cut", |builder| builder.alpha(0.05).entries(160)),
    ] {
        WorstCaseSetting { in_turns: true, ..cut }.check_all();
    }
}

/// Most keys never occur, and many of those are listed for their noise alone.
#[test]
fn declared_keys_relative_to_l1() {
    WorstCaseSetting::declared("declared, L1 0.001", 1_000_000, |builder| {
        builder.norm(Norm::L1).alpha(0.001)
    })
    .check_all();
}

#[test]
fn declared_keys_relative_to_l2() {
    WorstCaseSetting::declared("declared, L2 0.05", 40_000, |builder| builder.alpha(0.05)).check_all();
}

#[test]
fn all_declared_keys() {
    WorstCaseSetting::declared("declared, all", 2_000, |builder| builder.all()).check_all();
}

#[test]
fn the_top_of_declared_keys() {
    WorstCaseSetting::declared("declared, top", 2_000, |builder| builder).check_top();
}
