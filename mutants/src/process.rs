//! Runs one test in a process with limits.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Fallible;
use crate::compile::Binary;

/// Limits memory in kilobytes, processor seconds and wall-clock seconds, and prints the times used.
const SCRIPT: &str = r#"ulimit -v "$1"; ulimit -t "$2"; shift 2; timeout -s KILL "$@" > /dev/null 2>&1; end=$?; times; exit $end"#;
/// Memory limit in kilobytes.
const MEMORY: u64 = 8 << 20;
/// Wall-clock limit over processor limit, for tests that wait for ever.
const CLOCK_BY_PROCESSOR: u64 = 10;
/// Exit codes in the shell of a process killed by the wall-clock or the processor limit.
const KILLED: [i32; 2] = [128 + 9, 128 + 24];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed,
    OutOfTime,
}

/// The setting of the switch, passed in the environment.
#[derive(Clone, Copy, Debug)]
pub enum SwitchSetting<'a> {
    /// Activate this mutant.
    Mutant(u32),
    /// Append the mutants that are reached to this file.
    Record(&'a Path),
}

/// Runs a test with a limit of processor seconds; returns its end and the processor seconds used.
pub fn run(binary: &Binary, test: &str, most_seconds: u64, setting: SwitchSetting) -> Fallible<(End, f64)> {
    let (variable, value) = match setting {
        SwitchSetting::Mutant(id) => ("FROSTPANE_MUTANT", OsString::from(id.to_string())),
        SwitchSetting::Record(path) => ("FROSTPANE_MUTANTS_REACHED", path.into()),
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

/// Parses the times of the children in the output of `times`: `0m0.250000s 0m0.010000s` in its second line.
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
        assert_eq!(seconds("0m9.000000s 0m9.000000s\n1m0.250000s 0m0.500000s\n"), 60.75);
    }
}
