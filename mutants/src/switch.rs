//! The switch between mutants, added to each instrumented package.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// The environment has not been read.
const UNKNOWN: u32 = u32::MAX;
/// No mutant is active, and those that are reached are recorded.
const RECORDING: u32 = u32::MAX - 1;

static ALIVE: AtomicU32 = AtomicU32::new(UNKNOWN);
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
static RECORD: Mutex<Option<std::fs::File>> = Mutex::new(None);

/// Returns true if none of these mutants is active.
#[inline(always)]
pub fn original(first: u32, last: u32) -> bool {
    let alive = ALIVE.load(Relaxed);
    if alive >= RECORDING || alive.wrapping_sub(first) <= last - first {
        return decide(first, last);
    }
    true
}

pub fn is_alive(mutant: u32) -> bool {
    ALIVE.load(Relaxed) == mutant
}

#[cold]
#[inline(never)]
fn decide(first: u32, last: u32) -> bool {
    let mut alive = ALIVE.load(Relaxed);
    if alive == UNKNOWN {
        let named = std::env::var("FROSTPANE_MUTANT").ok().and_then(|id| id.parse().ok());
        alive = named.unwrap_or_else(|| if recorder() { RECORDING } else { 0 });
        ALIVE.store(alive, Relaxed);
    }
    if alive == RECORDING {
        (first..=last).for_each(record);
        return true;
    }
    !(first..=last).contains(&alive)
}

fn recorder() -> bool {
    let Some(path) = std::env::var_os("FROSTPANE_MUTANTS_REACHED") else { return false };
    *RECORD.lock().unwrap() = std::fs::OpenOptions::new().create(true).append(true).open(path).ok();
    true
}

fn record(mutant: u32) {
    if !REACHED[mutant as usize].swap(true, Relaxed) {
        if let Some(file) = &mut *RECORD.lock().unwrap() {
            let _ = file.write_all(format!("{mutant}\n").as_bytes());
        }
    }
}
