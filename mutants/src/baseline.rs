//! A run of every test without a mutant, for its time and the mutants that it reaches.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Fallible;
use crate::compile::Binary;
use crate::parallel::share;
use crate::process::{End, SwitchSetting, run};
use crate::workspace::Workspace;

#[derive(Clone, Debug)]
pub struct Test {
    pub binary: Binary,
    pub name: String,
    pub trial: TestTrial,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TestTrial {
    pub seconds: f64,
    pub passed: bool,
    pub reached: Vec<u32>,
}

/// Cached trials by the names of tests, valid for an executable with this hash.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KnownTrials {
    executable: u64,
    trials: HashMap<String, TestTrial>,
}

/// Runs the tests of executables that changed. A test is stopped after `limit` seconds.
pub fn baseline(workspace: &Workspace, binaries: &[Binary], limit: u64, jobs: usize) -> Fallible<Vec<Test>> {
    let directory = workspace.directory().join("baseline");
    fs::create_dir_all(&directory)?;
    let mut tests = Vec::new();
    for binary in binaries {
        tests.extend(baseline_of(&directory, binary, limit, jobs)?);
    }
    Ok(tests)
}

fn baseline_of(directory: &Path, binary: &Binary, limit: u64, jobs: usize) -> Fallible<Vec<Test>> {
    let cache = directory.join(format!("{}.json", binary.name.replace(' ', "-")));
    let executable = xxh3_64(&fs::read(&binary.path)?);
    let known = fs::read(&cache).ok().and_then(|bytes| serde_json::from_slice::<KnownTrials>(&bytes).ok());
    let mut known = known.filter(|known| known.executable == executable).unwrap_or_default();
    known.executable = executable;
    let names = tests_of(binary)?;
    let is_known = |name: &String| {
        let trial = known.trials.get(name);
        trial.is_some_and(|trial| trial.passed || trial.seconds >= limit as f64)
    };
    let new: Vec<&String> = names.iter().filter(|name| !is_known(name)).collect();
    if !new.is_empty() {
        eprintln!("{}: {} tests of {} alone", binary.name, new.len(), names.len());
    }
    let trials = share(jobs, &new, |name| trial(directory, binary, name, limit));
    for (name, trial) in new.into_iter().zip(trials) {
        known.trials.insert(name.clone(), trial?);
    }
    fs::write(&cache, serde_json::to_vec(&known)?)?;
    let test = |name: String| {
        known.trials.get(&name).map(|trial| Test { binary: binary.clone(), name, trial: trial.clone() })
    };
    Ok(names.into_iter().filter_map(test).collect())
}

fn tests_of(binary: &Binary) -> Fallible<Vec<String>> {
    let listed = Command::new(&binary.path)
        .current_dir(&binary.directory)
        .args(["--list", "--format", "terse"])
        .output()?;
    let listed = String::from_utf8(listed.stdout)?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn trial(directory: &Path, binary: &Binary, test: &str, limit: u64) -> Fallible<TestTrial> {
    let record: PathBuf =
        directory.join(format!("{:016x}", xxh3_64(format!("{} {test}", binary.name).as_bytes())));
    let _ = fs::remove_file(&record);
    let (end, seconds) = run(binary, test, limit, SwitchSetting::Record(&record))?;
    let reached = fs::read_to_string(&record).unwrap_or_default();
    let _ = fs::remove_file(&record);
    let seconds = if end == End::OutOfTime { seconds.max(limit as f64) } else { seconds };
    let reached = reached.lines().filter_map(|line| line.parse().ok()).collect();
    Ok(TestTrial { seconds, passed: end == End::Passed, reached })
}
