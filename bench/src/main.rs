//! `cargo run --release -p frostpane-bench`: how long things take, beside the plain way of doing them, in one
//! run.

use std::hint::black_box;
use std::time::Instant;

use frostpane::noise::{DiscreteLaplace, Epsilon, OsEntropy, Threshold};
use frostpane::{HeavyHitters, Keys, Norm, Window};

const REPETITIONS: usize = 5;

fn main() -> frostpane::Result<()> {
    println!("medians of {REPETITIONS}");
    noise_for_a_million_keys()?;
    releases()
}

/// The median time of several calls, in milliseconds.
fn median(mut work: impl FnMut() -> frostpane::Result<()>) -> frostpane::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[REPETITIONS / 2])
}

/// Noise drawn only where it can matter, against a value for each key.
fn noise_for_a_million_keys() -> frostpane::Result<()> {
    let noise = DiscreteLaplace::new(2, Epsilon::new(1.0)?);
    let threshold = Threshold::for_open_keys(noise, 1e-9);
    let counts: Vec<(u32, u64)> = (0..1_000_000).map(|key| (key, u64::from(1 + key % 13))).collect();
    let mut entropy = OsEntropy::new();
    let joint = median(|| {
        black_box(threshold.select(counts.iter().copied(), &mut entropy)?);
        Ok(())
    })?;
    let each = median(|| {
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
    let took = median(|| open.release().map(|release| drop(black_box(release))))?;
    println!("release of a window with 1,000,000 keys: {took:.1} ms");

    let mut declared = HeavyHitters::builder(Keys::range(0..1 << 32)?)
        .norm(Norm::L1)
        .alpha(0.0003)
        .window(Window::events(1_000_000))
        .releases(u32::MAX)
        .build()?;
    (0..1_000_000).try_for_each(|key| declared.update(key % 1_000))?;
    let took = median(|| declared.release().map(|release| drop(black_box(release))))?;
    println!("release over 4,294,967,296 declared keys: {took:.1} ms");
    Ok(())
}
