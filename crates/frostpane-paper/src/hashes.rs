//! The random functions `s^(j): [n] -> {-1,+1}` and `h^(j): [n] -> [b]`, and a hash map by key.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The random sign vectors and hash functions that the instances of a sketch share.
///
/// The paper draws new ones for each instance. Here all instances share them, so that they are evaluated
/// once an event. An accuracy bound holds for each instance by itself;
/// that all of them hold at once is a union bound, which asks for no independence between instances.
///
/// The functions are a keyed mixer (the finaliser of splitmix64) in place of truly random ones.
#[derive(Clone, Debug)]
pub struct Hashes {
    signs: u64,
    buckets: u64,
}

/// Increment of splitmix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hashes {
    /// Derives the functions from a seed.
    pub fn new(seed: u64) -> Self {
        let start = mix(seed);
        Self { signs: draw(start, 0), buckets: draw(start, 1) }
    }

    /// `s^(row)(key)`: +1 or -1.
    pub fn sign(&self, row: usize, key: u64) -> i64 {
        let bit = self.signs(row / 64, key) >> (row % 64) & 1;
        1 - 2 * bit as i64
    }

    /// The signs of the rows `64 word` to `64 word + 63`, the first in the lowest bit; a set bit is -1.
    pub fn signs(&self, word: usize, key: u64) -> u64 {
        draw(mix(key ^ self.signs), word as u64)
    }

    /// The signs of the first `rows` rows, 64 in a word.
    pub fn sign_words(&self, key: u64, rows: usize) -> Vec<u64> {
        (0..rows.div_ceil(64)).map(|word| self.signs(word, key)).collect()
    }

    /// `h^(row)(key)`: one of the buckets `0..b`.
    pub fn bucket(&self, row: usize, key: u64, b: usize) -> usize {
        let hash = draw(mix(key ^ self.buckets), row as u64);
        ((u128::from(hash) * b as u128) >> 64) as usize
    }
}

fn draw(start: u64, index: u64) -> u64 {
    mix(start.wrapping_add(STEP.wrapping_mul(index.wrapping_add(1))))
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Each event looks its key up in hundreds of instances, so the hash is one product.
pub(crate) type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// One multiplication, folded. Not resistant to chosen keys, which a yardstick does not meet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(key ^ self.0) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 281 binomial counts, each within five standard deviations: one choice of seed in 6000 would fail by
    /// chance. Catches a sign or bucket that depends on too little, and signs that are buckets.
    #[test]
    fn signs_and_buckets_are_even_and_pairwise_unrelated() {
        const KEYS: u64 = 40_000;
        let hashes = Hashes::new(1);
        let near = |count: i64, p: f64| {
            let (mean, deviation) = (KEYS as f64 * p, (KEYS as f64 * p * (1.0 - p)).sqrt());
            assert!((count as f64 - mean).abs() <= 5.0 * deviation, "{count}, expected {mean}");
        };
        let count = |test: &dyn Fn(u64) -> bool| (0..KEYS).filter(|&key| test(key)).count() as i64;
        near(count(&|key| hashes.bucket(0, key, 2) == 0 && hashes.sign(63, key) == 1), 0.25);
        for row in 0..40 {
            near(count(&|key| hashes.sign(row, key) == 1), 0.5);
            near(count(&|key| hashes.sign(row, key) == hashes.sign(row + 1, key)), 0.5);
            near(count(&|key| hashes.sign(row, key) == hashes.sign(row, key + 1)), 0.5);
            near(count(&|key| hashes.bucket(row, key, 10) == row % 10), 0.1);
            near(count(&|key| hashes.bucket(row, key, 10) == hashes.bucket(row + 1, key, 10)), 0.1);
            near(count(&|key| hashes.bucket(row, key, 10) == hashes.bucket(row, key + 1, 10)), 0.1);
            near(count(&|key| hashes.bucket(row, key, 2) == 0 && hashes.sign(row, key) == 1), 0.25);
        }
    }
}
