//! What became of each mutant.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Fallible;
use crate::mutant::{Genre, Mutant};

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
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

impl Outcome {
    pub fn is_death(self) -> bool {
        matches!(self, Self::Killed | Self::Timeout)
    }

    pub fn is_survival(self) -> bool {
        matches!(self, Self::Survived | Self::Unreached)
    }
}

/// A mutant and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fate {
    pub name: String,
    pub file: String,
    pub line: usize,
    pub genre: Genre,
    pub outcome: Outcome,
    /// The test that noticed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub killer: String,
}

impl Fate {
    pub fn new(mutant: &Mutant, outcome: Outcome, killer: String) -> Self {
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

/// All fates known, in the order of files and lines.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// The day of the last run.
    pub day: String,
    /// How many tests there were, and how many of them took too long to be asked.
    pub tests: usize,
    pub slow_tests: usize,
    pub mutants: Vec<Fate>,
}

impl Results {
    pub fn read(path: &Path) -> Fallible<Self> {
        match fs::read(path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Takes in new fates, and forgets mutants that are no more.
    pub fn update(&mut self, fates: Vec<Fate>, existing: &[Mutant]) {
        let existing: BTreeMap<&str, &Mutant> =
            existing.iter().map(|mutant| (&*mutant.name, mutant)).collect();
        let new: HashSet<String> = fates.iter().map(|fate| fate.name.clone()).collect();
        self.mutants
            .retain(|fate| !new.contains(&fate.name) && existing.contains_key(&*fate.name));
        for fate in &mut self.mutants {
            fate.line = existing[&*fate.name].line;
        }
        self.mutants.extend(fates);
        self.mutants
            .sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    }

    /// A line for each mutant.
    pub fn write(&self, path: &Path) -> Fallible<()> {
        let lines = self
            .mutants
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()?;
        let head = format!(
            "{{\"day\": {:?}, \"tests\": {}, \"slow_tests\": {}, \"mutants\": [\n",
            self.day, self.tests, self.slow_tests
        );
        Ok(fs::write(path, head + &lines.join(",\n") + "\n]}\n")?)
    }
}
