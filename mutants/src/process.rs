//! One test in a process of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fallible;
use crate::compile::Binary;

/// Kilobytes of memory that a test may ask for.
const MEMORY: u64 = 8 << 20;
/// How `timeout` ends when it had to kill.
const KILLED: i32 = 128 + 9;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed,
    OutOfTime,
}

/// What a test is told.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// This mutant is alive.
    Mutant(u32),
    /// Write down which are reached.
    Record(&'a Path),
}

/// Runs a test, for at most so long.
pub fn run(binary: &Binary, test: &str, limit: Duration, told: Told) -> Fallible<(End, f64)> {
    let (variable, value) = match told {
        Told::Mutant(id) => ("FROSTPANE_MUTANT", OsString::from(id.to_string())),
        Told::Record(path) => ("FROSTPANE_MUTANTS_REACHED", path.into()),
    };
    let script = format!("ulimit -v {MEMORY}; exec timeout -s KILL \"$@\"");
    let start = Instant::now();
    let status = Command::new("sh")
        .args(["-c", &script, "sh", &format!("{:.3}", limit.as_secs_f64())])
        .arg(&binary.path)
        .args(["--exact", test, "--test-threads=1"])
        .current_dir(&binary.directory)
        .env(variable, value)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let seconds = start.elapsed().as_secs_f64();
    let end = match status.code() {
        Some(0) => End::Passed,
        Some(KILLED) | None => End::OutOfTime,
        Some(_) => End::Failed,
    };
    Ok((end, seconds))
}
