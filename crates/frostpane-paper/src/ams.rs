//! Algorithm 1: AMS, for the second moment `F_2`.
//!
//! `r` random sign vectors `s^(1), ..., s^(r)`, `r` sums `S_j = <s^(j), f>`, and the answer
//! `(1/r) sum_j S_j^2`.
//!
//! # Accuracy
//!
//! `S_j^2` has mean `F_2` and variance at most `2 F_2^2`, so by Chebyshev's inequality the mean of
//! `r = 6/alpha^2` of them is within `alpha F_2` with probability at least 2/3. The median of
//! `18 ln(1/delta)` such means is within it with probability at least `1 - delta` (Hoeffding).

use crate::hashes::Hashes;
use crate::smooth_histogram::Instance;

/// The sums `S_1, ..., S_r` of Algorithm 1. It takes at most `2^31 - 1` updates.
#[derive(Clone, Debug)]
pub struct Ams {
    sums: Vec<i32>,
    /// No `|S_j|` is above the number of updates, so while this one fits the sums do.
    updates: i32,
}

impl Ams {
    /// `r` sums, all zero. Panics if `r` is zero.
    pub fn new(r: usize) -> Self {
        assert!(r > 0, "AMS needs at least one sum");
        Self { sums: vec![0; r], updates: 0 }
    }

    /// `r = ceil(6/alpha^2)`: the mean is then within `alpha F_2` with probability at least 2/3.
    pub fn counters(accuracy: f64) -> usize {
        (6.0 / (accuracy * accuracy)).ceil() as usize
    }

    /// `ceil(18 ln(1/delta))`: the median of as many means fails with probability at most `delta`.
    pub fn means(failure: f64) -> usize {
        ((18.0 * (1.0 / failure).ln()).ceil() as usize).max(1)
    }

    /// `S_j <- S_j + s^(j)_key` for each `j`.
    pub fn update(&mut self, hashes: &Hashes, key: u64) {
        self.update_signs(&hashes.sign_words(key, self.sums.len()));
    }

    /// [`Self::update`] with signs precomputed by [`Hashes::sign_words`].
    pub fn update_signs(&mut self, words: &[u64]) {
        assert_eq!(words.len(), self.sums.len().div_ceil(64), "words of sign bits");
        self.updates = self.updates.checked_add(1).expect("AMS takes at most 2^31 - 1 updates");
        for (sums, &word) in self.sums.chunks_mut(64).zip(words) {
            add(sums, word);
        }
    }

    /// The estimate `(1/r) sum_j S_j^2` of `F_2`.
    pub fn f2(&self) -> f64 {
        mean_square(&self.sums)
    }

    /// The square root of [`Ams::f2`].
    pub fn l2(&self) -> f64 {
        self.f2().sqrt()
    }

    /// Divides the sums into `means` groups of equal size and returns the median of their estimates of `F_2`.
    /// Panics if `r` is not a multiple of `means`.
    pub fn median_f2(&self, means: usize) -> f64 {
        assert!(means > 0 && self.sums.len().is_multiple_of(means), "sums do not divide into {means} means");
        let size = self.sums.len() / means;
        median(&mut self.sums.chunks(size).map(mean_square).collect::<Vec<_>>())
    }

    /// `(1/r) sum_j |S_j|`, which the paper mistakes for an estimate of `L_2`.
    pub fn mean_of_magnitudes(&self) -> f64 {
        self.sums.iter().map(|&sum| f64::from(sum).abs()).sum::<f64>() / self.sums.len() as f64
    }
}

/// Its value is the estimate of `L_2`.
impl Instance for Ams {
    fn value(&self) -> f64 {
        self.l2()
    }

    fn clear(&mut self) {
        self.sums.fill(0);
        self.updates = 0;
    }

    fn bytes(&self) -> u64 {
        (size_of::<Self>() + size_of_val(&self.sums[..])) as u64
    }
}

/// Adds 64 signs. The loop over whole chunks is one that the compiler vectorises.
fn add(sums: &mut [i32], word: u64) {
    let (eights, rest) = sums.as_chunks_mut::<8>();
    for (eight, byte) in eights.iter_mut().zip(word.to_le_bytes()) {
        for (bit, sum) in eight.iter_mut().enumerate() {
            *sum = sum.wrapping_add(if byte & 1 << bit == 0 { 1 } else { -1 });
        }
    }
    let done = eights.len() * 8;
    for (bit, sum) in rest.iter_mut().enumerate() {
        *sum += 1 - 2 * (word >> (done + bit) & 1) as i32;
    }
}

/// Sums in eight parts: the compiler may not reorder floating-point additions by itself.
fn mean_square(sums: &[i32]) -> f64 {
    let square = |sum: i32| f64::from(sum) * f64::from(sum);
    let (eights, rest) = sums.as_chunks::<8>();
    let mut partial = [0.0; 8];
    for eight in eights {
        for (total, &sum) in partial.iter_mut().zip(eight) {
            *total += square(sum);
        }
    }
    let rest: f64 = rest.iter().map(|&sum| square(sum)).sum();
    (partial.iter().sum::<f64>() + rest) / sums.len() as f64
}

/// Returns the middle value, or the mean of the two middle values. Reorders the slice.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) { (values[half - 1] + values[half]) / 2.0 } else { values[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sum_is_the_inner_product_with_its_signs() {
        let hashes = Hashes::new(3);
        for r in [1, 7, 8, 63, 64, 65, 130] {
            let mut ams = Ams::new(r);
            let mut expected = vec![0; r];
            for key in [5, 9, 5, 1 << 60, 9, 5] {
                ams.update(&hashes, key);
                for (j, sum) in expected.iter_mut().enumerate() {
                    *sum += hashes.sign(j, key) as i32;
                }
            }
            assert_eq!(ams.sums, expected);
            let f2 = expected.iter().map(|&sum| f64::from(sum * sum)).sum::<f64>() / r as f64;
            assert!((ams.f2() - f2).abs() < 1e-9);
        }
    }

    #[test]
    fn the_median_is_over_means_of_consecutive_sums() {
        let ams = Ams { sums: vec![1, 3, 0, 0, 10, -30], updates: 30 };
        assert_eq!(ams.median_f2(3), 5.0);
        assert_eq!(ams.median_f2(1), ams.f2());
    }
}
