//! An upper bound on the norm of a list that is cheaper than the norm.
//!
//! Words that share their last bits are counted as one. The square of a sum of counts is at least the
//! sum of their squares, so the norm of these sums is at least that of the list.

const SUMS: usize = 1 << 12;

/// Bounds the norm of a growing list.
#[derive(Clone, Debug)]
pub struct NormBound {
    sums: Box<[u32; SUMS]>,
    squares: u64,
    /// Number of words of the list that have been added.
    words: usize,
}

impl Default for NormBound {
    fn default() -> Self {
        Self { sums: Box::new([0; SUMS]), squares: 0, words: 0 }
    }
}

impl NormBound {
    pub const BYTES: u64 = (SUMS * size_of::<u32>()) as u64;

    /// An upper bound on the norm of a list of fewer than `2^32` words, rounded down, that has only grown since the last call.
    pub fn of(&mut self, list: &[u64]) -> u64 {
        for word in &list[self.words..] {
            let sum = &mut self.sums[*word as usize % SUMS];
            self.squares = self.squares.saturating_add(2 * u64::from(*sum) + 1);
            *sum += 1;
        }
        self.words = list.len();
        self.squares.isqrt()
    }

    pub fn clear(&mut self) {
        self.sums.fill(0);
        self.squares = 0;
        self.words = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::key::mix::mix;

    /// For flat lists, skewed ones and words that share their last bits, however it has grown; exact where none do.
    #[test]
    fn the_norm_of_a_list_is_at_most_its_bound() {
        let skewed = |i: u64| mix(1e4_f64.powf(mix(i) as f64 / 2_f64.powi(64)) as u64);
        let events = 0..20_000;
        let lists: [(Vec<u64>, bool); 4] = [
            (events.clone().map(mix).collect(), false),
            (events.clone().map(skewed).collect(), false),
            (events.clone().map(|i| (mix(i) % 50) << 40).collect(), false),
            (events.map(|i| mix(i) % 4_096).collect(), true),
        ];
        let mut bound = NormBound::default();
        for ((list, apart), step) in lists.iter().zip([1_024, 1, 5_000, 333]) {
            let mut counts = BTreeMap::<u64, u64>::new();
            for (number, some) in list.chunks(step).enumerate() {
                some.iter().for_each(|word| *counts.entry(*word).or_default() += 1);
                let squares: u64 = counts.values().map(|count| count * count).sum();
                let found = bound.of(&list[..list.len().min((number + 1) * step)]);
                assert!(found >= squares.isqrt());
                assert!(!apart || found == squares.isqrt());
            }
            bound.clear();
        }
    }
}
