//! The command line, and the options that commands share.

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::atomic_file::AtomicFile;
use crate::commands::Command;
use crate::failure::Result;
use crate::guarantee;
use crate::report::{self, About};

pub const EXIT_CODES: &str = "\
Exit codes:
  0  the result was written, or its reader went away (a closed pipe)
  1  events, a file or parameters were refused, or writing failed
  2  the command line is wrong
  3  an audit found that a claim does not hold
  4  the result was written, but no event had a key that counts; with --user it is 0
  130, 143  `watch` was interrupted (SIGINT, SIGTERM); its files have every release that was written";

/// The heading of the options that say how a release is shown.
pub const OUTPUT: &str = "What to write";

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
    /// Parses the command line, or ends the program.
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

/// Options on output that commands share.
#[derive(clap::Args, Clone)]
pub struct OutputArgs {
    /// Write each release as one JSON object on one line, also on a terminal
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write the listed keys as comma-separated values, for which --guarantee says what they are good for; of
    /// several releases, each row begins with its window
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub csv: bool,

    /// Also write what the lists can be trusted for and what they cost, as text to be published with them
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub guarantee: Option<PathBuf>,

    /// Also write one page of HTML for a browser: the lists with charts, the guarantee and the budget
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub about: About,
}

impl OutputArgs {
    /// Refuses files that cannot be written, before any budget is spent, and those that are read.
    pub fn check(&self, inputs: &[&Path]) -> Result<()> {
        self.report.as_deref().map(report::check).transpose()?;
        self.guarantee.as_deref().map(guarantee::check).transpose()?;
        let files = [&self.report, &self.guarantee].into_iter().flatten();
        AtomicFile::check_apart(&files.map(PathBuf::as_path).collect::<Vec<_>>(), inputs)
    }
}
