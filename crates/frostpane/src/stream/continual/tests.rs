//! Every number of a sequence, and what its proof claims.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::*;
use crate::error::ErrorKind;
use crate::key::Keys;
use crate::noise::{DiscreteLaplace, Entropy, InsecureSeededEntropy, Inversion};
use crate::privacy::Epsilon;
use crate::release::Estimator;
use crate::release::continual::ContinualInfo;
use crate::release::noise_tree::Tree;
use crate::release::noise_tree::node_key::Purpose;
use crate::spec::{Edge, Norm, Policy, Window};
use crate::stream::HeavyHitters;

/// Where and when each node's count of each key is: the noise-free vector that noise is added to.
type Vector = HashMap<(u32, i64, u64), i64>;

fn continual(entries: u32) -> Continual<u64> {
    HeavyHitters::builder(Keys::range(0..3).unwrap())
        .norm(Norm::L1)
        .alpha(0.1)
        .entries(entries)
        .window(Window::events(300).slide(2))
        .continual()
        .unwrap()
}

fn vector(entries: u32, tree: Tree, stream: &[Option<u64>]) -> Vector {
    let mut continual = continual(entries);
    let mut vector = Vector::new();
    for key in stream {
        let add_nodes = |continual: &Continual<u64>| {
            for span in tree.ending_with(continual.counter.open() - 1) {
                let nodes = WindowNodes { panes: span.start..span.end, ..continual.nodes.window().unwrap() };
                for pane in nodes.panes_in(&continual.counter.intake.timeline) {
                    for (key, count) in pane.counts().iter() {
                        *vector.entry((span.level, span.start, key)).or_default() += count as i64;
                    }
                }
            }
        };
        continual.push(Event { time: None, key: *key, user: None }, add_nodes).unwrap();
    }
    vector
}

/// All streams of six events of two keys or none across the border of two nodes, and all their neighbours, with exact
/// panes and with panes that are cut: noise is drawn for exactly as much as the vector of all nodes moves.
#[test]
fn noise_is_for_as_much_as_all_nodes_move() {
    let sequence = &continual(2).releaser;
    let tree = Tree::for_window(150);
    assert_eq!(tree.levels(), 2);
    let branching = tree.branching() as usize;
    let keys = [None, Some(0), Some(1)];
    let mut streams = vec![vec![None; 2 * branching - 4]];
    for _ in 0..6 {
        let grown = |stream: &Vec<Option<u64>>| keys.map(|key| [&stream[..], &[key]].concat());
        streams = streams.iter().flat_map(grown).collect();
    }
    streams.iter_mut().for_each(|stream| stream.resize(4 * branching, None));
    for entries in [1, 2] {
        let vectors: Vec<Vector> = streams.iter().map(|stream| vector(entries, tree, stream)).collect();
        let mut most = 0;
        for (a, one) in streams.iter().zip(&vectors) {
            for (b, other) in streams.iter().zip(&vectors) {
                if a.iter().zip(b).filter(|(x, y)| x != y).count() == 1 {
                    most = most.max(distance(one, other));
                }
            }
        }
        let epsilon = sequence.request().spec.epsilon.as_f64();
        // A pane of two events that keeps one key loses one of each in the cut.
        let claimed = sequence.continuity().scale * epsilon;
        assert!(most as f64 <= claimed && (entries == 1 || most as f64 == claimed), "{entries} {most}");
    }
}

fn distance(one: &Vector, other: &Vector) -> i64 {
    let places = one.keys().chain(other.keys().filter(|place| !one.contains_key(place)));
    let at = |vector: &Vector, place| vector.get(place).copied().unwrap_or(0);
    places.map(|place| (at(one, place) - at(other, place)).abs()).sum()
}

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    static WORDS_LEFT: Cell<usize> = const { Cell::new(0) };
}

fn seeded() -> Box<dyn Entropy + Send> {
    Box::new(InsecureSeededEntropy::new(SEED.replace(SEED.get() + 1)))
}

struct Failing;

impl Entropy for Failing {
    fn word(&mut self) -> Result<u64> {
        WORDS_LEFT.set(WORDS_LEFT.get().wrapping_sub(1));
        match WORDS_LEFT.get() {
            0 => Err(Error::new(ErrorKind::Entropy, "no entropy")),
            left => Ok(left as u64),
        }
    }
}

fn without_key(continual: &mut Continual<u64>, time: Option<i64>) -> Result<Vec<Release<u64>>> {
    collect(|due| continual.push(Event { time, key: None, user: None }, due))
}

/// Wherever entropy fails and the event is given again, the same comes of it: one by one, in batches and by the clock.
#[test]
fn an_error_means_that_the_event_was_not_counted() {
    let event = |i: i64, time| Event { time, key: (i % 4 > 0).then_some(i as u64 % 5), user: None };
    let by_count: Vec<Event<'_, u64>> = (0..20).map(|i| event(i, None)).collect();
    // Every fifth comes late, and two of them too late.
    let time = |i: i64| if i % 5 == 4 { i - 1 - i / 4 } else { i };
    let by_clock: Vec<Event<'_, u64>> = (0..20).map(|i| event(i, Some(time(i) * 1_000_000))).collect();
    let build = |window: Window| {
        let builder = HeavyHitters::builder(Keys::open()).norm(Norm::L1);
        let builder = builder.epsilon(1e5).delta(0.25).alpha(0.01).window(window);
        builder.continual().unwrap().drawing_from(|| Box::new(Failing))
    };
    let give = |continual: &mut Continual<u64>, events: &[Event<'_, u64>], together: usize| {
        let (mut releases, mut failures) = (Vec::new(), 0);
        let mut show = |continual: &Continual<u64>| releases.push(continual.release().unwrap());
        for batch in events.chunks(together) {
            let mut left = batch.iter().copied();
            let mut take = || match together {
                1 => continual.push(batch[0], &mut show),
                _ => continual.extend(&mut left, &mut show),
            };
            while take().is_err() {
                failures += 1;
            }
        }
        (failures, releases)
    };
    let second = Duration::from_secs(1);
    let slides = |slide| Window::events(12).slide(slide);
    let ways = [
        (slides(4), &by_count, 1),
        (slides(1), &by_count, 1),
        (slides(4), &by_count, 7),
        (slides(1), &by_count, 7),
        (Window::clock(9 * second).slide(3 * second).lateness(second), &by_clock, 1),
    ];
    for (way, (window, events, together)) in ways.into_iter().enumerate() {
        let run = |failing: usize| {
            WORDS_LEFT.set(failing);
            let mut continual = build(window);
            let (failures, releases) = give(&mut continual, events, together);
            (failures, releases, continual.tally().without_key, continual.tally().late)
        };
        let (_, releases, without_key, dropped) = run(0);
        assert!(releases.len() >= 5 && without_key >= 4, "way {way}");
        assert_eq!(dropped > 0, way == 4);
        let mut draws = 0;
        for failing in (1..).step_by(3) {
            let with_failure = run(failing);
            if with_failure.0 == 0 {
                break;
            }
            draws += 1;
            let usual = (1, releases.clone(), without_key, dropped);
            assert_eq!(with_failure, usual, "way {way}, draw {failing} failed");
        }
        assert!(draws >= releases.len(), "way {way}: {draws}");
    }
}

/// The sum of independent discrete Laplace values, by adding up all pairs.
struct Sum {
    reach: i64,
    chances: Vec<f64>,
}

impl Sum {
    fn new(scale: f64, terms: u64) -> Self {
        let reach = ((110.0 + 3.0 * terms as f64) * scale) as i64;
        let q = (-1.0 / scale).exp();
        let chance = |value: i64| (1.0 - q) / (1.0 + q) * q.powi(value.unsigned_abs() as i32);
        let one: Vec<f64> = (-reach..=reach).map(chance).collect();
        let mut chances = one.clone();
        for _ in 1..terms {
            let sum = |value: i64| -> f64 {
                let pairs = (value - reach).max(-reach)..=(value + reach).min(reach);
                pairs
                    .map(|other| chances[(other + reach) as usize] * one[(value - other + reach) as usize])
                    .sum()
            };
            chances = (-reach..=reach).map(sum).collect();
        }
        Self { reach, chances }
    }

    fn tail(&self, m: u64) -> f64 {
        let from = (m as i64 + self.reach) as usize;
        self.chances.get(from..).map_or(0.0, |chances| chances.iter().sum())
    }

    /// The least `m >= 0` that it reaches with at most this chance.
    fn reach(&self, chance: f64) -> u64 {
        (0..).find(|m| self.tail(*m) <= chance).unwrap()
    }
}

struct Case {
    norm: Norm,
    keys: Keys<u64>,
    panes: u64,
    alpha: f64,
    entries: u32,
    counts: [u64; 3],
    cut: u64,
    levels: u64,
    branching: i64,
    nodes: u64,
}

const SLIDE: u64 = 60;
const TOGETHER: u64 = 9;
const DELTA: f64 = 1e-6;
const EPSILON: f64 = 2.0;
const CONFIDENCE: f64 = 0.9;

impl Case {
    fn builder(&self) -> crate::Builder<u64> {
        HeavyHitters::builder(self.keys.clone())
            .norm(self.norm)
            .alpha(self.alpha)
            .epsilon(EPSILON)
            .delta(DELTA)
            .confidence(CONFIDENCE)
            .together(TOGETHER)
            .entries(self.entries)
            .window(Window::events(self.panes * SLIDE).slide(SLIDE))
    }

    fn is_open(&self) -> bool {
        matches!(self.keys, Keys::Open)
    }

    /// Nodes that together are these panes, by level and first pane, the largest that fit from the left.
    fn cover(&self, mut from: i64, to: i64) -> Vec<(u32, i64)> {
        let mut cover = Vec::new();
        while from < to {
            let size = |level: &u32| self.branching.pow(*level);
            let fits = |level: &u32| from % size(level) == 0 && from + size(level) <= to;
            let level = (0..self.levels as u32).rev().find(fits).unwrap();
            cover.push((level, from));
            from += size(&level);
        }
        cover
    }

    fn check(&self, releases: u64) {
        SEED.set(0);
        let mut continual = self.builder().continual().unwrap().drawing_from(seeded);
        let stream = (0..3).flat_map(|key| vec![key; self.counts[key as usize] as usize]);
        let stream: Vec<u64> = stream.collect();
        let mut keys = BTreeMap::new();
        let share = if self.norm == Norm::L1 { 1.0 } else { 0.9 };
        let scale = 2.0 * self.levels as f64 / (share * EPSILON);
        let sum = Sum::new(scale, self.nodes);
        for pane in 0..releases as i64 {
            let last = stream[SLIDE as usize - 1];
            for key in &stream[..SLIDE as usize - 1] {
                assert!(continual.update(*key).unwrap().is_empty());
            }
            let released = continual.update(last).unwrap();
            assert_eq!(released.len(), 1);
            let mut entropy = InsecureSeededEntropy::new(pane as u64);
            for level in 0..self.levels as u32 {
                let size = self.branching.pow(level);
                if (pane + 1) % size == 0 {
                    let key = NodeKey::draw(&mut entropy).unwrap();
                    keys.insert((level, pane + 1 - size), key);
                }
            }
            self.check_release(pane + 1, &released[0], &keys, &sum, scale);
        }
    }

    fn check_release(
        &self,
        number: i64,
        release: &Release<u64>,
        keys: &BTreeMap<(u32, i64), NodeKey>,
        sum: &Sum,
        scale: f64,
    ) {
        let first = (number - self.panes as i64).max(0);
        let panes = (number - first) as u64;
        let events = panes * SLIDE;
        let edge = |pane: i64| Some(Edge::Event(pane as u64 * SLIDE));
        assert_eq!(release.window.events, events);
        assert_eq!((release.window.from, release.window.to), (edge(first), edge(number)));
        assert_eq!(release.asked.from, edge(first));
        assert_eq!(release.asked.slack, Some(0));
        assert_eq!(release.asked.promises, release.promises);
        assert_eq!((release.epsilon, release.confidence), (EPSILON, CONFIDENCE));
        assert_eq!(release.delta, if self.is_open() { DELTA } else { 0.0 });
        assert_eq!((release.policy, release.estimator), (Policy::Uniform, Estimator::Counts));
        assert_eq!((release.norm, release.boundaries_epsilon), (self.norm, 0.0));
        assert_eq!(release.cut, panes * self.cut);

        let made = release.continual.as_ref().unwrap();
        let q = (-1.0 / scale).exp();
        let variance = self.nodes as f64 * 2.0 * q / (1.0 - q).powi(2);
        let expected = ContinualInfo {
            panes: self.panes,
            levels: self.levels as u32,
            nodes: self.nodes,
            scale,
            deviation: made.deviation,
            number: number as u64,
            together: TOGETHER,
            memory: made.memory,
            reason: made.reason.clone(),
        };
        assert_eq!(made, &expected);
        assert!((made.deviation / variance.sqrt() - 1.0).abs() < 1e-9);

        let each = self.counts.map(|count| count.saturating_sub(self.cut));
        let norm = match self.norm {
            Norm::L1 => events as i64,
            Norm::L2 => {
                let squares: u64 = each.iter().map(|count| (panes * count).pow(2)).sum();
                let epsilon = Epsilon::new(EPSILON).unwrap().share(1, 10 * self.panes);
                let latest = &keys[&(0, number - 1)];
                let noise = DiscreteLaplace::new(1, epsilon).sample(&mut latest.entropy(Purpose::Norm));
                squares.isqrt() as i64 + noise.unwrap()
            }
        };
        assert_eq!(release.norm_estimate, norm.clamp(0, events as i64) as u64, "{number}");

        let floor = match self.is_open() {
            true => {
                let chance = |d: u64| self.panes as f64 * (sum.tail(d) + sum.tail(d + 1));
                1 + (1..).find(|d| chance(*d) <= DELTA).unwrap()
            }
            false => 1,
        };
        let threshold = |norm: i64, cut: u64| {
            let asked = (0.75 * self.alpha * norm as f64 - 1e-6).ceil().max(0.0) as u64;
            floor.max(asked.saturating_sub(cut))
        };
        let least = threshold(norm, release.cut);
        assert_eq!(release.threshold, least + release.cut, "{number}");

        let failure = (1.0 - CONFIDENCE) / TOGETHER as f64 * if self.norm == Norm::L1 { 1.0 } else { 0.8 };
        // Noise is shared by panes of two windows but for one.
        let around = ((number as u64).min(2 * self.panes - 1) * SLIDE) as f64;
        let (most, fresh, share) = match &self.keys {
            Keys::Open => (2.0 * around / (1.0 - DELTA), 0.0, 0.5),
            Keys::Declared(universe) => {
                let keys = universe.size() as f64;
                (keys, keys * sum.tail(floor), 0.1)
            }
        };
        let chance = share * failure * TOGETHER as f64 / (TOGETHER + 4 * self.panes) as f64;
        let rare = |count: u64| {
            let single = if self.is_open() { around * sum.tail(floor - 1) } else { 0.0 };
            single <= chance && fresh + around / count as f64 * sum.tail(floor - count) <= chance
        };
        let frequent =
            (1..floor).rev().find(|count| rare(*count)).map(|count| (around / count as f64).max(1.0));
        let of_all = failure / most;
        let chance = frequent.map_or(of_all, |keys| ((1.0 - share) * failure / keys).max(of_all));
        let noise = sum.reach(chance / 2.0) - 1;
        assert_eq!(release.noise, noise, "{number}");
        assert_eq!(release.complete_above, release.threshold + noise);
        assert_eq!(release.nothing_below, least.saturating_sub(noise));
        assert_eq!(release.deviation, Some(made.deviation));

        let cover = self.cover(first, number);
        let mut expected = self.noisy(panes, each, &cover, keys);
        expected.retain(|(_, noisy)| *noisy >= least as i64);
        expected.sort_by_key(|(key, noisy)| (-noisy, *key));
        let interval = |(key, noisy): (u64, i64)| {
            let noisy = noisy as u64;
            (key, noisy + release.cut, noisy.saturating_sub(noise), noisy + release.cut + noise)
        };
        let expected: Vec<_> = expected.into_iter().map(interval).collect();
        let listed: Vec<_> =
            release.heavy.iter().map(|heavy| (heavy.key, heavy.count, heavy.low, heavy.high)).collect();
        assert_eq!(listed, expected, "{number}");
        let full = panes == self.panes;
        assert!(!full || !listed.is_empty(), "{number}: the test has no power");
    }

    fn noisy(
        &self,
        panes: u64,
        each: [u64; 3],
        cover: &[(u32, i64)],
        keys: &BTreeMap<(u32, i64), NodeKey>,
    ) -> Vec<(u64, i64)> {
        let sampler = Inversion::new(DiscreteLaplace::new(
            2 * self.levels as u32,
            match self.norm {
                Norm::L1 => Epsilon::new(EPSILON).unwrap(),
                Norm::L2 => Epsilon::new(EPSILON).unwrap().share(9, 10),
            },
        ));
        let count = |key: u64| (panes * each.get(key as usize).copied().unwrap_or(0)) as i64;
        match &self.keys {
            Keys::Open => (0..3)
                .filter(|key| count(*key) > 0)
                .map(|key| {
                    let noise = |node| {
                        let node: &NodeKey = &keys[node];
                        node.function().noise(&key.to_le_bytes(), &sampler).unwrap()
                    };
                    (key, count(key) + cover.iter().map(noise).sum::<i64>())
                })
                .collect(),
            Keys::Declared(universe) => {
                let mut noisy: Vec<(u64, i64)> = (0..universe.size()).map(|key| (key, count(key))).collect();
                for node in cover {
                    let mut entropy = keys[node].entropy(Purpose::Counts);
                    for (_, noisy) in &mut noisy {
                        *noisy += sampler.sample(&mut entropy).unwrap();
                    }
                }
                noisy
            }
        }
    }
}

fn few(keys: Keys<u64>) -> Case {
    Case {
        norm: Norm::L1,
        keys,
        panes: 4,
        alpha: 0.1,
        entries: 100,
        counts: [35, 20, 5],
        cut: 0,
        levels: 1,
        branching: 2,
        nodes: 4,
    }
}

/// Every number of a release, by other formulas than the code's and with noise from known seeds.
#[test]
fn every_number_of_a_release_is_where_it_should_come_from() {
    few(Keys::open()).check(80);
    few(Keys::range(0..40).unwrap()).check(80);
}

/// Where the floor of open keys is the threshold, and noise of declared keys alone passes; where panes of 60 events that keep two
/// keys are cut by 60/3; for L2; and where 64 panes are grouped by eight.
#[test]
fn every_number_is_right_where_something_else_decides() {
    for (keys, cut_panes, shared_releases) in [(Keys::open(), 16, 150), (Keys::range(0..40).unwrap(), 4, 80)]
    {
        let few = || few(keys.clone());
        let (counts, panes) = ([33, 25, 2], cut_panes);
        Case { alpha: 0.001, ..few() }.check(12);
        Case { counts, entries: 2, cut: 20, panes, nodes: panes, ..few() }.check(2 * panes);
        Case { norm: Norm::L2, panes: 8, nodes: 8, ..few() }.check(24);
        Case { panes: 64, levels: 2, branching: 8, nodes: 15, alpha: 0.01, ..few() }.check(shared_releases);
    }
}

#[test]
fn a_window_by_count_has_no_clock() {
    let mut continual = continual(2);
    assert!(continual.advance_to(0).is_err());
    assert!(continual.update_at(0, 1).is_err());
    assert!(without_key(&mut continual, Some(0)).is_err());
    assert_eq!(continual.update(1).unwrap(), []);
    assert_eq!(continual.update(1).unwrap()[0].window.events, 2);
}

/// Secrets of 150 panes and of whole groups of them, beside what the panes keep.
#[test]
fn memory_is_that_of_the_panes_and_of_the_secrets() {
    let mut continual = continual(2);
    (0..300).for_each(|_| drop(continual.update(1).unwrap()));
    let (panes, secrets) = (continual.counter.intake.timeline.bytes(), continual.nodes.bytes());
    assert!(panes >= 150 * 16 && secrets >= 150 * 32, "{panes} {secrets}");
    assert_eq!(continual.bytes(), panes + secrets);
}

/// By the clock, where a release lies and when it is due: to the microsecond.
#[test]
fn by_the_clock_a_release_names_the_panes_it_covers_and_comes_when_it_is_due() {
    let second = Duration::from_secs(1);
    let window = Window::clock(30 * second).slide(10 * second).lateness(4 * second);
    let builder = HeavyHitters::<u64>::builder(Keys::range(0..3).unwrap()).norm(Norm::L1);
    let mut continual = builder.epsilon(1e5).window(window).continual().unwrap();
    let micros = |seconds: i64| seconds * 1_000_000;
    assert!(continual.advance_to(micros(1_000)).unwrap().is_empty(), "there was no event");
    assert!(continual.release().is_err());
    assert!(continual.advance_to(i64::MAX).is_err(), "outside the calendar");
    // Before 1970, in the pane from -20 to -10.
    assert!(continual.update_at(micros(-12), 1).unwrap().is_empty());
    assert!(continual.advance_to(micros(-6) - 1).unwrap().is_empty());
    let edges = |release: &Release<u64>| {
        let [from, to, asked] =
            [release.window.from, release.window.to, release.asked.from].map(|edge| match edge {
                Some(Edge::Instant(instant)) => instant.as_microsecond(),
                _ => panic!("no instant"),
            });
        (from, to, asked)
    };
    let first = continual.advance_to(micros(-6)).unwrap();
    assert_eq!(first.len(), 1);
    assert_eq!(edges(&first[0]), (micros(-20), micros(-10), micros(-40)));
    // In the pane that still waits, and in the one that does not.
    assert!(continual.update_at(micros(-10), 2).unwrap().is_empty());
    assert!(continual.update_at(micros(-10) - 1, 2).unwrap().is_empty());
    assert_eq!(continual.tally().late, 1);
    // The clock does not go back.
    assert!(continual.advance_to(micros(-100)).unwrap().is_empty());
    let later = continual.update_at(micros(34), 0).unwrap();
    let all: Vec<_> = later.iter().map(edges).collect();
    let expected = [(-20, 0, -30), (-20, 10, -20), (-10, 20, -10), (0, 30, 0)];
    assert_eq!(all, expected.map(|(from, to, asked)| (micros(from), micros(to), micros(asked))));
    let events: Vec<u64> = later.iter().map(|release| release.window.events).collect();
    assert_eq!(events, [2, 2, 1, 0]);
    assert_eq!(continual.tally().without_key, 0);
    without_key(&mut continual, Some(micros(34))).unwrap();
    continual.update_at(micros(34), 9).unwrap();
    assert_eq!(continual.tally().without_key, 2);
    let last = continual.advance_to(micros(44)).unwrap();
    assert_eq!(last[0].window.events, 3);
    assert_eq!(last[0].continual.as_ref().unwrap().number, 6);
}

/// Key `p` comes in pane `p` alone, and is listed; after it has left the window it is followed, and noise may list it once more.
fn of_new_keys() -> crate::Builder<u64> {
    let open = HeavyHitters::builder(Keys::open()).norm(Norm::L1).all().epsilon(1.0).delta(0.4);
    open.entries(100).window(Window::events(200).slide(50))
}

#[test]
fn lists_that_nobody_reads_are_settled() {
    let lists = |read: &dyn Fn(u64) -> bool| {
        SEED.set(0);
        let mut continual = of_new_keys().continual().unwrap().drawing_from(seeded);
        let mut lists = BTreeMap::new();
        for pane in 0..400_u64 {
            continual.extend((0..50).map(|_| Event::of(pane)), |_| ()).unwrap();
            if read(pane) {
                let list = continual.release().unwrap();
                assert_eq!(continual.release().unwrap(), list, "read again");
                lists.insert(pane, list);
            }
        }
        lists
    };
    let all = lists(&|_| true);
    let gone = |(pane, list): (&u64, &Release<u64>)| {
        list.heavy.iter().filter(|heavy| heavy.key + 4 <= *pane).count()
    };
    let followed: usize = all.iter().map(gone).sum();
    assert!(followed > 10, "{followed}: the test has no power");
    for (pane, list) in lists(&|pane| pane % 7 == 6) {
        assert_eq!(list, all[&pane], "pane {pane}");
    }
}

/// After a pause no noise is left that a list has shown.
#[test]
fn nothing_is_followed_across_a_pause() {
    let builder =
        of_new_keys().window(Window::clock(4 * Duration::from_secs(1)).slide(Duration::from_secs(1)));
    let mut continual = builder.continual().unwrap();
    let second = 1_000_000;
    for pane in 0..5 {
        (0..50).for_each(|_| continual.push(Event::at(pane * second, 3), |_| ()).unwrap());
    }
    continual.push(Event::at(5 * second, 4), |_| ()).unwrap();
    assert_eq!(continual.followed.keys_in(5), [3]);
    continual.push(Event::at(100 * second, 4), |_| ()).unwrap();
    continual.push(Event::at(101 * second, 4), |_| ()).unwrap();
    assert!(continual.followed.keys_in(101).iter().all(|key| *key == 4));
}

/// However many they are; a single release beside them costs its own.
#[test]
fn all_releases_of_a_sequence_cost_what_one_of_them_says() {
    let mut continual = continual(9);
    let releases: Vec<_> = (0..12).flat_map(|event| continual.update(event % 3).unwrap()).collect();
    assert_eq!(releases.len(), 6);
    let epsilon = releases[0].epsilon;
    assert_eq!(crate::Cost::of(&releases).epsilon(), epsilon);
    let single = Release { continual: None, ..releases[0].clone() };
    assert_eq!(crate::Cost::of(releases.iter().chain([&single])).epsilon(), 2.0 * epsilon);
}

const HOUR: i64 = 3_600_000_000;

/// Before 1970, across it and after: 900 events an hour, in windows of up to three hours.
#[test]
fn counts_are_carried_on_wherever_the_clock_begins() {
    for first in [-1_000, -5, -3, -1, 0, 7] {
        let hour = Duration::from_micros(HOUR as u64);
        let mut continual = HeavyHitters::builder(Keys::range(0..3).unwrap())
            .norm(Norm::L1)
            .alpha(0.1)
            .epsilon(20.0)
            .window(Window::clock(3 * hour).slide(hour))
            .continual()
            .unwrap();
        let mut hours = Vec::new();
        for number in first..first + 6 {
            for event in 0..900 {
                let due = continual.update_at(number * HOUR + event, 1).unwrap();
                let count = |release: &Release<u64>| release.heavy.first().map_or(0, |heavy| heavy.count);
                hours.extend(due.iter().map(|release| (count(release) + 450) / 900));
            }
        }
        assert_eq!(hours, [1, 2, 3, 3, 3], "from hour {first} on");
    }
}

/// Hourly lists of people by the day, whose noise cannot be seen.
fn hourly_of_people() -> crate::Builder<u64> {
    let hour = Duration::from_secs(3_600);
    HeavyHitters::builder(Keys::range(0..3).unwrap())
        .unit(crate::Unit::User(crate::Bounds::new(1)))
        .norm(Norm::L1)
        .epsilon(1e5)
        .window(Window::clock(24 * hour).slide(hour))
}

/// One key a day: the map of those who were counted in the morning, from files, is gone, and they would be counted again.
#[test]
fn nothing_follows_a_time_that_is_over_because_its_bounds_would_begin_anew() {
    let at = |micros: i64| Edge::Instant(jiff::Timestamp::from_microsecond(micros).unwrap());
    let mut history = hourly_of_people().history(at(0), at(12 * HOUR)).unwrap();
    history.push(Event::by(b"ann", 0, 1)).unwrap();
    let mut continual = history.finish(|_| ()).unwrap();
    let before = continual.release().unwrap();
    assert_eq!((before.heavy[0].key, before.heavy[0].count), (1, 1));
    assert!(continual.push(Event::by(b"ann", 12 * HOUR, 2), |_| ()).is_err());
    assert!(continual.advance_to(13 * HOUR).is_err());
    assert_eq!(continual.release().unwrap(), before);
}

/// Another run may have shown what someone did in the hours before, and what that was is not known.
#[test]
fn a_run_that_begins_within_an_epoch_counts_from_the_next_one_on() {
    let mut continual = hourly_of_people().continual().unwrap();
    continual.advance_to(5 * HOUR).unwrap();
    continual.push(Event::by(b"ann", 6 * HOUR, 1), |_| ()).unwrap();
    assert_eq!(continual.advance_to(24 * HOUR).unwrap().len(), 0, "no list of the running day");
    continual.push(Event::by(b"ann", 24 * HOUR, 1), |_| ()).unwrap();
    let due = continual.advance_to(25 * HOUR).unwrap();
    assert_eq!((due.len(), due[0].heavy[0].count, continual.tally().late), (1, 1, 1));
}

/// Noise and intervals of later lists follow from it, so it has to be a number that a list has shown.
#[test]
fn what_is_remembered_of_windows_of_people_is_what_their_lists_said() {
    let mut continual = hourly_of_people().epsilon(1.0).continual().unwrap();
    continual.advance_to(0).unwrap();
    for hour in 1..30 {
        for user in 0..200_u64 {
            let user = (user * hour as u64).to_be_bytes();
            let event = Event::by(&user, (hour - 1) * HOUR, 1);
            continual.push(event, |_| ()).unwrap();
        }
        let lists = continual.advance_to(hour * HOUR).unwrap();
        let [_, most] = lists[0].window.between.unwrap();
        assert_eq!(continual.events.back(), Some(&most), "hour {hour}");
    }
}
