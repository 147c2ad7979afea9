//! The constants of Algorithm 5.

use crate::ams::Ams;
use crate::claims::{self, Composition};
use crate::count_sketch::CountSketchShape;
use crate::preset::{ConstantChange, PresetRefusal, changes, check, finest_grain};

/// The constants of Algorithm 5 and the parameters that they follow from. Thresholds are those of Theorem 1.2, whose
/// proof divides the budget among `10/alpha^2` released counts by basic composition.
#[derive(Clone, Debug, PartialEq)]
pub struct L2Constants {
    /// `alpha`.
    pub alpha: f64,
    /// `eps`.
    pub epsilon: f64,
    /// `m`, an upper bound on the length of the stream.
    pub m: u64,
    /// `rho`, the relative error of the histogram's norm: `eps/(500 log m)`. Then `beta = rho^2/2`, and
    /// neighbouring norms are within `beta/2 = (eps/(1000 log m))^2`, as line 1 has it.
    pub rho: f64,
    /// The accuracy of AMS: `eps/(500 log m)`.
    pub ams: f64,
    /// The number of means of AMS, for its failure probability of `delta/(2 m^2)`.
    pub means: usize,
    /// The threshold of CountSketch: `alpha^3 eps/(500 log m)`.
    pub threshold: f64,
    /// CountSketch has `width/threshold^2` buckets in a row: the constant that `O(1/alpha^2)` hides.
    pub width: f64,
    /// The rows of CountSketch, for its failure probability of `delta/(2 m^2)`.
    pub rows: usize,
    /// Counter's additive error over the norm: `alpha^3 eps/(1000 log m)`.
    pub counter: f64,
}

/// A coarser AMS would alone exceed the error that line 9 allows between `alpha/2` and `alpha`.
const COARSEST_AMS: f64 = 0.25;
/// The rows of scaled constants. The median of five errs as one row does in three of five.
const FEW_ROWS: usize = 5;
/// The width of scaled constants: a row's standard deviation is half a threshold.
const WIDTH: f64 = 4.0;

impl L2Constants {
    /// The printed constants, with `delta = 6/m^2` (the least that the privacy lemma allows) and `n = m`.
    ///
    /// In place of the printed `O(.)`: AMS takes `6/alpha^2` sums and `18 ln(1/failure)` means (Chebyshev,
    /// Hoeffding), CountSketch `1/threshold^2` buckets and `ln(n/failure)` rows.
    pub fn published(alpha: f64, epsilon: f64, m: u64) -> Result<Self, PresetRefusal> {
        check(alpha, epsilon, m)?;
        let length = m as f64;
        let failure = 3.0 / length.powi(4);
        let rho = claims::norm_accuracy(epsilon, length);
        let threshold = alpha.powi(3) * epsilon / (500.0 * length.ln());
        Ok(Self {
            alpha,
            epsilon,
            m,
            rho,
            ams: rho,
            means: Ams::means(failure),
            threshold,
            width: 1.0,
            rows: (length / failure).ln().ceil() as usize,
            counter: threshold / 2.0,
        })
    }

    /// One grain `g` in place of `eps/(500 log m)`, and `alpha g` in place of `alpha^3 eps/(500 log m)`: the
    /// smallest `g` up to 1 for which the run fits into `memory` bytes.
    ///
    /// `rho = g` (so `beta = g^2/2`), AMS has accuracy `g` but never worse than 1/4, CountSketch the
    /// threshold `alpha g`, Counter the error `alpha g/2`. Failure probabilities are given up: one mean, five
    /// rows of `4/threshold^2` buckets. At `g = 1` a key with `alpha L_2` is at the threshold, so beyond it
    /// there is nothing to run.
    pub fn scaled(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, PresetRefusal> {
        let published = Self::published(alpha, epsilon, m)?;
        if published.bytes() <= memory as f64 {
            return Ok(published);
        }
        let with = |grain: f64| Self {
            rho: grain,
            ams: grain.min(COARSEST_AMS),
            means: 1,
            threshold: alpha * grain,
            width: WIDTH,
            rows: FEW_ROWS,
            counter: alpha * grain / 2.0,
            ..published
        };
        let finest = published.rho.min(1.0);
        Ok(with(finest_grain(finest, 1.0, memory, |grain| with(grain).bytes())?))
    }

    /// The constants that differ from the printed ones.
    pub fn changes(&self) -> Vec<ConstantChange> {
        let Ok(printed) = Self::published(self.alpha, self.epsilon, self.m) else {
            return Vec::new();
        };
        changes([
            ("accuracy of the histogram, eps/(500 log m)", printed.rho, self.rho),
            ("accuracy of AMS, eps/(500 log m)", printed.ams, self.ams),
            ("means of AMS, 18 ln(2 m^2/delta)", printed.means as f64, self.means as f64),
            ("threshold of CountSketch, alpha^3 eps/(500 log m)", printed.threshold, self.threshold),
            ("buckets of CountSketch times threshold^2, 1", printed.width, self.width),
            ("rows of CountSketch, ln(2 n m^2/delta)", printed.rows as f64, self.rows as f64),
            ("error of Counter over the norm, threshold/2", printed.counter, self.counter),
        ])
    }

    /// The most timestamps at time `m`: every second norm is smaller by `1 - beta/2`, and the
    /// first is at most `m`.
    pub fn timestamps(&self) -> f64 {
        let m = self.m as f64;
        let step = -(-self.beta() / 2.0).ln_1p();
        (2.0 + 2.0 * m.ln() / step).min(m)
    }

    /// Bytes that a run may need, as [`super::L2::bytes`] counts them.
    ///
    /// At most `1/threshold^2` keys can pass the threshold at a time, and their counts add up to at most
    /// `L_2/threshold`, so that their Counters have at most `2/threshold^2 + 2/(threshold * error)` times. An
    /// estimate that is off can let a few more pass; that is not counted.
    pub fn bytes(&self) -> f64 {
        const COUNTER: f64 = 48.0;
        const TIME: f64 = 16.0;
        const CELL: f64 = 4.0;
        const INSTANCE: f64 = 1_400.0;
        let keys = self.threshold.powi(-2);
        let times = 2.0 * keys + 2.0 / (self.threshold * self.counter);
        let sums = 6.0 / self.ams.powi(2) * self.means as f64;
        let cells = self.rows as f64 * self.width * keys;
        self.timestamps() * (INSTANCE + CELL * (sums + cells) + COUNTER * keys + TIME * times)
    }

    /// The scales of `X` and of `Y_k` and `Z_k` as printed: `L/(40 log m)` and `(alpha/(75 log m)) L`.
    pub fn printed_noise(&self, norm: f64) -> [f64; 2] {
        let log_m = (self.m as f64).ln();
        [norm / (40.0 * log_m), self.alpha * norm / (75.0 * log_m)]
    }

    /// The scales that the proof requires: `2S/eps'`, by the theorem on smooth sensitivity.
    ///
    /// `S` follows from the first line of each lemma's proof by the triangle inequality, with the errors in
    /// force: `2 + 2 rho L` for the norm and `2 + 2M` for a count. It is the least that the argument
    /// supports: the lemmas round it up by 1.25 and 2.5. For the norm
    /// `eps' = eps/3`; for a count it follows from [`Self::composition`].
    pub fn proof_noise(&self, norm: f64) -> [f64; 2] {
        let of_norm = 2.0 + 2.0 * self.rho * norm;
        let of_count = 2.0 + 2.0 * self.counter * norm;
        [6.0 * of_norm / self.epsilon, 2.0 * of_count / self.best_epsilon_each().0]
    }

    /// The composition by which a count needs less noise.
    pub fn composition(&self) -> Composition {
        self.best_epsilon_each().1
    }

    /// How many times less noise a count needs by [`Self::composition`] than by the basic one.
    pub fn composition_gain(&self) -> f64 {
        self.best_epsilon_each().0 / claims::epsilon_each(self.alpha, self.epsilon)
    }

    fn best_epsilon_each(&self) -> (f64, Composition) {
        claims::best_epsilon_each(self.alpha, self.epsilon, self.m as f64)
    }

    /// `beta = rho^2/2`, by which `L_2` is `(rho, beta)`-smooth.
    pub fn beta(&self) -> f64 {
        self.rho * self.rho / 2.0
    }

    /// The dimensions of CountSketch.
    pub fn shape(&self) -> CountSketchShape {
        CountSketchShape::for_threshold(self.threshold, self.rows, self.width)
    }

    /// The number of sums of AMS.
    pub(crate) fn sums(&self) -> usize {
        Ams::counters(self.ams) * self.means
    }

    /// The estimate of the norm by AMS: the median of means if there is more than one.
    pub(crate) fn norm(&self, ams: &Ams) -> f64 {
        match self.means {
            1 => ams.l2(),
            means => ams.median_f2(means).sqrt(),
        }
    }

    /// The most keys that can pass the threshold at a time.
    pub(crate) fn most_keys(&self) -> usize {
        (self.threshold.powi(-2).ceil() as usize).max(16)
    }
}
