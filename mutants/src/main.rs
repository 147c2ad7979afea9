//! Mutation testing: applies every small change to the sources and checks that a test fails.
//!
//! All mutants are compiled into one copy of the workspace, each behind a switch that an environment variable
//! of the test sets. After that build a mutant costs only the tests that reach it.

mod accepted;
mod baseline;
mod compile;
mod config;
mod find;
mod instrument;
mod instrumented_copy;
mod mutant;
mod named;
mod operators;
mod parallel;
mod process;
mod report;
mod results;
mod run;
mod select;
mod tool;
mod values;
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;

use select::MutantSelection;
use tool::MutationTool;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Applies every small change to the sources and checks that a test fails")]
struct Arguments {
    /// The workspace
    #[arg(long, global = true, default_value = ".")]
    root: PathBuf,
    /// Build directory, by default target/mutants/build; checkouts may share it
    #[arg(long, global = true, value_name = "DIR")]
    build: Option<PathBuf>,
    /// Packages whose sources are changed and whose tests are run, by default those of mutants.toml
    #[arg(long, global = true, value_name = "NAME", num_args = 1..)]
    package: Vec<String>,
    /// Tests at a time
    #[arg(long, global = true)]
    jobs: Option<usize>,
    /// Leave out tests that take this many seconds of processor time or more
    #[arg(long, global = true, value_name = "SECONDS")]
    budget: Option<f64>,
    #[command(subcommand)]
    command: MutationCommand,
}

#[derive(Subcommand)]
enum MutationCommand {
    /// Lists the names of mutants
    List(MutantSelection),
    /// Runs the tests against mutants and writes results.json; without --files the mutants that mutants.toml
    /// selects
    Run(MutantSelection),
    /// Runs a fixed sample of the mutants of the files that decide privacy: each must be killed or accepted
    Sample {
        /// Size of the sample
        count: usize,
    },
    /// Runs the mutants of named.toml: each must fail its test
    Named {
        /// Only names that contain this
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// Writes docs/mutants.md
    Report,
}

fn main() -> ExitCode {
    match execute(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns true if no mutant survived unexplained.
fn execute(arguments: &Arguments) -> Fallible<bool> {
    let tool = MutationTool::new(arguments)?;
    match &arguments.command {
        MutationCommand::List(selection) => tool.list(selection),
        MutationCommand::Run(selection) => tool.run(selection),
        MutationCommand::Sample { count } => tool.sample(*count),
        MutationCommand::Named { name } => tool.named(name.as_deref()),
        MutationCommand::Report => tool.report(),
    }
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> Fallible<T> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Fallible<T> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}
