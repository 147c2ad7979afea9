//! Measurements of time, memory and accuracy of the library.
//!
//! `cargo run --release -p frostpane-bench` runs all of them; with a name of [`MEASUREMENTS`], that one.
//! `columns` is for `bench/python.py`. `bench/run` also measures the program, and writes the results.

mod columns;
mod continual;
mod ingest;
mod real;
mod real_people;
mod releases;
mod sharp;
mod streams;
mod watched;

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

const REPETITIONS: usize = 5;

type BenchResult = Result<(), Box<dyn std::error::Error>>;
type NamedMeasurement = (&'static str, fn() -> BenchResult);

const MEASUREMENTS: [NamedMeasurement; 6] = [
    ("continual", continual::run),
    ("ingest", ingest::run),
    ("releases", releases::run),
    ("sharp", sharp::run),
    ("watched", watched::run),
    ("real-people", real_people::run),
];

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> BenchResult {
    let asked = arguments.first();
    if let [name, kind, file] = arguments
        && name == "columns"
    {
        return columns::run(kind, file);
    }
    let chosen = MEASUREMENTS
        .into_iter()
        .filter(|(name, _)| asked.is_none_or(|asked| asked == name))
        .collect::<Vec<_>>();
    if chosen.is_empty() {
        let names = MEASUREMENTS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no such measurement: give one of {names}, or nothing for all").into());
    }
    for (name, run) in chosen {
        eprintln!("== {name}");
        run()?;
    }
    Ok(())
}

/// Processor time of this thread in seconds.
fn cpu() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The median time of several calls in milliseconds.
fn milliseconds(mut work: impl FnMut() -> frostpane::Result<()>) -> frostpane::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
