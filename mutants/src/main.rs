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
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use select::Selection;
use work::Work;

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
    /// Tests that take so many seconds of the processor, or more, are not asked
    #[arg(long, global = true, value_name = "SECONDS")]
    budget: Option<u64>,
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
    let work = Work::new(arguments)?;
    match &arguments.command {
        Task::List(selection) => work.list(selection),
        Task::Run(selection) => work.run(selection),
        Task::Sample { count } => work.sample(*count),
        Task::Named { name } => work.named(name.as_deref()),
        Task::Report => work.report(),
    }
}
