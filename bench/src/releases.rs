//! Times of noise and releases in milliseconds, as JSON.

use std::hint::black_box;

use frostpane::testing::{DiscreteLaplace, Epsilon, OsEntropy, Threshold};
use frostpane::{HeavyHitters, Keys, Norm, Window};
use serde_json::{Map, Value, json};

use crate::{BenchResult, milliseconds};

type Timings = Vec<(&'static str, f64)>;

pub fn run() -> BenchResult {
    let mut times = noise_for_a_million_keys()?;
    times.extend(releases()?);
    let times: Map<String, Value> =
        times.into_iter().map(|(name, took)| (name.to_owned(), json!(took))).collect();
    println!("{}", serde_json::to_string_pretty(&times)?);
    Ok(())
}

/// Noise drawn jointly for all keys, and one value for each key.
fn noise_for_a_million_keys() -> frostpane::Result<Timings> {
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
    Ok(vec![
        ("noise for a million keys, drawn jointly", joint),
        ("noise for a million keys, a value a key", each),
    ])
}

fn releases() -> frostpane::Result<Timings> {
    let mut open = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .window(Window::events(1_000_000))
        .releases(u32::MAX)
        .build()?;
    (0..1_000_000).try_for_each(|key| open.update(key))?;
    let of_many = milliseconds(|| open.release().map(|release| drop(black_box(release))))?;

    let mut declared = HeavyHitters::builder(Keys::range(0..1 << 32)?)
        .norm(Norm::L1)
        .alpha(0.0003)
        .window(Window::events(1_000_000))
        .releases(u32::MAX)
        .build()?;
    (0..1_000_000).try_for_each(|key| declared.update(key % 1_000))?;
    let of_declared = milliseconds(|| declared.release().map(|release| drop(black_box(release))))?;
    Ok(vec![
        ("release of a window with a million keys", of_many),
        ("release over 2^32 declared keys", of_declared),
    ])
}
