//! How long things take and how much they hold, beside the plain way of doing them, in one run.
//!
//! `cargo run --release -p frostpane-bench` does all of it; a name does one: `ingest`, `releases`,
//! `policies`, `growth`, `continual`, `sharp`, `watched`, `defaults`, `people`, `real-people`, `gaussian`. `columns` is for `bench/python.py`. `bench/run` also measures the program, and writes the results down.

mod columns;
mod continual;
mod defaults;
mod gaussian;
mod growth;
mod ingest;
mod people;
mod plot;
mod policies;
mod real;
mod real_people;
mod releases;
mod rivals;
mod sharp;
mod streams;
mod watched;

use std::env;
use std::process::ExitCode;

/// How often each measurement is made.
const REPETITIONS: usize = 5;

type Outcome = Result<(), Box<dyn std::error::Error>>;
type Measurement = (&'static str, fn() -> Outcome);

const MEASUREMENTS: [Measurement; 11] = [
    ("continual", continual::run),
    ("ingest", ingest::run),
    ("releases", releases::run),
    ("policies", policies::run),
    ("growth", growth::run),
    ("sharp", sharp::run),
    ("watched", watched::run),
    ("defaults", defaults::run),
    ("people", people::run),
    ("real-people", real_people::run),
    ("gaussian", gaussian::run),
];

fn main() -> ExitCode {
    let asked = env::args().nth(1);
    if let [_, name, kind, file] = &env::args().collect::<Vec<_>>()[..]
        && name == "columns"
    {
        return match columns::run(kind, file) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let chosen = MEASUREMENTS
        .into_iter()
        .filter(|(name, _)| asked.as_deref().is_none_or(|asked| asked == *name));
    let mut ran = false;
    for (name, run) in chosen {
        eprintln!("== {name}");
        if let Err(error) = run() {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        ran = true;
    }
    if !ran {
        eprintln!(
            "there is no such measurement: give ingest, releases, policies, growth, continual, sharp, watched, defaults, people, real-people or gaussian, or nothing for all of them"
        );
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

/// The middle of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
