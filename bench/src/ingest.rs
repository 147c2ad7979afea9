//! Counting a stream: ours beside its rivals.

use std::hint::black_box;

use frostpane::{HeavyHitters, Keys, Norm, Policy, Window};

use crate::rivals::{self, WINDOW};
use crate::streams::{uniform, zipf};
use crate::{Outcome, REPETITIONS, median};

const EVENTS: usize = 50_000_000;

type Contender = (&'static str, fn(&[u64]));

const CONTENDERS: [Contender; 10] = [
    ("plain pass", rivals::plain_pass),
    ("hash map", rivals::hash_map),
    ("exact window", rivals::exact_window),
    ("fi4096", |keys| rivals::frequent_items(keys, 4096)),
    ("fi262144", |keys| rivals::frequent_items(keys, 1 << 18)),
    ("ours L1", |keys| ours(keys, Norm::L1, Policy::Uniform)),
    ("ours 2t", |keys| {
        let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
            .norm(Norm::L1)
            .threads(2)
            .window(Window::events(WINDOW as u64))
            .build()
            .unwrap();
        hitters.update_batch(keys.iter().copied()).unwrap();
        black_box(hitters.release().unwrap());
    }),
    ("ours L2", |keys| ours(keys, Norm::L2, Policy::Uniform)),
    ("ours exp", |keys| ours(keys, Norm::L1, Policy::Exponential)),
    ("ours smooth", |keys| ours(keys, Norm::L1, Policy::Smooth)),
];

pub fn run() -> Outcome {
    let reps: usize = std::env::var("REPS")
        .ok()
        .and_then(|r| r.parse().ok())
        .unwrap_or(REPETITIONS);
    for (name, stream) in if std::env::var("STRINGS").is_ok() {
        Vec::new()
    } else {
        vec![
            ("zipf", zipf(EVENTS, 1_000_000)),
            ("uniform", uniform(EVENTS, 10_000_000)),
        ]
    } {
        if std::env::var("STREAM").is_ok_and(|s| s != name) {
            continue;
        }
        let mut rates = CONTENDERS.map(|_| Vec::new());
        for _ in 0..reps {
            for ((who, count), rates) in CONTENDERS.iter().zip(&mut rates) {
                if std::env::var("ONLY").is_ok_and(|only| !only.split(',').any(|o| *who == o)) {
                    rates.push(0.0);
                    continue;
                }
                let wall = std::env::var("WALL").is_ok();
                let clock = || {
                    if wall {
                        EPOCH.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
                    } else {
                        cpu()
                    }
                };
                let start = clock();
                count(&stream);
                rates.push(stream.len() as f64 / (clock() - start) / 1e6);
            }
        }
        for ((who, _), rates) in CONTENDERS.iter().zip(rates) {
            println!("{name} {who}: {:.1}  {:.1?}", median(rates.clone()), rates);
        }
    }
    if std::env::var("STREAM").is_err() {
        strings(reps);
    }
    Ok(())
}

fn strings(reps: usize) {
    let text = crate::streams::words(1_000_000);
    let ranks = zipf(EVENTS, 1_000_000);
    let stream: Vec<u8> = ranks
        .iter()
        .flat_map(|rank| text[*rank as usize].iter().copied())
        .collect();
    let mut rest = &stream[..];
    let keys: Vec<&[u8]> = ranks
        .iter()
        .map(|rank| {
            let (key, others) = rest.split_at(text[*rank as usize].len());
            rest = others;
            key
        })
        .collect();
    let mut rates = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..reps {
        let start = cpu();
        if std::env::var("ONLY").is_err() {
            rivals::exact_window(&keys);
        }
        rates[0].push(keys.len() as f64 / (cpu() - start) / 1e6);
        for (i, norm) in [Norm::L1, Norm::L2].into_iter().enumerate() {
            let start = cpu();
            let mut hitters = HeavyHitters::<frostpane::Bytes>::builder(Keys::open())
                .norm(norm)
                .window(Window::events(WINDOW as u64))
                .build()
                .unwrap();
            hitters.update_batch(keys.iter().copied()).unwrap();
            black_box(hitters);
            rates[i + 1].push(keys.len() as f64 / (cpu() - start) / 1e6);
        }
    }
    println!("strings exact, L1, L2: {rates:.1?}");
}

static EPOCH: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();

fn cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn ours(keys: &[u64], norm: Norm, policy: Policy) {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .norm(norm)
        .policy(policy)
        .window(Window::events(WINDOW as u64))
        .build()
        .unwrap();
    hitters.update_batch(keys.iter().copied()).unwrap();
    black_box(hitters);
}
