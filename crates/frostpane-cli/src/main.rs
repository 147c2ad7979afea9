//! The `frostpane` program.

mod args;
mod demo;
mod failure;
mod input;
mod list;
mod sorted_watch;
mod table;
mod units;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Demo => demo::run(),
        Command::List(args) => list::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("frostpane: {failure}");
            ExitCode::FAILURE
        }
    }
}
