//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use crate::units::{Declared, Extent, duration};

pub const EXIT_CODES: &str = "\
Exit codes:
  0  the result was written, or its reader went away (a closed pipe)
  1  events, a file or parameters were refused, or writing failed
  2  the command line is wrong";

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

#[derive(Subcommand)]
pub enum Command {
    /// Show a private list beside the truth, on a stream that is made up: start here.
    Demo,
    List(ListArgs),
    /// Write completions for a shell to standard output.
    Completions {
        shell: clap_complete::Shell,
    },
    /// Write a manual page to standard output.
    Man {
        /// The command that the page is about [default: the whole program]
        command: Option<String>,
    },
}

/// List the heavy hitters at the end of a stream.
///
/// Reads text, one event a line: the whole line is the key, or a column of tab-separated values with --key and
/// --time. Files may be compressed with zstd. Without files, or for `-`, reads standard input.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  The last million lines of a file, each a key:
    frostpane list searches.txt
  The last 30 days of a log, with times in column 1 and keys in 2:
    frostpane list --key 2 --time 1 --window 30d --slide 1d log.tsv.zst
  Pages that are known in advance, from a pipe, for another program:
    cut -f3 visits.tsv | frostpane list --keys pages.txt --json

Privacy protects the key of each single event. Releasing the same events again costs epsilon again.")]
pub struct ListArgs {
    /// Files to read, one after the other
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Column that holds the key, from 1 (tab-separated)
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<usize>,

    /// Column that holds the time in Unix seconds, from 1 (tab-separated)
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<usize>,

    /// What heavy is relative to: the number of events (l1), or the L2 norm, which finds more
    #[arg(long, value_enum, default_value_t = NormArg::L2)]
    pub norm: NormArg,

    /// A key is heavy from this share of the norm on
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,

    /// The privacy loss: smaller is more private, larger more accurate
    #[arg(long, default_value_t = 1.0)]
    pub epsilon: f64,

    /// The chance with which the loss may be larger; declared keys need none
    #[arg(long, default_value = "1e-9")]
    pub delta: f64,

    /// How far back to look: a number of events, or a time such as 12h or 30d
    #[arg(long, default_value = "1000000", value_name = "EVENTS|TIME")]
    pub window: Extent,

    /// The step by which the window slides [default: a 64th of the window, by time a 60th]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub slide: Option<Extent>,

    /// How long to wait for events that come late, by time
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = duration)]
    pub lateness: Duration,

    /// The keys that may be listed, known in advance: a range of integers, or a file with one a line [default: any]
    #[arg(long, value_name = "0..N|FILE")]
    pub keys: Option<Declared>,

    /// Write the release as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Write the listed keys as comma-separated values, and the guarantee to standard error
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

    /// Show at most so many rows of the table; JSON and CSV are never cut [default: all]
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum NormArg {
    L1,
    L2,
}

impl From<NormArg> for frostpane::Norm {
    fn from(norm: NormArg) -> Self {
        match norm {
            NormArg::L1 => frostpane::Norm::L1,
            NormArg::L2 => frostpane::Norm::L2,
        }
    }
}
