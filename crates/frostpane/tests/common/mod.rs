//! Helpers of several tests.
#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::PathBuf;

use frostpane::testing::{Entropy, InsecureSeededEntropy};
use frostpane::{Edge, Event, Key, Norm, Release};

/// So much epsilon that noise is 0 but for a negligible chance.
pub const NO_NOISE: f64 = 100_000.0;
/// In microseconds.
pub const SECOND: i64 = 1_000_000;

/// The number of releases of each case, by default and with `FROSTPANE_LONG`.
pub fn releases(default: u64, long: u64) -> u64 {
    if is_long() { long } else { default }
}

pub fn is_long() -> bool {
    std::env::var_os("FROSTPANE_LONG").is_some()
}

pub fn listed(release: &Release<u64>) -> BTreeMap<u64, u64> {
    release.heavy.iter().map(|heavy| (heavy.key, heavy.count)).collect()
}

/// The position of an edge by count.
pub fn position(edge: Option<Edge>) -> usize {
    match edge {
        Some(Edge::Event(event)) => event as usize,
        _ => panic!("not by count"),
    }
}

/// A real stream of times in seconds and keys, in order.
pub struct TestStream {
    pub name: &'static str,
    pub events: Vec<(i64, Box<[u8]>)>,
}

/// Reads a stream of `shared/data` beside the project. Prints a message and returns nothing without it.
pub fn real_stream(name: &'static str) -> Option<TestStream> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(format!("{name}.tsv.zst"));
    let Ok(packed) = std::fs::read(&path) else {
        eprintln!("skipped: no {name} at {}", path.display());
        return None;
    };
    let text = zstd::decode_all(packed.as_slice()).unwrap();
    let events = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let tab = line.iter().position(|&byte| byte == b'\t').unwrap();
            let time = std::str::from_utf8(&line[..tab]).unwrap().parse().unwrap();
            (time, line[tab + 1..].into())
        })
        .collect();
    Some(TestStream { name, events })
}

/// Events of a window by count, with or without keys.
pub fn arrivals<'a, K: Key>(
    keys: impl IntoIterator<Item = Option<K::Ref<'a>>>,
) -> impl Iterator<Item = Event<'a, K>> {
    keys.into_iter().map(|key| Event { time: None, key, user: None })
}

/// An event without a key, at a time in windows by the clock.
pub fn without_key<'a, K: Key>(time: Option<i64>) -> Event<'a, K> {
    Event { time, key: None, user: None }
}

pub fn count<K: Eq + Hash>(keys: impl IntoIterator<Item = K>) -> HashMap<K, u64> {
    let mut counts = HashMap::new();
    for key in keys {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

pub fn norm_of(norm: Norm, counts: impl Iterator<Item = u64>) -> f64 {
    match norm {
        Norm::L1 => counts.sum::<u64>() as f64,
        Norm::L2 => counts.map(|count| (count as f64).powi(2)).sum::<f64>().sqrt(),
    }
}

/// Returns true if the three promises of a release hold at its alpha.
pub fn promises_true<K: Key + Hash>(release: &Release<K>, counts: &HashMap<K, u64>) -> bool {
    let line = release.alpha.unwrap() * norm_of(release.norm, counts.values().copied());
    let truth = |key: &K| counts.get(key).copied().unwrap_or(0) as f64;
    let listed = |key: &K| release.heavy.iter().any(|heavy| heavy.key == *key);
    let complete = counts.iter().all(|(key, count)| (*count as f64) < line || listed(key));
    let clean = release.heavy.iter().all(|heavy| truth(&heavy.key) > line / 2.0);
    let accurate =
        release.heavy.iter().all(|heavy| (heavy.count as f64 - truth(&heavy.key)).abs() <= line / 4.0);
    complete && clean && accurate
}

/// Returns true if all other statements of a release are true.
pub fn statements_true<K: Key + Hash>(release: &Release<K>, counts: &HashMap<K, u64>) -> bool {
    let truth = |key: &K| counts.get(key).copied().unwrap_or(0);
    let inside = release.heavy.iter().all(|heavy| (heavy.low..=heavy.high).contains(&truth(&heavy.key)));
    let sure: Vec<_> = counts.iter().filter(|(_, count)| **count >= release.complete_above).collect();
    let complete = sure.iter().all(|(key, _)| release.heavy.iter().any(|heavy| heavy.key == **key));
    let clean = release.heavy.iter().all(|heavy| truth(&heavy.key) >= release.nothing_below);
    inside && complete && clean
}

/// The least number of failures among `runs`, each of probability at most `chance`, that is exceeded with
/// probability below `false_alarm`.
pub fn most_failures(runs: u64, chance: f64, false_alarm: f64) -> u64 {
    let mut mass = (1.0 - chance).powi(runs as i32);
    let mut tail = 1.0 - mass;
    let mut failures = 0;
    while tail >= false_alarm {
        mass *= (runs - failures) as f64 / (failures + 1) as f64 * chance / (1.0 - chance);
        failures += 1;
        tail -= mass;
    }
    failures
}

/// Random keys from 0 on, key `i` with a probability proportional to `1 / (i+1)^exponent`.
pub struct Zipf {
    cumulative: Vec<f64>,
    entropy: InsecureSeededEntropy,
}

impl Zipf {
    pub fn new(exponent: f64, keys: usize, seed: u64) -> Self {
        let mut sum = 0.0;
        let cumulative = (1..=keys)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        Self { cumulative, entropy: InsecureSeededEntropy::new(seed) }
    }

    pub fn key(&mut self) -> u64 {
        let total = self.cumulative[self.cumulative.len() - 1];
        let point = self.entropy.word().unwrap() as f64 / 2f64.powi(64) * total;
        self.cumulative.partition_point(|sum| *sum <= point).min(self.cumulative.len() - 1) as u64
    }
}
