//! The `frostpane-server` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    frostpane_server::run()
}
