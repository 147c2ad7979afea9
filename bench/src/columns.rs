//! Counting a column that is in memory, for the Python package to be compared with: `columns text|integers FILE` writes the seconds of the processor that it takes.
//!
//! Text is a file of lines, integers one of 64-bit numbers, the lowest byte first.

use std::error::Error;
use std::fs;

use frostpane::{Builder, Bytes, HeavyHitters, Key, Keys, Window};
use rustix::time::{ClockId, clock_gettime};

/// As many as there are events.
const WINDOW: u64 = 10_000_000;
/// What the package takes for itself.
const PROGRAM: u64 = 11_000_000;

/// Counts the column of a file once.
pub fn run(kind: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(file)?;
    let seconds = match kind {
        "text" => {
            let lines: Vec<&[u8]> = bytes
                .strip_suffix(b"\n")
                .unwrap_or(&bytes)
                .split(|byte| *byte == b'\n')
                .collect();
            timed::<Bytes>(HeavyHitters::builder(Keys::open()), &lines)?
        }
        "integers" => {
            let (numbers, _) = bytes.as_chunks();
            let numbers: Vec<u64> = numbers.iter().copied().map(u64::from_le_bytes).collect();
            timed::<u64>(HeavyHitters::builder(Keys::open()), &numbers)?
        }
        _ => return Err("columns text|integers FILE".into()),
    };
    println!("{seconds}");
    Ok(())
}

fn timed<'a, K: Key>(builder: Builder<K>, keys: &[K::Ref<'a>]) -> Result<f64, Box<dyn Error>> {
    let window = Window::events(WINDOW);
    let mut hitters = builder.window(window).program(PROGRAM).build()?;
    let start = processor();
    hitters.update_batch(keys.iter().copied())?;
    Ok(processor() - start)
}

fn processor() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
