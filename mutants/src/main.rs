//! Breaks the library in every small way and looks whether a test notices.
//!
//! All mutants are compiled into one copy of the library, each behind a switch that a test's environment
//! sets: one build, and then a mutant costs only the tests that reach it.

mod accepted;
mod baseline;
mod compile;
mod config;
mod crew;
mod find;
mod instrument;
mod laboratory;
mod mutant;
mod named;
mod operators;
mod process;
mod report;
mod results;
mod run;
mod select;
mod tree;
mod values;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Parser, Subcommand};

use accepted::Accepted;
use baseline::Test;
use config::Config;
use find::Found;
use laboratory::Laboratory;
use mutant::Mutant;
use named::{Deaths, Named};
use report::Report;
use results::{Fate, Outcome, Results};
use select::{Selection, lot};
use tree::{Place, Tree};

/// What may go wrong here is said, and nothing more.
type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Breaks the library in every small way and looks whether a test notices")]
struct Arguments {
    /// The workspace
    #[arg(long, global = true, default_value = ".")]
    root: PathBuf,
    /// Where to build, if not in target/mutants/build; checkouts may share it
    #[arg(long, global = true, value_name = "DIR")]
    build: Option<PathBuf>,
    /// Tests at a time
    #[arg(long, global = true)]
    jobs: Option<usize>,
    /// Tests that take longer than so many seconds are not asked
    #[arg(long, global = true, value_name = "SECONDS")]
    budget: Option<f64>,
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Names of mutants
    List(Selection),
    /// Lets mutants live, and writes down which tests notice; without --files those that mutants.toml asks for
    Run(Selection),
    /// So many mutants of the files that decide privacy, always the same: each must die or be accepted
    Sample {
        /// How many
        count: usize,
    },
    /// Mutants written by hand, in named.toml: each must fail its test
    Named {
        /// Only names that contain this
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// Writes docs/mutants.md
    Report,
}

fn main() -> ExitCode {
    match carry_out(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is well.
fn carry_out(arguments: &Arguments) -> Fallible<bool> {
    let place = Place::new(&arguments.root, arguments.build.as_deref())?;
    let config = Config::read(&place.file("mutants.toml"))?;
    let work = Work {
        jobs: arguments.jobs.unwrap_or(available_parallelism()?.get()),
        budget: arguments.budget.unwrap_or(config.slowest_test),
        results: Results::read(&place.file("results.json"))?,
        accepted: Accepted::read(&place.file("equivalent.toml"))?,
        config,
        place,
    };
    match &arguments.command {
        Task::List(selection) => work.list(selection),
        Task::Run(selection) => work.run(selection),
        Task::Sample { count } => work.sample(*count),
        Task::Named { name } => work.named(name.as_deref()),
        Task::Report => work.report(),
    }
}

fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

struct Work {
    place: Place,
    config: Config,
    accepted: Accepted,
    results: Results,
    jobs: usize,
    budget: f64,
}

impl Work {
    /// The workspace and all mutants of its library, but for files that are left out.
    fn found(&self, has_file: impl Fn(&str) -> bool) -> Fallible<(Tree, Vec<find::Source>, Found)> {
        let tree = Tree::of(&self.place.root)?;
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

    fn list(&self, selection: &Selection) -> Fallible<bool> {
        let (_, _, found) = self.found(|file| selection.has_file(file))?;
        for mutant in self.chosen(&found, selection) {
            println!("{}:{} {}", mutant.file, mutant.line, mutant.name);
        }
        Ok(true)
    }

    fn run(&self, selection: &Selection) -> Fallible<bool> {
        let (tree, sources, found) = self.found(|file| selection.has_file(file))?;
        let chosen = self.chosen(&found, selection);
        let existing = find::mutants(&tree.sources()?)?.mutants;
        let laboratory = Laboratory::new(&self.place, tree, sources, found)?;
        let (fates, tests) = self.fates(&laboratory, &chosen)?;
        let mut results = Results::read(&self.place.file("results.json"))?;
        results.day = today();
        results.tests = tests.len();
        results.slow_tests = tests.iter().filter(|test| !self.is_quick(test)).count();
        let is_well = self.say(&fates);
        results.update(fates, &existing);
        results.write(&self.place.file("results.json"))?;
        for stale in self.accepted.stale(&results) {
            println!("accepted, but no survivor: {stale}");
        }
        Ok(is_well)
    }

    fn sample(&self, count: usize) -> Fallible<bool> {
        let (tree, sources, found) = self.found(|file| self.config.is_private(file))?;
        let mut lots = found.mutants.clone();
        let laboratory = Laboratory::new(&self.place, tree, sources, found)?;
        lots.retain(|mutant| laboratory.is_viable(mutant) && self.accepted.reason(&mutant.name).is_none());
        lots.sort_by_key(|mutant| lot(&mutant.name, 1));
        lots.truncate(count);
        let (fates, _) = self.fates(&laboratory, &lots)?;
        Ok(self.say(&fates))
    }

    fn named(&self, text: Option<&str>) -> Fallible<bool> {
        let mutants = Named::read(&self.place.file("named.toml"))?.chosen(text);
        let killed = named::killed(&self.place, &mutants)?;
        let path = self.place.file("named.json");
        let mut deaths = Deaths::read(&path)?;
        deaths.update(today(), &mutants, &killed);
        deaths.write(&path)?;
        Ok(killed.len() == mutants.len())
    }

    fn report(&self) -> Fallible<bool> {
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

    /// What becomes of these, and the tests that were there.
    fn fates(&self, laboratory: &Laboratory, mutants: &[Mutant]) -> Fallible<(Vec<Fate>, Vec<Test>)> {
        let limit = Duration::from_secs_f64(self.budget);
        let tests = laboratory.tests(&self.config.packages, limit, self.jobs)?;
        let quick: Vec<&Test> = tests
            .iter()
            .filter(|test| test.trial.passed && self.is_quick(test))
            .collect();
        for test in tests.iter().filter(|test| !test.trial.passed) {
            let why = if self.is_quick(test) {
                "fails without a mutant"
            } else {
                "takes too long"
            };
            eprintln!("not asked, {why}: {} {}", test.binary.name, test.name);
        }
        let reach = run::Reach::of(&quick);
        let (viable, others): (Vec<_>, Vec<_>) = mutants
            .iter()
            .cloned()
            .partition(|mutant| laboratory.is_viable(mutant));
        eprintln!("{} mutants, {} tests", viable.len(), quick.len());
        let mut fates = run::fates(&viable, &reach, self.jobs)?;
        fates.extend(
            others
                .iter()
                .map(|mutant| Fate::new(mutant, Outcome::Unviable, String::new())),
        );
        Ok((fates, tests))
    }

    fn is_quick(&self, test: &Test) -> bool {
        test.trial.seconds < self.budget
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
