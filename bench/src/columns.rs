//! Counts a column in memory, to compare with Python: `columns text|integers FILE` prints processor seconds.
//!
//! Text is a file of lines, integers are little-endian 64-bit numbers.

use std::fs;

use frostpane::{Bytes, HeavyHitters, Key, Keys, Window};

use crate::{BenchResult, cpu};

/// The number of events.
const WINDOW: u64 = 10_000_000;
/// Memory of the Python package itself.
const PROGRAM: u64 = 11_000_000;

pub fn run(kind: &str, file: &str) -> BenchResult {
    let bytes = fs::read(file)?;
    let seconds = match kind {
        "text" => {
            let lines: Vec<&[u8]> =
                bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|byte| *byte == b'\n').collect();
            timed::<Bytes>(&lines)?
        }
        "integers" => {
            let (numbers, _) = bytes.as_chunks();
            let numbers: Vec<u64> = numbers.iter().copied().map(u64::from_le_bytes).collect();
            timed::<u64>(&numbers)?
        }
        _ => return Err("columns text|integers FILE".into()),
    };
    println!("{seconds}");
    Ok(())
}

fn timed<'a, K: Key>(keys: &[K::Ref<'a>]) -> frostpane::Result<f64> {
    let builder = HeavyHitters::<K>::builder(Keys::open());
    let mut hitters = builder.window(Window::events(WINDOW)).program(PROGRAM).build()?;
    let start = cpu();
    hitters.update_batch(keys.iter().copied())?;
    Ok(cpu() - start)
}
