//! The command line, and the options that commands share.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::commands::Command;

pub const EXIT_CODES: &str = "\
Exit codes:
  0  the result was written, or its reader went away (a closed pipe)
  1  events, a file or parameters were refused, or writing failed
  2  the command line is wrong
  3  an audit found that a claim does not hold
  4  the result was written, but no event had a key that counts; with --user it is 0
  130, 143  `watch` was interrupted (SIGINT, SIGTERM); its files have every release that was written";

/// Names the frequent keys of a stream, with counts, under differential privacy
#[derive(Parser)]
#[command(
    name = "frostpane",
    version,
    arg_required_else_help = true,
    after_help = EXIT_CODES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

impl Args {
    pub fn parse_or_exit() -> Self {
        Self::try_parse().unwrap_or_else(|error| with_suggestion(error).exit())
    }
}

/// Suggests an option whose letters were swapped, for which clap finds none that is similar enough.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let program = Args::command();
    let command = std::env::args().nth(1).and_then(|name| program.find_subcommand(name));
    if let (Some(command), None) = (command, error.get(ContextKind::SuggestedArg))
        && let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg)
    {
        let wrong = sorted(wrong.trim_start_matches('-'));
        let mut options = command.get_arguments().filter_map(clap::Arg::get_long);
        if let Some(option) = options.find(|option| sorted(option) == wrong) {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{option}")));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(Vec::new()));
        }
    }
    error
}
