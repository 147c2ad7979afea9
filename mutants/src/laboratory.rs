//! The instrumented copy, built, with its tests tried.

use std::collections::{HashMap, HashSet};
use std::fs;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Fallible;
use crate::baseline::{Test, baseline};
use crate::compile::{Complaint, Copy};
use crate::find::{Found, Source};
use crate::instrument::{Instrumented, instrument, switch};
use crate::mutant::Mutant;
use crate::tree::{LIBRARY, Place, Tree};

/// More rounds than the compiler has phases to complain in.
const MOST_ROUNDS: usize = 40;

/// All mutants of some files, compiled into one copy of the library.
pub struct Laboratory {
    place: Place,
    copy: Copy,
    tree: Tree,
    sources: Vec<Source>,
    found: Found,
    unviable: HashSet<u32>,
}

/// Mutants of a file that did not compile, as long as the file does not change.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    text: u64,
    unviable: HashSet<String>,
}

impl Laboratory {
    /// Compiles the mutants of these files, leaving out those that do not compile.
    pub fn new(place: &Place, tree: Tree, sources: Vec<Source>, found: Found) -> Fallible<Self> {
        let mut laboratory = Self {
            place: place.clone(),
            copy: Copy::new(place, "tree"),
            tree,
            sources,
            found,
            unviable: HashSet::new(),
        };
        laboratory.remember()?;
        laboratory.make_viable()?;
        laboratory.keep()?;
        Ok(laboratory)
    }

    /// Whether it compiles.
    pub fn is_viable(&self, mutant: &Mutant) -> bool {
        !self.unviable.contains(&mutant.id)
    }

    /// The tests of these packages, each tried alone for at most so many seconds.
    pub fn tests(&self, packages: &[String], limit: u64, jobs: usize) -> Fallible<Vec<Test>> {
        eprintln!("building the tests");
        let binaries = self.copy.test_binaries(packages)?;
        baseline(&self.place, &binaries, limit, jobs)
    }

    fn make_viable(&mut self) -> Fallible<()> {
        for round in 1..=MOST_ROUNDS {
            let written = self.write()?;
            let errors = self.copy.errors()?;
            if errors.is_empty() {
                return Ok(());
            }
            let before = self.unviable.len();
            for (places, message) in &errors {
                let guilty = self.guilty(&written, places);
                if guilty.is_empty() {
                    return Err(format!("an error that no mutant is to blame for:\n{message}").into());
                }
                self.unviable.extend(guilty);
            }
            eprintln!(
                "round {round}: {} errors, {} mutants do not compile",
                errors.len(),
                self.unviable.len()
            );
            if self.unviable.len() == before {
                return Err(format!("an error that stays:\n{}", errors[0].1).into());
            }
        }
        Err("the copy does not come to compile".into())
    }

    fn write(&mut self) -> Fallible<HashMap<String, Instrumented>> {
        let mut written = HashMap::new();
        for source in &self.sources {
            let sites = self.found.sites.get(&source.file).map_or(&[][..], Vec::as_slice);
            let mut instrumented = instrument(&source.text, sites, &self.unviable);
            if source.file == "lib.rs" {
                instrumented.text.push_str("\n#[doc(hidden)]\npub mod switch;\n");
            }
            self.tree.set_source(&source.file, instrumented.text.clone());
            written.insert(source.file.clone(), instrumented);
        }
        self.tree
            .set_source("switch.rs", switch(self.found.mutants.len()));
        self.tree.write_to(&self.copy.directory)?;
        Ok(written)
    }

    /// Mutants around the places of an error, or else within the first of them.
    fn guilty(&self, written: &HashMap<String, Instrumented>, places: &[Complaint]) -> Vec<u32> {
        let library = self.copy.directory.join(LIBRARY);
        let places = places.iter().filter_map(|place| {
            let file = place.file.strip_prefix(&library).ok()?.to_str()?;
            Some((written.get(file)?, &place.bytes))
        });
        let blamed = places.clone().map(|(written, bytes)| written.to_blame(bytes));
        let fewest = blamed
            .filter(|mutants| !mutants.is_empty())
            .min_by_key(|mutants| mutants.len());
        fewest.map_or_else(
            || {
                places
                    .map(|(written, bytes)| written.within(bytes))
                    .find(|mutants| !mutants.is_empty())
                    .unwrap_or_default()
            },
            <[u32]>::to_vec,
        )
    }

    fn memory(&self) -> std::path::PathBuf {
        self.place.directory().join("unviable.json")
    }

    fn remember(&mut self) -> Fallible<()> {
        let Ok(bytes) = fs::read(self.memory()) else {
            return Ok(());
        };
        let known: HashMap<String, Remembered> = serde_json::from_slice(&bytes)?;
        for source in &self.sources {
            if let Some(known) = known
                .get(&source.file)
                .filter(|known| known.text == hash(&source.text))
            {
                let mutants = self
                    .found
                    .mutants
                    .iter()
                    .filter(|mutant| known.unviable.contains(&mutant.name));
                self.unviable.extend(mutants.map(|mutant| mutant.id));
            }
        }
        Ok(())
    }

    fn keep(&self) -> Fallible<()> {
        let known = self.sources.iter().map(|source| {
            let unviable = self
                .found
                .mutants
                .iter()
                .filter(|mutant| mutant.file == source.file && !self.is_viable(mutant));
            let unviable = unviable.map(|mutant| mutant.name.clone()).collect();
            (
                source.file.clone(),
                Remembered {
                    text: hash(&source.text),
                    unviable,
                },
            )
        });
        let known: HashMap<String, Remembered> = known.collect();
        Ok(fs::write(self.memory(), serde_json::to_vec(&known)?)?)
    }
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
