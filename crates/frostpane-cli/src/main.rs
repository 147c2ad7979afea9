//! The `frostpane` program.

use std::process::ExitCode;

const _: () = assert!(
    !frostpane_cli::BREAKABLE,
    "the program is not built with ways to break its mechanism: build it without the features `mutants` and \
     `audit`; to break it, `cargo run --release -p frostpane-mutants --features audit --bin audit-mutants`"
);

fn main() -> ExitCode {
    frostpane_cli::run()
}
