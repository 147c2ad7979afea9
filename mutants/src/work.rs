//! What can be done with mutants.

use std::fs;
use std::thread::available_parallelism;

use crate::accepted::Accepted;
use crate::baseline::Test;
use crate::config::Config;
use crate::find::{self, Found, Source};
use crate::laboratory::Laboratory;
use crate::mutant::Mutant;
use crate::named::{self, Deaths, Named};
use crate::report::Report;
use crate::results::{Fate, Outcome, Results};
use crate::run::{self, Reach};
use crate::select::{Selection, lot};
use crate::tree::{Place, Tree};
use crate::{Arguments, Fallible};

/// Results are written down after so many mutants.
const AT_A_TIME: usize = 100;

/// A workspace, and what is known of its mutants.
pub struct Work {
    place: Place,
    config: Config,
    accepted: Accepted,
    results: Results,
    jobs: usize,
    budget: u64,
}

impl Work {
    pub fn new(arguments: &Arguments) -> Fallible<Self> {
        let place = Place::new(&arguments.root, arguments.build.as_deref())?;
        let config = Config::read(&place.file("mutants.toml"))?;
        Ok(Self {
            jobs: arguments.jobs.unwrap_or(available_parallelism()?.get()),
            budget: arguments.budget.unwrap_or(config.slowest_test),
            results: Results::read(&place.file("results.json"))?,
            accepted: Accepted::read(&place.file("equivalent.toml"))?,
            config,
            place,
        })
    }

    /// The workspace and all mutants of its library, but for files that are left out.
    fn found(&self, has_file: impl Fn(&str) -> bool) -> Fallible<(Tree, Vec<Source>, Found)> {
        let tree = self.place.tree("tree")?;
        let sources = tree.sources()?;
        let (mut own, others): (Vec<_>, Vec<_>) = sources
            .into_iter()
            .partition(|source| has_file(&source.file) && !self.config.is_skipped(&source.file));
        let found = find::mutants(&own)?;
        own.extend(others.into_iter().filter(|source| source.file == "lib.rs"));
        Ok((tree, own, found))
    }

    fn chosen(&self, found: &Found, selection: &Selection) -> Vec<Mutant> {
        let is_asked = |mutant: &Mutant| {
            !selection.files.is_empty() || selection.survivors || self.config.has(&mutant.file, &mutant.name)
        };
        let survived = |mutant: &Mutant| {
            let fate = self.results.mutants.iter().find(|fate| fate.name == mutant.name);
            fate.is_some_and(|fate| fate.outcome.is_survival())
                && self.accepted.reason(&mutant.name).is_none()
        };
        let chosen = found
            .mutants
            .iter()
            .filter(|mutant| selection.has(mutant) && is_asked(mutant));
        chosen
            .filter(|mutant| !selection.survivors || survived(mutant))
            .cloned()
            .collect()
    }

    pub fn list(&self, selection: &Selection) -> Fallible<bool> {
        let (_, _, found) = self.found(|file| selection.has_file(file))?;
        for mutant in self.chosen(&found, selection) {
            println!("{}:{} {}", mutant.file, mutant.line, mutant.name);
        }
        Ok(true)
    }

    /// Whether every one of them dies or is accepted.
    pub fn run(&self, selection: &Selection) -> Fallible<bool> {
        let (tree, sources, found) = self.found(|file| selection.has_file(file))?;
        let chosen = self.chosen(&found, selection);
        let existing = find::mutants(&tree.sources()?)?.mutants;
        let laboratory = Laboratory::new(&self.place, tree, sources, found)?;
        let tests = self.tests(&laboratory)?;
        let mut results = Results::read(&self.place.file("results.json"))?;
        results.day = today();
        results.tests = tests.len();
        results.slow_tests = tests.iter().filter(|test| !self.is_quick(test)).count();
        let mut all = Vec::new();
        for some in chosen.chunks(AT_A_TIME) {
            let fates = self.fates(&laboratory, &tests, some)?;
            all.extend_from_slice(&fates);
            results.update(fates, &existing);
            results.write(&self.place.file("results.json"))?;
            eprintln!("{} of {} mutants", all.len(), chosen.len());
        }
        for stale in self.accepted.stale(&results) {
            println!("accepted, but no survivor: {stale}");
        }
        Ok(self.say(&all))
    }

    /// Whether every one of so many dies.
    pub fn sample(&self, count: usize) -> Fallible<bool> {
        let (tree, sources, found) = self.found(|file| self.config.is_private(file))?;
        let mut lots = found.mutants.clone();
        let laboratory = Laboratory::new(&self.place, tree, sources, found)?;
        lots.retain(|mutant| laboratory.is_viable(mutant) && self.accepted.reason(&mutant.name).is_none());
        lots.sort_by_key(|mutant| lot(&mutant.name, 1));
        lots.truncate(count);
        let tests = self.tests(&laboratory)?;
        Ok(self.say(&self.fates(&laboratory, &tests, &lots)?))
    }

    pub fn named(&self, text: Option<&str>) -> Fallible<bool> {
        let mutants = Named::read(&self.place.file("named.toml"))?.chosen(text);
        let killed = named::killed(&self.place, &mutants)?;
        let path = self.place.file("named.json");
        let mut deaths = Deaths::read(&path)?;
        deaths.update(today(), &mutants, &killed);
        deaths.write(&path)?;
        Ok(killed.len() == mutants.len())
    }

    pub fn report(&self) -> Fallible<bool> {
        let report = Report {
            config: &self.config,
            results: &self.results,
            accepted: &self.accepted,
            named: &Named::read(&self.place.file("named.toml"))?,
            deaths: &Deaths::read(&self.place.file("named.json"))?,
        };
        fs::write(self.place.root.join("docs/mutants.md"), report.page())?;
        Ok(true)
    }

    fn tests(&self, laboratory: &Laboratory) -> Fallible<Vec<Test>> {
        let tests = laboratory.tests(&self.config.packages, self.budget, self.jobs)?;
        for test in tests.iter().filter(|test| !test.trial.passed) {
            let why = if self.is_quick(test) {
                "fails without a mutant"
            } else {
                "takes too long"
            };
            eprintln!("not asked, {why}: {} {}", test.binary.name, test.name);
        }
        Ok(tests)
    }

    /// What becomes of these.
    fn fates(&self, laboratory: &Laboratory, tests: &[Test], mutants: &[Mutant]) -> Fallible<Vec<Fate>> {
        let quick: Vec<&Test> = tests
            .iter()
            .filter(|test| test.trial.passed && self.is_quick(test))
            .collect();
        let (viable, others): (Vec<_>, Vec<_>) = mutants
            .iter()
            .cloned()
            .partition(|mutant| laboratory.is_viable(mutant));
        let mut fates = run::fates(&viable, &Reach::of(&quick), self.jobs)?;
        fates.extend(
            others
                .iter()
                .map(|mutant| Fate::new(mutant, Outcome::Unviable, String::new())),
        );
        Ok(fates)
    }

    fn is_quick(&self, test: &Test) -> bool {
        test.trial.seconds < self.budget as f64
    }

    /// Says which survive; whether each of them is accepted.
    fn say(&self, fates: &[Fate]) -> bool {
        let count = |holds: fn(Outcome) -> bool| fates.iter().filter(|fate| holds(fate.outcome)).count();
        let survivors = fates.iter().filter(|fate| fate.outcome.is_survival());
        let (accepted, unexplained): (Vec<_>, Vec<_>) =
            survivors.partition(|fate| self.accepted.reason(&fate.name).is_some());
        for fate in &unexplained {
            println!("{:?} {}:{} {}", fate.outcome, fate.file, fate.line, fate.name);
        }
        println!(
            "{} mutants: {} do not compile, {} killed, {} accepted, {} unexplained",
            fates.len(),
            count(|outcome| outcome == Outcome::Unviable),
            count(Outcome::is_death),
            accepted.len(),
            unexplained.len()
        );
        unexplained.is_empty()
    }
}

fn today() -> String {
    jiff::Zoned::now().date().to_string()
}
