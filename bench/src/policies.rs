//! Ingestion rates of the policies relative to the uniform one.

use std::hint::black_box;
use std::time::Instant;

use frostpane::{HeavyHitters, Keys, Policy, Window};

use crate::streams::{uniform, zipf};
use crate::{BenchResult, REPETITIONS, median};

const EVENTS: usize = 20_000_000;
const WINDOW: u64 = 10_000_000;
const POLICIES: [Policy; 3] = [Policy::Uniform, Policy::Exponential, Policy::Smooth];

pub fn run() -> BenchResult {
    println!(
        "ingestion, L2, window {WINDOW}, medians of {REPETITIONS}, as parts of the uniform policy's rate"
    );
    for (name, stream) in [
        ("Zipf(1.1) over 10^6 keys", zipf(EVENTS, 1_000_000)),
        ("uniform over 10^7 keys", uniform(EVENTS, 10_000_000)),
    ] {
        let mut rates = POLICIES.map(|_| Vec::new());
        // In turns, so that other load on the machine affects all policies.
        for _ in 0..REPETITIONS {
            for (policy, rates) in POLICIES.into_iter().zip(&mut rates) {
                rates.push(rate(&stream, policy)?);
            }
        }
        let [even, exponential, smooth] = rates.map(median);
        println!(
            "{name}: uniform {even:.1} million events a second, exponential {:.2}, smooth {:.2}",
            exponential / even,
            smooth / even
        );
    }
    Ok(())
}

/// In million events per second.
fn rate(stream: &[u64], policy: Policy) -> frostpane::Result<f64> {
    let mut hitters =
        HeavyHitters::<u64>::builder(Keys::open()).policy(policy).window(Window::events(WINDOW)).build()?;
    let start = Instant::now();
    hitters.update_batch(stream.iter().copied())?;
    let seconds = start.elapsed().as_secs_f64();
    black_box(hitters);
    Ok(stream.len() as f64 / seconds / 1e6)
}
