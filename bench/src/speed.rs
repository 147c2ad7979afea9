//! Noise, releases and ingestion.

use std::hint::black_box;
use std::time::Instant;

use frostpane::noise::{DiscreteLaplace, Epsilon, OsEntropy, Threshold};
use frostpane::{HeavyHitters, Keys, Norm, Window};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::streams::{uniform, zipf};
use crate::{Outcome, REPETITIONS, median};

pub fn run() -> Outcome {
    println!("medians of {REPETITIONS}");
    noise_for_a_million_keys()?;
    releases()?;
    Ok(ingestion()?)
}

/// The median time of several calls, in milliseconds.
fn milliseconds(mut work: impl FnMut() -> frostpane::Result<()>) -> frostpane::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

/// Noise drawn only where it can matter, against a value for each key.
fn noise_for_a_million_keys() -> frostpane::Result<()> {
    let noise = DiscreteLaplace::new(2, Epsilon::new(1.0)?);
    let threshold = Threshold::for_open_keys(noise, 1e-9);
    let counts: Vec<(u32, u64)> = (0..1_000_000).map(|key| (key, u64::from(1 + key % 13))).collect();
    let mut entropy = OsEntropy::new();
    let joint = milliseconds(|| {
        black_box(threshold.select(counts.iter().copied(), &mut entropy)?);
        Ok(())
    })?;
    let each = milliseconds(|| {
        for (key, count) in &counts {
            let noisy = *count as i64 + noise.sample(&mut entropy)?;
            if noisy >= threshold.value() as i64 {
                black_box(key);
            }
        }
        Ok(())
    })?;
    println!(
        "noise for 1,000,000 keys: {joint:.1} ms drawn jointly, {each:.1} ms a value a key ({:.0} times)",
        each / joint
    );
    Ok(())
}

fn releases() -> frostpane::Result<()> {
    let mut open = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .window(Window::events(1_000_000))
        .releases(u32::MAX)
        .build()?;
    (0..1_000_000).try_for_each(|key| open.update(key))?;
    let took = milliseconds(|| open.release().map(|release| drop(black_box(release))))?;
    println!("release of a window with 1,000,000 keys: {took:.1} ms");

    let mut declared = HeavyHitters::builder(Keys::range(0..1 << 32)?)
        .norm(Norm::L1)
        .alpha(0.0003)
        .window(Window::events(1_000_000))
        .releases(u32::MAX)
        .build()?;
    (0..1_000_000).try_for_each(|key| declared.update(key % 1_000))?;
    let took = milliseconds(|| declared.release().map(|release| drop(black_box(release))))?;
    println!("release over 4,294,967,296 declared keys: {took:.1} ms");
    Ok(())
}

/// Counting a stream of integers, beside an exact sliding window and a plain pass over the data.
fn ingestion() -> frostpane::Result<()> {
    let events = 20_000_000;
    for (name, stream) in [
        ("Zipf(1.1) over 10^6 keys", zipf(events, 1_000_000)),
        ("uniform over 10^7 keys", uniform(events, 10_000_000)),
    ] {
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        // In turns, so that a noisy machine disturbs all of them.
        for _ in 0..REPETITIONS {
            rates[0].push(rate(&stream, plain_pass)?);
            rates[1].push(rate(&stream, exact_window)?);
            rates[2].push(rate(&stream, frostpane)?);
        }
        let [plain, exact, ours] = rates.map(median);
        println!(
            "{name}, window {WINDOW}: {ours:.0} million events a second, {:.1} times an exact window ({exact:.0}); \
             a plain pass {plain:.0}",
            ours / exact
        );
    }
    Ok(())
}

const WINDOW: usize = 10_000_000;

/// Million events a second.
fn rate(stream: &[u64], count: impl Fn(&[u64]) -> frostpane::Result<()>) -> frostpane::Result<f64> {
    let start = Instant::now();
    count(stream)?;
    Ok(stream.len() as f64 / start.elapsed().as_secs_f64() / 1e6)
}

fn plain_pass(stream: &[u64]) -> frostpane::Result<()> {
    black_box(stream.iter().fold(0, |sum: u64, key| sum.wrapping_add(*key)));
    Ok(())
}

fn frostpane(stream: &[u64]) -> frostpane::Result<()> {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .window(Window::events(WINDOW as u64))
        .build()?;
    hitters.update_batch(stream.iter().copied())?;
    black_box(hitters);
    Ok(())
}

/// A ring of the last keys and a table of their counts.
fn exact_window(stream: &[u64]) -> frostpane::Result<()> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for (i, key) in stream.iter().enumerate() {
        *counts.entry(*key).or_insert(0) += 1;
        if i >= WINDOW
            && let Entry::Occupied(mut oldest) = counts.entry(stream[i - WINDOW])
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
