//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use crate::input::Format;
use crate::units::{Declared, Extent, duration};

/// Names the frequent keys of a stream, with counts, under differential privacy
#[derive(Parser)]
#[command(name = "frostpane", version, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Show a private list beside the truth, on a stream that is made up: start here.
    Demo,
    List(ListArgs),
}

/// List the heavy hitters at the end of a stream.
///
/// Reads text (the whole line is the key), CSV and TSV, JSON Lines and Parquet, also packed with gzip or zstd. What a
/// file is follows from its name, or else from its first bytes, unless --format says. Without files, or for `-`, reads
/// standard input; patterns in quotes such as 'logs/*.csv.gz' are taken too.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  frostpane list searches.txt
  frostpane list --key 2 --time 1 --window 30d --slide 1d log.tsv.zst
  frostpane list --key user.country --time at --window 7d 'logs/*.jsonl.gz'
  frostpane list --key country visits.parquet
  cut -f3 visits.tsv | frostpane list --norm l1 --alpha 0.01 --keys pages.txt --json

Columns: a name means that the first line names the columns (CSV, TSV), a path of fields (JSON Lines) or a column
(Parquet). A number is a position from 1, and then the first line is an event, unless --header says that it names the
columns.

Times: Unix seconds, milliseconds, microseconds or nanoseconds, told apart by their size (below 100 billion they are
seconds), with decimals or not; or dates as in RFC 3339, in UTC unless they say.

An event whose key is missing, empty or null counts as an event without a key.

Privacy protects the key of each single event. Releasing the same events again costs epsilon again.")]
pub struct ListArgs {
    /// Files to read, one after the other
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Column that holds the key, by name or by position from 1 [default: the whole line]
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,

    /// Column that holds the time, by name or by position from 1
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,

    /// How events stand in the files [default: guessed]
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// The first line of CSV or TSV names the columns, although they are given by position
    #[arg(long)]
    pub header: bool,

    /// Leave out lines that cannot be read, and say how many there were
    #[arg(long)]
    pub skip_bad_lines: bool,

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
