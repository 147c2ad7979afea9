//! The commands of the tool.

use std::fs;
use std::thread::available_parallelism;

use crate::accepted::AcceptedSurvivors;
use crate::baseline::Test;
use crate::config::Config;
use crate::find::{self, FoundMutants, SourceFile};
use crate::instrumented_copy::InstrumentedCopy;
use crate::mutant::SourceMutant;
use crate::named::{self, NamedMutants, NamedResults};
use crate::report::MutantReport;
use crate::results::{MutantFate, MutantOutcome, Results};
use crate::run::{self, TestsByMutant};
use crate::select::{MutantSelection, hash_of_name};
use crate::workspace::{Workspace, WorkspaceFiles, package_of};
use crate::{Arguments, Fallible, read_json, read_toml};

/// Results are written after every this many mutants.
const MUTANTS_PER_WRITE: usize = 100;

/// A workspace with its settings and the results of the last run.
pub struct MutationTool {
    workspace: Workspace,
    config: Config,
    accepted: AcceptedSurvivors,
    results: Results,
    jobs: usize,
    budget: f64,
}

impl MutationTool {
    pub fn new(arguments: &Arguments) -> Fallible<Self> {
        let workspace = Workspace::new(&arguments.root, arguments.build.as_deref())?;
        let mut config: Config = read_toml(&workspace.file("mutants.toml"))?;
        if !arguments.package.is_empty() {
            config.packages = arguments.package.clone();
        }
        Ok(Self {
            jobs: arguments.jobs.unwrap_or(available_parallelism()?.get()),
            budget: arguments.budget.unwrap_or(config.slowest_test),
            results: read_json(&workspace.file("results.json"))?,
            accepted: read_toml(&workspace.file("equivalent.toml"))?,
            config,
            workspace,
        })
    }

    /// The workspace, the sources to instrument and their mutants.
    fn found(
        &self,
        has_file: impl Fn(&str) -> bool,
    ) -> Fallible<(WorkspaceFiles, Vec<SourceFile>, FoundMutants)> {
        let files = self.workspace.files("tree")?;
        let sources = files.sources()?;
        let (mut own, others): (Vec<_>, Vec<_>) = sources
            .into_iter()
            .partition(|source| has_file(&source.file) && self.config.has_file(&source.file));
        let found = find::mutants(&own)?;
        // The roots of the packages declare the switch.
        own.extend(others.into_iter().filter(|source| {
            self.config.packages.iter().any(|package| package == package_of(&source.file)) && source.is_root()
        }));
        Ok((files, own, found))
    }

    fn chosen(&self, found: &FoundMutants, selection: &MutantSelection) -> Vec<SourceMutant> {
        let is_selected = |mutant: &SourceMutant| {
            !selection.files.is_empty() || selection.survivors || self.config.has(&mutant.file, &mutant.name)
        };
        let survived = |mutant: &SourceMutant| {
            let fate = self.results.mutants.iter().find(|fate| fate.name == mutant.name);
            fate.is_some_and(|fate| fate.outcome.is_survival())
                && self.accepted.reason(&mutant.name).is_none()
        };
        let chosen = found.mutants.iter().filter(|mutant| selection.has(mutant) && is_selected(mutant));
        chosen.filter(|mutant| !selection.survivors || survived(mutant)).cloned().collect()
    }

    pub fn list(&self, selection: &MutantSelection) -> Fallible<bool> {
        let (_, _, found) = self.found(|file| selection.has_file(file))?;
        for mutant in self.chosen(&found, selection) {
            println!("{}:{} {}", mutant.file, mutant.line, mutant.name);
        }
        Ok(true)
    }

    /// Returns true if each selected mutant is killed or accepted.
    pub fn run(&self, selection: &MutantSelection) -> Fallible<bool> {
        let (files, sources, found) = self.found(|file| selection.has_file(file))?;
        let chosen = self.chosen(&found, selection);
        let existing = find::mutants(&files.sources()?)?.mutants;
        let copy = InstrumentedCopy::new(&self.workspace, &self.config.packages, files, sources, found)?;
        let tests = self.tests(&copy)?;
        let mut results: Results = read_json(&self.workspace.file("results.json"))?;
        results.day = today();
        results.tests = tests.len();
        results.slowest = self.budget;
        results.slow_tests = tests.iter().filter(|test| !self.is_quick(test)).count();
        let mut all = Vec::new();
        for some in chosen.chunks(MUTANTS_PER_WRITE) {
            let fates = self.fates(&copy, &tests, some)?;
            all.extend_from_slice(&fates);
            results.update(fates, &existing);
            results.write(&self.workspace.file("results.json"))?;
            eprintln!("{} of {} mutants", all.len(), chosen.len());
        }
        for stale in self.accepted.stale(&results) {
            println!("accepted, but no survivor: {stale}");
        }
        Ok(self.print_summary(&all))
    }

    /// Returns true if each mutant of the sample is killed.
    pub fn sample(&self, count: usize) -> Fallible<bool> {
        let (files, sources, found) = self.found(|file| self.config.is_private(file))?;
        let mut sample = found.mutants.clone();
        let copy = InstrumentedCopy::new(&self.workspace, &self.config.packages, files, sources, found)?;
        sample.retain(|mutant| copy.is_viable(mutant) && self.accepted.reason(&mutant.name).is_none());
        sample.sort_by_key(|mutant| hash_of_name(&mutant.name));
        sample.truncate(count);
        let tests = self.tests(&copy)?;
        Ok(self.print_summary(&self.fates(&copy, &tests, &sample)?))
    }

    pub fn named(&self, text: Option<&str>) -> Fallible<bool> {
        let mutants = read_toml::<NamedMutants>(&self.workspace.file("named.toml"))?.chosen(text);
        let killed = named::killed(&self.workspace, &mutants)?;
        let path = self.workspace.file("named.json");
        let mut results: NamedResults = read_json(&path)?;
        results.update(today(), &mutants, &killed);
        results.write(&path)?;
        Ok(killed.len() == mutants.len())
    }

    pub fn report(&self) -> Fallible<bool> {
        let report = MutantReport {
            config: &self.config,
            results: &self.results,
            accepted: &self.accepted,
            named: &read_toml(&self.workspace.file("named.toml"))?,
            named_results: &read_json(&self.workspace.file("named.json"))?,
        };
        fs::write(self.workspace.root.join("docs/mutants.md"), report.page())?;
        Ok(true)
    }

    fn tests(&self, copy: &InstrumentedCopy) -> Fallible<Vec<Test>> {
        let tests = copy.tests(self.budget.ceil() as u64, self.jobs)?;
        for test in tests.iter().filter(|test| !test.trial.passed) {
            let why = if self.is_quick(test) { "fails without a mutant" } else { "takes too long" };
            eprintln!("left out, {why}: {} {}", test.binary.name, test.name);
        }
        Ok(tests)
    }

    fn fates(
        &self,
        copy: &InstrumentedCopy,
        tests: &[Test],
        mutants: &[SourceMutant],
    ) -> Fallible<Vec<MutantFate>> {
        let quick: Vec<&Test> =
            tests.iter().filter(|test| test.trial.passed && self.is_quick(test)).collect();
        let (viable, others): (Vec<_>, Vec<_>) =
            mutants.iter().cloned().partition(|mutant| copy.is_viable(mutant));
        let mut fates = run::fates(&viable, &TestsByMutant::new(&quick), self.jobs)?;
        fates.extend(
            others.iter().map(|mutant| MutantFate::new(mutant, MutantOutcome::Unviable, String::new())),
        );
        Ok(fates)
    }

    fn is_quick(&self, test: &Test) -> bool {
        test.trial.seconds < self.budget
    }

    /// Prints the unexplained survivors; returns true if there are none.
    fn print_summary(&self, fates: &[MutantFate]) -> bool {
        let count =
            |holds: fn(MutantOutcome) -> bool| fates.iter().filter(|fate| holds(fate.outcome)).count();
        let survivors = fates.iter().filter(|fate| fate.outcome.is_survival());
        let (accepted, unexplained): (Vec<_>, Vec<_>) =
            survivors.partition(|fate| self.accepted.reason(&fate.name).is_some());
        for fate in &unexplained {
            println!("{:?} {}:{} {}", fate.outcome, fate.file, fate.line, fate.name);
        }
        println!(
            "{} mutants: {} do not compile, {} killed, {} accepted, {} unexplained",
            fates.len(),
            count(|outcome| outcome == MutantOutcome::Unviable),
            count(MutantOutcome::is_death),
            accepted.len(),
            unexplained.len()
        );
        unexplained.is_empty()
    }
}

fn today() -> String {
    jiff::Zoned::now().date().to_string()
}
