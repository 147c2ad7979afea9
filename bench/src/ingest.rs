//! Ingestion rates of Frostpane and other programs, as JSON: million events per second for each stream,
//! contender and repetition.
//!
//! Contenders take turns, so that other load on the machine affects all of them. One thread is timed by the
//! processor, which other load affects least; two threads, and the one thread that they are compared with, by
//! the wall clock.

use std::hint::black_box;

use datasketches::frequencies::FrequentItemsSketch;
use frostpane::{Builder, Bytes, Event, HeavyHitters, Key, Keys, Norm, Policy, Result, Window};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustix::time::ClockId;
use serde_json::{Map, Value, json};

use crate::streams::{text, uniform, words, zipf};
use crate::{BenchResult, REPETITIONS, seconds};
use ClockId::{Monotonic as Wall, ProcessCPUTime as Processor};

const EVENTS: usize = 50_000_000;
const KEYS: usize = 1_000_000;
/// The window that is counted exactly, in events.
const WINDOW: usize = 10_000_000;

type IngestContender<T> = (&'static str, ClockId, fn(&[T]) -> Result<()>);

const INTEGERS: [IngestContender<u64>; 19] = [
    ("plain pass", Processor, plain_pass),
    ("hash map", Processor, hash_map),
    ("exact window", Processor, exact_window),
    ("frequent items, map 4,096", Processor, |keys| frequent_items(keys, 4_096)),
    ("frequent items, map 262,144", Processor, |keys| frequent_items(keys, 262_144)),
    ("uniform", Processor, |keys| batch::<u64>(l1(), keys)),
    ("uniform, one by one", Processor, |keys| single::<u64>(l1(), keys)),
    ("uniform, L2", Processor, |keys| batch::<u64>(l2(), keys)),
    ("exponential", Processor, |keys| batch::<u64>(l1().policy(Policy::Exponential), keys)),
    ("exponential, L2", Processor, |keys| batch::<u64>(l2().policy(Policy::Exponential), keys)),
    ("smooth", Processor, |keys| batch::<u64>(l1().policy(Policy::Smooth), keys)),
    ("smooth, L2", Processor, |keys| batch::<u64>(l2().policy(Policy::Smooth), keys)),
    ("continual", Processor, |keys| continual(l1(), keys)),
    ("continual, L2", Processor, |keys| continual(l2(), keys)),
    ("one thread, by the clock", Wall, |keys| batch::<u64>(l1(), keys)),
    ("two threads, by the clock", Wall, |keys| batch::<u64>(l1().threads(2), keys)),
    ("one thread, by the clock, L2", Wall, |keys| batch::<u64>(l2(), keys)),
    ("two threads, by the clock, L2", Wall, |keys| batch::<u64>(l2().threads(2), keys)),
    ("two threads, exponential", Wall, |keys| {
        batch::<u64>(l1().policy(Policy::Exponential).threads(2), keys)
    }),
];

const STRINGS: [IngestContender<&'static [u8]>; 5] = [
    ("hash map", Processor, hash_map),
    ("exact window", Processor, exact_window),
    ("uniform", Processor, |keys| batch::<Bytes>(l1(), keys)),
    ("uniform, one by one", Processor, |keys| single::<Bytes>(l1(), keys)),
    ("uniform, L2", Processor, |keys| batch::<Bytes>(l2(), keys)),
];

pub fn run() -> BenchResult {
    let mut all = Map::new();
    let skewed = zipf(EVENTS, KEYS);
    all.insert("zipf".to_owned(), measure(&INTEGERS, &skewed)?);
    let flat = uniform(EVENTS, 10_000_000);
    all.insert("flat".to_owned(), measure(&INTEGERS, &flat)?);
    // Leaked: the type of the contenders requires a static lifetime.
    let text: &'static [u8] = text(&words(KEYS), &skewed).leak();
    let keys: Vec<&[u8]> = text.split(|byte| *byte == b'\n').take(EVENTS).collect();
    all.insert("strings".to_owned(), measure(&STRINGS, &keys)?);
    println!("{}", serde_json::to_string_pretty(&Value::Object(all))?);
    Ok(())
}

fn measure<T>(contenders: &[IngestContender<T>], stream: &[T]) -> Result<Value> {
    let mut rates = vec![Vec::new(); contenders.len()];
    for _ in 0..REPETITIONS {
        for ((_, clock, count), rates) in contenders.iter().zip(&mut rates) {
            let start = seconds(*clock);
            count(stream)?;
            rates.push(stream.len() as f64 / (seconds(*clock) - start) / 1e6);
        }
    }
    let names = contenders.iter().map(|(name, ..)| (*name).to_owned());
    Ok(Value::Object(names.zip(rates.into_iter().map(|rates| json!(rates))).collect()))
}

/// Reads the keys only: a bound on every rate.
fn plain_pass(keys: &[u64]) -> Result<()> {
    black_box(keys.iter().fold(0, |sum: u64, key| sum.wrapping_add(*key)));
    Ok(())
}

/// The counts of the whole stream, without a window.
fn hash_map<K: Copy + Eq + std::hash::Hash>(keys: &[K]) -> Result<()> {
    let mut counts: HashMap<K, u32> = HashMap::new();
    for key in keys {
        *counts.entry(*key).or_insert(0) += 1;
    }
    black_box(counts);
    Ok(())
}

/// Exact counts of the last [`WINDOW`] keys.
fn exact_window<K: Copy + Eq + std::hash::Hash>(keys: &[K]) -> Result<()> {
    let mut counts: HashMap<K, u32> = HashMap::new();
    for (i, key) in keys.iter().enumerate() {
        *counts.entry(*key).or_insert(0) += 1;
        if i >= WINDOW
            && let Entry::Occupied(mut oldest) = counts.entry(keys[i - WINDOW])
        {
            *oldest.get_mut() -= 1;
            if *oldest.get() == 0 {
                oldest.remove();
            }
        }
    }
    black_box(counts);
    Ok(())
}

/// Apache DataSketches' frequent items, without a window.
fn frequent_items(keys: &[u64], map: usize) -> Result<()> {
    if let Ok(mut sketch) = FrequentItemsSketch::new(map) {
        keys.iter().for_each(|key| sketch.update(*key));
        black_box(sketch);
    }
    Ok(())
}

fn l2<K: Key>() -> Builder<K> {
    HeavyHitters::builder(Keys::open()).policy(Policy::Uniform).window(Window::events(WINDOW as u64))
}

fn l1<K: Key>() -> Builder<K> {
    l2().norm(Norm::L1)
}

fn batch<'a, K: Key>(builder: Builder<K>, keys: &[K::Ref<'a>]) -> Result<()> {
    let mut hitters = builder.build()?;
    hitters.update_batch(keys.iter().copied())?;
    black_box(hitters.release()?);
    Ok(())
}

fn single<'a, K: Key>(builder: Builder<K>, keys: &[K::Ref<'a>]) -> Result<()> {
    let mut hitters = builder.build()?;
    keys.iter().try_for_each(|key| hitters.update(*key))?;
    black_box(hitters.release()?);
    Ok(())
}

/// Every pane ends; the times of releases are in `continual.rs`.
fn continual(builder: Builder<u64>, keys: &[u64]) -> Result<()> {
    let mut continual = builder.continual()?;
    continual.extend(keys.iter().copied().map(Event::of), |_| ())?;
    black_box(continual);
    Ok(())
}
