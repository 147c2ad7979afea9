//! An instance of Algorithm 5 from a timestamp on: AMS, CountSketch, and Counters of the reported keys.
//!
//! AMS sees each event when it takes place, since the histogram deletes by its norm. CountSketch and the
//! Counters may lag behind and catch up on a run of events, with the norm that there was at each of them.
//! There are hundreds of instances: one after the other they stay in the processor's cache, and most are
//! deleted before they begin.

use super::L2Constants;
use crate::ams::Ams;
use crate::answer::AlgorithmForm;
use crate::count_sketch::{CountSketchEstimator, PublishedCountSketch};
use crate::counter::PublishedCounter;
use crate::hashes::{Hashes, KeyMap};
use crate::smooth_histogram::Instance;

/// An event with the values of the random functions at its key, found once for all instances.
#[derive(Clone, Debug)]
pub(crate) struct HashedEvent {
    time: u64,
    key: u64,
    signs: Vec<u64>,
    positions: Vec<(usize, i64)>,
}

impl HashedEvent {
    pub(crate) fn new(shared: &SketchContext, time: u64, key: u64) -> Self {
        let SketchContext { constants, hashes } = shared;
        let signs = hashes.sign_words(key, constants.sums());
        Self { time, key, signs, positions: constants.shape().positions(hashes, key) }
    }
}

const ESTIMATOR: CountSketchEstimator = CountSketchEstimator::MedianOfSigned;

/// Parameters shared by all instances.
#[derive(Clone, Debug)]
pub(crate) struct SketchContext {
    pub(crate) constants: L2Constants,
    pub(crate) hashes: Hashes,
}

/// AMS, CountSketch and Counters.
#[derive(Clone, Debug)]
pub(crate) struct Sketches {
    ams: Ams,
    /// The largest norm that AMS has estimated.
    norm: f64,
    /// This norm after each event that CountSketch has not seen.
    deferred: Vec<f64>,
    count_sketch: PublishedCountSketch,
    counters: KeyMap<PublishedCounter>,
    /// The number of Counters at which those of unreported keys are dropped.
    room: usize,
    /// True if CountSketch has seen an event.
    begun: bool,
}

impl Sketches {
    pub(crate) fn new(constants: &L2Constants) -> Self {
        Self {
            ams: Ams::new(constants.sums()),
            norm: 0.0,
            deferred: Vec::new(),
            count_sketch: PublishedCountSketch::new(constants.shape()),
            counters: KeyMap::default(),
            room: constants.most_keys(),
            begun: false,
        }
    }

    /// Records an event: AMS sees it now, the rest later.
    pub(crate) fn defer(&mut self, event: &HashedEvent, shared: &SketchContext) {
        self.ams.update_signs(&event.signs);
        self.norm = self.norm.max(shared.constants.norm(&self.ams));
        self.deferred.push(self.norm);
    }

    /// Sees the deferred events, which are the last of `recent`.
    pub(crate) fn catch_up(&mut self, recent: &[HashedEvent], shared: &SketchContext) {
        self.begun |= !self.deferred.is_empty();
        let mut norms = std::mem::take(&mut self.deferred);
        for (event, &norm) in recent[recent.len() - norms.len()..].iter().zip(&norms) {
            self.see(event, norm, shared);
        }
        norms.clear();
        self.deferred = norms;
    }

    fn see(&mut self, event: &HashedEvent, norm: f64, shared: &SketchContext) {
        let constants = &shared.constants;
        self.count_sketch.update_at(&event.positions);
        let error = constants.counter * norm;
        if let Some(counter) = self.counters.get_mut(&event.key) {
            counter.update_within(event.time, error);
        } else if self.count_sketch.estimate_at(&event.positions, ESTIMATOR) >= constants.threshold * norm {
            self.make_room(norm, shared);
            let counter = self.counters.entry(event.key).or_insert(PublishedCounter::new(error));
            counter.update_within(event.time, error);
        }
    }

    /// Drops the Counters of keys that are no longer reported if there are too many.
    fn make_room(&mut self, norm: f64, shared: &SketchContext) {
        if self.counters.len() < self.room {
            return;
        }
        let mut counters = std::mem::take(&mut self.counters);
        counters.retain(|&key, _| self.reports(key, norm, shared));
        let error = shared.constants.counter * norm;
        counters.values_mut().for_each(|counter| counter.set_error(error));
        self.room = shared.constants.most_keys().max(2 * counters.len());
        self.counters = counters;
    }

    /// Returns true if CountSketch reports the key.
    fn reports(&self, key: u64, norm: f64, shared: &SketchContext) -> bool {
        self.count_sketch.estimate(&shared.hashes, key, ESTIMATOR) >= shared.constants.threshold * norm
    }

    /// Each reported key with its Counter's estimate from `start` on. Requires a preceding `catch_up`.
    pub(crate) fn estimates(&self, start: u64, shared: &SketchContext) -> Vec<(u64, u64)> {
        let counters = self.counters.iter();
        counters
            .filter(|&(&key, _)| self.reports(key, self.norm, shared))
            .map(|(&key, counter)| (key, counter.estimate(start, AlgorithmForm::Intended)))
            .collect()
    }
}

impl Instance for Sketches {
    fn value(&self) -> f64 {
        self.norm
    }

    fn clear(&mut self) {
        self.ams.clear();
        self.norm = 0.0;
        self.deferred.clear();
        if self.begun {
            self.count_sketch.clear();
            self.counters.clear();
        }
        self.begun = false;
    }

    fn bytes(&self) -> u64 {
        let beside =
            self.counters.len() * size_of::<u64>() + size_of_val(&self.deferred[..]) + size_of::<Self>();
        let counters: u64 = self.counters.values().map(PublishedCounter::bytes).sum();
        self.ams.bytes() + self.count_sketch.bytes() + counters + beside as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One instance catches up after each event, one after each 37; then a new one against a cleared one.
    #[test]
    fn it_matters_not_when_an_instance_catches_up() {
        let constants = L2Constants::scaled(0.2, 1.0, 10_000, 1_000_000).unwrap();
        let shared = SketchContext { constants: constants.clone(), hashes: Hashes::new(2) };
        let (mut eager, mut lazy) = (Sketches::new(&constants), Sketches::new(&constants));
        for round in 1..3 {
            let mut recent = Vec::new();
            for t in 1..=37 * 100 {
                let event = HashedEvent::new(&shared, t, t * t * round % 1_009 % (1 + t % 50));
                eager.defer(&event, &shared);
                eager.catch_up(std::slice::from_ref(&event), &shared);
                lazy.defer(&event, &shared);
                recent.push(event);
                if t % 37 == 0 {
                    lazy.catch_up(&recent, &shared);
                    recent.clear();
                    let [mut one, mut other] =
                        [&eager, &lazy].map(|sketches| sketches.estimates(t / 2, &shared));
                    one.sort_unstable();
                    other.sort_unstable();
                    assert!(!one.is_empty());
                    assert_eq!(one, other, "time {t}");
                }
            }
            eager = Sketches::new(&constants);
            lazy.clear();
        }
    }

    /// Each key has a burst and is then outgrown by later keys.
    #[test]
    fn counters_of_outgrown_keys_go() {
        let constants = L2Constants::scaled(0.3, 1.0, 100_000, 1_000_000).unwrap();
        let shared = SketchContext { constants: constants.clone(), hashes: Hashes::new(3) };
        let mut sketches = Sketches::new(&constants);
        let (mut t, mut keys, mut outgrown) = (0, 0, false);
        while t < 30_000 {
            keys += 1;
            for _ in 0..=(2.0 * constants.threshold * sketches.norm) as u64 {
                t += 1;
                let event = HashedEvent::new(&shared, t, keys);
                sketches.defer(&event, &shared);
                sketches.catch_up(std::slice::from_ref(&event), &shared);
            }
            assert!(sketches.counters.len() <= 2 * constants.most_keys());
            assert!(sketches.counters.contains_key(&keys));
            let estimates = sketches.estimates(1, &shared);
            assert!(estimates.iter().all(|&(key, _)| sketches.reports(key, sketches.norm, &shared)));
            outgrown |= estimates.len() < sketches.counters.len();
        }
        assert!(outgrown, "some wait for others to go with them");
        assert!(keys > 2 * constants.most_keys() as u64, "{keys} keys, room for {}", constants.most_keys());
    }
}
