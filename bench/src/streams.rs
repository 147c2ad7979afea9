//! Made-up streams.

use frostpane::noise::{Entropy, InsecureSeededEntropy};

/// Every key as likely as any other.
pub fn uniform(events: usize, keys: u64) -> Vec<u64> {
    let mut entropy = InsecureSeededEntropy::new(1);
    (0..events)
        .map(|_| entropy.word().map_or(0, |word| word % keys))
        .collect()
}

/// The key of rank `r` with a weight of `r^-1.1`.
pub fn zipf(events: usize, keys: usize) -> Vec<u64> {
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=keys)
        .map(|rank| {
            sum += (rank as f64).powf(-1.1);
            sum
        })
        .collect();
    uniform(events, 1 << 53)
        .into_iter()
        .map(|word| {
            let point = word as f64 / (1_u64 << 53) as f64 * sum;
            cumulative.partition_point(|sum| *sum <= point) as u64
        })
        .collect()
}
