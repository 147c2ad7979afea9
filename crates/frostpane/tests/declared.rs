//! Declared keys: keys that never occurred have noise too, whatever their number.

use crate::common::{count, statements_true};
use frostpane::{HeavyHitters, Keys, Norm, Policy, Window};

#[test]
fn a_universe_too_large_for_its_threshold_gets_a_higher_one() {
    let size = 1_u64 << 40;
    let builder = HeavyHitters::builder(Keys::range(0..size).unwrap()).norm(Norm::L1).alpha(1e-6);
    let release = builder.build().unwrap().release().unwrap();
    let p = (-0.5_f64).exp();
    let expected = size as f64 * p.powi(release.threshold as i32) / (1.0 + p);
    assert!(expected <= 1_000_000.0, "{expected} keys listed by noise");
    assert!((release.heavy.len() as f64) < 1_010_000.0);
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
