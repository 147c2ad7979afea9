//! Times of noise and releases in milliseconds, as JSON.

use std::hint::black_box;

use frostpane::testing::{DiscreteLaplace, Epsilon, OsEntropy, Threshold};
use frostpane::{Builder, HeavyHitters, Keys, Norm, Window};
use serde_json::json;

use crate::{BenchResult, milliseconds};

pub fn run() -> BenchResult {
    let [joint, each] = noise_for_a_million_keys()?;
    let declared = HeavyHitters::builder(Keys::range(0..1 << 32)?).alpha(0.0003);
    let times = json!({
        "noise for a million keys, drawn jointly": joint,
        "noise for a million keys, a value a key": each,
        "release of a window with a million keys": release(HeavyHitters::builder(Keys::open()), 1_000_000)?,
        "release over 2^32 declared keys": release(declared, 1_000)?,
    });
    println!("{}", serde_json::to_string_pretty(&times)?);
    Ok(())
}

/// Noise drawn jointly for all keys, and one value for each key.
fn noise_for_a_million_keys() -> frostpane::Result<[f64; 2]> {
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
    Ok([joint, each])
}

/// A release of a million events of so many keys.
fn release(builder: Builder<u64>, keys: u64) -> frostpane::Result<f64> {
    let window = Window::events(1_000_000);
    let mut hitters = builder.norm(Norm::L1).window(window).releases(u32::MAX).build()?;
    (0..1_000_000).try_for_each(|event| hitters.update(event % keys))?;
    milliseconds(|| hitters.release().map(|release| drop(black_box(release))))
}
