//! Continual release: ingestion relative to that of one release, and the time of a release.

use std::hint::black_box;
use std::time::Instant;

use frostpane::{Builder, Event, HeavyHitters, Keys, Norm, Window};

use crate::streams::zipf;
use crate::{BenchResult, REPETITIONS, median, milliseconds};

const EVENTS: usize = 20_000_000;
const WINDOW: u64 = 10_000_000;

pub fn run() -> BenchResult {
    let stream = zipf(EVENTS, 1_000_000);
    let mut rates = [Vec::new(), Vec::new()];
    // In turns, so that other load on the machine affects both.
    for _ in 0..REPETITIONS {
        let mut single = builder(HeavyHitters::<u64>::builder(Keys::open()), WINDOW).build()?;
        rates[0].push(rate(|| single.update_batch(stream.iter().copied()))?);
        let mut continual = builder(HeavyHitters::<u64>::builder(Keys::open()), WINDOW).continual()?;
        rates[1].push(rate(|| continual.extend(stream.iter().copied().map(Event::of), |_| ()))?);
    }
    let [one_shot, continual] = rates.map(median);
    println!(
        "ingestion, Zipf(1.1) over 10^6 keys, window {WINDOW} in 32 panes: {one_shot:.1} million events a second for a \
         single list, {:.2} of that for one at every slide",
        continual / one_shot
    );
    let open = HeavyHitters::<u64>::builder(Keys::open());
    println!("release over 10,000 open keys: {:.1} ms", release(open, 10_000)?);
    for keys in [10_000, 10_000_000] {
        let declared = HeavyHitters::builder(Keys::range(0..keys)?);
        println!("release over {keys} declared keys: {:.1} ms", release(declared, 10_000)?);
    }
    Ok(())
}

fn builder(builder: Builder<u64>, window: u64) -> Builder<u64> {
    builder.norm(Norm::L1).window(Window::events(window).slide(window / 32))
}

/// Million events per second.
fn rate(ingest: impl FnOnce() -> frostpane::Result<()>) -> frostpane::Result<f64> {
    let start = Instant::now();
    ingest()?;
    Ok(EVENTS as f64 / start.elapsed().as_secs_f64() / 1e6)
}

/// The median time in milliseconds of a release of a window with this many keys.
fn release(keys: Builder<u64>, present: u64) -> frostpane::Result<f64> {
    let mut continual = builder(keys, 1_000_000).alpha(0.0001).continual()?;
    for i in 0..1_000_000 {
        continual.push(Event::of(i % present), |_| ())?;
    }
    milliseconds(|| continual.release().map(|release| drop(black_box(release))))
}
