//! Streams and their exact statistics.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashMap;

use frostpane_paper::{CountSketchEstimator, CountSketchShape, Hashes, Instance, PublishedCountSketch};

/// A repeatable draw from `0..bound`.
pub fn draw(seed: u64, index: u64, bound: u64) -> u64 {
    Hashes::new(seed ^ 0x5eed).bucket(0, index, bound as usize) as u64
}

/// Streams of `length` events that are difficult for a smooth histogram.
pub fn adversarial(length: u64) -> Vec<(&'static str, Vec<u64>)> {
    let burst = |from: u64, to: u64| {
        (1..=length).map(move |t| if (from..to).contains(&t) { 0 } else { t }).collect::<Vec<_>>()
    };
    // After the burst of the first quarter has left the window, its key is still heavy.
    let quarter = length / 4;
    let burst_again = |t: u64| if t < quarter || t > 3 * quarter { 0 } else { t };
    let rounded_log = |t: u64| u64::from((length - t).max(1).ilog2());
    vec![
        ("all keys differ", (1..=length).collect()),
        ("one key", vec![7; length as usize]),
        ("few keys in turn", (1..=length).map(|t| t % 5).collect()),
        ("an early burst", burst(1, length / 2)),
        ("a burst in the middle", burst(length / 3, 2 * length / 3)),
        ("a late burst", burst(length - length / 10, length - length / 20)),
        ("a burst, silence, the same key again", (1..=length).map(burst_again).collect()),
        ("geometric bursts", (1..=length).map(rounded_log).collect()),
        ("growing bursts", (1..=length).map(|t| u64::from(t.ilog2())).collect()),
        ("uniform keys", (1..=length).map(|t| draw(1, t, 50)).collect()),
        ("skewed keys", (1..=length).map(|t| skewed(2, t)).collect()),
    ]
}

/// A key with probability about `1/(k (k+1))`.
pub fn skewed(seed: u64, t: u64) -> u64 {
    1_000_000 / (1 + draw(seed, t, 1_000_000))
}

/// `L_2` of the window that starts at `start`, for each in `1..=stream.len()`; the first entry is unused.
pub fn suffix_l2(stream: &[u64]) -> Vec<f64> {
    let mut norms = vec![0.0; stream.len() + 1];
    let mut exact = ExactL2::default();
    for (index, &key) in stream.iter().enumerate().rev() {
        exact.add(key);
        norms[index + 1] = exact.value();
    }
    norms
}

pub fn sketch(
    shape: CountSketchShape,
    seed: u64,
    stream: &[u64],
) -> impl Fn(u64, CountSketchEstimator) -> f64 + use<> {
    let (hashes, mut sketch) = (Hashes::new(seed), PublishedCountSketch::new(shape));
    stream.iter().for_each(|&key| sketch.update_at(&shape.positions(&hashes, key)));
    move |key, estimator| sketch.estimate(&hashes, key, estimator)
}

/// The exact second moment; its value is `L_2`.
#[derive(Clone, Debug, Default)]
pub struct ExactL2 {
    counts: HashMap<u64, u64>,
    f2: u64,
}

impl ExactL2 {
    pub fn add(&mut self, key: u64) {
        let count = self.counts.entry(key).or_default();
        *count += 1;
        self.f2 += 2 * *count - 1;
    }

    pub fn f2(&self) -> f64 {
        self.f2 as f64
    }
}

impl Instance for ExactL2 {
    fn value(&self) -> f64 {
        (self.f2 as f64).sqrt()
    }

    fn clear(&mut self) {
        self.counts.clear();
        self.f2 = 0;
    }

    fn bytes(&self) -> u64 {
        16 * self.counts.len() as u64
    }
}
