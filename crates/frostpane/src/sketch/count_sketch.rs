#![doc = include_str!("count_sketch.md")]

use serde::{Deserialize, Serialize};

use crate::codec::{Reader, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::key::mix::mix;
use crate::noise::{DiscreteLaplace, Entropy};

/// The most rows of a sketch, and the most counters of a row.
pub(crate) const MOST_ROWS: usize = 99;
pub(crate) const WIDEST: usize = 1 << 24;
/// Number of ways tried to split a row's failure probability between collisions and noise.
const SPLITS: u32 = 32;

/// Keys added to one row before the next.
const AT_A_TIME: usize = 1 << 9;
/// The most hashes of one tally: all of them may fall into one place of 16 bits.
const MOST_TALLIED: usize = u16::MAX as usize;
/// Increments between two checks for the end.
const UNROLLED: usize = 8;
/// Difference between the constants mixed with a hash for consecutive words of bits.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Rows and columns of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimensions {
    /// Number of rows; odd.
    pub rows: usize,
    /// Counters in a row; a power of two.
    pub width: usize,
}

/// CountSketch: rows of integer counters that estimate the L2 norm of the counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountSketch {
    seed: u64,
    width: usize,
    cells: Box<[i64]>,
}

impl CountSketch {
    /// An empty sketch. Sketches can be added if they have the same dimensions and seed.
    pub fn new(dimensions: Dimensions, seed: u64) -> Self {
        debug_assert!(dimensions.rows % 2 == 1 && dimensions.width.is_power_of_two());
        Self { seed, width: dimensions.width, cells: vec![0; dimensions.rows * dimensions.width].into() }
    }

    /// Adds `count` events of the key with this hash.
    #[inline]
    pub fn add(&mut self, hash: u64, count: i64) {
        let mut places = RowCells::new(hash, self.seed, self.width);
        for row in self.cells.chunks_exact_mut(self.width) {
            let (cell, sign) = places.next();
            row[cell & (row.len() - 1)] += signed(count, sign);
        }
    }

    /// Adds many keys by their hashes.
    pub fn extend(&mut self, mut counts: impl Iterator<Item = (u64, u64)>) {
        let mut some = [(0, 0); AT_A_TIME];
        loop {
            let mut filled = 0;
            for (place, count) in some.iter_mut().zip(&mut counts) {
                *place = count;
                filled += 1;
            }
            self.add_all(&some[..filled]);
            if filled < AT_A_TIME {
                return;
            }
        }
    }

    /// The same, row by row: a row stays in the nearest cache.
    pub fn add_all(&mut self, counts: &[(u64, u64)]) {
        for (number, row) in self.cells.chunks_exact_mut(self.width).enumerate() {
            let place = RowBits::in_row(number as u32, self.seed, self.width);
            for (hash, count) in counts {
                let (cell, sign) = place.of(*hash);
                row[cell & (row.len() - 1)] += signed(*count as i64, sign);
            }
        }
    }

    /// Adds one event for each hash. A row first counts the increments and the decrements of each cell
    /// separately, which takes one increment and no sign for each hash.
    pub fn add_each(&mut self, hashes: &[u64]) {
        for some in hashes.chunks(MOST_TALLIED) {
            match self.width {
                width if some.len() < width => self.extend(some.iter().map(|hash| (*hash, 1))),
                256 => self.tally::<512>(some),
                512 => self.tally::<1_024>(some),
                1_024 => self.tally::<2_048>(some),
                2_048 => self.tally::<4_096>(some),
                4_096 => self.tally::<8_192>(some),
                _ => self.extend(some.iter().map(|hash| (*hash, 1))),
            }
        }
    }

    /// The same for rows with `PLACES` places, each a cell and a sign.
    fn tally<const PLACES: usize>(&mut self, hashes: &[u64]) {
        for (number, row) in self.cells.chunks_exact_mut(self.width).enumerate() {
            let RowBits { mixed_with, shift, .. } = RowBits::in_row(number as u32, self.seed, self.width);
            match mixed_with {
                None => tally_row::<PLACES>(row, hashes, |hash| hash >> shift),
                Some(other) => tally_row::<PLACES>(row, hashes, |hash| mix(hash ^ other) >> shift),
            }
        }
    }

    /// Adds independent noise to every cell.
    pub fn blur(&mut self, laplace: &DiscreteLaplace, entropy: &mut impl Entropy) -> Result<()> {
        for cell in &mut self.cells {
            *cell += laplace.sample(entropy)?;
        }
        Ok(())
    }

    /// The median of the rows' estimates of a key, if it is at least `least`.
    pub fn estimate_from(&self, hash: u64, least: i64) -> Option<i64> {
        let enough = self.cells.len() / self.width / 2 + 1;
        let mut places = RowCells::new(hash, self.seed, self.width);
        let (mut high, mut low) = (0, 0);
        for row in self.cells.chunks_exact(self.width) {
            let (cell, sign) = places.next();
            if signed(row[cell], sign) >= least {
                high += 1
            } else {
                low += 1
            }
            if low >= enough {
                return None;
            }
        }
        debug_assert!(high >= enough);
        Some(self.estimate(hash))
    }

    /// The median of the rows' estimates of a key.
    pub fn estimate(&self, hash: u64) -> i64 {
        let mut places = RowCells::new(hash, self.seed, self.width);
        let mut rows: Vec<i64> = self
            .cells
            .chunks_exact(self.width)
            .map(|row| {
                let (cell, sign) = places.next();
                signed(row[cell], sign)
            })
            .collect();
        let middle = rows.len() / 2;
        *rows.select_nth_unstable(middle).1
    }

    /// Rows and columns of the sketch.
    pub fn dimensions(&self) -> Dimensions {
        Dimensions { rows: self.cells.len() / self.width, width: self.width }
    }

    /// Returns true if both sketches have the same dimensions and seed.
    pub fn adds_up_with(&self, other: &Self) -> bool {
        self.seed == other.seed && self.width == other.width && self.cells.len() == other.cells.len()
    }

    /// Adds another sketch, cell by cell.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if !self.adds_up_with(other) {
            return Err(Error::new(
                ErrorKind::Pane,
                "sketches of other dimensions or another seed cannot be added up: make all panes of a window with the same \
                 specification and seed",
            ));
        }
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            *cell += more;
        }
        Ok(())
    }

    /// Checks that hashes with this seed fit the sketch.
    pub fn check_seed(&self, seed: u64) -> Result<()> {
        if self.seed == seed {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Pane,
            "hashes with another seed than the sketch's cannot be added to it: make all panes of a window with the same seed",
        ))
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.cells.iter().for_each(|cell| to.signed(*cell));
    }

    /// Reads a sketch of at most `most` events, which bounds every counter.
    pub(crate) fn load(
        from: &mut Reader<'_>,
        dimensions: Dimensions,
        seed: u64,
        events: u64,
    ) -> Result<Self> {
        let mut sketch = Self::new(dimensions, seed);
        for cell in &mut sketch.cells {
            *cell = from.within(events)?;
        }
        Ok(sketch)
    }

    /// All counters, row by row.
    #[cfg(any(test, feature = "internals"))]
    pub fn cells(&self) -> &[i64] {
        &self.cells
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (self.cells.len() * size_of::<i64>()) as u64
    }

    /// The median over the rows of the row's Euclidean length, rounded down.
    pub fn norm(&self) -> u64 {
        let mut lengths: Vec<u64> = self
            .cells
            .chunks_exact(self.width)
            .map(|row| sum_of_squares(row.iter().map(|cell| cell.unsigned_abs())).isqrt() as u64)
            .collect();
        lengths.sort_unstable();
        lengths[lengths.len() / 2]
    }
}

/// Adds one event for each hash to a row whose bits are the last of these words.
#[inline(never)]
fn tally_row<const PLACES: usize>(row: &mut [i64], hashes: &[u64], word: impl Fn(u64) -> u64) {
    let mut tally = [0_u16; PLACES];
    let (several, few) = hashes.as_chunks::<UNROLLED>();
    for some in several {
        some.iter().for_each(|hash| tally[word(*hash) as usize % PLACES] += 1);
    }
    few.iter().for_each(|hash| tally[word(*hash) as usize % PLACES] += 1);
    for (cell, [plus, minus]) in row.iter_mut().zip(tally.as_chunks().0) {
        *cell += i64::from(*plus) - i64::from(*minus);
    }
}

/// The cells and signs of a key, row by row. Their bits come from the hash, then from mixings of it.
struct RowCells {
    hash: u64,
    seed: u64,
    word: u64,
    left: u32,
    /// Bits of a cell and a sign.
    bits: u32,
}

impl RowCells {
    #[inline]
    fn new(hash: u64, seed: u64, width: usize) -> Self {
        Self { hash, seed, word: hash, left: u64::BITS, bits: width.trailing_zeros() + 1 }
    }

    /// The cell in the next row and its sign, for [`signed`].
    #[inline]
    fn next(&mut self) -> (usize, i64) {
        if self.left < self.bits {
            self.seed = self.seed.wrapping_add(STEP);
            self.word = mix(self.hash ^ self.seed);
            self.left = u64::BITS;
        }
        let own = self.word & ((1 << self.bits) - 1);
        self.word >>= self.bits;
        self.left -= self.bits;
        ((own >> 1) as usize, -((own & 1) as i64))
    }
}

/// The bits of one row.
struct RowBits {
    /// The constant mixed with the hash; `None` if the hash itself has the bits.
    mixed_with: Option<u64>,
    shift: u32,
    mask: u64,
}

impl RowBits {
    fn in_row(row: u32, seed: u64, width: usize) -> Self {
        let bits = width.trailing_zeros() + 1;
        let in_a_word = u64::BITS / bits;
        let word = row / in_a_word;
        Self {
            mixed_with: (word > 0).then(|| seed.wrapping_add(STEP.wrapping_mul(word.into()))),
            shift: bits * (row % in_a_word),
            mask: (1 << bits) - 1,
        }
    }

    #[inline]
    fn of(&self, hash: u64) -> (usize, i64) {
        let word = match self.mixed_with {
            Some(other) => mix(hash ^ other),
            None => hash,
        };
        let own = word >> self.shift & self.mask;
        ((own >> 1) as usize, -((own & 1) as i64))
    }
}

/// `number` for sign 0, `-number` for sign -1.
#[inline]
fn signed(number: i64, sign: i64) -> i64 {
    (number ^ sign) - sign
}

impl Dimensions {
    /// A one-sided bound on the distance between the median of the rows and a key's count, exceeded with
    /// probability at most `chance`, where the counts have at most this norm and every cell has noise.
    pub fn point_error(&self, norm: f64, laplace: &DiscreteLaplace, chance: f64) -> u64 {
        let row_failure = largest(|p| majority_tail(self.rows, p) <= chance);
        let error = |part: f64| {
            let collisions = norm / (2.0 * self.width as f64 * row_failure * part).sqrt();
            let noise = laplace.reach(row_failure * (1.0 - part)).saturating_sub(1);
            (collisions.ceil() as u64).saturating_add(noise)
        };
        (1..SPLITS).map(|i| error(f64::from(i) / f64::from(SPLITS))).min().unwrap_or(u64::MAX)
    }

    /// The smallest sketch in which collisions move an estimate by more than this share of the norm, to
    /// one side, with probability at most `chance`.
    pub fn for_points(share: f64, chance: f64) -> Self {
        let with_rows = |rows: usize| {
            let row_failure = largest(|p| majority_tail(rows, p) <= chance);
            let width = 1.0 / (2.0 * row_failure * share * share);
            Self { rows, width: (width.min(WIDEST as f64).ceil() as usize).next_power_of_two() }
        };
        (5..=MOST_ROWS)
            .step_by(2)
            .map(with_rows)
            .min_by_key(Self::bytes)
            .unwrap_or(Self { rows: 5, width: WIDEST })
    }

    /// The least value that noise alone exceeds in the median with probability at most `chance`.
    pub fn noise_floor(&self, laplace: &DiscreteLaplace, chance: f64) -> u64 {
        laplace.reach(largest(|p| majority_tail(self.rows, p) <= chance))
    }

    /// Memory of a sketch in bytes.
    pub fn bytes(&self) -> u64 {
        (self.rows * self.width * size_of::<i64>()) as u64
    }

    /// A relative error `e` such that the estimated squared norm is below `1 - e` times the true one
    /// with probability at most `failure / 2`, and above `1 + e` times likewise.
    pub fn squared_error(&self, failure: f64) -> f64 {
        let row_failure = largest(|p| majority_tail(self.rows, p) <= failure / 2.0);
        let variance = 2.0 / self.width as f64;
        (variance * (1.0 - row_failure) / row_failure).sqrt()
    }
}

/// The square of the Euclidean length of a vector of integers.
pub fn sum_of_squares(entries: impl Iterator<Item = u64>) -> u128 {
    entries.map(|entry| u128::from(entry) * u128::from(entry)).sum()
}

/// The probability that more than half of `rows` independent rows fail, each with probability `p`.
fn majority_tail(rows: usize, p: f64) -> f64 {
    (rows / 2 + 1..=rows)
        .map(|k| binomial_coefficient(rows, k) * p.powi(k as i32) * (1.0 - p).powi((rows - k) as i32))
        .sum()
}

fn binomial_coefficient(n: usize, k: usize) -> f64 {
    (1..=k).map(|i| (n - k + i) as f64 / i as f64).product()
}

/// The largest `p` up to 1/2 that passes a monotone test.
fn largest(passes: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if passes(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::noise::InsecureSeededEntropy;
    use crate::privacy::Epsilon;

    fn sketch_of(counts: &[(u64, i64)], dimensions: Dimensions, seed: u64) -> CountSketch {
        let mut sketch = CountSketch::new(dimensions, seed);
        for (key, count) in counts {
            sketch.add(u64::hash(*key, seed), *count);
        }
        sketch
    }

    #[test]
    fn many_at_a_time_are_one_by_one() {
        let counts: Vec<(u64, u64)> = (0..1_300).map(|i| (mix(i), i)).collect();
        for (rows, width) in [(1, 2), (3, 1 << 12), (33, 1 << 5), (99, 1 << 10), (5, 1 << 16)] {
            let dimensions = Dimensions { rows, width };
            let (mut single, mut all) = (CountSketch::new(dimensions, 7), CountSketch::new(dimensions, 7));
            counts.iter().for_each(|(hash, count)| single.add(*hash, *count as i64));
            all.extend(counts.iter().copied());
            assert!(single == all, "{dimensions:?}");
        }
    }

    /// Few and many hashes, some repeated beyond the limit of a tally, for rows whose bits lie in the
    /// hash and in mixings of it.
    #[test]
    fn one_event_of_each_hash_is_all_of_them_one_by_one() {
        let same = [mix(5); 70_000];
        let many: Vec<u64> = (0..9_000).map(|i| mix(i % 7_000)).chain(same).collect();
        for (rows, width) in [(5, 256), (7, 512), (33, 1 << 10), (5, 1 << 11), (5, 1 << 12), (3, 1 << 13)] {
            let dimensions = Dimensions { rows, width };
            for hashes in [&many[..0], &many[..255], &many[..5_000], &many] {
                let (mut single, mut all) =
                    (CountSketch::new(dimensions, 7), CountSketch::new(dimensions, 7));
                hashes.iter().for_each(|hash| single.add(*hash, 1));
                all.add_each(hashes);
                assert!(single == all, "{dimensions:?}, {} hashes", hashes.len());
            }
        }
    }

    #[test]
    fn a_replacement_moves_the_norm_by_at_most_two_and_each_row_by_two_for_every_seed() {
        let narrow = Dimensions { rows: 3, width: 2 };
        for seed in 0..2_000 {
            let counts: Vec<(u64, i64)> = (0..6).map(|key| (key, (key as i64 * seed as i64) % 5)).collect();
            let sketch = sketch_of(&counts, narrow, seed);
            let norm = sketch.norm();
            for (from, to) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                let mut moved = counts.clone();
                moved[from].1 -= 1;
                moved[to].1 += 1;
                let other = sketch_of(&moved, narrow, seed);
                assert!(norm.abs_diff(other.norm()) <= 2, "seed {seed}: {norm} and {}", other.norm());
                let cells = sketch.cells.iter().zip(&other.cells);
                assert!(cells.map(|(a, b)| a.abs_diff(*b)).sum::<u64>() <= 2 * 3);
            }
        }
    }

    /// Flat, skewed and single-key streams, 400 seeds each. The stated failure is 0.01 and the bound is by
    /// Cantelli's inequality, far from tight; 20 of 400 or more have probability below 1e-7 at 0.01 each.
    #[test]
    fn the_norm_is_within_its_stated_error_as_often_as_stated() {
        let dimensions = Dimensions { rows: 5, width: 256 };
        let error = dimensions.squared_error(0.01);
        let flat: Vec<(u64, i64)> = (0..5_000).map(|key| (key, 3)).collect();
        let skewed: Vec<(u64, i64)> = (1..5_000).map(|key| (key, 100_000 / key as i64)).collect();
        for counts in [flat, skewed, vec![(7, 12_345)]] {
            let truth: f64 = counts.iter().map(|(_, c)| (*c as f64).powi(2)).sum();
            let misses = (0..400)
                .filter(|&seed| {
                    let norm = sketch_of(&counts, dimensions, seed * 7919).norm() as f64;
                    let below = (norm + 1.0).powi(2) < truth * (1.0 - error);
                    below || norm.powi(2) > truth * (1.0 + error)
                })
                .count();
            assert!(misses < 20, "{misses} of 400 outside the stated error");
        }
    }

    #[test]
    fn a_row_has_the_variance_that_the_error_is_computed_from() {
        let one_row = Dimensions { rows: 1, width: 64 };
        let counts: Vec<(u64, i64)> = (0..2_000).map(|key| (key, 50)).collect();
        let truth = 2_000.0 * 2_500.0;
        let runs = 2_000;
        let variance: f64 = (0..runs)
            .map(|seed| {
                let sketch = sketch_of(&counts, one_row, seed * 104_729 + 1);
                let square: f64 = sketch.cells.iter().map(|c| (*c as f64).powi(2)).sum();
                (square / truth - 1.0).powi(2)
            })
            .sum::<f64>()
            / runs as f64;
        let expected = 2.0 / 64.0;
        assert!((variance / expected - 1.0).abs() < 0.25, "{variance} against {expected}");
    }

    #[test]
    fn every_cell_of_every_row_has_noise_of_its_own() {
        let laplace = DiscreteLaplace::new(6, Epsilon::new(0.5).unwrap());
        for (rows, width) in [(1, 2), (3, 8), (5, 16)] {
            let dimensions = Dimensions { rows, width };
            let plain = sketch_of(&[(1, 500), (2, 70)], dimensions, 9);
            let mut blurred = plain.clone();
            blurred.blur(&laplace, &mut InsecureSeededEntropy::new(3)).unwrap();
            let mut entropy = InsecureSeededEntropy::new(3);
            for (cell, noisy) in plain.cells.iter().zip(&blurred.cells) {
                assert_eq!(*noisy, cell + laplace.sample(&mut entropy).unwrap());
            }
        }
    }

    #[test]
    fn merging_is_adding() {
        let dimensions = Dimensions { rows: 3, width: 16 };
        let mut sum = sketch_of(&[(1, 5), (2, 7)], dimensions, 9);
        sum.merge(&sketch_of(&[(2, 1), (3, 4)], dimensions, 9)).unwrap();
        assert_eq!(sum, sketch_of(&[(1, 5), (2, 8), (3, 4)], dimensions, 9));
    }

    /// The probability that more than half of the rows fail, row by row: `chances[k]` is that of `k`
    /// failures so far.
    fn more_than_half(rows: usize, p: f64) -> f64 {
        let mut chances = vec![1.0];
        for _ in 0..rows {
            let mut next = vec![0.0; chances.len() + 1];
            for (k, chance) in chances.iter().enumerate() {
                next[k] += chance * (1.0 - p);
                next[k + 1] += chance * p;
            }
            chances = next;
        }
        chances[rows / 2 + 1..].iter().sum()
    }

    #[test]
    fn a_median_fails_where_more_than_half_of_its_rows_do() {
        for rows in [1, 3, 5, 17, 99] {
            for p in [0.001, 0.1, 0.3, 0.5] {
                let ratio = majority_tail(rows, p) / more_than_half(rows, p);
                assert!((ratio - 1.0).abs() < 1e-9, "{rows} {p}: {ratio}");
            }
        }
    }

    #[test]
    fn the_largest_chance_is_found_to_sixty_bits() {
        for least in [0.0, 2_f64.powi(-61), 2_f64.powi(-40), 0.1, 0.25] {
            let found = largest(|p| p <= least);
            assert!((least - 2_f64.powi(-61)..=least).contains(&found), "{found} for {least}");
        }
        assert_eq!(largest(|p| p <= 2_f64.powi(-61)), 2_f64.powi(-61));
        assert!(0.5 - largest(|_| true) <= f64::EPSILON);
    }

    /// A row fails with probability at most `1/(2 width share^2)`; the result is the smallest of all
    /// row counts and powers of two that keeps the chance.
    #[test]
    fn the_sketch_for_points_is_the_smallest_that_keeps_its_chance() {
        for (share, chance) in [(0.1, 0.01), (0.05, 1e-6), (0.01, 1e-9)] {
            let width = |rows: usize| {
                let keeps = |width: &usize| {
                    let p = 1.0 / (2.0 * *width as f64 * share * share);
                    p <= 0.5 && more_than_half(rows, p) <= chance
                };
                (0..).map(|bits| 1 << bits).find(keeps).unwrap()
            };
            let all = (5..=99).step_by(2).map(|rows| (rows, width(rows)));
            let (rows, width) = all.min_by_key(|(rows, width)| rows * width).unwrap();
            let found = Dimensions::for_points(share, chance);
            assert_eq!(found, Dimensions { rows, width });
            assert_eq!(found.bytes(), 8 * rows as u64 * width as u64);
            assert_eq!(CountSketch::new(found, 1).bytes(), found.bytes());
        }
        assert!(Dimensions::for_points(1e-9, 1e-9).width <= WIDEST);
    }

    /// Cantelli's inequality with equality: a row fails with probability `s / (s + e^2)`, `s =
    /// 2/width`, and more than half of the rows with half of the failure.
    #[test]
    fn the_squared_error_spends_the_whole_failure() {
        for (rows, width, failure) in [(1, 64, 0.5), (3, 256, 0.1), (5, 1 << 12, 1e-4), (33, 32, 1e-9)] {
            let error = Dimensions { rows, width }.squared_error(failure);
            let variance = 2.0 / width as f64;
            let spent = more_than_half(rows, variance / (variance + error * error));
            assert!((spent / (failure / 2.0) - 1.0).abs() < 1e-9, "{rows} {width}: {spent}");
        }
    }

    /// One row: collisions and noise together spend its chance, in the best of 31 splits.
    #[test]
    fn the_error_of_a_point_is_that_of_collisions_and_noise() {
        let laplace = DiscreteLaplace::new(2, Epsilon::new(0.5).unwrap());
        let q = (-0.25_f64).exp();
        let reach = |chance: f64| (0..).find(|m| q.powi(*m) / (1.0 + q) <= chance).unwrap() as u64;
        for (width, norm, chance) in [(256, 1_000.0, 0.01), (16, 30.0, 0.1), (1 << 12, 0.0, 1e-4)] {
            let error = |i: f64| {
                let collisions = norm / (2.0 * width as f64 * chance * i / 32.0).sqrt();
                collisions.ceil() as u64 + reach(chance * (1.0 - i / 32.0)) - 1
            };
            let least = (1..32).map(|i| error(f64::from(i))).min().unwrap();
            let one_row = Dimensions { rows: 1, width };
            assert_eq!(one_row.point_error(norm, &laplace, chance), least, "{width}");
            assert_eq!(one_row.noise_floor(&laplace, chance), reach(chance), "{width}");
        }
        let floor = Dimensions { rows: 5, width: 16 }.noise_floor(&laplace, 1e-6);
        let tail = |m: u64| q.powi(m as i32) / (1.0 + q);
        assert!(more_than_half(5, tail(floor)) <= 1e-6 && more_than_half(5, tail(floor - 1)) > 1e-6);
    }

    #[test]
    fn the_norm_and_an_estimate_are_medians_of_the_rows() {
        let mut sketch = CountSketch::new(Dimensions { rows: 5, width: 2 }, 7);
        sketch.cells = [9, 0, 0, -1, 3, 4, 0, 7, -3, 1].into();
        assert_eq!(sketch.norm(), 5);
        for hash in (0..200).map(mix) {
            let mut places = RowCells::new(hash, 7, 2);
            let mut rows: Vec<i64> = sketch
                .cells
                .chunks_exact(2)
                .map(|row| {
                    let (cell, sign) = places.next();
                    if sign == 0 { row[cell] } else { -row[cell] }
                })
                .collect();
            rows.sort_unstable();
            assert_eq!(sketch.estimate(hash), rows[2]);
            for least in -10..10 {
                assert_eq!(sketch.estimate_from(hash, least), (rows[2] >= least).then_some(rows[2]));
            }
        }
    }
}
