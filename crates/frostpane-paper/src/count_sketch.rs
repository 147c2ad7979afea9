//! Algorithm 2: CountSketch, for the frequencies of the `L_2`-heavy hitters.
//!
//! A table `S` of `r` rows and `b` buckets. A key `i` adds its sign `s^(j)(i)` to the bucket `h^(j)(i)` of
//! each row `j`.
//!
//! # Accuracy
//!
//! As intended, the estimate of `f_i` is the median over the rows of `s^(j)(i) S_{j,h^(j)(i)}`. A row's error
//! has mean zero and variance at most `L_2^2/b`, so by Chebyshev's inequality it is above `sqrt(3/b) L_2`
//! with probability at most 1/3; the median of `r` rows is with probability at most `exp(-r/18)` (Hoeffding).
//!
//! # Error in the paper
//!
//! It prints the mean over the rows of the magnitudes `|S_{j,h^(j)(i)}|`. A magnitude is never negative, so
//! noise that should cancel adds up: an absent key's estimate is positive in the mean, by
//! [`expected_magnitude`]. And a mean has no use for many rows: one row in which a heavy key lands in the
//! same bucket spoils it, and the more rows there are the likelier is such a row. The failure probability of
//! `1/poly(n)` is the median's.

use crate::hashes::Hashes;
use crate::median::median;

/// Dimensions of the table: `r` rows of `b` buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountSketchShape {
    /// `r`, the number of rows.
    pub rows: usize,
    /// `b`, the number of buckets in a row.
    pub width: usize,
}

/// The estimator of a key's frequency from its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountSketchEstimator {
    /// As printed: `(1/r) sum_j |S_{j,b_{i,j}}|`. Too high for rare keys, and without the failure bound.
    MeanOfMagnitudes,
    /// As intended: the median over `j` of `s^(j)(i) S_{j,b_{i,j}}`.
    MedianOfSigned,
}

/// The table `S`. It takes at most `2^31 - 1` updates.
#[derive(Clone, Debug)]
pub struct PublishedCountSketch {
    shape: CountSketchShape,
    cells: Vec<i32>,
}

impl CountSketchShape {
    /// `b = ceil(constant/threshold^2)`: the constant that `O(1/alpha^2)` leaves open. With 3, a row is
    /// within `threshold L_2` with probability at least 2/3.
    pub fn for_threshold(threshold: f64, rows: usize, constant: f64) -> Self {
        Self { rows, width: (constant / (threshold * threshold)).ceil() as usize }
    }

    /// The number of buckets in the table.
    pub fn cells(&self) -> usize {
        self.rows * self.width
    }

    /// Writes to `positions`, for each row, the cell of the key and the sign that it adds there.
    pub fn positions(&self, hashes: &Hashes, key: u64, positions: &mut Vec<(usize, i64)>) {
        positions.clear();
        positions.extend((0..self.rows).map(|row| self.position(hashes, key, row)));
    }

    fn position(&self, hashes: &Hashes, key: u64, row: usize) -> (usize, i64) {
        (row * self.width + hashes.bucket(row, key, self.width), hashes.sign(row, key))
    }
}

impl PublishedCountSketch {
    /// A table of zeros.
    ///
    /// # Panics
    ///
    /// Panics if the shape has no cells.
    pub fn new(shape: CountSketchShape) -> Self {
        assert!(shape.cells() > 0, "CountSketch needs at least one cell");
        Self { shape, cells: vec![0; shape.cells()] }
    }

    /// `S_{j,h^(j)(key)} <- S_{j,h^(j)(key)} + s^(j)(key)` for each row `j`.
    pub fn update(&mut self, hashes: &Hashes, key: u64) {
        for row in 0..self.shape.rows {
            self.add(self.shape.position(hashes, key, row));
        }
    }

    /// [`Self::update`] at precomputed [`CountSketchShape::positions`].
    pub fn update_at(&mut self, positions: &[(usize, i64)]) {
        for &position in positions {
            self.add(position);
        }
    }

    /// The estimated frequency of a key.
    pub fn estimate(&self, hashes: &Hashes, key: u64, estimator: CountSketchEstimator) -> f64 {
        let mut positions = Vec::with_capacity(self.shape.rows);
        self.shape.positions(hashes, key, &mut positions);
        self.estimate_at(&positions, estimator)
    }

    /// [`Self::estimate`] at precomputed [`CountSketchShape::positions`].
    pub fn estimate_at(&self, positions: &[(usize, i64)], estimator: CountSketchEstimator) -> f64 {
        let signed = positions.iter().map(|&(cell, sign)| sign as f64 * f64::from(self.cells[cell]));
        match estimator {
            CountSketchEstimator::MeanOfMagnitudes => {
                signed.map(f64::abs).sum::<f64>() / positions.len() as f64
            }
            CountSketchEstimator::MedianOfSigned => median(&mut signed.collect::<Vec<_>>()),
        }
    }

    /// The dimensions of the table.
    pub fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + size_of_val(&self.cells[..])) as u64
    }

    /// Resets to the empty stream without freeing memory.
    pub fn clear(&mut self) {
        self.cells.fill(0);
    }

    fn add(&mut self, (cell, sign): (usize, i64)) {
        let cell = &mut self.cells[cell];
        *cell = cell.checked_add(sign as i32).expect("CountSketch takes at most 2^31 - 1 updates");
    }
}

/// `E|S_{j,h^(j)(i)}|` over the choice of `h` and `s`: the mean answer of Algorithm 2 as printed for a key
/// with the count `own`, where the other keys of the stream have the counts `others`.
///
/// Each other key is in the bucket with probability `1/b`, and then adds its count with either sign. The
/// distribution of the sum is worked out key by key; nothing is sampled. For `d` keys of one count `c` and an
/// absent key it is `c sum_k Binomial(d, 1/b)(k) E|sum of k signs|`.
pub fn expected_magnitude(own: u64, others: &[u64], width: usize) -> f64 {
    let reach = (own + others.iter().sum::<u64>()) as usize;
    let mut probability = vec![0.0; 2 * reach + 1];
    probability[reach + own as usize] = 1.0;
    let hit = 1.0 / width as f64;
    for &count in others {
        let before = probability.clone();
        let at = |index: Option<usize>| index.and_then(|index| before.get(index)).copied().unwrap_or(0.0);
        for (index, value) in probability.iter_mut().enumerate() {
            let (below, above) = (index.checked_sub(count as usize), index.checked_add(count as usize));
            *value = (1.0 - hit) * before[index] + hit / 2.0 * (at(below) + at(above));
        }
    }
    probability.iter().enumerate().map(|(index, p)| p * reach.abs_diff(index) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_positions_and_single_updates_agree() {
        let (hashes, shape) = (Hashes::new(5), CountSketchShape { rows: 6, width: 9 });
        let (mut one, mut shared) = (PublishedCountSketch::new(shape), PublishedCountSketch::new(shape));
        let mut positions = Vec::new();
        for key in 0..100 {
            one.update(&hashes, key % 17);
            shape.positions(&hashes, key % 17, &mut positions);
            shared.update_at(&positions);
        }
        assert_eq!(one.cells, shared.cells);
        shared.clear();
        assert!(shared.cells.iter().all(|&cell| cell == 0));
    }

    #[test]
    fn the_width_for_a_threshold() {
        assert_eq!(CountSketchShape::for_threshold(0.1, 5, 3.0), CountSketchShape { rows: 5, width: 300 });
        assert_eq!(CountSketchShape::for_threshold(0.3, 5, 1.0).width, 12);
    }

    #[test]
    fn the_expectation_agrees_with_the_binomial_formula() {
        let (keys, count, width) = (40_u64, 3_u64, 7_usize);
        let hit = 1.0 / width as f64;
        let (mut total, mut chance) = (0.0, (1.0 - hit).powi(keys as i32));
        // `E|sum of k signs|` grows by the probability that the sum of k is zero.
        let (mut magnitude, mut zero) = (0.0, 1.0);
        for k in 0..=keys {
            total += chance * magnitude * count as f64;
            if k % 2 == 0 {
                magnitude += zero;
                zero *= (k + 1) as f64 / (k + 2) as f64;
            }
            chance *= (keys - k) as f64 / (k + 1) as f64 * hit / (1.0 - hit);
        }
        let exact = expected_magnitude(0, &vec![count; keys as usize], width);
        assert!((exact - total).abs() < 1e-9, "{exact} {total}");
    }
}
