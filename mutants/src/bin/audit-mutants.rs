//! `frostpane` whose `audit` can break the mechanism on purpose, to test the auditor.

use std::process::ExitCode;

fn main() -> ExitCode {
    frostpane_cli::run()
}
