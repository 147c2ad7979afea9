//! Selection of mutants on the command line.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::mutant::{Genre, SourceMutant};

/// Conditions that a mutant must all meet.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct MutantSelection {
    /// Files below the library's src, or below that of another package after its name: `release/*`,
    /// `frostpane-store/*`. By default all
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub files: Vec<glob::Pattern>,
    /// Only these genres
    #[arg(long, value_enum, num_args = 1..)]
    pub genre: Vec<Genre>,
    /// Only names that contain this
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Only mutants that survived the last run and are not accepted
    #[arg(long)]
    pub survivors: bool,
}

impl MutantSelection {
    pub fn has_file(&self, file: &str) -> bool {
        self.files.is_empty() || self.files.iter().any(|pattern| pattern.matches(file))
    }

    pub fn has(&self, mutant: &SourceMutant) -> bool {
        self.has_file(&mutant.file)
            && (self.genre.is_empty() || self.genre.contains(&mutant.genre))
            && self.name.as_ref().is_none_or(|text| mutant.name.contains(text))
    }
}

/// A number that depends on the name alone, for a sample that is the same in every run.
pub fn hash_of_name(name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), 1)
}
