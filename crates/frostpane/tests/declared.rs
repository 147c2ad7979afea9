//! Declared keys: keys that never occurred have noise too, whatever their number.

use crate::common::{count, statements_true};
use frostpane::{Bytes, HeavyHitters, Keys, Norm, Policy, Release, Window};

fn release_over_range(size: u64, alpha: f64, epsilon: f64, events: &[u64]) -> Release<u64> {
    let mut hitters = HeavyHitters::builder(Keys::range(0..size).unwrap())
        .norm(Norm::L1)
        .alpha(alpha)
        .epsilon(epsilon)
        .window(Window::events(events.len().max(1) as u64))
        .build()
        .unwrap();
    hitters.update_batch(events.iter().copied()).unwrap();
    hitters.release().unwrap()
}

/// `Pr[X >= m]` in floats.
fn tail(epsilon: f64, m: u64) -> f64 {
    let p = (-epsilon / 2.0).exp();
    p.powi(m as i32) / (1.0 + p)
}

/// 2^32 keys, three of them present, a threshold at which about 300 absent ones pass. Over 200 releases the
/// number of absent keys, the sum of their noisy counts above the threshold and the sum of the keys must be
/// as calculated, within 5 standard errors: three checks, a false alarm in fewer than one in 500,000 runs.
#[test]
fn a_range_of_2_to_the_32_lists_as_many_absent_keys_as_calculated() {
    let size = 1_u64 << 32;
    let events: Vec<u64> = (0..30_000).map(|i| [7, 1 << 31, size - 1][i % 3]).collect();
    let (runs, epsilon, alpha) = (200, 1.0, 0.00138);
    let (mut listed, mut excess, mut keys, mut threshold) = (0_u64, 0_u64, 0.0, 0);
    for _ in 0..runs {
        let release = release_over_range(size, alpha, epsilon, &events);
        threshold = release.threshold;
        for heavy in release.heavy.iter().filter(|heavy| !events[..3].contains(&heavy.key)) {
            listed += 1;
            excess += heavy.count - threshold;
            keys += heavy.key as f64 / size as f64;
        }
        assert!(events[..3].iter().all(|key| release.heavy.iter().any(|heavy| heavy.key == *key)));
    }
    assert_eq!(threshold, 32);
    let expected = (size - 3) as f64 * tail(epsilon, threshold) * runs as f64;
    let n = listed as f64;
    assert!((n - expected).abs() <= 5.0 * expected.sqrt(), "{n} listed, {expected} expected");
    let p = (-epsilon / 2.0).exp();
    let (mean, spread) = (p / (1.0 - p), p.sqrt() / (1.0 - p));
    assert!(
        (excess as f64 - mean * n).abs() <= 5.0 * spread * n.sqrt(),
        "excess {excess}, expected {}",
        mean * n
    );
    assert!((keys - n / 2.0).abs() <= 5.0 * (n / 12.0).sqrt(), "keys are not uniform: {}", keys / n);
}

#[test]
fn an_empty_window_is_not_released_without_noise() {
    let mut hitters =
        HeavyHitters::builder(Keys::range(0..1_000).unwrap()).norm(Norm::L1).releases(20).build().unwrap();
    let listed: usize = (0..20).map(|_| hitters.release().unwrap().heavy.len()).sum();
    assert!(listed > 1_000, "{listed} of 20,000 keys listed by noise at a threshold of 1");
}

#[test]
fn a_universe_too_large_for_its_threshold_gets_a_higher_one() {
    let release = release_over_range(1 << 40, 0.000001, 1.0, &[1, 2, 3]);
    let expected = (1_u64 << 40) as f64 * tail(1.0, release.threshold);
    assert!(expected <= 1_000_000.0, "{expected} keys listed by noise");
    assert!((release.heavy.len() as f64) < 1_010_000.0);
}

#[test]
fn a_declared_list_names_its_own_keys_only() {
    let keys = ["amber", "beryl", "coral"].map(|key| Bytes::from(key.as_bytes()));
    let mut hitters =
        HeavyHitters::builder(Keys::list(keys).unwrap()).norm(Norm::L1).alpha(0.1).build().unwrap();
    for _ in 0..1_000 {
        hitters.update(b"beryl").unwrap();
        hitters.update(b"not declared").unwrap();
    }
    let release = hitters.release().unwrap();
    assert_eq!(release.delta, 0.0);
    assert_eq!(release.window.events, 2_000);
    assert_eq!(release.heavy.len(), 1);
    assert_eq!(release.heavy[0].key.as_ref(), b"beryl");
}

/// A sketch so narrow that it bounds the norm by nothing must not be read for counts, and what a release
/// states stays true. With 20 entries a pane the cut of the counts is large, so the sketch would look precise
/// if its error wrapped around.
#[test]
fn a_sketch_that_says_nothing_about_the_norm_is_not_read_for_counts() {
    for confidence in [0.95, 0.999_999_9] {
        let mut hitters = HeavyHitters::<u64>::builder(Keys::range(0..1_000).unwrap())
            .norm(Norm::L2)
            .policy(Policy::Uniform)
            .alpha(0.05)
            .epsilon(10.0)
            .confidence(confidence)
            .window(Window::events(100_000).slide(10_000))
            .entries(20)
            .sketch(5, 16)
            .build()
            .unwrap();
        (0..100_000).for_each(|i: u64| hitters.update(i * i % 1_000).unwrap());
        let counts = count((0..100_000).map(|i: u64| i * i % 1_000));
        let release = hitters.release().unwrap();
        assert!(
            statements_true(&release, &counts),
            "confidence {confidence}: {:?} with an error of {}",
            release.estimator,
            release.noise
        );
    }
}
