//! Section 4, Algorithm 6: private `L_1`-heavy hitters of a window.
//!
//! 1. Timestamps `t_1, ..., t_s` such that `i = 1`, `i = s`, or
//!    `t - t_{i-1} + 1 > (1 + 1/100)(t - t_{i+1} + 1)`. They depend on the time only.
//! 2. Misra-Gries with threshold `alpha/16` from each `t_i` on.
//! 3. On a query for a window of `W`, `a = max{i : t_i <= m-W+1}`.
//! 4. For each key `k` that Misra-Gries from `t_a` on reports,
//! 5. a Counter with additive error `(alpha/32)(t - t_a + 1)`,
//! 6. whose estimate is `f_k`;
//! 7. `Z_k` from `Lap(1/(eps alpha log m))`, and
//! 8. if `f_k + Z_k >= (3 alpha/4) W`,
//! 9. `k` is listed with `f_k + Z_k`.
//!
//! # Errors in the paper
//!
//! The noise of line 7, the sensitivity of `f_k` and pure privacy do not hold as the proof has them (`docs/paper.md`).
//! [`NoiseScale`] chooses the scale that the proof asks for.
//!
//! # Memory
//!
//! An instance holds a counter of Misra-Gries and a Counter for each reported key. A Counter's `M` grows with
//! the instance: it is brought up to date when the key occurs and has fallen behind by an eighth, and for all
//! keys when the instance has doubled. It is never above the page's. [`L1Constants::bytes`] is the worst
//! case.

mod constants;
mod reported;

pub use constants::L1Constants;

use crate::answer::{AlgorithmForm, NoiseScale, PublishedAnswer};
use crate::laplace::laplace;
use crate::preset::{PresetRefusal, check_memory};
use crate::smooth_histogram::SmoothHistogram;
use frostpane::testing::Entropy;
use reported::ReportingSketch;

/// The most events that an instance may lag behind.
const LAG: usize = 256;

/// The state of Algorithm 6 in a stream.
#[derive(Clone, Debug)]
pub struct L1 {
    constants: L1Constants,
    noise: NoiseScale,
    histogram: SmoothHistogram<ReportingSketch>,
    time: u64,
    /// The events that instances have not seen.
    recent: Vec<u64>,
}

impl L1 {
    /// Algorithm 6 with these constants, the noise of line 7 and the intended forms of its parts.
    pub fn new(constants: L1Constants) -> Self {
        let histogram = SmoothHistogram::new(constants.beta(), AlgorithmForm::Intended);
        Self { constants, noise: NoiseScale::Printed, histogram, time: 0, recent: Vec::with_capacity(LAG) }
    }

    /// The printed constants. Refuses a run that could need more than `memory` bytes.
    pub fn published(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, PresetRefusal> {
        let constants = L1Constants::published(alpha, epsilon, m)?;
        check_memory(constants.bytes(), memory)?;
        Ok(Self::new(constants))
    }

    /// Chooses the noise of the algorithm or of its proof.
    pub fn with_noise(mut self, noise: NoiseScale) -> Self {
        self.noise = noise;
        self
    }

    /// The constants in force.
    pub fn constants(&self) -> &L1Constants {
        &self.constants
    }

    /// Counts one event.
    pub fn update(&mut self, key: u64) {
        self.time += 1;
        self.recent.push(key);
        let (t, constants, recent) = (self.time, &self.constants, &self.recent);
        self.histogram.update(
            t,
            || ReportingSketch::new(constants),
            |reported| {
                reported.defer();
                if recent.len() == LAG {
                    reported.catch_up(recent, t, constants.counter);
                }
            },
        );
        if self.recent.len() == LAG {
            self.recent.clear();
        }
    }

    /// The list for the last `window` events; a window longer than the stream is the stream.
    pub fn query(&self, window: u64, entropy: &mut impl Entropy) -> frostpane::Result<PublishedAnswer> {
        let window = window.clamp(1, self.time.max(1));
        let start = self.time.max(1) - window + 1;
        let bar = 0.75 * self.constants.alpha * window as f64;
        let noise = self.noise.choose(self.constants.printed_noise(), self.constants.proof_noise());
        let mut listed = Vec::new();
        for (key, estimate) in self.estimates(start) {
            let noisy = estimate as f64 + laplace(noise, entropy)?;
            if noisy >= bar {
                listed.push((key, noisy));
            }
        }
        Ok(PublishedAnswer::new(listed, noise, self.constants.proof_noise(), window as f64))
    }

    /// Lines 4 to 6: each reported key with Counter's estimate from `start` on, by increasing key, noiseless.
    pub fn estimates(&self, start: u64) -> Vec<(u64, u64)> {
        let Some(stamp) = self.histogram.query(start, AlgorithmForm::Intended) else {
            return Vec::new();
        };
        let mut reported = stamp.instance.clone();
        reported.catch_up(&self.recent, self.time, self.constants.counter);
        let mut estimates = reported.estimates(start);
        estimates.sort_unstable();
        estimates
    }

    /// The number of timestamps.
    pub fn timestamps(&self) -> usize {
        self.histogram.stamps().len()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.histogram.bytes() + size_of_val(&self.recent[..]) as u64
    }
}
