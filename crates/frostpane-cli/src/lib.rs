//! The `frostpane` program, all but its `main`.
//!
//! A library so that more than one executable can be made of it. It is no interface for others.

mod args;
mod audit;
mod batch;
mod clock;
mod compare;
mod csv;
mod demo;
mod draft;
mod ending;
mod failure;
mod feed;
mod gate;
mod guarantee;
mod input;
mod list;
mod man;
mod merge;
mod people;
mod plan;
mod progress;
mod report;
mod request;
mod screen;
mod sorted_watch;
mod state;
mod survey;
mod table;
mod text;
mod units;
mod warnings;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// Whether the mechanism can be broken on purpose: in what the auditor is tested with, and never in what is shipped.
pub const BREAKABLE: bool = !frostpane_audit::Mutant::ALL.is_empty();

/// Does what the command line asks, and says how it went.
pub fn run() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::List(args) => list::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Init(args) => state::init(&args),
        Command::Ingest(args) => state::ingest(&args),
        Command::Release(args) => state::release(&args),
        Command::Budget(args) => state::budget(&args),
        Command::Inspect(args) => state::inspect(&args),
        Command::Check(args) => state::check(&args),
        Command::Compact(args) => state::compact(&args),
        Command::Export(args) => state::export(&args),
        Command::Import(args) => state::import(&args),
        Command::Forget(args) => state::forget(&args),
        Command::Restore(args) => state::restore(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Completions { shell } => man::completions(shell),
        Command::Man { command } => man::run(command.as_deref()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let code = failure.exit_code();
            warnings::tell(failure);
            code
        }
    }
}
