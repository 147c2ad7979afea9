//! `frostpane`, whose `audit` can break the mechanism on purpose: to see that the auditor notices, and for nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    frostpane_cli::run()
}
