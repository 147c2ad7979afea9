//! Runs the mutants of `named.toml`: each breaks one claim of the library, and its test must then fail.

mod checkout;
mod named;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use clap::{Parser, Subcommand};

use checkout::{WorkspaceCopy, WorkspaceFiles};
use named::NamedResults;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(
    about = "Applies each mutant of named.toml to a copy of the workspace and checks that its test fails"
)]
struct Arguments {
    /// The workspace
    #[arg(long, global = true, default_value = ".")]
    root: PathBuf,
    #[command(subcommand)]
    command: MutationCommand,
}

#[derive(Subcommand)]
enum MutationCommand {
    /// Runs the mutants of named.toml and writes named.json
    Named {
        /// Only mutants whose name contains this
        text: Option<String>,
        /// Copies of the workspace that are built at the same time, each with a target directory of its own
        #[arg(long, default_value_t = 1)]
        jobs: usize,
    },
}

fn main() -> ExitCode {
    let Arguments { root, command: MutationCommand::Named { text, jobs } } = Arguments::parse();
    match run_named(root, text.as_deref(), jobs) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns true if every mutant is killed.
fn run_named(root: PathBuf, text: Option<&str>, jobs: usize) -> Fallible<bool> {
    let root = root.canonicalize()?;
    let mutants = named::read(&root, text)?;
    let files = WorkspaceFiles::read(&root)?;
    for mutant in &mutants {
        mutant.edit(&files)?;
    }
    let copies = (0..jobs.max(1))
        .map(|number| WorkspaceCopy::write(&root, &files, number, jobs))
        .collect::<Fallible<Vec<_>>>()?;
    let targets = named::tests_by_target(&mutants)?;
    share(&copies, targets, |copy, (target, tests)| named::expect_sound(copy, &target, &tests))?;
    let groups = named::by_test(&mutants);
    let killed = share(&copies, groups, |copy, mutants| named::killed(copy, &files, &mutants))?.concat();
    NamedResults::update(&root, &mutants, &killed)?;
    println!("{} of {} mutants killed", killed.len(), mutants.len());
    Ok(killed.len() == mutants.len())
}

/// Maps the work with one thread for each copy. The first copy begins at the front and the second at the back, so
/// that neighbours, which have a test target in common, mostly stay in one copy.
fn share<T: Send, R: Send>(
    copies: &[WorkspaceCopy],
    work: Vec<T>,
    each: impl Fn(&WorkspaceCopy, T) -> Fallible<R> + Sync,
) -> Fallible<Vec<R>> {
    let (queue, results) = (Mutex::new(VecDeque::from(work)), Mutex::new(Vec::new()));
    let next = |from_front: bool| {
        let mut queue = queue.lock().expect("no thread panicked");
        if from_front { queue.pop_front() } else { queue.pop_back() }
    };
    let run = |number: usize, copy: &WorkspaceCopy| {
        while let Some(item) = next(number.is_multiple_of(2)) {
            let result = each(copy, item);
            results.lock().expect("no thread panicked").push(result);
        }
    };
    thread::scope(|scope| {
        for (number, copy) in copies.iter().enumerate() {
            let run = &run;
            scope.spawn(move || run(number, copy));
        }
    });
    results.into_inner().expect("no thread panicked").into_iter().collect()
}
