//! The scale of the noise of counts and norms at a given epsilon, measured on known counts.

use crate::common::{NO_NOISE, arrivals};
use frostpane::testing::{DiscreteLaplace, Epsilon, Threshold};
use frostpane::{HeavyHitters, Keys, Norm, Policy, Release, Window};

const RELEASES: u32 = 4_000;
const EPSILON: f64 = 0.5;

/// Repeated releases of 900 events of key 1 and 100 of key 2 in every thousand, made as the program does it.
fn releases(keys: Keys<u64>, norm: Norm, entries: u32) -> Vec<Release<u64>> {
    let mut hitters = HeavyHitters::builder(keys)
        .norm(norm)
        .policy(Policy::Uniform)
        .alpha(0.05)
        .epsilon(EPSILON)
        .window(Window::events(20_000).slide(1_000))
        .entries(entries)
        .sketch(5, 1_024)
        .threads(2)
        .releases(RELEASES)
        .build()
        .unwrap();
    let events = (0..20_000).map(|i| Some(if i % 10 == 0 { 2 } else { 1 }));
    hitters.extend(arrivals(events)).unwrap();
    (0..RELEASES).map(|_| hitters.release_over(20_000).unwrap()).collect()
}

/// The mean distance of a discrete Laplace value from 0.
fn mean_distance(scale: f64) -> f64 {
    1.0 / (1.0 / scale).sinh()
}

/// The mean distance of 4,000 values from their centre must be as calculated to 9 %. Its standard error is
/// about the scale over the root of 4,000, or 1.6 %: an alarm is false less than once in ten million, and a
/// scale that is off by a tenth fails.
fn assert_scale(what: &str, values: impl Iterator<Item = f64>, scale: f64) {
    let distances: Vec<f64> = values.map(f64::abs).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let expected = mean_distance(scale);
    assert!((mean / expected - 1.0).abs() < 0.09, "{what}: {mean:.3}, {expected:.3} expected");
}

fn counts_of(releases: &[Release<u64>], key: u64) -> impl Iterator<Item = f64> {
    releases.iter().map(move |release| {
        let heavy = release.heavy.iter().find(|heavy| heavy.key == key).unwrap();
        (heavy.count - release.cut) as f64
    })
}

/// One release for each pane of a thousand events, over windows of `panes` panes.
fn continual_releases(keys: Keys<u64>, norm: Norm, panes: u64) -> Vec<Release<u64>> {
    let mut continual = HeavyHitters::builder(keys)
        .norm(norm)
        .alpha(0.05)
        .epsilon(EPSILON)
        .window(Window::events(panes * 1_000).slide(1_000))
        .continual()
        .unwrap();
    let events = (u64::from(RELEASES) + panes) * 1_000;
    let releases = (0..events).flat_map(|i| continual.update(if i % 10 == 0 { 2 } else { 1 }).unwrap());
    releases.skip(panes as usize).collect()
}

/// Continual release spends all of epsilon, for L2 nine tenths, on the counts of each pane, and the rest on
/// the norms, divided by the number of windows that an event is in.
#[test]
fn a_sequence_spends_a_tenth_on_all_norms_of_an_event_together() {
    for keys in [Keys::open(), Keys::range(0..50).unwrap()] {
        for (norm, share) in [(Norm::L1, 1.0), (Norm::L2, 0.9)] {
            let single = continual_releases(keys.clone(), norm, 1);
            let distances = counts_of(&single, 1).map(|noisy| noisy - 900.0);
            assert_scale("count", distances, 2.0 / (share * EPSILON));
        }
        for panes in [1, 4] {
            let releases = continual_releases(keys.clone(), Norm::L2, panes);
            let norm = (panes as f64 * 905.54).round();
            let distances = releases.iter().map(|release| release.norm_estimate as f64 - norm);
            assert_scale("norm", distances, panes as f64 / (0.1 * EPSILON));
        }
    }
}

#[test]
fn l2_spends_a_tenth_on_the_norm_of_sensitivity_two_where_the_sketch_is_used() {
    let releases = releases(Keys::open(), Norm::L2, 100);
    let cut = releases[0].cut as f64;
    assert_eq!(cut, 180.0);
    assert_scale("key 1", counts_of(&releases, 1).map(|count| count + cut - 18_000.0), 2.0 / (0.9 * EPSILON));
    let mut norms: Vec<f64> = releases.iter().map(|release| release.norm_estimate as f64).collect();
    norms.sort_unstable_by(f64::total_cmp);
    let median = norms[norms.len() / 2];
    assert_scale("norm", norms.iter().map(|norm| norm - median), 2.0 / (0.1 * EPSILON));
}

/// The smooth policy spends a quarter on its boundaries, and the rest is split as without it.
#[test]
fn the_smooth_policy_leaves_three_quarters() {
    for (norm, counts) in [(Norm::L1, 0.75), (Norm::L2, 0.9 * 0.75)] {
        let mut hitters = HeavyHitters::builder(Keys::open())
            .norm(norm)
            .alpha(0.05)
            .epsilon(EPSILON)
            .policy(Policy::Smooth)
            .window(Window::events(40_000))
            .releases(RELEASES)
            .build()
            .unwrap();
        (0..20_000).for_each(|i| hitters.update(if i % 10 == 0 { 2 } else { 1 }).unwrap());
        let releases: Vec<_> = (0..RELEASES).map(|_| hitters.release().unwrap()).collect();
        assert_eq!((releases[0].cut, releases[0].boundaries_epsilon), (0, 0.125));
        assert_scale(
            "key 1",
            counts_of(&releases, 1).map(|count| count - 18_000.0),
            2.0 / (counts * EPSILON),
        );
        if norm == Norm::L2 {
            let norms = releases.iter().map(|release| release.norm_estimate as f64);
            assert_scale("norm", norms.map(|norm| norm - 18_110.0), 1.0 / (0.075 * EPSILON));
        }
    }
}

/// The pane in which the window begins has 20 keys 50 times each. For L1 its largest count has the whole
/// epsilon, for L2 half of it beside its norm.
#[test]
fn what_is_left_out_is_measured_with_its_own_noise() {
    for (norm, scale) in [(Norm::L1, 1.0 / EPSILON), (Norm::L2, 2.0 / EPSILON)] {
        let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
            .norm(norm)
            .policy(Policy::Uniform)
            .epsilon(EPSILON)
            .window(Window::events(20_000).slide(1_000))
            .releases(RELEASES)
            .build()
            .unwrap();
        (0..20_500).for_each(|i| hitters.update(i % 20).unwrap());
        let slacks = (0..RELEASES).map(|_| hitters.release().unwrap().asked.slack.unwrap() as f64);
        let mut slacks: Vec<f64> = slacks.collect();
        slacks.sort_unstable_by(f64::total_cmp);
        let median = slacks[slacks.len() / 2];
        assert_scale("slack", slacks.iter().map(|slack| slack - median), scale);
    }
}

/// 4,000 independent pairs: a correlation of 0.1 has a chance below 1e-9.
#[test]
fn every_release_and_every_key_has_fresh_noise() {
    let releases = releases(Keys::open(), Norm::L1, 1_000);
    let noise =
        |key: u64, count: f64| counts_of(&releases, key).map(|noisy| noisy - count).collect::<Vec<_>>();
    let (one, two) = (noise(1, 18_000.0), noise(2, 2_000.0));
    let correlation = |a: &[f64], b: &[f64]| {
        let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        sum(a, b) / (sum(a, a) * sum(b, b)).sqrt()
    };
    assert!(correlation(&one, &two).abs() < 0.1);
    assert!(correlation(&one[1..], &one[..one.len() - 1]).abs() < 0.1);
    assert!(correlation(&one, &one) > 0.99);
}

/// All counts are cut to 0, so a norm of about 100 can only come from the sketch. Its stated error at 99.9 %
/// is 27 %.
#[test]
fn the_norm_of_a_window_that_is_not_exact_comes_from_the_sketch() {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .policy(Policy::Uniform)
        .epsilon(100.0)
        .window(Window::events(10_000).slide(1_000))
        .entries(10)
        .sketch(5, 1_024)
        .build()
        .unwrap();
    (0..10_000).for_each(|key| hitters.update(key).unwrap());
    let release = hitters.release().unwrap();
    assert_eq!(release.cut, 900);
    assert!(release.norm_estimate.abs_diff(100) < 27, "{}", release.norm_estimate);
}

/// The threshold of open keys follows the noise of their counts, which for L2 is that of nine tenths of
/// epsilon.
#[test]
fn the_threshold_belongs_to_the_noise_of_the_counts() {
    for (norm, share) in [(Norm::L1, 1.0), (Norm::L2, 0.9)] {
        for delta in [0.1, 1e-6, 1e-12] {
            let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
                .norm(norm)
                .policy(Policy::Uniform)
                .alpha(1e-9)
                .epsilon(EPSILON)
                .delta(delta)
                .build()
                .unwrap();
            (0..1_000).for_each(|key| hitters.update(key).unwrap());
            let noise = DiscreteLaplace::new(2, Epsilon::new(share * EPSILON).unwrap());
            let expected = Threshold::for_open_keys(noise, delta).value();
            assert_eq!(hitters.release().unwrap().threshold, expected, "{norm:?} {delta}");
        }
    }
}

/// Without noise, eleven keys in panes of 20 entries are counted exactly and then cut, so a count is below
/// the exact one by the whole cut: the estimate adds it, and the interval reaches down to the stored count.
#[test]
fn an_interval_makes_up_for_the_cut() {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .epsilon(NO_NOISE)
        .window(Window::events(10_000).slide(1_000))
        .entries(20)
        .build()
        .unwrap();
    // Keys 0 and 10 occur 500 times each, the nine others 1,000 times.
    (0..10_000).for_each(|i| hitters.update(if i % 20 == 0 { 10 } else { i % 10 }).unwrap());
    let release = hitters.release().unwrap();
    assert_eq!((release.cut, release.noise, release.heavy.len()), (470, 0, 11));
    // Alpha asks for 375, but the floor of privacy applies to the stored counts.
    let floor = 2;
    assert_eq!((release.threshold, release.complete_above), (470 + floor, 470 + floor));
    for heavy in &release.heavy {
        let truth = if matches!(heavy.key, 0 | 10) { 500 } else { 1_000 };
        assert_eq!((heavy.low, heavy.count, heavy.high), (truth - 470, truth, truth));
    }
}
