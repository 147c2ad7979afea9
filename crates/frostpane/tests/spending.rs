//! The scale of the noise of counts and norms where boundaries are private, and the cut.

use crate::common::NO_NOISE;
use frostpane::{HeavyHitters, Keys, Norm, Policy, Window};

const RELEASES: u32 = 4_000;
const EPSILON: f64 = 0.5;

/// The mean distance from 0 of 4,000 discrete Laplace values must be as calculated to 9 %. Its standard error
/// is about the scale over the root of 4,000, or 1.6 %: an alarm is false less than once in ten million, and a
/// scale that is off by a tenth fails.
fn assert_scale(what: &str, values: impl Iterator<Item = f64>, scale: f64) {
    let mean = values.map(f64::abs).sum::<f64>() / f64::from(RELEASES);
    let expected = 1.0 / (1.0 / scale).sinh();
    assert!((mean / expected - 1.0).abs() < 0.09, "{what}: {mean:.3}, {expected:.3} expected");
}

/// The smooth policy spends a quarter on its boundaries, and the rest is split as without it.
#[test]
fn the_smooth_policy_leaves_three_quarters() {
    for (norm, counts) in [(Norm::L1, 0.75), (Norm::L2, 0.9 * 0.75)] {
        let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
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
        assert_eq!((releases[0].policy, releases[0].epsilon), (Policy::Smooth, EPSILON));
        let noises = releases.iter().map(|release| {
            release.heavy.iter().find(|heavy| heavy.key == 1).unwrap().count as f64 - 18_000.0
        });
        assert_scale("key 1", noises, 2.0 / (counts * EPSILON));
        if norm == Norm::L2 {
            let norms = releases.iter().map(|release| release.norm_estimate as f64);
            assert_scale("norm", norms.map(|norm| norm - 18_110.0), 1.0 / (0.075 * EPSILON));
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
