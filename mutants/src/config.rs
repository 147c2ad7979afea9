//! The settings in `mutants.toml`.

use glob::Pattern;
use serde::Deserialize;

use crate::select::hash_of_name;
use crate::workspace::package_of;

/// The mutants that must be killed, and the tests that are run against them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Patterns of files that decide privacy: all of their mutants are selected.
    privacy: Vec<String>,
    /// One mutant in this many is selected in other files.
    pub one_in: u64,
    /// Patterns of files that are never changed.
    skip: Vec<String>,
    /// Packages whose sources are changed and whose tests are run.
    pub packages: Vec<String>,
    /// Tests that take more seconds are left out.
    pub slowest_test: f64,
}

impl Config {
    pub fn is_private(&self, file: &str) -> bool {
        matches(&self.privacy, file)
    }

    /// Returns true if the file is in a selected package and may be changed.
    pub fn has_file(&self, file: &str) -> bool {
        self.packages.iter().any(|package| package == package_of(file)) && !matches(&self.skip, file)
    }

    /// Returns true if a run without `--files` includes this mutant.
    pub fn has(&self, file: &str, name: &str) -> bool {
        self.has_file(file) && (self.is_private(file) || hash_of_name(name).is_multiple_of(self.one_in))
    }
}

fn matches(patterns: &[String], file: &str) -> bool {
    patterns.iter().filter_map(|pattern| Pattern::new(pattern).ok()).any(|pattern| pattern.matches(file))
}
