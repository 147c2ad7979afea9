//! The `frostpane` program, all but its `main`: a library so that more than one executable can be made of it.
//! It is no interface for others.

mod args;
mod commands;
mod events;
mod failure;
mod output;
mod output_file;
mod screen;
mod settings;
mod terminal;

use std::process::ExitCode;

use args::Args;

/// True if the mechanism can be broken on purpose: in what the auditor is tested with, and never in what is
/// shipped.
pub const BREAKABLE: bool = !frostpane_audit::Mutant::ALL.is_empty();

/// Runs the command of the command line, and returns the code to exit with.
pub fn run() -> ExitCode {
    match Args::parse_or_exit().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            let code = failure.exit_code();
            terminal::tell(failure);
            code
        }
    }
}
