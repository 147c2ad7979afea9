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
//! # What is not so
//!
//! - The proof asks for `Lap(2/eps)`; line 7 draws less whenever `alpha log m > 1/2`. [`Noise`] chooses.
//! - The proof says that one event moves `f_k` by at most 2. What is released is Counter's estimate, and
//!   Counter keeps timestamps that depend on the data: one event moves it by almost `alpha W/32`, even one
//!   that has left the window.
//! - The lemma promises `(eps, 0)`. A key that occurs in one stream and not in its neighbour is listed in the
//!   first with positive probability and in the second never, whatever the noise.
//! - The proof leaves out what came before a Counter started: up to `(alpha/16)(t - t_a + 1)` events. The
//!   theorem's `alpha/4` has room for it.
//!
//! # Memory
//!
//! An instance holds a counter of Misra-Gries and a Counter for each reported key. A Counter's `M` grows with
//! the instance: it is brought up to date when the key occurs and has fallen behind by an eighth, and for all
//! keys when the instance has doubled. It is never above the page's. [`Constants::bytes`] is the worst case.

mod constants;
mod reported;

pub use constants::Constants;

use crate::answer::{Answer, Noise};
use crate::form::Form;
use crate::laplace::laplace;
use crate::preset::{Change, Refusal};
use crate::smooth_histogram::SmoothHistogram;
use frostpane::internals::Entropy;
use reported::Reported;

/// How many events instances may lag behind.
const LAG: usize = 256;

/// Algorithm 6, in the course of a stream.
#[derive(Clone, Debug)]
pub struct L1 {
    constants: Constants,
    noise: Noise,
    form: Form,
    histogram: SmoothHistogram<Reported>,
    time: u64,
    /// The events that instances have not seen.
    recent: Vec<u64>,
}

impl L1 {
    /// Algorithm 6 with these constants, the noise of line 7 and the intended query of Counter.
    pub fn new(constants: Constants) -> Self {
        let histogram = SmoothHistogram::new(constants.beta(), Form::Intended);
        Self {
            constants,
            noise: Noise::Printed,
            form: Form::Intended,
            histogram,
            time: 0,
            recent: Vec::with_capacity(LAG),
        }
    }

    /// The constants of the page. Refuses a run that could need more than `memory` bytes.
    pub fn published(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, Refusal> {
        let constants = Constants::published(alpha, epsilon, m)?;
        let needed = constants.bytes();
        if needed > memory as f64 {
            let given = memory;
            return Err(Refusal::Memory { needed, given });
        }
        Ok(Self::new(constants))
    }

    /// The constants that [`Constants::scaled`] chooses for so much memory.
    pub fn scaled(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, Refusal> {
        Ok(Self::new(Constants::scaled(alpha, epsilon, m, memory)?))
    }

    /// Draws the noise that the algorithm or its proof states.
    pub fn with_noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// Reads Counter's query as printed or as intended.
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
        self.recent.push(key);
        let (t, constants, recent) = (self.time, &self.constants, &self.recent);
        self.histogram.update(
            t,
            || Reported::new(constants),
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
    pub fn query(&self, window: u64, entropy: &mut impl Entropy) -> frostpane::Result<Answer> {
        let window = window.clamp(1, self.time.max(1));
        let start = self.time.max(1) - window + 1;
        let bar = 0.75 * self.constants.alpha * window as f64;
        let noise = self.noise_scale();
        let mut listed = Vec::new();
        for (key, estimate) in self.estimates(start) {
            let noisy = estimate as f64 + laplace(noise, entropy)?;
            if noisy >= bar {
                listed.push((key, noisy));
            }
        }
        let (needed_noise, norm) = (self.constants.proof_noise(), window as f64);
        let answer = Answer {
            listed,
            noise,
            needed_noise,
            norm,
        };
        Ok(answer.sorted())
    }

    /// Lines 4 to 6: each reported key with Counter's estimate from `start` on, by rising key. No noise.
    pub fn estimates(&self, start: u64) -> Vec<(u64, u64)> {
        let Some(stamp) = self.histogram.query(start, Form::Intended) else {
            return Vec::new();
        };
        let mut reported = stamp.instance.clone();
        reported.catch_up(&self.recent, self.time, self.constants.counter);
        let mut estimates = reported.estimates(start, self.form);
        estimates.sort_unstable();
        estimates
    }

    /// How many timestamps there are.
    pub fn timestamps(&self) -> usize {
        self.histogram.stamps().len()
    }

    /// The memory it holds now.
    pub fn bytes(&self) -> u64 {
        self.histogram.bytes() + size_of_val(&self.recent[..]) as u64
    }

    fn noise_scale(&self) -> f64 {
        match self.noise {
            Noise::Printed => self.constants.printed_noise(),
            Noise::Proof => self.constants.proof_noise(),
        }
    }
}
