//! Which mutants are looked at.

use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::mutant::{Genre, Mutant};

/// One in so many, chosen by name: the same ones always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    pub one_in: u64,
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one_in = text.strip_prefix("1/").and_then(|number| number.parse().ok());
        match one_in.filter(|one_in| *one_in > 0) {
            Some(one_in) => Ok(Self { one_in }),
            None => Err(format!("{text:?} is no fraction: write 1/5 for a fifth")),
        }
    }
}

/// What to choose by; all of it must hold.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Selection {
    /// Files below the library's src, with `*`: `release/*`. All, if none is given
    #[arg(long, value_name = "GLOB", num_args = 1..)]
    pub files: Vec<glob::Pattern>,
    /// Only these genres
    #[arg(long, value_enum, num_args = 1..)]
    pub genre: Vec<Genre>,
    /// A fixed part, such as 1/5
    #[arg(long, value_name = "1/N")]
    pub fraction: Option<Fraction>,
    /// Which part
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only names that contain this
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Only those that survived when last run, and are not accepted
    #[arg(long)]
    pub survivors: bool,
}

impl Selection {
    pub fn has_file(&self, file: &str) -> bool {
        self.files.is_empty() || self.files.iter().any(|pattern| pattern.matches(file))
    }

    pub fn has(&self, mutant: &Mutant) -> bool {
        self.has_file(&mutant.file)
            && (self.genre.is_empty() || self.genre.contains(&mutant.genre))
            && self.name.as_ref().is_none_or(|text| mutant.name.contains(text))
            && self
                .fraction
                .is_none_or(|fraction| lot(&mutant.name, self.seed).is_multiple_of(fraction.one_in))
    }
}

/// A number that depends on a name alone.
pub fn lot(name: &str, seed: u64) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), seed)
}
