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
//! An instance holds AMS, CountSketch, and the Counters of the keys reported since its time. All instances share
//! their random functions ([`Hashes`]). The norm of an instance is the largest that AMS has estimated so far:
//! `L_2` of a substream only grows. Where an instance has more Counters than keys can pass its threshold, those
//! that CountSketch no longer reports are dropped. [`Constants::bytes`] is what a run may need.

mod constants;

pub use constants::{Composition, Constants};

use crate::ams::Ams;
use crate::answer::{Answer, Noise};
use crate::count_sketch::{CountSketch, Estimator};
use crate::counter::Counter;
use crate::form::Form;
use crate::hashes::Hashes;
use crate::key_map::KeyMap;
use crate::laplace::laplace;
use crate::preset::{Change, Refusal};
use crate::smooth_histogram::{Instance, SmoothHistogram, Stamp};
use frostpane::noise::Entropy;

/// Algorithm 5, in the course of a stream.
#[derive(Clone, Debug)]
pub struct L2 {
    constants: Constants,
    noise: Noise,
    form: Form,
    hashes: Hashes,
    histogram: SmoothHistogram<Sketches>,
    time: u64,
    event: Event,
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
            event: Event::new(&constants),
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

    /// Reads Counter's and CountSketch's answers as printed or as intended. The histogram stays as intended: as
    /// printed, it would keep every event.
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
        self.event.set(&self.hashes, &self.constants, self.time, key);
        let (event, constants, hashes) = (&self.event, &self.constants, &self.hashes);
        let estimator = estimator(self.form);
        self.histogram.update(
            self.time,
            || Sketches::new(constants),
            |sketches| sketches.update(event, constants, hashes, estimator),
        );
    }

    /// The list for the last `window` events; a window longer than the stream is the stream.
    pub fn query(&self, window: u64, entropy: &mut impl Entropy) -> frostpane::Result<Answer> {
        let start = self.time.max(1) - window.clamp(1, self.time.max(1)) + 1;
        let norm = self.at(start).map_or(0.0, |stamp| stamp.instance.norm);
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
        let sketches = &stamp.instance;
        let reported = sketches
            .counters
            .iter()
            .filter(|&(&key, _)| sketches.reports(key, &self.constants, &self.hashes, estimator(self.form)));
        let mut estimates: Vec<_> = reported
            .map(|(&key, counter)| (key, counter.estimate(start, self.form)))
            .collect();
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

/// An event with the values of the random functions at its key, found once for all instances.
#[derive(Clone, Debug)]
struct Event {
    time: u64,
    key: u64,
    signs: Vec<u64>,
    positions: Vec<(usize, i64)>,
}

impl Event {
    fn new(constants: &Constants) -> Self {
        Self {
            time: 0,
            key: 0,
            signs: vec![0; Ams::words(constants.sums())],
            positions: Vec::with_capacity(constants.rows),
        }
    }

    fn set(&mut self, hashes: &Hashes, constants: &Constants, time: u64, key: u64) {
        (self.time, self.key) = (time, key);
        hashes.fill_signs(key, &mut self.signs);
        constants.shape().positions(hashes, key, &mut self.positions);
    }
}

/// What is kept from a timestamp on.
#[derive(Clone, Debug)]
struct Sketches {
    ams: Ams,
    count_sketch: CountSketch,
    counters: KeyMap<Counter>,
    /// The largest norm that AMS has estimated.
    norm: f64,
    /// How many Counters there may be before those of unreported keys go.
    room: usize,
}

impl Sketches {
    fn new(constants: &Constants) -> Self {
        Self {
            ams: Ams::new(constants.sums()),
            count_sketch: CountSketch::new(constants.shape()),
            counters: KeyMap::default(),
            norm: 0.0,
            room: constants.most_keys(),
        }
    }

    fn update(&mut self, event: &Event, constants: &Constants, hashes: &Hashes, estimator: Estimator) {
        self.ams.update_signs(&event.signs);
        self.count_sketch.update_at(&event.positions);
        self.norm = self.norm.max(constants.norm(&self.ams));
        let error = constants.counter * self.norm;
        if let Some(counter) = self.counters.get_mut(&event.key) {
            count(counter, event.time, error);
        } else if self.count_sketch.estimate_at(&event.positions, estimator)
            >= constants.threshold * self.norm
        {
            self.make_room(constants, hashes, estimator);
            let counter = self.counters.entry(event.key).or_insert(Counter::new(error));
            count(counter, event.time, error);
        }
    }

    /// Whether CountSketch reports a key.
    fn reports(&self, key: u64, constants: &Constants, hashes: &Hashes, estimator: Estimator) -> bool {
        self.count_sketch.estimate(hashes, key, estimator) >= constants.threshold * self.norm
    }

    /// Drops the Counters of keys that are no longer reported, where there are too many.
    fn make_room(&mut self, constants: &Constants, hashes: &Hashes, estimator: Estimator) {
        if self.counters.len() < self.room {
            return;
        }
        let mut counters = std::mem::take(&mut self.counters);
        counters.retain(|&key, _| self.reports(key, constants, hashes, estimator));
        counters
            .values_mut()
            .for_each(|counter| counter.set_error(constants.counter * self.norm));
        self.room = constants.most_keys().max(2 * counters.len());
        self.counters = counters;
    }
}

/// An occurrence. `M` follows the norm, in steps of an eighth.
fn count(counter: &mut Counter, time: u64, error: f64) {
    counter.update(time);
    if error > 1.125 * counter.error() {
        counter.set_error(error);
    }
}

impl Instance for Sketches {
    fn value(&self) -> f64 {
        self.norm
    }

    fn clear(&mut self) {
        self.ams.clear();
        self.count_sketch.clear();
        self.counters.clear();
        self.norm = 0.0;
    }

    fn bytes(&self) -> u64 {
        let keys = (self.counters.len() * size_of::<u64>() + size_of::<Self>()) as u64;
        let counters: u64 = self.counters.values().map(Counter::bytes).sum();
        self.ams.bytes() + self.count_sketch.bytes() + keys + counters
    }
}
