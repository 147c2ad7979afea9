//! The instrumented copy of the workspace.

use std::collections::{HashMap, HashSet};

use crate::Fallible;
use crate::baseline::{Test, baseline};
use crate::compile::{Complaint, WorkspaceCopy};
use crate::find::{FoundMutants, SourceFile};
use crate::instrument::{InstrumentedFile, instrument, switch};
use crate::mutant::SourceMutant;
use crate::workspace::{Workspace, WorkspaceFiles, beside_root, source_file};

/// More rounds than the compiler has phases that report errors.
const MOST_ROUNDS: usize = 40;

/// All mutants of some files, compiled into one copy of the workspace.
pub struct InstrumentedCopy {
    workspace: Workspace,
    copy: WorkspaceCopy,
    packages: Vec<String>,
    files: WorkspaceFiles,
    sources: Vec<SourceFile>,
    found: FoundMutants,
    unviable: HashSet<u32>,
}

impl InstrumentedCopy {
    /// Compiles the mutants of these files, leaving out those that do not compile.
    pub fn new(
        workspace: &Workspace,
        packages: &[String],
        files: WorkspaceFiles,
        sources: Vec<SourceFile>,
        found: FoundMutants,
    ) -> Fallible<Self> {
        let mut instrumented = Self {
            workspace: workspace.clone(),
            copy: WorkspaceCopy::new(workspace, "tree"),
            packages: packages.to_vec(),
            files,
            sources,
            found,
            unviable: HashSet::new(),
        };
        instrumented.make_viable()?;
        Ok(instrumented)
    }

    pub fn is_viable(&self, mutant: &SourceMutant) -> bool {
        !self.unviable.contains(&mutant.id)
    }

    /// The tests of the packages, each run alone for at most `limit` seconds.
    pub fn tests(&self, limit: u64, jobs: usize) -> Fallible<Vec<Test>> {
        eprintln!("building the tests");
        let binaries = self.copy.test_binaries(&self.packages)?;
        baseline(&self.workspace, &binaries, limit, jobs)
    }

    fn make_viable(&mut self) -> Fallible<()> {
        for round in 1..=MOST_ROUNDS {
            let written = self.write()?;
            let errors = self.copy.errors(&self.packages)?;
            if errors.is_empty() {
                return Ok(());
            }
            let before = self.unviable.len();
            for (places, message) in &errors {
                let to_blame = self.to_blame(&written, places);
                if to_blame.is_empty() {
                    return Err(format!("an error that is in no mutant:\n{message}").into());
                }
                self.unviable.extend(to_blame);
            }
            eprintln!(
                "round {round}: {} errors, {} mutants do not compile",
                errors.len(),
                self.unviable.len()
            );
            if self.unviable.len() == before {
                return Err(format!("an error remains:\n{}", errors[0].1).into());
            }
        }
        Err("the copy does not compile after all rounds".into())
    }

    fn write(&mut self) -> Fallible<HashMap<String, InstrumentedFile>> {
        let mut written = HashMap::new();
        for source in &self.sources {
            let sites = self.found.sites.get(&source.file).map_or(&[][..], Vec::as_slice);
            let mut instrumented = instrument(&source.text, sites, &self.unviable);
            if source.is_root() {
                instrumented.text.push_str("\n#[doc(hidden)]\npub mod switch;\n");
                self.files
                    .set_source(&beside_root(&source.file, "switch.rs"), switch(self.found.mutants.len()));
            }
            self.files.set_source(&source.file, instrumented.text.clone());
            written.insert(source.file.clone(), instrumented);
        }
        self.files.write_to(&self.copy.directory)?;
        Ok(written)
    }

    /// The fewest mutants around a place of the error, or else the mutants within its first place.
    fn to_blame(&self, written: &HashMap<String, InstrumentedFile>, places: &[Complaint]) -> Vec<u32> {
        let places = places.iter().filter_map(|place| {
            let file = source_file(place.file.strip_prefix(&self.copy.directory).ok()?)?;
            Some((written.get(&file)?, &place.bytes))
        });
        let blamed = places.clone().map(|(written, bytes)| written.to_blame(bytes));
        let fewest = blamed.filter(|mutants| !mutants.is_empty()).min_by_key(|mutants| mutants.len());
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
}
