//! Synthetic streams.

use frostpane::testing::{Entropy, InsecureSeededEntropy};

/// Equally likely keys.
pub fn uniform(events: usize, keys: u64) -> Vec<u64> {
    let mut entropy = InsecureSeededEntropy::new(1);
    (0..events).map(|_| entropy.word().map_or(0, |word| word % keys)).collect()
}

/// Keys whose rank `r` has a weight of `r^-1.1`.
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

/// Distinct random words of 6 to 20 letters.
pub fn words(count: usize) -> Vec<Box<[u8]>> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut entropy = InsecureSeededEntropy::new(2);
    (0..count)
        .map(|number| {
            let mut word = || entropy.word().unwrap_or(0);
            let length = 6 + word() as usize % 15;
            let (mut low, mut high) = (number as u64 | word() << 20, word());
            let mut letters = Vec::with_capacity(length);
            for _ in 0..length {
                letters.push(LETTERS[low as usize % 32]);
                low = low >> 5 | high << 59;
                high >>= 5;
            }
            letters.into()
        })
        .collect()
}

/// The words of these ranks, one per line.
pub fn text(words: &[Box<[u8]>], ranks: &[u64]) -> Vec<u8> {
    let mut text = Vec::new();
    for rank in ranks {
        text.extend_from_slice(&words[*rank as usize]);
        text.push(b'\n');
    }
    text
}
