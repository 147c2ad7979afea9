//! What `mutants.toml` says.

use std::fs;
use std::path::Path;

use glob::Pattern;
use serde::Deserialize;

use crate::Fallible;
use crate::select::lot;

/// Which mutants must die.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Files that decide privacy: all of their mutants.
    privacy: Vec<String>,
    /// Of every other file one mutant in so many.
    pub one_in: u64,
    /// Files that are no part of what is published.
    skip: Vec<String>,
    /// Whose tests are asked.
    pub packages: Vec<String>,
    /// A test that takes more seconds is not asked.
    pub slowest_test: u64,
}

impl Config {
    pub fn read(path: &Path) -> Fallible<Self> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(toml::from_str(&text)?)
    }

    pub fn is_private(&self, file: &str) -> bool {
        matches(&self.privacy, file)
    }

    pub fn is_skipped(&self, file: &str) -> bool {
        matches(&self.skip, file)
    }

    /// Whether this one belongs to the whole run.
    pub fn has(&self, file: &str, name: &str) -> bool {
        self.is_private(file) || lot(name, 1).is_multiple_of(self.one_in)
    }
}

fn matches(patterns: &[String], file: &str) -> bool {
    patterns
        .iter()
        .filter_map(|pattern| Pattern::new(pattern).ok())
        .any(|pattern| pattern.matches(file))
}
