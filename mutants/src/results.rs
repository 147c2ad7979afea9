//! The outcome of each mutant: `results.json`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Fallible;
use crate::mutant::{Genre, SourceMutant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MutantOutcome {
    /// A test fails.
    Killed,
    /// A test does not end.
    Timeout,
    /// All tests that reach it pass.
    Survived,
    /// No test reaches it.
    Unreached,
    /// It does not compile.
    Unviable,
}

impl MutantOutcome {
    pub fn is_death(self) -> bool {
        matches!(self, Self::Killed | Self::Timeout)
    }

    pub fn is_survival(self) -> bool {
        matches!(self, Self::Survived | Self::Unreached)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MutantFate {
    pub name: String,
    pub file: String,
    pub line: usize,
    pub genre: Genre,
    pub outcome: MutantOutcome,
    /// The test that failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub killer: String,
}

impl MutantFate {
    pub fn new(mutant: &SourceMutant, outcome: MutantOutcome, killer: String) -> Self {
        Self {
            name: mutant.name.clone(),
            file: mutant.file.clone(),
            line: mutant.line,
            genre: mutant.genre,
            outcome,
            killer,
        }
    }
}

/// All known outcomes, ordered by file and line.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// The day of the last run.
    pub day: String,
    /// Number of tests, and of those left out for their time.
    pub tests: usize,
    pub slow_tests: usize,
    /// Tests that take this many seconds are left out.
    pub slowest: f64,
    pub mutants: Vec<MutantFate>,
}

impl Results {
    /// Adds new outcomes and removes mutants that no longer exist.
    pub fn update(&mut self, fates: Vec<MutantFate>, existing: &[SourceMutant]) {
        let existing: BTreeMap<&str, &SourceMutant> =
            existing.iter().map(|mutant| (&*mutant.name, mutant)).collect();
        let new: HashSet<String> = fates.iter().map(|fate| fate.name.clone()).collect();
        self.mutants.retain(|fate| !new.contains(&fate.name) && existing.contains_key(&*fate.name));
        for fate in &mut self.mutants {
            fate.line = existing[&*fate.name].line;
        }
        self.mutants.extend(fates);
        self.mutants.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    }

    /// Writes one line for each mutant.
    pub fn write(&self, path: &Path) -> Fallible<()> {
        let lines = self.mutants.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        let head = format!(
            "{{\"day\": {:?}, \"tests\": {}, \"slow_tests\": {}, \"slowest\": {}, \"mutants\": [\n",
            self.day, self.tests, self.slow_tests, self.slowest
        );
        Ok(fs::write(path, head + &lines.join(",\n") + "\n]}\n")?)
    }
}
