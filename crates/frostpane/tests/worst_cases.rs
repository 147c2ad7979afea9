//! How often anything that a release says is untrue, on the streams that are worst for it: as many keys as there
//! can be stand where noise is most likely to make it so. `--nocapture` shows the shares: far below the chance that is
//! allowed a release is more careful than it need be.
//!
//! With about 70 limits, a false alarm in fewer than one in 10,000 runs of all of them.

use crate::common::{most_failures, norm_of};
use frostpane::internals::InsecureSeededEntropy;
use frostpane::{Builder, Edge, Event, HeavyHitters, Keys, Norm, Release, Window};

const EVENTS: u64 = 20_000;
/// The chance of an untrue statement.
const UNTRUE: f64 = 0.05;
const FALSE_ALARM: f64 = 1e-6;
/// Steps until a stream has the counts that its own release speaks of, and how many of them are averaged.
const STEPS: usize = 24;
const SETTLED: usize = 8;

/// How many releases to make of each stream.
fn releases() -> u64 {
    match std::env::var_os("FROSTPANE_LONG") {
        Some(_) => 10_000,
        None => 600,
    }
}

/// How often each key occurs, from key 0 on. The other events have none.
struct Stream {
    counts: Vec<u64>,
    /// Whether keys take turns, so that every pane has all of them.
    in_turns: bool,
}

impl Stream {
    /// As many keys with this count as there is room for.
    fn full_of(count: u64, most_keys: u64, in_turns: bool) -> Self {
        let count = count.clamp(1, EVENTS);
        let keys = (EVENTS / count).min(most_keys);
        Self {
            counts: vec![count; keys as usize],
            in_turns,
        }
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

    /// Whether the intervals, `complete_above`, `nothing_below` and the promises that are made are all true of it.
    fn bears_out(&self, release: &Release<u64>) -> bool {
        let listed = |least: u64| {
            let frequent = release
                .heavy
                .iter()
                .filter(|heavy| self.truth(heavy.key) >= least);
            frequent.count() == self.counts.iter().filter(|count| **count >= least).count()
        };
        let line = release
            .alpha
            .map(|alpha| alpha * norm_of(release.norm, self.counts_and_rest(release.norm)));
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

    /// L1 is of all events, those without a key included.
    fn counts_and_rest(&self, norm: Norm) -> impl Iterator<Item = u64> {
        let rest = match norm {
            Norm::L1 => EVENTS - self.counts.iter().sum::<u64>(),
            Norm::L2 => 0,
        };
        self.counts.iter().copied().chain([rest])
    }
}

/// What is asked for.
#[derive(Clone)]
struct Setting {
    name: &'static str,
    builder: Builder<u64>,
    /// How many keys there can be.
    universe: u64,
    in_turns: bool,
}

impl Setting {
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
        Self {
            name,
            builder: change(builder),
            universe,
            in_turns: false,
        }
    }

    fn hitters(&self, stream: &Stream) -> HeavyHitters<u64> {
        let mut hitters = self.builder.clone().build().unwrap();
        let events = stream.keys().into_iter().map(|key| Event {
            time: None,
            key,
            user: None,
        });
        hitters.extend(events).unwrap();
        hitters
    }

    /// As many keys as there can be, all with the count that a release of that stream speaks of.
    fn all_at(&self, count: fn(&Release<u64>) -> u64) -> Stream {
        let full_of = |count| Stream::full_of(count, self.universe, self.in_turns);
        let mut counts = vec![500];
        for step in 0..STEPS {
            let mut entropy = InsecureSeededEntropy::new(step as u64);
            let mut hitters = self.hitters(&full_of(counts[step]));
            let release = hitters.release_with_entropy(EVENTS, &mut entropy).unwrap();
            counts.push(count(&release));
        }
        let settled: u64 = counts.iter().rev().take(SETTLED).sum();
        full_of((settled + SETTLED as u64 / 2) / SETTLED as u64)
    }

    fn check(&self, name: &str, stream: &Stream) {
        let mut hitters = self.hitters(stream);
        let mut entropy = InsecureSeededEntropy::new(1);
        let (mut untrue, mut listed) = (0, 0);
        for _ in 0..releases() {
            let release = hitters.release_with_entropy(EVENTS, &mut entropy).unwrap();
            untrue += u64::from(!stream.bears_out(&release));
            listed += release.heavy.len();
        }
        let share = untrue as f64 / releases() as f64;
        println!(
            "{:<26} {name:<34} {:>6} keys of {:>5}, {:>8.1} listed, untrue {share:.4}{}",
            self.name,
            stream.counts.len(),
            stream.counts[0],
            listed as f64 / releases() as f64,
            if share < UNTRUE / 10.0 {
                "  (below a tenth)"
            } else {
                ""
            }
        );
        let limit = most_failures(releases(), UNTRUE, FALSE_ALARM);
        assert!(
            untrue <= limit,
            "{}, {name}: {untrue} of {} releases untrue, {limit} allowed",
            self.name,
            releases()
        );
    }

    /// The streams that are worst for a list of all that passes a threshold.
    fn check_all(&self) {
        self.check(
            "all at complete_above",
            &self.all_at(|release| release.complete_above),
        );
        self.check("all at the threshold", &self.all_at(|release| release.threshold));
        self.check(
            "all just below nothing_below",
            &self.all_at(|release| release.nothing_below.max(2) - 1),
        );
        self.check("all far above the threshold", &self.far_above());
        self.check_simple();
    }

    /// Noise of either sign leaves every key on the list.
    fn far_above(&self) -> Stream {
        self.all_at(|release| release.threshold + release.cut + 2 * release.noise)
    }

    fn check_simple(&self) {
        let stream = |keys: u64, count: u64| Stream {
            counts: vec![count; keys as usize],
            in_turns: self.in_turns,
        };
        self.check("a hundred of equal counts", &stream(100, EVENTS / 100));
        self.check("one key", &stream(1, EVENTS));
        self.check("all different", &stream(EVENTS.min(self.universe), 1));
    }

    fn with_top(&self, keys: usize) -> Self {
        Self {
            builder: self.builder.clone().top(keys as u64),
            ..self.clone()
        }
    }

    /// The streams that are worst for a list that is full.
    fn check_top(&self) {
        let (twenty, with_room) = (self.with_top(20), self.with_top(1_000_000));
        twenty.check(
            "all at the threshold",
            &with_room.all_at(|release| release.threshold),
        );
        twenty.check("all far above the threshold", &with_room.far_above());
        let (stream, keys) = with_room.frequent_keys_and_rivals();
        self.with_top(keys)
            .check("frequent keys and a few rivals", &stream);
        twenty.check_simple();
    }

    /// Keys that are just frequent enough to be listed, and how many: as many as the list will have room for. A few others push
    /// one of them off it, if its noise is what it must not be.
    fn frequent_keys_and_rivals(&self) -> (Stream, usize) {
        let mut stream = self.all_at(|release| release.complete_above + 5);
        let mut entropy = InsecureSeededEntropy::new(1);
        let release = self
            .hitters(&stream)
            .release_with_entropy(EVENTS, &mut entropy)
            .unwrap();
        let (frequent, rivals) = (stream.counts[0], 3);
        let shortfall = release.complete_above - release.threshold;
        let keys = stream.counts.len() - rivals;
        stream.counts[keys..].fill(frequent - shortfall - 4);
        (stream, keys)
    }
}

#[test]
fn open_keys_relative_to_l1() {
    Setting::open("open, L1 0.001", |builder| builder.norm(Norm::L1).alpha(0.001)).check_all();
    Setting::open("open, L1 0.01", |builder| builder.norm(Norm::L1).alpha(0.01)).check_all();
}

#[test]
fn open_keys_relative_to_l2() {
    Setting::open("open, L2 0.05", |builder| builder.alpha(0.05)).check_all();
}

#[test]
fn all_open_keys() {
    Setting::open("open, all", |builder| builder.all()).check_all();
}

#[test]
fn the_top_of_open_keys() {
    Setting::open("open, top", |builder| builder).check_top();
}

/// With so few entries something is cut off the count of each key in every pane.
#[test]
fn open_keys_that_are_cut() {
    let cut = Setting {
        in_turns: true,
        ..Setting::open("open, all, cut", |builder| builder.all().entries(160))
    };
    cut.check_all();
    let cut = Setting {
        in_turns: true,
        ..Setting::open("open, L2 0.05, cut", |builder| builder.alpha(0.05).entries(160))
    };
    cut.check_all();
}

/// Most of the keys never occur, and many of those are listed for their noise alone.
#[test]
fn declared_keys_relative_to_l1() {
    Setting::declared("declared, L1 0.001", 1_000_000, |builder| {
        builder.norm(Norm::L1).alpha(0.001)
    })
    .check_all();
}

#[test]
fn declared_keys_relative_to_l2() {
    Setting::declared("declared, L2 0.05", 40_000, |builder| builder.alpha(0.05)).check_all();
}

#[test]
fn all_declared_keys() {
    Setting::declared("declared, all", 2_000, |builder| builder.all()).check_all();
}

#[test]
fn the_top_of_declared_keys() {
    Setting::declared("declared, top", 2_000, |builder| builder).check_top();
}
