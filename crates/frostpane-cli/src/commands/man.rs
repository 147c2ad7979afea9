//! `frostpane man` and `frostpane completions`, for packages.

use std::io::{self, Write};

use clap::CommandFactory;
use clap::error::ErrorKind;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{Args, EXIT_CODES};
use crate::failure::Result;

pub fn run(command: Option<&str>) -> Result<()> {
    let mut program = Args::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(page) => {
                let help = page.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
                page.clone().after_help(help + EXIT_CODES)
            }
            None => unknown(program, name),
        },
    };
    let mut out = io::stdout().lock();
    Man::new(page).render(&mut out)?;
    Ok(out.flush()?)
}

fn unknown(mut program: clap::Command, name: &str) -> ! {
    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    let message = format!("there is no command {name:?}, only {}", names.join(", "));
    program.error(ErrorKind::InvalidValue, message).exit()
}

pub fn completions(shell: Shell) -> Result<()> {
    // Straight to the output it would panic on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "frostpane", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
