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

use crate::ams::median;
use crate::hashes::Hashes;

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

    /// For each row, the cell of the key and the sign that it adds there.
    pub fn positions(&self, hashes: &Hashes, key: u64) -> Vec<(usize, i64)> {
        let position = |row| (row * self.width + hashes.bucket(row, key, self.width), hashes.sign(row, key));
        (0..self.rows).map(position).collect()
    }
}

impl PublishedCountSketch {
    /// A table of zeros. Panics if the shape has no cells.
    pub fn new(shape: CountSketchShape) -> Self {
        assert!(shape.cells() > 0, "CountSketch needs at least one cell");
        Self { shape, cells: vec![0; shape.cells()] }
    }

    /// `S_{j,h^(j)(key)} <- S_{j,h^(j)(key)} + s^(j)(key)` for each row `j`, at the
    /// [`CountSketchShape::positions`] of the key.
    pub fn update_at(&mut self, positions: &[(usize, i64)]) {
        for &(cell, sign) in positions {
            let cell = &mut self.cells[cell];
            *cell = cell.checked_add(sign as i32).expect("CountSketch takes at most 2^31 - 1 updates");
        }
    }

    /// The estimated frequency of a key.
    pub fn estimate(&self, hashes: &Hashes, key: u64, estimator: CountSketchEstimator) -> f64 {
        self.estimate_at(&self.shape.positions(hashes, key), estimator)
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

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + size_of_val(&self.cells[..])) as u64
    }

    /// Resets to the empty stream without freeing memory.
    pub fn clear(&mut self) {
        self.cells.fill(0);
    }
}
