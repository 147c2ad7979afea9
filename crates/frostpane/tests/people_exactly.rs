//! How much a whole release of people tells, by calculation: the chance of everything that it can show, with one user and without,
//! for small bounds and small counts. Chances are floats, from tails that are right to the last bits of one: sums of them are right to
//! 1e-12. Chances further out than 1e-18 count as if they gave the user away.

use std::collections::HashMap;
use std::time::Duration;

use frostpane::audit::{Audit, Inside};
use frostpane::internals::{DiscreteLaplace, Epsilon, InsecureSeededEntropy};
use frostpane::{Bounds, Builder, Continuity, Edge, Event, HeavyHitters, Keys, Norm, Unit, Window};

const EPSILON: f64 = 1.0;
const ROUNDING: f64 = 1e-12;
const DAY: Duration = Duration::from_secs(86_400);
const BITS: usize = 192;

/// Noise, by `Pr[X >= m]` from 0 on.
struct Law(Vec<f64>);

impl Law {
    fn of(tail: impl Fn(u64) -> f64) -> Self {
        let mut tails: Vec<f64> = (0..).map(tail).take_while(|tail| *tail > 1e-18).collect();
        tails.push(0.0);
        Self(tails)
    }

    fn of_laplace(laplace: &DiscreteLaplace) -> Self {
        Self::of(|m| laplace.tail(m, BITS).approximate())
    }

    /// `exp(-x^2 / (2 sigma^2))`, of all numbers that matter added up.
    fn of_gaussian(sigma: f64) -> Self {
        let weight = |x: i64| (-((x * x) as f64) / (2.0 * sigma * sigma)).exp();
        let end = (10.0 * sigma).ceil() as i64;
        let all: f64 = (-end..=end).map(weight).sum();
        // The least first: what is added loses nothing.
        let mut tails: Vec<f64> = (0..=end)
            .rev()
            .scan(0.0, |tail, x| {
                *tail += weight(x) / all;
                Some(*tail)
            })
            .collect();
        tails.reverse();
        tails.push(0.0);
        Self(tails)
    }

    fn at_least(&self, m: i64) -> f64 {
        match usize::try_from(m) {
            Ok(m) => self.0.get(m).copied().unwrap_or(0.0),
            Err(_) => 1.0 - self.at_least(1 - m),
        }
    }

    fn mass(&self, x: i64) -> f64 {
        let m = x.abs();
        self.at_least(m) - self.at_least(m + 1)
    }

    /// Further out there is nothing.
    fn end(&self) -> i64 {
        self.0.len() as i64
    }
}

/// The chances of all that can be shown, with the user and without. What is as much likelier with the user is one.
#[derive(Clone)]
struct Shown(HashMap<i64, [f64; 2]>);

/// A ratio of chances, to the billionth of its logarithm.
fn ratio([with, without]: [f64; 2]) -> i64 {
    match (with > 0.0, without > 0.0) {
        (true, true) => ((with / without).ln() * 1e9).round() as i64,
        (true, false) => i64::MAX,
        _ => i64::MIN,
    }
}

impl Shown {
    fn of(chances: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut shown = HashMap::new();
        for [with, without] in chances {
            let sum = shown.entry(ratio([with, without])).or_insert([0.0; 2]);
            *sum = [sum[0] + with, sum[1] + without];
        }
        Self(shown)
    }

    /// A number with noise, which is so much higher with the user.
    fn number(law: &Law, higher: i64) -> Self {
        Self::of((-law.end()..=law.end() + higher).map(|x| [law.mass(x - higher), law.mass(x)]))
    }

    /// A key with these counts: that it is not listed, or its noisy count.
    fn key(law: &Law, threshold: i64, counts: [i64; 2]) -> Self {
        let chance = |count: i64, chance: &dyn Fn(i64) -> f64| if count == 0 { 0.0 } else { chance(count) };
        let not_listed = counts.map(|count| 1.0 - chance(count, &|count| law.at_least(threshold - count)));
        let last = threshold + counts[0] + law.end();
        let noisy = (threshold..last)
            .map(|noisy| counts.map(|count| chance(count, &|count| law.mass(noisy - count))));
        Self::of(std::iter::once(not_listed).chain(noisy))
    }

    /// Both, independently.
    fn and(&self, other: &Self) -> Self {
        let pairs = self.0.values();
        Self::of(pairs.flat_map(|[a, b]| other.0.values().map(move |[c, d]| [a * c, b * d])))
    }

    /// The least delta at an epsilon, in the worse direction.
    fn delta(&self, epsilon: f64) -> f64 {
        let part = |one: f64, other: f64| (one - epsilon.exp() * other).max(0.0);
        let sum = |of: &dyn Fn(&[f64; 2]) -> f64| self.0.values().map(of).sum::<f64>();
        sum(&|[with, without]| part(*with, *without)).max(sum(&|[with, without]| part(*without, *with)))
    }

    /// The largest loss of what can be shown either way.
    fn loss(&self) -> f64 {
        let finite = |ratio: &&i64| ![i64::MIN, i64::MAX].contains(*ratio);
        let likely = |[a, b]: &[f64; 2]| a.min(*b) > 1e-14;
        let both = self
            .0
            .iter()
            .filter(|(ratio, pair)| finite(ratio) && likely(pair));
        both.map(|(ratio, _)| ratio.abs() as f64 / 1e9)
            .fold(0.0, f64::max)
    }
}

fn people(keys: Keys<u64>, (per_user, per_key): (u32, u32), delta: f64) -> Builder<u64> {
    HeavyHitters::builder(keys)
        .unit(Unit::User(Bounds::new(per_user).per_key(per_key)))
        .epsilon(EPSILON)
        .delta(delta)
}

fn one_day(builder: Builder<u64>) -> Builder<u64> {
    let midnight = "1970-01-02T00:00:00Z".parse().unwrap();
    builder.window(Window::clock(DAY)).until(Edge::Instant(midnight))
}

/// The keys of a user, each with how often they name it, and how often it counts of others.
type User = Vec<(u64, u64)>;

/// What a release adds noise to, where others have these keys, one each, and the user theirs.
fn inside(builder: &Builder<u64>, user: &User, is_there: bool) -> Inside<u64> {
    let mut audited = Audit::of(builder.clone(), None).build().unwrap();
    let mut push = |user: u64, key: usize| {
        let id = user.to_be_bytes();
        audited.push(Event::by(&id, 0, key as u64)).unwrap();
    };
    for (key, (times, others)) in user.iter().enumerate() {
        (0..*others).for_each(|other| push(1_000 * (key as u64 + 1) + other, key));
        (0..*times).filter(|_| is_there).for_each(|_| push(0, key));
    }
    audited.inside().unwrap()
}

fn count(inside: &Inside<u64>, key: usize) -> i64 {
    let found = inside.counts.iter().find(|(held, _)| *held == key as u64);
    found.map_or(0, |(_, count)| *count as i64)
}

/// What all releases of a builder have in common.
struct Made {
    threshold: i64,
    counts: Law,
    total: Law,
    norm: Option<Law>,
}

impl Made {
    fn of(builder: &Builder<u64>) -> Self {
        let inside = inside(builder, &User::new(), false);
        let noise = *inside.threshold.noise();
        Self {
            threshold: inside.threshold.value() as i64,
            counts: Law::of(|m| noise.tail(m, BITS).approximate()),
            total: Law::of_laplace(&inside.total.unwrap().1),
            norm: inside.norm.map(|(_, noise)| Law::of_laplace(&noise)),
        }
    }

    /// All that a release can show.
    fn shown(&self, user: &User) -> Shown {
        let [with, without] = [true, false].map(|is_there| Truth::of(user, is_there));
        let mut shown = Shown::number(&self.total, with.total - without.total);
        if let Some(norm) = &self.norm {
            shown = shown.and(&Shown::number(norm, with.norm - without.norm));
        }
        for (with, without) in with.counts.into_iter().zip(without.counts) {
            shown = shown.and(&Shown::key(&self.counts, self.threshold, [with, without]));
        }
        shown
    }
}

/// What noise is added to.
#[derive(Debug, PartialEq)]
struct Truth {
    counts: Vec<i64>,
    total: i64,
    norm: i64,
}

impl Truth {
    fn of(user: &User, is_there: bool) -> Self {
        let count = |(times, others): &(u64, u64)| (others + if is_there { *times } else { 0 }) as i64;
        Self::of_counts(user.iter().map(count).collect())
    }

    fn of_counts(counts: Vec<i64>) -> Self {
        Self {
            total: counts.iter().sum(),
            norm: counts.iter().map(|count| count * count).sum::<i64>().isqrt(),
            counts,
        }
    }
}

/// That a release adds noise to these numbers.
fn assert_true(builder: &Builder<u64>, user: &User) {
    for is_there in [true, false] {
        let found = inside(builder, user, is_there);
        let truth = Truth::of(user, is_there);
        let counts = (0..user.len()).map(|key| count(&found, key)).collect();
        assert_eq!(Truth::of_counts(counts), truth);
        assert_eq!(found.total.map(|(total, _)| total), Some(truth.total as u64));
        assert!(found.norm.is_none_or(|(norm, _)| norm == truth.norm as u64));
    }
}

/// Users with up to so many keys of their own or shared, of which others have none, few, or about as many as are listed.
fn users((per_user, per_key): (u32, u32), threshold: u64) -> Vec<User> {
    let others = [0, 1, 3, threshold - u64::from(per_key), threshold];
    let kinds: Vec<(u64, u64)> = (1..=u64::from(per_key))
        .flat_map(|times| others.map(|others| (times, others)))
        .collect();
    let mut users = vec![(0, User::new())];
    let mut all = Vec::new();
    for _ in 0..per_user {
        let more = |(first, user): (usize, User)| {
            let kinds = &kinds;
            (first..kinds.len()).map(move |kind| (kind, user.iter().copied().chain([kinds[kind]]).collect()))
        };
        users = users.into_iter().flat_map(more).collect();
        all.extend(users.iter().map(|(_, user)| user.clone()));
    }
    all
}

/// Of open keys at epsilon 1: delta is never more than it says, and no less than a third of it is needed. What is wasted is a
/// threshold that is a whole number, and what Laplace noise and a user's total and norm leave.
#[test]
fn all_that_a_release_shows_is_as_private_as_it_says_and_not_much_more() {
    for most in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)] {
        for (norm, delta) in [(Norm::L1, 1e-2), (Norm::L2, 1e-2), (Norm::L1, 1e-4)] {
            let builder = one_day(people(Keys::open(), most, delta).norm(norm));
            let made = Made::of(&builder);
            let users = users(most, made.threshold as u64);
            users
                .iter()
                .step_by(31)
                .for_each(|user| assert_true(&builder, user));
            let mut worst = (0.0, User::new());
            for user in users {
                let found = made.shown(&user).delta(EPSILON);
                assert!(
                    found <= delta + ROUNDING,
                    "{most:?} {norm:?} {delta}: {found} for {user:?}"
                );
                if found > worst.0 {
                    worst = (found, user);
                }
            }
            println!(
                "{most:?} {norm:?}: threshold {}, {:.3} of delta {delta} needed, for {:?}",
                made.threshold,
                worst.0 / delta,
                worst.1
            );
            assert!(worst.0 > delta / 3.0, "{most:?} {norm:?} {delta}: {worst:?}");
        }
    }
}

/// Of declared keys, without a delta: what can be shown is at most `e` times as likely with the user, and for some users nearly so.
#[test]
fn all_that_a_release_of_declared_keys_shows_is_purely_private() {
    for most in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)] {
        for norm in [Norm::L1, Norm::L2] {
            let builder = one_day(people(Keys::range(0..3).unwrap(), most, 1e-9).norm(norm));
            let made = Made::of(&builder);
            let losses = users(most, 9).into_iter().map(|user| {
                // A key that nobody else has receives noise here, as if others had it.
                let declared: User = user.iter().map(|(times, others)| (*times, others + 1)).collect();
                made.shown(&declared).loss()
            });
            let loss = losses.fold(0.0, f64::max);
            println!("{most:?} {norm:?}: {loss:.3} of epsilon {EPSILON} needed");
            assert!(loss <= EPSILON + 1e-6, "{most:?} {norm:?}: {loss}");
            assert!(loss > EPSILON / 3.0, "{most:?} {norm:?}: {loss}");
        }
    }
}

/// That the chances above are those of releases: 40,000 of them, of a key that nobody else has, one next to the threshold and one
/// above. Six standard deviations are allowed of each of 47 numbers (false alarm below 1e-6; seeded, so always or never).
#[test]
fn the_chances_are_those_of_releases() {
    const RUNS: u64 = 40_000;
    for most in [(1, 1), (3, 1)] {
        let builder = one_day(people(Keys::open(), most, 1e-2))
            .all()
            .releases(RUNS as u32);
        let threshold = inside(&builder, &User::new(), false).threshold;
        let user: User = vec![(1, 0), (0, threshold.value() - 1), (0, threshold.value() + 3)];
        let truth = inside(&builder, &user, true);
        let law = Law::of(|m| threshold.noise().tail(m, BITS).approximate());
        let (total, noise) = truth.total.unwrap();
        let of_total = Law::of_laplace(&noise);

        let mut audited = Audit::of(builder, None).build().unwrap();
        for (key, (times, others)) in user.iter().enumerate() {
            for number in 0..times + others {
                let id = (1_000 * key as u64 + number).to_be_bytes();
                audited.push(Event::by(&id, 0, key as u64)).unwrap();
            }
        }
        let mut seen: HashMap<(usize, u64), u64> = HashMap::new();
        let entropy = &mut InsecureSeededEntropy::new(23);
        for _ in 0..RUNS {
            let release = audited.release_with_entropy(entropy).unwrap();
            *seen.entry((9, release.window.events)).or_default() += 1;
            for heavy in &release.heavy {
                *seen.entry((heavy.key as usize, heavy.count)).or_default() += 1;
            }
        }
        let assert_chance = |what: (usize, u64), chance: f64| {
            let (found, expected) = (seen.get(&what).copied().unwrap_or(0) as f64, RUNS as f64 * chance);
            let spread = 6.0 * (expected * (1.0 - chance)).sqrt() + 6.0;
            assert!(
                (found - expected).abs() < spread,
                "{most:?} {what:?}: {found}, {expected} expected"
            );
        };
        for key in 0..3 {
            let held = count(&truth, key);
            for noisy in threshold.value()..threshold.value() + 8 {
                assert_chance((key, noisy), law.mass(noisy as i64 - held));
            }
            assert_chance((key, threshold.value() - 1), 0.0);
        }
        for events in total - 10..total + 10 {
            assert_chance((9, events), of_total.mass(events as i64 - total as i64));
        }
    }
}

/// A list at every slide of half a window: what it is made with.
fn continuity(keys: Keys<u64>, most: (u32, u32), delta: f64, epoch: u32) -> (Continuity, i64) {
    let slide = DAY / epoch;
    let mut continual = people(keys, most, delta)
        .norm(Norm::L1)
        .all()
        .horizon(2)
        .window(Window::clock(2 * slide).slide(slide))
        .continual()
        .unwrap();
    continual.advance_to(0).unwrap();
    let lists = continual.advance_to(slide.as_micros() as i64).unwrap();
    (lists[0].continual.clone().unwrap(), lists[0].threshold as i64)
}

/// Of a key with and without the user, in each of two panes.
type InPanes = [[i64; 2]; 2];

/// What the first two lists show of a key: the first pane, and both. Keys are looked at from a count on.
fn two_lists(law: &Law, threshold: i64, least: i64, counts: InPanes) -> Shown {
    let mut chances: HashMap<[Option<i64>; 2], [f64; 2]> = HashMap::new();
    let noises = || -law.end()..=law.end();
    for (side, [first, second]) in counts.into_iter().enumerate() {
        for (one, two) in noises().flat_map(|one| noises().map(move |two| (one, two))) {
            let list = |count: i64, noise: i64| {
                let noisy = count + noise;
                (count >= least && noisy >= threshold).then_some(noisy)
            };
            let lists = [list(first, one), list(first + second, one + two)];
            chances.entry(lists).or_default()[side] += law.mass(one) * law.mass(two);
        }
    }
    Shown::of(chances.into_values())
}

/// How a user's times of a key may lie in two panes: in one of them, or in both where an epoch has both.
fn splits(times: i64, epoch: u32) -> Vec<[i64; 2]> {
    match epoch {
        1 => vec![[times, 0], [0, times]],
        _ => (0..=times).map(|first| [first, times - first]).collect(),
    }
}

/// What others have, in each of the two panes.
fn of_others(threshold: i64, least: i64) -> [[i64; 2]; 6] {
    let below = (least - 1).max(0);
    [
        [0, 0],
        [below, 0],
        [0, below],
        [least, 2],
        [threshold - 1, 0],
        [threshold, threshold],
    ]
}

/// The noise of the counts, which is that of a single key in an epoch or Gaussian, and that of the total.
fn laws(made: &Continuity, per_key: u32) -> [Law; 2] {
    let [counts, total] =
        [0.95, 0.05].map(|share| DiscreteLaplace::new(per_key, Epsilon::new(share * EPSILON).unwrap()));
    let counts = match counts.scale() == made.scale {
        true => Law::of_laplace(&counts),
        false => Law::of_gaussian(made.scale),
    };
    [counts, Law::of_laplace(&total)]
}

/// The first two lists together, of a user with one key: of a list at the least threshold, and at a higher one, where keys are looked at
/// only from a count on. Keys of one user need next to nothing of delta, because it is for 2^48 keys, and there is one; what Gaussian
/// noise needs for keys that others have too is less than what its account of all choices says.
#[test]
fn two_lists_together_are_as_private_as_they_say() {
    for (epoch, per_key, delta) in [
        (1, 1, 1e-2),
        (1, 2, 1e-4),
        (1, 1, 1e-12),
        (2, 1, 1e-2),
        (2, 2, 1e-4),
        (2, 2, 1e-12),
        (2, 3, 1e-12),
    ] {
        let (made, floor) = continuity(Keys::open(), (1, per_key), delta, epoch);
        assert_eq!((made.levels, made.nodes), (1, 2));
        let [law, of_total] = laws(&made, per_key);
        let (mut worst, mut loss) = (0.0_f64, 0.0_f64);
        for raised in [0, 5] {
            let (threshold, least) = (floor + raised, 1 + raised);
            for times in splits(i64::from(per_key), epoch) {
                let [first, second] = times.map(|times| Shown::number(&of_total, times));
                let total = first.and(&second);
                for others in of_others(threshold, least) {
                    let with = [others[0] + times[0], others[1] + times[1]];
                    let all = two_lists(&law, threshold, least, [with, others]).and(&total);
                    let found = all.delta(EPSILON);
                    assert!(
                        found <= delta + ROUNDING,
                        "{epoch} {per_key}: {found} for {times:?} of {others:?}"
                    );
                    (worst, loss) = (worst.max(found), loss.max(all.loss()));
                }
            }
        }
        println!(
            "{epoch} panes an epoch, {per_key} a key, delta {delta:e}: scale {:.2}, threshold {floor}, delta needed {worst:.1e}, \
             loss {loss:.3}",
            made.scale
        );
        assert!(loss > EPSILON / 3.0, "{loss}");
    }
}
