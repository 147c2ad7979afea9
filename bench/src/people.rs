//! Users as the unit of privacy: rate and memory of bounding and counting, in memory and with spilling.

use std::hint::black_box;
use std::io::Cursor;
use std::time::Duration;

use frostpane::{Bounds, Builder, Bytes, Edge, Event, HeavyHitters, Keys, Unit, Window};

use crate::streams::{uniform, words, zipf};
use crate::{BenchResult, REPETITIONS, cpu, median};

const EVENTS: usize = 10_000_000;
const USERS: u64 = 1_000_000;
const KEYS: usize = 100_000;
const DAY: u64 = 86_400_000_000;
const DAYS: u64 = 7;

pub fn run() -> BenchResult {
    let keys = words(KEYS);
    let ranks = zipf(EVENTS, KEYS);
    let users: Vec<[u8; 8]> = uniform(EVENTS, USERS).into_iter().map(name).collect();
    let times = uniform(EVENTS, DAYS * DAY);
    let events = || {
        let all = users.iter().zip(&times).zip(&ranks);
        all.map(|((user, time), rank)| Event::<Bytes>::by(user, *time as i64, &keys[*rank as usize]))
    };
    for per_user in [1, 4, 16] {
        for (memory, name) in [(4_000_000_000, "in memory"), (128_000_000, "in 128 MB and on disk")] {
            let mut rates = Vec::new();
            let (mut taken, mut seconds) = (0, 0.0);
            for _ in 0..std::env::var("ONCE").map_or(REPETITIONS, |_| 1) {
                let mut hitters = builder(per_user, memory).build()?;
                let start = cpu();
                hitters.extend(events())?;
                rates.push(EVENTS as f64 / (cpu() - start) / 1e6);
                taken = hitters.bytes();
                let start = cpu();
                black_box(hitters.release()?);
                seconds = cpu() - start;
            }
            println!(
                "10 million events of a million users on {DAYS} days, {per_user} keys a user and day, {name}: {:.1} million events a \
                 second, {:.0} MB at the end, release in {seconds:.2} s",
                median(rates),
                taken as f64 / 1e6
            );
        }
    }
    Ok(())
}

fn name(number: u64) -> [u8; 8] {
    let mut name = *b"u0000000";
    let digits = format!("{number:07}");
    name[1..].copy_from_slice(digits.as_bytes());
    name
}

fn builder(per_user: u32, memory: u64) -> Builder<Bytes> {
    HeavyHitters::builder(Keys::open())
        .unit(Unit::User(Bounds::new(per_user)))
        .top(100)
        .window(Window::clock(Duration::from_micros(DAYS * DAY)))
        .until(Edge::Instant("1970-01-08T00:00:00Z".parse().expect("a moment")))
        .memory(memory)
        .scratch(|| Ok(Box::new(Cursor::new(Vec::new()))))
}
