//! One test in a process of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Fallible;
use crate::compile::Binary;

/// Runs a test with so many kilobytes, seconds of the processor and of the clock, then says what it used.
const SCRIPT: &str = r#"ulimit -v "$1"; ulimit -t "$2"; shift 2; timeout -s KILL "$@" > /dev/null 2>&1; end=$?; times; exit $end"#;
/// Kilobytes of memory that a test may ask for.
const MEMORY: u64 = 8 << 20;
/// Many times what a test on a busy machine needs, and then some: for those that wait and never end.
const CLOCK_BY_PROCESSOR: u64 = 10;
/// How the shell sees a process that was killed: by the clock, or when its time on the processor was up.
const KILLED: [i32; 2] = [128 + 9, 128 + 24];

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

/// Runs a test, for at most so many seconds of the processor; how it ended, and how many it used.
pub fn run(binary: &Binary, test: &str, most_seconds: u64, told: Told) -> Fallible<(End, f64)> {
    let (variable, value) = match told {
        Told::Mutant(id) => ("FROSTPANE_MUTANT", OsString::from(id.to_string())),
        Told::Record(path) => ("FROSTPANE_MUTANTS_REACHED", path.into()),
    };
    let limits = [MEMORY, most_seconds, CLOCK_BY_PROCESSOR * most_seconds];
    let output = Command::new("sh")
        .args(["-c", SCRIPT, "sh"])
        .args(limits.map(|limit| limit.to_string()))
        .arg(&binary.path)
        .args(["--exact", test, "--test-threads=1"])
        .current_dir(&binary.directory)
        .env(variable, value)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .output()?;
    let end = match output.status.code() {
        Some(0) => End::Passed,
        Some(code) if !KILLED.contains(&code) => End::Failed,
        _ => End::OutOfTime,
    };
    Ok((end, seconds(&String::from_utf8_lossy(&output.stdout))))
}

/// What `times` says of the children: `0m0.250000s 0m0.010000s` in its second line.
fn seconds(times: &str) -> f64 {
    let parts = times.lines().nth(1).unwrap_or_default().split_whitespace();
    let seconds = parts.filter_map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    });
    seconds.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seconds_of_children_are_read() {
        assert_eq!(
            seconds("0m9.000000s 0m9.000000s\n1m0.250000s 0m0.500000s\n"),
            60.75
        );
    }
}
