//! Section 3, Algorithm 5: private `L_2`-heavy hitters of a window.
//!
//! 1. A smooth histogram for `L_2`: timestamps `t_1, ..., t_s` whose norms differ by little.
//! 2. CountSketch from each `t_i` on, with threshold `alpha^3 eps/(500 log m)`.
//! 3. On a query for a window of `W`, `a = max{i : t_i <= m-W+1}`.
//! 4. `L` is the estimate of `L_2(t_a, t)`, and `X` is drawn from `Lap(L/(40 log m))`.
//! 5. For each key `k` that CountSketch from `t_a` on reports,
//! 6. a Counter with additive error `(alpha^3 eps/(1000 log m)) L`,
//! 7. whose estimate is `f_k`;
//! 8. `Y_k` and `Z_k` from `Lap((alpha/(75 log m)) L)`, and
//! 9. if `f_k + Z_k >= (3 alpha/4)(L + X) + Y_k`,
//! 10. `k` is listed with `f_k + Z_k`.
//!
//! A key is reported if its estimate is at least the threshold times `L`. Its Counter starts when it is first
//! reported, as the text after the algorithm says, and what came before is at most that much.
//!
//! # Errors in the paper
//!
//! The noise of lines 4 and 8, the sensitivity of a count and event `E` do not hold as the proof has them
//! (`docs/paper.md`). [`NoiseScale`] chooses the scale that the proof asks for.
//!
//! # Memory
//!
//! An instance holds AMS, CountSketch, and the Counters of the keys reported since its time. All instances
//! share their random functions ([`Hashes`]). The norm of an instance is the largest that AMS has estimated
//! so far: `L_2` of a substream only grows. CountSketch and the Counters see events in runs, as if one by
//! one. Where an instance has more Counters than keys can pass its threshold, those that CountSketch no
//! longer reports are dropped. [`L2Constants::bytes`] is what a run may need.

mod constants;
mod sketches;

pub use constants::L2Constants;

use crate::answer::{AlgorithmForm, NoiseScale, PublishedAnswer};
use crate::hashes::Hashes;
use crate::laplace::laplace;
use crate::preset::{PresetRefusal, check_memory};
use crate::smooth_histogram::{SmoothHistogram, Stamp};
use frostpane::testing::Entropy;
use sketches::{HashedEvent, SketchContext, Sketches};

/// The most events that CountSketch and the Counters of an instance may lag behind.
const LAG: usize = 128;

/// The state of Algorithm 5 in a stream.
#[derive(Clone, Debug)]
pub struct L2 {
    shared: SketchContext,
    noise: NoiseScale,
    histogram: SmoothHistogram<Sketches>,
    time: u64,
    /// The events that CountSketch and the Counters have not seen.
    recent: Vec<HashedEvent>,
}

impl L2 {
    /// Algorithm 5 with these constants, random functions of this seed, the printed noise, and the intended forms
    /// of its parts.
    pub fn new(constants: L2Constants, seed: u64) -> Self {
        Self {
            noise: NoiseScale::Printed,
            histogram: SmoothHistogram::new(constants.beta(), AlgorithmForm::Intended),
            time: 0,
            recent: Vec::with_capacity(LAG),
            shared: SketchContext { constants, hashes: Hashes::new(seed) },
        }
    }

    /// The printed constants. Refuses a run that needs more than `memory` bytes, as every run does.
    pub fn published(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, PresetRefusal> {
        let constants = L2Constants::published(alpha, epsilon, m)?;
        check_memory(constants.bytes(), memory)?;
        Ok(Self::new(constants, 0))
    }

    /// Chooses the noise of the algorithm or of its proof.
    pub fn with_noise(mut self, noise: NoiseScale) -> Self {
        self.noise = noise;
        self
    }

    /// The constants in force.
    pub fn constants(&self) -> &L2Constants {
        &self.shared.constants
    }

    /// Counts one event.
    pub fn update(&mut self, key: u64) {
        self.time += 1;
        self.recent.push(HashedEvent::new(&self.shared, self.time, key));
        let (shared, recent) = (&self.shared, &self.recent);
        self.histogram.update(
            self.time,
            || Sketches::new(&shared.constants),
            |sketches| {
                sketches.defer(&recent[recent.len() - 1], shared);
                if recent.len() == LAG {
                    sketches.catch_up(recent, shared);
                }
            },
        );
        if self.recent.len() == LAG {
            self.recent.clear();
        }
    }

    /// The list for the last `window` events; a window longer than the stream is the stream.
    pub fn query(&self, window: u64, entropy: &mut impl Entropy) -> frostpane::Result<PublishedAnswer> {
        let start = self.time.max(1) - window.clamp(1, self.time.max(1)) + 1;
        let norm = self.at(start).map_or(0.0, |stamp| stamp.value);
        let constants = &self.shared.constants;
        let needed = constants.proof_noise(norm);
        let [norm_noise, noise] = self.noise.choose(constants.printed_noise(norm), needed);
        let noisy_norm = norm + laplace(norm_noise, entropy)?;
        let mut listed = Vec::new();
        for (key, estimate) in self.estimates(start) {
            let bar = 0.75 * constants.alpha * noisy_norm + laplace(noise, entropy)?;
            let noisy = estimate as f64 + laplace(noise, entropy)?;
            if noisy >= bar {
                listed.push((key, noisy));
            }
        }
        Ok(PublishedAnswer::new(listed, noise, needed[1], norm))
    }

    /// Lines 5 to 7: each reported key with Counter's estimate from `start` on, by increasing key, noiseless.
    pub fn estimates(&self, start: u64) -> Vec<(u64, u64)> {
        let Some(stamp) = self.at(start) else {
            return Vec::new();
        };
        let mut sketches = stamp.instance.clone();
        sketches.catch_up(&self.recent, &self.shared);
        let mut estimates = sketches.estimates(start, &self.shared);
        estimates.sort_unstable();
        estimates
    }

    /// The number of timestamps.
    pub fn timestamps(&self) -> usize {
        self.histogram.stamps().len()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        self.histogram.bytes()
    }

    fn at(&self, start: u64) -> Option<&Stamp<Sketches>> {
        self.histogram.query(start, AlgorithmForm::Intended)
    }
}
