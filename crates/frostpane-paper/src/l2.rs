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
//! # What is not so
//!
//! - The noise of lines 4 and 8 is less than the lemmas and the theorem on smooth sensitivity ask for:
//!   [`Noise`] chooses, and [`crate::claims`] has the numbers.
//! - The sensitivity of a Counter's estimate is stated in terms of the count where it must be the norm.
//! - Event `E` bounds the noise in a way that line 9 does not survive.
//!
//! # Memory
//!
//! An instance holds AMS, CountSketch, and the Counters of the keys reported since its time. All instances
//! share their random functions ([`Hashes`]). The norm of an instance is the largest that AMS has estimated
//! so far: `L_2` of a substream only grows. CountSketch and the Counters see events in runs, as if one by
//! one. Where an instance has more Counters than keys can pass its threshold, those that CountSketch no
//! longer reports are dropped. [`Constants::bytes`] is what a run may need.

mod constants;
mod sketches;

pub use constants::{Composition, Constants};

use crate::answer::{Answer, Noise};
use crate::count_sketch::Estimator;
use crate::form::Form;
use crate::hashes::Hashes;
use crate::laplace::laplace;
use crate::preset::{Change, Refusal};
use crate::smooth_histogram::{SmoothHistogram, Stamp};
use frostpane::internals::Entropy;
use sketches::{Event, Shared, Sketches};

/// How many events CountSketch and the Counters of an instance may lag behind.
const LAG: usize = 128;

/// Algorithm 5, in the course of a stream.
#[derive(Clone, Debug)]
pub struct L2 {
    constants: Constants,
    noise: Noise,
    form: Form,
    hashes: Hashes,
    histogram: SmoothHistogram<Sketches>,
    time: u64,
    /// The events that CountSketch and the Counters have not seen, and then unused ones.
    recent: Vec<Event>,
    deferred: usize,
}

impl L2 {
    /// Algorithm 5 with these constants, the printed noise, and its parts in their intended form.
    pub fn new(constants: Constants, seed: u64) -> Self {
        Self {
            noise: Noise::Printed,
            form: Form::Intended,
            hashes: Hashes::new(seed),
            histogram: SmoothHistogram::new(constants.beta(), Form::Intended),
            time: 0,
            recent: vec![Event::new(&constants); LAG],
            deferred: 0,
            constants,
        }
    }

    /// The constants of the page. Refuses a run that needs more than `memory` bytes, as every run does.
    pub fn published(
        alpha: f64,
        epsilon: f64,
        m: u64,
        memory: u64,
        composition: Composition,
    ) -> Result<Self, Refusal> {
        let constants = Constants::published(alpha, epsilon, m, composition)?;
        let needed = constants.bytes();
        if needed > memory as f64 {
            let given = memory;
            return Err(Refusal::Memory { needed, given });
        }
        Ok(Self::new(constants, 0))
    }

    /// The constants that [`Constants::scaled`] chooses for so much memory.
    pub fn scaled(
        alpha: f64,
        epsilon: f64,
        m: u64,
        memory: u64,
        composition: Composition,
    ) -> Result<Self, Refusal> {
        let constants = Constants::scaled(alpha, epsilon, m, memory, composition)?;
        Ok(Self::new(constants, 0))
    }

    /// Draws the noise that the algorithm or its proof states.
    pub fn with_noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// Takes other random functions. Before the first event only.
    pub fn with_seed(self, seed: u64) -> Self {
        assert_eq!(self.time, 0, "random functions are chosen before the first event");
        Self {
            noise: self.noise,
            form: self.form,
            ..Self::new(self.constants, seed)
        }
    }

    /// Reads Counter's and CountSketch's answers as printed or as intended. The histogram stays as intended:
    /// as printed, it would keep every event.
    pub fn with_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The constants in force.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Each constant that is not the page's.
    pub fn changes(&self) -> Vec<Change> {
        self.constants.changes()
    }

    /// One event.
    pub fn update(&mut self, key: u64) {
        self.time += 1;
        self.recent[self.deferred].set(&self.hashes, &self.constants, self.time, key);
        self.deferred += 1;
        let recent = &self.recent[..self.deferred];
        let shared = Shared {
            constants: &self.constants,
            hashes: &self.hashes,
            estimator: estimator(self.form),
        };
        self.histogram.update(
            self.time,
            || Sketches::new(shared.constants),
            |sketches| {
                sketches.defer(&recent[recent.len() - 1], &shared);
                if recent.len() == LAG {
                    sketches.catch_up(recent, &shared);
                }
            },
        );
        self.deferred %= LAG;
    }

    /// The list for the last `window` events; a window longer than the stream is the stream.
    pub fn query(&self, window: u64, entropy: &mut impl Entropy) -> frostpane::Result<Answer> {
        let start = self.time.max(1) - window.clamp(1, self.time.max(1)) + 1;
        let norm = self.at(start).map_or(0.0, |stamp| stamp.value);
        let [norm_noise, noise] = match self.noise {
            Noise::Printed => self.constants.printed_noise(norm),
            Noise::Proof => self.constants.proof_noise(norm),
        };
        let [_, needed_noise] = self.constants.proof_noise(norm);
        let noisy_norm = norm + laplace(norm_noise, entropy)?;
        let mut listed = Vec::new();
        for (key, estimate) in self.estimates(start) {
            let bar = 0.75 * self.constants.alpha * noisy_norm + laplace(noise, entropy)?;
            let noisy = estimate as f64 + laplace(noise, entropy)?;
            if noisy >= bar {
                listed.push((key, noisy));
            }
        }
        let answer = Answer {
            listed,
            noise,
            needed_noise,
            norm,
        };
        Ok(answer.sorted())
    }

    /// Lines 5 to 7: each reported key with Counter's estimate from `start` on, by rising key. No noise.
    pub fn estimates(&self, start: u64) -> Vec<(u64, u64)> {
        let Some(stamp) = self.at(start) else {
            return Vec::new();
        };
        let shared = Shared {
            constants: &self.constants,
            hashes: &self.hashes,
            estimator: estimator(self.form),
        };
        let mut sketches = stamp.instance.clone();
        sketches.catch_up(&self.recent[..self.deferred], &shared);
        let mut estimates = sketches.estimates(start, self.form, &shared);
        estimates.sort_unstable();
        estimates
    }

    /// How many timestamps there are.
    pub fn timestamps(&self) -> usize {
        self.histogram.stamps().len()
    }

    /// The memory it holds now.
    pub fn bytes(&self) -> u64 {
        self.histogram.bytes()
    }

    fn at(&self, start: u64) -> Option<&Stamp<Sketches>> {
        self.histogram.query(start, Form::Intended)
    }
}

fn estimator(form: Form) -> Estimator {
    match form {
        Form::Printed => Estimator::MeanOfMagnitudes,
        Form::Intended => Estimator::MedianOfSigned,
    }
}
