//! Continual release: accuracy beside a published rival, repeated reading, thresholds, memory and gaps.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::common::{
    NO_NOISE, SECOND, Zipf, arrivals, count, is_long, listed, most_failures, real_stream, statements_true,
};
use frostpane::{Builder, Continual, Event, HeavyHitters, Keys, Norm, Policy, Release, Window};

fn declared(keys: u64, window: u64) -> Builder<u64> {
    HeavyHitters::builder(Keys::range(0..keys).unwrap())
        .norm(Norm::L1)
        .alpha(1e-6)
        .window(Window::events(window))
}

/// The numbers of keys in the order of their first events.
fn numbered<K: std::hash::Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Vec<u64> {
    let mut numbers = HashMap::new();
    let number = |key| {
        let next = numbers.len() as u64;
        *numbers.entry(key).or_insert(next)
    };
    keys.into_iter().map(number).collect()
}

struct RivalTask {
    name: &'static str,
    keys: Vec<u64>,
    window: usize,
    /// The share of the window from which a key is heavy.
    heavy: f64,
    least_f1: f64,
    most_error: f64,
}

/// F1 at the heavy line and the mean absolute error of the truly heavy keys, against the exact window at 21
/// moments that are not aligned with panes.
fn score(task: &RivalTask, mut continual: Continual<u64>) -> (f64, f64) {
    let (w, n) = (task.window, task.keys.len());
    let moments: Vec<usize> =
        (0..21).map(|i| w + ((n - w) as f64 * (f64::from(i) + 0.618) / 21.0) as usize).collect();
    let mut latest: Option<Release<u64>> = None;
    let (mut f1, mut error) = (0.0, 0.0);
    for (i, key) in task.keys.iter().enumerate() {
        if moments.contains(&i) {
            let line = task.heavy * w as f64;
            let truth = count(task.keys[i - w..i].iter().copied());
            let noisy: HashMap<u64, f64> = latest
                .iter()
                .flat_map(|release| &release.heavy)
                .map(|heavy| (heavy.key, heavy.count as f64))
                .collect();
            let heavy: Vec<(u64, f64)> = truth
                .iter()
                .map(|(key, count)| (*key, *count as f64))
                .filter(|(_, count)| *count >= line)
                .collect();
            let listed = noisy.values().filter(|count| **count >= line).count();
            let estimate = |key: &u64| noisy.get(key).copied().unwrap_or(0.0);
            let found = heavy.iter().filter(|(key, _)| estimate(key) >= line).count();
            f1 += 2.0 * found as f64 / (heavy.len() + listed) as f64 / 21.0;
            let errors = heavy.iter().map(|(key, count)| (estimate(key) - count).abs());
            error += errors.sum::<f64>() / heavy.len() as f64 / 21.0;
        }
        latest = continual.update(*key).unwrap().pop().or(latest);
    }
    (f1, error)
}

fn tasks() -> Vec<RivalTask> {
    let real = |name: &'static str, first: usize, window, heavy, least_f1, most_error| {
        let keys = real_stream(name)?.events.into_iter().take(first).map(|(_, key)| key);
        Some(RivalTask { name, keys: numbered(keys), window, heavy, least_f1, most_error })
    };
    let mut zipf = Zipf::new(1.1, 20_000, 5);
    let made_up = RivalTask {
        name: "Zipf(1.1)",
        keys: numbered((0..3_000_000).map(|_| zipf.key())),
        window: 1_000_000,
        heavy: 0.001,
        least_f1: 0.98,
        most_error: 40.0,
    };
    [
        real("flights_route", usize::MAX, 1_000_000, 0.001, 0.95, 25.0),
        real("baseball_batter", 3_000_000, 1_000_000, 0.001, 0.98, 55.0),
        real("homebrew_formula", usize::MAX, 200_000, 0.001, 0.89, 35.0),
        real("nycflights_dest", usize::MAX, 100_000, 0.01, 0.98, 35.0),
        Some(made_up),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// DPSW-Sketch, the rival, reaches F1 of 0.73, 0.94, 0.66, 0.97 and 0.92 and errors of 112, 163, 81, 154 and
/// 178 on these tasks in its best setting. Noise changes the results by about 0.005 and 1, far less than the
/// distance from the limits.
#[test]
fn the_rivals_tasks_are_done_better() {
    let long = is_long();
    for task in tasks() {
        let keys = task.keys.iter().max().unwrap() + 1;
        let epsilons: &[f64] = if long { &[1.0, 0.1, 0.5, 2.0] } else { &[1.0] };
        for &epsilon in epsilons {
            let builder = declared(keys, task.window as u64).epsilon(epsilon);
            let (f1, error) = score(&task, builder.continual().unwrap());
            println!("{}, epsilon {epsilon}, declared keys: F1 {f1:.3}, error {error:.1}", task.name);
            if epsilon == 1.0 {
                assert!(f1 >= task.least_f1, "{}: F1 {f1}", task.name);
                assert!(error <= task.most_error, "{}: error {error}", task.name);
            }
            if long {
                let open = HeavyHitters::<u64>::builder(Keys::open())
                    .norm(Norm::L1)
                    .alpha(1e-6)
                    .epsilon(epsilon)
                    .window(Window::events(task.window as u64));
                let (f1, error) = score(&task, open.continual().unwrap());
                println!("{}, epsilon {epsilon}, open keys: F1 {f1:.3}, error {error:.1}", task.name);
            }
        }
    }
}

/// The paper states an error of at most `alpha sqrt(W) / 2` for every listed key, in
/// `sqrt(W) log^4 W / (epsilon alpha)` bits, which for a million events is more than storing them.
#[test]
fn every_listed_count_is_within_half_of_alpha_root_w() {
    let (window, alpha) = (1_000_000_u64, 0.2);
    let root = (window as f64).sqrt();
    let published_bits = root * (window as f64).log2().powi(4) / alpha;
    assert!(published_bits > 64.0 * window as f64);
    let mut continual = declared(20_000, window).continual().unwrap();
    let mut zipf = Zipf::new(1.1, 20_000, 9);
    let mut keys = Vec::new();
    let mut checked = 0;
    for _ in 0..1_500_000 {
        keys.push(zipf.key());
        for release in continual.update(keys[keys.len() - 1]).unwrap() {
            assert!(continual.bytes() < published_bits as u64 / 8);
            if !keys.len().is_multiple_of(125_000) {
                continue;
            }
            let since = keys.len() - release.window.events as usize;
            let truth = count(keys[since..].iter().copied());
            for heavy in release.heavy.iter().filter(|heavy| heavy.count as f64 >= alpha * root) {
                let error = (heavy.count as f64 - truth.get(&heavy.key).copied().unwrap_or(0) as f64).abs();
                assert!(error <= alpha * root / 2.0, "{error}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1_000);
}

/// Events after a release, until the next one is due, do not change it: the same noise over fewer events
/// would disclose the others. Nor does reading it again, so a mean over readings gains nothing.
#[test]
fn a_release_stays_the_same_until_the_next_one() {
    let window = Window::clock(Duration::from_secs(20))
        .slide(Duration::from_secs(10))
        .lateness(Duration::from_secs(5));
    let mut continual = declared(10, 1).epsilon(0.1).window(window).continual().unwrap();
    for second in [1, 12, 21] {
        (0..1_000).for_each(|_| drop(continual.update_at(second * SECOND, 1).unwrap()));
    }
    assert_eq!(continual.advance_to(25 * SECOND).unwrap().len(), 1);
    let release = continual.release().unwrap();
    for time in [25 * SECOND, 22 * SECOND, 31 * SECOND, 35 * SECOND - 1] {
        assert!(continual.update_at(time, 1).unwrap().is_empty());
        assert_eq!(continual.release().unwrap(), release, "after an event at {time}");
    }
    for norm in [Norm::L1, Norm::L2] {
        for keys in [Keys::range(0..500).unwrap(), Keys::open()] {
            let builder = HeavyHitters::<u64>::builder(keys).norm(norm).alpha(0.01);
            let mut by_count = builder.window(Window::events(4).slide(1)).continual().unwrap();
            for event in 1..50_u64 {
                let releases = by_count.update(event % 3).unwrap();
                assert_eq!(releases[0].window.events, event.min(4));
                (0..20).for_each(|_| assert_eq!(by_count.release().unwrap(), releases[0]));
            }
        }
    }
}

/// An adaptive stream: two releases disclose the noise of 10,000 keys in a pane, and the key with the lowest
/// gets just enough events that it must be listed. All statements hold as often as stated.
#[test]
fn statements_hold_for_a_key_with_the_lowest_noise() {
    let (runs, keys) = (60, 10_000_u64);
    let mut untrue = 0;
    for _ in 0..runs {
        let mut continual = HeavyHitters::<u64>::builder(Keys::open())
            .norm(Norm::L1)
            .alpha(1e-6)
            .together(3)
            .window(Window::clock(Duration::from_secs(2)).slide(Duration::from_secs(1)))
            .entries(200 * keys as u32)
            .continual()
            .unwrap();
        for key in 0..keys {
            (0..200).for_each(|_| drop(continual.update_at(0, key).unwrap()));
        }
        let shown = continual.advance_to(2 * SECOND).unwrap();
        let (one, both) = (listed(&shown[0]), listed(&shown[1]));
        let second_noise = |key: &u64| both[key] as i64 - one[key] as i64;
        let target = (0..keys).min_by_key(second_noise).unwrap();
        let needed = shown[1].complete_above;
        (0..needed).for_each(|_| drop(continual.update_at(2 * SECOND, target).unwrap()));
        let release = continual.advance_to(3 * SECOND).unwrap().pop().unwrap();
        assert_eq!(release.complete_above, needed);
        untrue += u64::from(!statements_true(&release, &HashMap::from([(target, needed)])));
    }
    let limit = most_failures(runs, 0.05, 1e-7);
    assert!(untrue <= limit, "{untrue} of {runs}, {limit} allowed");
}

/// Batches of any size give the same releases, at the same events, as single events.
#[test]
fn batches_are_their_events_one_by_one() {
    for keys in [Keys::open(), Keys::range(0..40).unwrap()] {
        let build = || {
            let builder = HeavyHitters::<u64>::builder(keys.clone()).norm(Norm::L1).epsilon(NO_NOISE);
            let window = Window::events(600).slide(100);
            builder.alpha(0.01).window(window).continual().unwrap()
        };
        let events: Vec<Option<u64>> = (0..2_345_u64).map(|i| (i % 7 > 0).then_some(i * i % 50)).collect();
        let mut one_by_one = Vec::new();
        let mut single = build();
        for event in &events {
            let show = |continual: &Continual<u64>| one_by_one.push(continual.release().unwrap());
            single.push(Event { time: None, key: *event, user: None }, show).unwrap();
        }
        assert_eq!(one_by_one.len(), 23);
        for size in [1, 7, 99, 100, 101, 1_000, 5_000] {
            let (mut batched, mut releases) = (build(), Vec::new());
            for batch in events.chunks(size) {
                let show = |continual: &Continual<u64>| releases.push(continual.release().unwrap());
                batched.extend(arrivals(batch.iter().copied()), show).unwrap();
            }
            assert_eq!(releases, one_by_one, "in batches of {size}");
            assert_eq!(batched.tally().without_key, single.tally().without_key);
        }
    }
}

/// 60 sequences of 40 releases: all statements of a sequence hold together in 95 of 100.
#[test]
fn all_statements_of_all_releases_hold_together() {
    let runs = 60;
    let mut untrue = 0;
    for seed in 0..runs {
        for keys in [Keys::range(0..300).unwrap(), Keys::open()] {
            let mut continual = HeavyHitters::<u64>::builder(keys)
                .norm(if seed % 2 == 0 { Norm::L1 } else { Norm::L2 })
                .alpha(0.02)
                .epsilon(2.0)
                .together(40)
                .window(Window::events(6_400).slide(400))
                .continual()
                .unwrap();
            let mut zipf = Zipf::new(1.2, 300, seed);
            let mut events = Vec::new();
            let mut all_true = true;
            for _ in 0..16_000 {
                events.push(zipf.key() % 300);
                for release in continual.update(events[events.len() - 1]).unwrap() {
                    let since = events.len() - release.window.events as usize;
                    all_true &= statements_true(&release, &count(events[since..].iter().copied()));
                    assert_eq!(release.confidence, 0.95);
                }
            }
            untrue += u64::from(!all_true);
        }
    }
    assert!(untrue <= most_failures(2 * runs, 0.05, 1e-7), "{untrue} of {}", 2 * runs);
}

/// By its own accounting.
#[test]
fn memory_is_bounded_as_stated() {
    for keys in [Keys::open(), Keys::range(0..u64::MAX >> 41).unwrap()] {
        let mut continual = HeavyHitters::<u64>::builder(keys)
            .norm(Norm::L2)
            .alpha(0.05)
            .memory(8 << 20)
            .window(Window::events(1 << 20))
            .continual()
            .unwrap();
        let mut most = 0;
        for event in 0..2_u64 << 20 {
            let key = event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 41;
            let due = |continual: &Continual<u64>| most = most.max(continual.bytes());
            continual.push(Event::of(key), due).unwrap();
        }
        let stated = continual.release().unwrap().continual.unwrap().memory;
        assert!(stated <= 8 << 20 && most <= stated && most > stated / 8, "{most} of {stated}");
    }
}

/// Windows of four slides. A gap of any length gives the releases of two windows' time, whether or not the
/// clock advances during it; then they pause. Later events have their releases, with consecutive numbers.
#[test]
fn a_gap_of_any_length_brings_a_few_releases_and_the_stream_goes_on() {
    let window = Window::clock(Duration::from_secs(40))
        .slide(Duration::from_secs(10))
        .lateness(Duration::from_secs(15));
    for gap in [70, 95, 96, 1_000, 10_000_000, 100_000_000_000] {
        for steps in [0, 7, 50] {
            let mut continual = declared(10, 1).epsilon(NO_NOISE).window(window).continual().unwrap();
            let mut releases = Vec::new();
            releases.extend(continual.update_at(5 * SECOND, 1).unwrap());
            for step in 1..steps {
                let time = 5 * SECOND + gap * SECOND * step / steps;
                releases.extend(continual.advance_to(time).unwrap());
            }
            let after = (5 + gap) * SECOND;
            releases.extend(continual.update_at(after, 2).unwrap());
            let paused = releases.len();
            assert_eq!(paused as i64, ((gap + 5 - 15) / 10).min(1 + 2 * 4), "{gap} {steps}");
            assert_eq!(continual.release().unwrap(), releases[paused - 1]);
            releases.extend(continual.update_at(after + 1, 3).unwrap());
            releases.extend(continual.update_at(after - 5 * SECOND, 4).unwrap());
            assert_eq!(releases.len(), paused, "{gap} {steps}");
            releases.extend(continual.advance_to(after + 60 * SECOND).unwrap());
            assert_eq!(continual.tally().late, 0);
            let numbers: Vec<u64> =
                releases.iter().map(|release| release.continual.as_ref().unwrap().number).collect();
            assert_eq!(numbers, (1..=releases.len() as u64).collect::<Vec<_>>());
            let events = |release: &Release<u64>| release.window.events;
            assert_eq!(listed(&releases[0]), BTreeMap::from([(1, 1)]));
            assert!(
                releases.iter().any(|release| listed(release) == BTreeMap::from([(2, 1), (3, 1), (4, 1)]))
            );
            assert!(releases[4..paused].iter().all(|release| events(release) == 0), "{gap}");
        }
    }
}

#[test]
fn wrong_requests_say_what_to_do() {
    let many = HeavyHitters::builder(Keys::range(0..1 << 30).unwrap()).continual();
    let message = many.err().unwrap().to_string();
    assert!(message.contains("declare fewer, or leave the keys open"), "{message}");
    let mut by_count = declared(5, 100).continual().unwrap();
    assert!(by_count.update_at(0, 1).unwrap_err().to_string().contains("with update"));
    assert!(by_count.release().unwrap_err().to_string().contains("wait for the first"));
    let mut by_clock = declared(5, 1).window(Window::clock(Duration::from_secs(60))).continual().unwrap();
    assert!(by_clock.update_at(0, 1).unwrap().is_empty());
    for error in [by_clock.update_at(i64::MAX, 1).unwrap_err(), by_clock.advance_to(i64::MAX).unwrap_err()] {
        assert!(error.to_string().contains("lies outside the calendar"), "{error}");
    }
    // Twice in each of 32 windows, at a chance of 1e-50 each.
    let open = || HeavyHitters::<u64>::builder(Keys::open());
    let small = open().delta(1e-60).continual();
    assert!(small.err().unwrap().to_string().contains("take 1e-48 or more, or declare the keys"));
    assert!(open().delta(1e-48).continual().is_ok());
    let policy = open().policy(Policy::Smooth).continual();
    assert!(policy.err().unwrap().to_string().contains("leave the policy out"));
    assert!(open().releases(2).continual().err().unwrap().to_string().contains("leave releases out"));
    let uneven = declared(5, 1).window(Window::events(100).slide(30)).continual();
    assert!(uneven.err().unwrap().to_string().contains("make it 120 events, or leave the slide out"));
    let none = declared(5, 100).together(0).continual().err().unwrap().to_string();
    assert!(none.contains("must hold for at least 1 release"), "{none}");
}
