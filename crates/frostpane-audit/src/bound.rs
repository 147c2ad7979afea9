#![doc = include_str!("bound.md")]

use crate::beta::regularised;

/// Halvings of the interval in which a probability lies.
const HALVINGS: u32 = 45;

/// The least probability that `hits` of `runs` are compatible with, but for a chance of `failure`.
pub fn low(hits: u64, runs: u64, failure: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (hits, misses) = (hits as f64, (runs - hits) as f64);
    bisect((0.0, 1.0), HALVINGS, |p| regularised(p, hits, misses + 1.0) < failure).0
}

/// The largest probability that `hits` of `runs` are compatible with, but for a chance of `failure`.
pub fn high(hits: u64, runs: u64, failure: f64) -> f64 {
    if hits == runs {
        return 1.0;
    }
    let (hits, misses) = (hits as f64, (runs - hits) as f64);
    bisect((0.0, 1.0), HALVINGS, |p| 1.0 - regularised(p, hits + 1.0, misses) > failure).1
}

/// Both ends of the interval in which a condition ceases to hold.
pub(crate) fn bisect(
    (mut low, mut high): (f64, f64),
    halvings: u32,
    holds: impl Fn(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

/// The least epsilon compatible with outcomes seen `hits[0]` times on one stream and `hits[1]` times on the
/// other, in `runs` runs each.
pub fn epsilon(hits: [u64; 2], runs: u64, delta: f64, failure: f64) -> f64 {
    let likely = low(hits[0], runs, failure / 2.0) - delta;
    if likely <= 0.0 {
        return 0.0;
    }
    (likely / high(hits[1], runs, failure / 2.0)).ln().max(0.0)
}

/// The bound for outcomes at exactly their expected frequencies: never less than the bound.
pub fn optimistic(hits: [u64; 2], runs: u64, delta: f64) -> f64 {
    let likely = hits[0] as f64 - delta * runs as f64;
    if likely > 0.0 { (likely / hits[1] as f64).ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against published values of the Clopper-Pearson interval at 95 %.
    #[test]
    fn intervals_are_those_of_clopper_and_pearson() {
        for (hits, runs, lowest, highest) in [
            (0, 10, 0.0, 0.308_497),
            (1, 10, 0.002_529, 0.445_016),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_503, 1.0),
            (81, 263, 0.252_689, 0.367_630),
        ] {
            assert!((low(hits, runs, 0.025) - lowest).abs() < 1e-4, "{hits} of {runs}");
            assert!((high(hits, runs, 0.025) - highest).abs() < 1e-4, "{hits} of {runs}");
        }
    }

    #[test]
    fn what_delta_explains_is_no_loss() {
        assert_eq!(epsilon([100, 0], 1_000, 0.1, 0.01), 0.0);
        assert!(epsilon([200, 0], 1_000, 0.1, 0.01) > 1.0);
        assert_eq!(epsilon([0, 0], 1_000, 0.0, 0.01), 0.0);
    }
}
