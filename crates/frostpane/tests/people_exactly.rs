//! The exact privacy loss of whole releases with users as the unit of privacy: the probabilities of all
//! outcomes with and without one user, for small bounds and small counts. Probabilities are floats from tails
//! accurate to their last bits, so sums are accurate to 1e-12. Tails below 1e-18 count as full disclosure of
//! the user.

use std::collections::HashMap;
use std::time::Duration;

use frostpane::testing::audit::{Audit, Unnoised};
use frostpane::testing::{DiscreteLaplace, Epsilon};
use frostpane::{Bounds, Builder, ContinualInfo, Edge, Event, HeavyHitters, Keys, Norm, Unit, Window};

const EPSILON: f64 = 1.0;
const ROUNDING: f64 = 1e-12;
const DAY: Duration = Duration::from_secs(86_400);
const BITS: usize = 192;

/// A distribution of noise by `Pr[X >= m]` from 0 on.
struct Law(Vec<f64>);

impl Law {
    fn of(tail: impl Fn(u64) -> f64) -> Self {
        Self::of_at_least(1e-18, tail)
    }

    /// Tails above `least`.
    fn of_at_least(least: f64, tail: impl Fn(u64) -> f64) -> Self {
        let mut tails: Vec<f64> = (0..).map(tail).take_while(|tail| *tail > least).collect();
        tails.push(0.0);
        Self(tails)
    }

    fn of_laplace(laplace: &DiscreteLaplace) -> Self {
        Self::of(|m| laplace.tail(m, BITS).approximate())
    }

    /// Weights `exp(-x^2 / (2 sigma^2))`, normalised over ten deviations.
    fn of_gaussian(sigma: f64) -> Self {
        let weight = |x: i64| (-((x * x) as f64) / (2.0 * sigma * sigma)).exp();
        let end = (10.0 * sigma).ceil() as i64;
        let all: f64 = (-end..=end).map(weight).sum();
        // Summed from the smallest on, so that rounding loses nothing.
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

    /// The first value with probability 0.
    fn end(&self) -> i64 {
        self.0.len() as i64
    }
}

/// Probabilities of outcomes with and without the user. Outcomes with equal ratios are merged.
#[derive(Clone)]
struct OutcomeChances(HashMap<i64, [f64; 2]>);

/// The logarithm of the ratio of probabilities, in billionths.
fn ratio([with, without]: [f64; 2]) -> i64 {
    if with == 0.0 {
        i64::MIN
    } else if without == 0.0 {
        i64::MAX
    } else {
        ((with / without).ln() * 1e9).round() as i64
    }
}

impl OutcomeChances {
    fn of(chances: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let mut shown = HashMap::new();
        for [with, without] in chances {
            let sum = shown.entry(ratio([with, without])).or_insert([0.0; 2]);
            *sum = [sum[0] + with, sum[1] + without];
        }
        Self(shown)
    }

    /// A noisy number that is larger by `higher` with the user.
    fn number(law: &Law, higher: i64) -> Self {
        Self::of((-law.end()..=law.end() + higher).map(|x| [law.mass(x - higher), law.mass(x)]))
    }

    /// A key with these counts: not listed, or its noisy count.
    fn key(law: &Law, threshold: i64, counts: [i64; 2]) -> Self {
        let chance = |count: i64, chance: &dyn Fn(i64) -> f64| if count == 0 { 0.0 } else { chance(count) };
        let not_listed = counts.map(|count| 1.0 - chance(count, &|count| law.at_least(threshold - count)));
        let last = threshold + counts[0] + law.end();
        let noisy = (threshold..last)
            .map(|noisy| counts.map(|count| chance(count, &|count| law.mass(noisy - count))));
        Self::of(std::iter::once(not_listed).chain(noisy))
    }

    /// Independent outcomes together.
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

    /// The largest privacy loss of outcomes that are possible with and without the user.
    fn loss(&self) -> f64 {
        let finite = |ratio: &&i64| ![i64::MIN, i64::MAX].contains(*ratio);
        let likely = |[a, b]: &[f64; 2]| a.min(*b) > 1e-14;
        let both = self.0.iter().filter(|(ratio, pair)| finite(ratio) && likely(pair));
        both.map(|(ratio, _)| ratio.abs() as f64 / 1e9).fold(0.0, f64::max)
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

/// The keys of a user, each with the user's events and the count of other users.
type UserKeys = Vec<(u64, u64)>;

/// What a release adds noise to, where others have these keys, one each, and the user theirs.
fn inside(builder: &Builder<u64>, user: &UserKeys, is_there: bool) -> Unnoised<u64> {
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

fn count(inside: &Unnoised<u64>, key: usize) -> i64 {
    let found = inside.counts.iter().find(|(held, _)| *held == key as u64);
    found.map_or(0, |(_, count)| *count as i64)
}

/// Threshold and noise of all releases of a builder.
struct ReleaseParameters {
    threshold: i64,
    counts: Law,
    total: Law,
    norm: Option<Law>,
}

impl ReleaseParameters {
    fn of(builder: &Builder<u64>) -> Self {
        let inside = inside(builder, &UserKeys::new(), false);
        let noise = *inside.threshold.noise();
        Self {
            threshold: inside.threshold.value() as i64,
            counts: Law::of(|m| noise.tail(m, BITS).approximate()),
            total: Law::of_laplace(&inside.total.unwrap().1),
            norm: inside.norm.map(|(_, noise)| Law::of_laplace(&noise)),
        }
    }

    /// The outcomes of a release.
    fn shown(&self, user: &UserKeys) -> OutcomeChances {
        let [with, without] = [true, false].map(|is_there| NoiseInputs::of(user, is_there));
        let mut shown = OutcomeChances::number(&self.total, with.total - without.total);
        if let Some(norm) = &self.norm {
            shown = shown.and(&OutcomeChances::number(norm, with.norm - without.norm));
        }
        for (with, without) in with.counts.into_iter().zip(without.counts) {
            shown = shown.and(&OutcomeChances::key(&self.counts, self.threshold, [with, without]));
        }
        shown
    }
}

/// The numbers that noise is added to.
#[derive(Debug, PartialEq)]
struct NoiseInputs {
    counts: Vec<i64>,
    total: i64,
    norm: i64,
}

impl NoiseInputs {
    fn of(user: &UserKeys, is_there: bool) -> Self {
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

fn assert_true(builder: &Builder<u64>, user: &UserKeys) {
    for is_there in [true, false] {
        let found = inside(builder, user, is_there);
        let truth = NoiseInputs::of(user, is_there);
        let counts = (0..user.len()).map(|key| count(&found, key)).collect();
        assert_eq!(NoiseInputs::of_counts(counts), truth);
        assert_eq!(found.total.map(|(total, _)| total), Some(truth.total as u64));
        assert!(found.norm.is_none_or(|(norm, _)| norm == truth.norm as u64));
    }
}

/// All users within the bounds, whose keys have no, few or about a threshold of events of other users.
fn users((per_user, per_key): (u32, u32), threshold: u64) -> Vec<UserKeys> {
    let others = [0, 1, 3, threshold - u64::from(per_key), threshold];
    let kinds: Vec<(u64, u64)> =
        (1..=u64::from(per_key)).flat_map(|times| others.map(|others| (times, others))).collect();
    let mut users = vec![(0, UserKeys::new())];
    let mut all = Vec::new();
    for _ in 0..per_user {
        let more = |(first, user): (usize, UserKeys)| {
            let kinds = &kinds;
            (first..kinds.len()).map(move |kind| (kind, user.iter().copied().chain([kinds[kind]]).collect()))
        };
        users = users.into_iter().flat_map(more).collect();
        all.extend(users.iter().map(|(_, user)| user.clone()));
    }
    all
}

/// Open keys at epsilon 1: the exact delta is at most the stated one, and at least a third of it. The rest is
/// due to the rounding of the threshold, and to Laplace noise of the total and the norm.
#[test]
fn all_that_a_release_shows_is_as_private_as_it_says_and_not_much_more() {
    for most in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)] {
        for (norm, delta) in [(Norm::L1, 1e-2), (Norm::L2, 1e-2), (Norm::L1, 1e-4)] {
            let builder = one_day(people(Keys::open(), most, delta).norm(norm));
            let made = ReleaseParameters::of(&builder);
            let users = users(most, made.threshold as u64);
            users.iter().step_by(31).for_each(|user| assert_true(&builder, user));
            let mut worst = (0.0, UserKeys::new());
            for user in users {
                let found = made.shown(&user).delta(EPSILON);
                assert!(found <= delta + ROUNDING, "{most:?} {norm:?} {delta}: {found} for {user:?}");
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

/// Declared keys, without delta: every outcome is at most `e` times as likely with the user.
#[test]
fn all_that_a_release_of_declared_keys_shows_is_purely_private() {
    for most in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)] {
        for norm in [Norm::L1, Norm::L2] {
            let builder = one_day(people(Keys::range(0..3).unwrap(), most, 1e-9).norm(norm));
            let made = ReleaseParameters::of(&builder);
            let losses = users(most, 9).into_iter().map(|user| {
                // A key that nobody else has receives noise here, as if others had it.
                let declared: UserKeys = user.iter().map(|(times, others)| (*times, others + 1)).collect();
                made.shown(&declared).loss()
            });
            let loss = losses.fold(0.0, f64::max);
            println!("{most:?} {norm:?}: {loss:.3} of epsilon {EPSILON} needed");
            assert!(loss <= EPSILON + 1e-6, "{most:?} {norm:?}: {loss}");
            assert!(loss > EPSILON / 3.0, "{most:?} {norm:?}: {loss}");
        }
    }
}

/// Continual release with the parameters of its claim.
#[derive(Clone, Copy, Debug)]
struct Slides {
    /// Panes of a window.
    panes: u32,
    /// Panes of an epoch.
    epoch: u32,
    most: (u32, u32),
    delta: f64,
}

impl Slides {
    fn slide(&self) -> Duration {
        DAY / self.epoch
    }

    fn builder(&self) -> Builder<u64> {
        let slide = self.slide();
        people(Keys::open(), self.most, self.delta)
            .norm(Norm::L1)
            .all()
            .window(Window::clock(self.panes * slide).slide(slide))
    }

    /// The parameters of all releases, and the least threshold.
    fn made(&self) -> (ContinualInfo, i64) {
        let mut continual = self.builder().continual().unwrap();
        continual.advance_to(0).unwrap();
        let lists = continual.advance_to(self.slide().as_micros() as i64).unwrap();
        (lists[0].continual.clone().unwrap(), lists[0].threshold as i64)
    }

    /// The noise of the counts, Laplace or Gaussian, and of the total, with tails above `least`.
    fn laws(&self, made: &ContinualInfo, least: f64) -> [Law; 2] {
        let moved = self.most.0 * self.most.1;
        let [counts, total] =
            [0.95, 0.05].map(|share| DiscreteLaplace::new(moved, Epsilon::new(share * EPSILON).unwrap()));
        let counts = if counts.scale() == made.scale {
            Law::of_at_least(least, |m| counts.tail(m, BITS).approximate())
        } else {
            Law::of_gaussian(made.scale)
        };
        [counts, Law::of_laplace(&total)]
    }

    fn is_gaussian(&self, made: &ContinualInfo) -> bool {
        made.scale != f64::from(self.most.0 * self.most.1) / (0.95 * EPSILON)
    }
}

/// Counts of a key with and without the user, in each of two panes.
type InPanes = [[i64; 2]; 2];

/// The outcomes for a key in the first two releases of windows of two panes: the first pane, and both panes.
/// Keys with a count of at least `least` are evaluated, and in the second release those that the first one lists.
fn two_lists(law: &Law, threshold: i64, least: i64, counts: InPanes) -> OutcomeChances {
    let mut chances: HashMap<[Option<i64>; 2], [f64; 2]> = HashMap::new();
    let noises = || -law.end()..=law.end();
    for (side, [first, second]) in counts.into_iter().enumerate() {
        for (one, two) in noises().flat_map(|one| noises().map(move |two| (one, two))) {
            let list = |count: i64, noise: i64, is_followed: bool| {
                let noisy = count + noise;
                ((is_followed || count >= least) && noisy >= threshold).then_some(noisy)
            };
            let before = list(first, one, false);
            let lists = [before, list(first + second, one + two, before.is_some())];
            chances.entry(lists).or_default()[side] += law.mass(one) * law.mass(two);
        }
    }
    OutcomeChances::of(chances.into_values())
}

/// The ways to divide a user's events of a key between two panes: one pane, or both if an epoch has both.
fn splits(times: i64, epoch: u32) -> Vec<[i64; 2]> {
    match epoch {
        1 => vec![[times, 0], [0, times]],
        _ => (0..=times).map(|first| [first, times - first]).collect(),
    }
}

/// Counts of other users in the two panes.
fn of_others(threshold: i64, least: i64) -> [[i64; 2]; 6] {
    let below = (least - 1).max(0);
    [[0, 0], [below, 0], [0, below], [least, 2], [threshold - 1, 0], [threshold, threshold]]
}

/// The probability that the key of one user alone is listed by any release with a part of an epoch of two
/// panes.
fn is_listed(law: &Law, threshold: i64, [first, second]: [i64; 2]) -> f64 {
    let noises = || -law.end()..=law.end();
    let reaches = |count: i64, noise: i64| count > 0 && count + noise >= threshold;
    let lists = |one: i64, two: i64| {
        if reaches(first, one) || reaches(first + second, one + two) {
            1.0
        } else if second > 0 {
            law.at_least(threshold - second - two)
        } else {
            0.0
        }
    };
    let chances = noises().flat_map(|one| noises().map(move |two| (one, two)));
    chances.map(|(one, two)| law.mass(one) * law.mass(two) * lists(one, two)).sum()
}

/// The largest delta and the largest privacy loss of the first two releases for a user with one key: at the
/// least threshold, and at a higher one, where keys that are not followed are evaluated only from a count on. With an epoch of two
/// panes also the third release, for a key that no other user has.
fn needed_by_one_key(slides: &Slides, floor: i64, [law, of_total]: &[Law; 2]) -> (f64, f64) {
    let (mut worst, mut loss) = (0.0_f64, 0.0_f64);
    for raised in [0, 5] {
        let (threshold, least) = (floor + raised, 1 + raised);
        for times in splits(i64::from(slides.most.1), slides.epoch) {
            if slides.epoch == 2 && raised == 0 {
                worst = worst.max(is_listed(law, threshold, times));
            }
            let [first, second] = times.map(|times| OutcomeChances::number(of_total, times));
            let total = first.and(&second);
            for others in of_others(threshold, least) {
                let with = [others[0] + times[0], others[1] + times[1]];
                let all = two_lists(law, threshold, least, [with, others]).and(&total);
                (worst, loss) = (worst.max(all.delta(EPSILON)), loss.max(all.loss()));
            }
        }
    }
    (worst, loss)
}

/// One key, Laplace noise, and the tightest claim. The exact delta is below the stated one because the
/// threshold is a whole number; because the first of two windows has the noise of one pane where both are
/// assumed to have that of two; and because an epoch of two panes has three windows, of which a key that
/// occurs once is in two, so that a third of delta is needed one count below the threshold.
#[test]
fn two_lists_together_are_as_private_as_they_say_and_not_much_more() {
    for (epoch, per_key, delta) in
        [(1, 1, 1e-2), (1, 2, 1e-4), (1, 1, 1e-9), (2, 1, 1e-2), (2, 2, 1e-4), (2, 3, 1e-9)]
    {
        let slides = Slides { panes: 2, epoch, most: (1, per_key), delta };
        let (made, floor) = slides.made();
        assert_eq!((made.levels, made.nodes, slides.is_gaussian(&made)), (1, 2, false));
        let laws = slides.laws(&made, 1e-18);
        let needed = |lower: i64| needed_by_one_key(&slides, floor - lower, &laws).0 / delta;
        let loss = needed_by_one_key(&slides, floor, &laws).1;
        assert!(loss > EPSILON / 3.0 && loss <= EPSILON + 1e-6, "{slides:?}: {loss}");
        let wasted = (0..).take_while(|lower| needed(lower + 1) <= 1.0).count() as u32;
        println!("{slides:?}: threshold {floor}, {:.3} of delta needed, {wasted} too high", needed(0));
        assert!(needed(0) <= 1.0 + ROUNDING / delta, "{slides:?}: {}", needed(0));
        assert!(needed(i64::from(epoch > 1)) > 1.0 / 3.0, "{slides:?}: {}", needed(0));
        assert!(wasted < 2.max(per_key), "{slides:?}: {wasted}");
    }
}

/// Users of several keys in the first of two panes: numbers of keys that no other user has, that all others
/// have, and that all others have in the second pane.
fn users_of_two_lists(keys: usize) -> impl Iterator<Item = [usize; 3]> {
    let up_to = |most: usize| 0..=most;
    up_to(1).flat_map(move |late| up_to(keys - late).map(move |alone| [alone, keys - late - alone, late]))
}

/// Several keys with Gaussian noise. The exact delta is below the stated one because a quarter of it is for
/// keys that no other user has and three quarters for shared keys, and no user has the maximum of both; and
/// because epsilon has a part for the total.
#[test]
fn two_lists_with_gaussian_noise_are_as_private_as_they_say_and_not_much_more() {
    for (epoch, keys, delta) in [(1, 4, 1e-6), (2, 4, 1e-6)] {
        let slides = Slides { panes: 2, epoch, most: (keys, 1), delta };
        let (made, floor) = slides.made();
        assert!(slides.is_gaussian(&made));
        let [law, of_total] = slides.laws(&made, 1e-18);
        let needed = |threshold: i64, [alone, shared, late]: [usize; 3]| {
            let often = threshold + 2 * law.end();
            let kinds = [
                ([[1, 0], [0, 0]], alone),
                ([[often + 1, 0], [often, 0]], shared),
                ([[1, often], [0, often]], late),
            ];
            let total = OutcomeChances::number(&of_total, i64::from(keys));
            let all = kinds.into_iter().fold(total, |shown, (counts, keys)| {
                let key = two_lists(&law, threshold, 1, counts);
                (0..keys).fold(shown, |shown, _| shown.and(&key))
            });
            all.delta(EPSILON) / delta
        };
        let worst = users_of_two_lists(keys as usize).map(|user| (needed(floor, user), user));
        let worst = worst.fold((0.0, [0; 3]), |worst, found| if found.0 > worst.0 { found } else { worst });
        println!("{slides:?}: deviation {:.2}, threshold {floor}, of delta needed {worst:.3?}", made.scale);
        assert!(worst.0 <= 1.0 + ROUNDING / delta, "{slides:?}: {worst:?}");
        assert!(worst.0 > 1.0 / 3.0, "{slides:?}: {worst:?}");
        let alone = [keys as usize, 0, 0];
        let wasted = (0..).take_while(|lower| needed(floor - lower - 1, alone) <= 1.0).count();
        println!("for a user whose keys no other user has it is {wasted} too high");
        assert!(wasted <= 6, "{slides:?}: {wasted}");
    }
}

/// Windows of one pane: no noise of a user's keys was disclosed before, so delta is that of a single release.
#[test]
fn lists_of_single_panes_are_as_private_as_they_say_and_not_much_more() {
    for (most, delta) in [((1, 1), 1e-2), ((2, 1), 1e-4), ((1, 2), 1e-4), ((2, 1), 1e-9)] {
        let slides = Slides { panes: 1, epoch: 1, most, delta };
        let (made, floor) = slides.made();
        assert_eq!((made.levels, made.nodes, slides.is_gaussian(&made)), (1, 1, false));
        let [law, of_total] = slides.laws(&made, 1e-18);
        let needed = |threshold: i64| {
            let total = OutcomeChances::number(&of_total, i64::from(most.0 * most.1));
            let key = OutcomeChances::key(&law, threshold, [i64::from(most.1), 0]);
            (0..most.0).fold(total, |all, _| all.and(&key)).delta(EPSILON) / delta
        };
        println!("{slides:?}: threshold {floor}, {:.3} of delta needed", needed(floor));
        assert!(needed(floor) <= 1.0 + ROUNDING / delta, "{slides:?}: {}", needed(floor));
        assert!(needed(floor) > 1.0 / 3.0 && needed(floor - 1) > 1.0, "{slides:?}: {}", needed(floor));
    }
}
