//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use frostpane::Spec;

use crate::audit::KeysArg;
#[cfg(feature = "mutants")]
use crate::audit::MutantArgs;
use crate::clock::ClockArgs;
use crate::failure::{Failure, Result};
use crate::input::{Delimiter, Format, Packing, Pattern, TimeFormat};
use crate::people::protect_users;
use crate::report::About;
use crate::request::{NormArg, Request, RequestArgs};
use crate::state::{
    BudgetArgs, CheckArgs, CompactArgs, ExportArgs, ForgetArgs, ImportArgs, IngestArgs, InitArgs,
    InspectArgs, ReleaseArgs, RestoreArgs,
};
use crate::units::number;

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

#[derive(Subcommand)]
pub enum Command {
    Demo(DemoArgs),
    List(ListArgs),
    Watch(WatchArgs),
    Plan(PlanArgs),
    Init(InitArgs),
    Ingest(IngestArgs),
    Release(ReleaseArgs),
    Budget(BudgetArgs),
    Inspect(InspectArgs),
    Check(CheckArgs),
    Compact(CompactArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Forget(ForgetArgs),
    Restore(RestoreArgs),
    Compare(CompareArgs),
    Audit(AuditArgs),
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

/// Show a private list beside the truth, on a stream that is made up: start here.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// Write the made-up searches to a file instead, .tsv or .csv, each with a time and a user: a stream to try
    /// the other commands on
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Protect people instead of single searches: count at most so many different searches of each user and day
    #[arg(long, value_name = "C", conflicts_with = "save")]
    pub per_user: Option<u32>,
}

/// List the heavy hitters at the end of a stream.
///
/// Reads text (the whole line is the key), CSV and TSV, JSON Lines and Parquet, also packed with gzip or
/// zstd. What a file is follows from its name, unless --format and --packing say; where neither tells, it is
/// text. Without files, or for `-`, reads standard input; patterns in quotes such as 'logs/*.csv.gz' are taken
/// too. What is written to standard output and to files may be published; standard error is for you alone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  The last million lines of a file, each a key:
    frostpane list searches.txt
  The last 30 days of a log, with times in column 1 and keys in 2:
    frostpane list --key 2 --time 1 --window 30d --slide 1d log.tsv.zst
  A list of the last day, one of the week and one of the month, in one pass:
    frostpane list --key 2 --time 1 --window 1d --window 7d --window 30d log.tsv.zst
  What was asked of a web server in the last week, from its log:
    frostpane list --pattern combined --window 7d access.log
  A field of JSON Lines, of many files, by time:
    frostpane list --key user.country --time at --window 7d 'logs/*.jsonl.gz'
  Pages that are known in advance, from a pipe, for another program:
    cut -f3 visits.tsv | frostpane list --keys pages.txt --json
  Columns from a pipe, as rows to be published with their guarantee:
    zcat log.gz | frostpane list --format tsv --key 2 --csv --guarantee guarantee.txt > list.csv
  A page to look at, beside the table:
    frostpane list --report searches.html searches.txt
  The top 20 by people and not by events: of each person and day up to 4 keys are counted, each once:
    frostpane list --user user --key search --time time --window 7d --until 2025-12-01 --per-user 4 --top 20 log.tsv

Columns: a name means that the first line names the columns (CSV, TSV), a path of fields (JSON Lines), a column (Parquet) or a group (--pattern); or a part of the path such as country=DE/. A number is a position from 1, and then the first line is an event, unless --header says that it names the columns.

Times: Unix seconds, milliseconds, microseconds or nanoseconds, told apart by their size (below 100 billion they are seconds), with decimals or not; dates as in RFC 3339, also with a zone in brackets; 20251001, 20251001120000; 01/Oct/2025:12:00:00 +0200. In UTC unless they say.

Every line is an event, a row in Parquet. One whose key is missing, empty or null, or that cannot be read, is an event without a key.

Privacy protects the key of each single event or, with --user, all that one person did in one epoch (a day, see --epoch): whether, when, how often and in what. How many events there are and when is then hidden too, so --until has to say where windows end. Releasing the same events again costs epsilon again, and so does each further window.")]
pub struct ListArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub clock: ClockArgs,

    /// Write the release as one JSON object on one line; of several windows, a line each
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write the listed keys as comma-separated values, for which --guarantee says what they are good for; of
    /// several windows, each row begins with its window
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

    /// Show at most so many rows of the table; JSON and CSV are never cut [default: 25 on a terminal, or
    /// as many as --top asks for; else all]
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub rows: Option<usize>,
}

/// Where events come from, as options that commands share.
#[derive(clap::Args, Clone)]
pub struct InputArgs {
    /// Files to read, one after the other; a folder stands for all files below it
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Column that holds the key, by name or by position from 1 [default: the whole line]
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,

    /// Column that holds the time, by name or by position from 1
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,

    /// Column that holds the user, by name or by position from 1: protects all that one user did in one epoch, see
    /// --epoch
    #[arg(long, value_name = "COLUMN")]
    pub user: Option<String>,

    /// How times are written: unix, millis, micros or nanos, or a format such as '%d.%m.%Y %H:%M:%S' [default: told
    /// apart, as said below]
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<TimeFormat>,

    /// How events stand in the files [default: as their names end: .csv, .tsv, .jsonl, .parquet; else text]
    #[arg(long, value_enum, ignore_case = true)]
    pub format: Option<Format>,

    /// How the files are packed [default: as their names end: .gz, .zst; else not at all]
    #[arg(long, value_enum, ignore_case = true)]
    pub packing: Option<Packing>,

    /// The character that separates columns of CSV or TSV, or the word tab [default: what the first line shows, if it
    /// names the columns; else a comma in CSV and a tab in TSV]
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<Delimiter>,

    /// Takes lines of text apart by a regular expression with groups (?<key>...), (?<time>...) and (?<user>...), or as
    /// web servers write them: common, combined
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["header", "multiline", "delimiter"])]
    pub pattern: Option<Pattern>,

    /// The first line of CSV or TSV names the columns, although they are given by position
    #[arg(long)]
    pub header: bool,

    /// Fields of CSV in quotes may go on over several lines; then the number of events is as private as the
    /// quotes are right
    #[arg(long)]
    pub multiline: bool,

    /// Show on standard error what stands in a line that cannot be read, which may be a key
    #[arg(long)]
    pub show_input: bool,
}

impl InputArgs {
    /// Whether something says whose an event is.
    pub fn has_users(&self) -> bool {
        let group = || self.pattern.as_ref().and_then(Pattern::group_of_users);
        self.user.is_some() || group().is_some()
    }
}

/// Release the heavy hitters again at every slide, all of them at one epsilon.
///
/// Reads what `list` reads, and follows standard input as it grows. Writes one release for each slide as JSON
/// Lines, in the shape of `list --json`; on a terminal shows the current list, redrawn in place. A release is final:
/// it is never revised, and together they cost epsilon once; how long delta holds is said at --horizon. The window is a
/// whole number of slides. There is one window: a second one would cost an epsilon of its own, so run a program for each.
/// An interrupt (Ctrl-C) or SIGTERM ends it between two releases, with all files up to date.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  A list of the last million lines after every 31,250 more:
    tail -f searches.txt | frostpane watch --window 1000000
  Every hour, of the last day, of pages that are known in advance, for another program:
    frostpane watch --key page --time at --window 24h --slide 1h --keys pages.txt log.jsonl > lists.jsonl
  Every day, of the last 30, as rows and as a page with the latest list and how ranks went:
    frostpane watch --key 2 --time 1 --window 30d --slide 1d --csv --report page.html log.tsv.zst > lists.csv

By time, a slide ends when an event arrives past its end and past --lateness; a slide without events has its
release too, until there was no event for two windows' time: then releases pause until the next event.

With --user the events of people do not tell the time: of files --until says where the lists end, and of a pipe it is the clock of this machine that ends slides.")]
pub struct WatchArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub clock: ClockArgs,

    /// With --user, of files: where the first slide begins, such as 2025-12-01; events do not say [default: a window before --until]
    #[arg(long, value_name = "TIME", requires = "user")]
    pub from: Option<String>,

    #[command(flatten)]
    pub sequence: SequenceArgs,

    /// With the folder of a state: what tells these events from others, instead of the name of their file
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// With the folder of a state: first write the lists after this number again, as they were
    #[arg(long, value_name = "NUMBER")]
    pub after: Option<u64>,

    /// With the folder of a state of --user: the clock of this machine is right, however far it is ahead of the state
    #[arg(long)]
    pub accept_clock: bool,

    /// Write JSON Lines on a terminal too
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write the listed keys as comma-separated values, for which --guarantee says what they are good for: a header
    /// once, and each row begins with the end of its window
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub csv: bool,

    /// Keep what the latest list can be trusted for and what all of them cost here, as text to be published with them
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub guarantee: Option<PathBuf>,

    /// Keep a page of the latest releases here, as one HTML file: the list, ranks over time, risers and fallers
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub about: About,

    /// Show at most so many rows on a terminal; JSON and CSV are never cut [default: 25, or as many as --top
    /// asks for]
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub rows: Option<usize>,
}

/// What a list at every slide has of its own.
#[derive(clap::Args)]
pub struct SequenceArgs {
    /// A privacy parameter where keys are not declared: for how many releases delta also covers an event that someone
    /// times by what the releases showed [default: 1000000]
    #[arg(long, value_name = "RELEASES")]
    pub horizon: Option<u64>,

    /// Over how many releases, any so many, the stated confidence holds for all statements together [default: 1000]
    #[arg(long, value_name = "RELEASES")]
    pub together: Option<u64>,
}

impl SequenceArgs {
    fn apply(&self, spec: &mut Spec) {
        spec.horizon = self.horizon.or(spec.horizon);
        spec.together = self.together.or(spec.together);
    }
}

/// Compare with exact counting and with the published algorithms, on a stream whose truth may be looked at.
///
/// Runs exact counting, Frostpane, and the algorithms of Blocki, Lee, Mukherjee and Zhou (2023), with constants
/// that fit into the same memory, over the last two windows of a stream, and scores the lists of the last window
/// against the true counts. It is an evaluation: its output is not private.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  Both norms, on the last 200,000 of the last 400,000 lines of a file:
    frostpane compare --window 200000 searches.txt
  One norm and its alpha, for another program:
    frostpane compare --norm l1 --alpha 0.002 --key 2 --time 1 --window 30d --json log.tsv.zst")]
pub struct CompareArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    /// Write the outcome as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Say what to expect of a list before any data: noise, threshold, memory, promises.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  What a list of the last million events will be good for:
    frostpane plan
  The same for 30 days with about 5 million events, at a smaller epsilon:
    frostpane plan --window 30d --events 5000000 --epsilon 0.5
  What to expect of the last week and the last month in one pass:
    frostpane plan --window 7d --window 30d --events 5000000
  What to expect of the top 20 keys, and of a list of them every day:
    frostpane plan --top 20 --window 30d --events 5000000
    frostpane plan --top 20 --window 30d --slide 1d --events 5000000 --watch
  The epsilon at which every key that occurs 500 times is listed:
    frostpane plan --target-count 500
  What it costs to count up to 4 keys of each person and day, or more, or fewer:
    frostpane plan --per-user 4 --window 7d --events 100000 --top 20")]
pub struct PlanArgs {
    #[command(flatten)]
    pub request: RequestArgs,

    /// Plan for people, as --user does for a list; the column is not looked at
    #[arg(long, value_name = "COLUMN")]
    pub user: Option<String>,

    /// Plan a list at every slide, as `frostpane watch` makes them
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub sequence: SequenceArgs,

    /// The events will come through a pipe, so that their end is not known before: then a window begins with a pane that was
    /// laid in advance
    #[arg(long, conflicts_with = "watch")]
    pub pipe: bool,

    /// How many events to expect in the window, the longest of several; needed if it goes by time. For people: how many contributions, a
    /// person being one for each day (or other epoch) and each of the keys that count
    #[arg(long, value_parser = number)]
    pub events: Option<u64>,

    /// The L2 norm to expect, such as the `norm_estimate` of an earlier list [default: the least at which the promises are
    /// made]
    #[arg(long, value_name = "NORM", value_parser = number)]
    pub at_norm: Option<u64>,

    /// How many different keys to expect in the window, for the comparison with plain counting [default: one an event]
    #[arg(long, value_name = "KEYS", value_parser = number)]
    pub distinct: Option<u64>,

    /// Tell which epsilon lists every key that occurs so often, and which alpha
    #[arg(long, value_name = "COUNT", value_parser = number)]
    pub target_count: Option<u64>,

    /// Write the plan as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Look for evidence against what Frostpane claims about privacy.
///
/// Runs the mechanism many times on pairs of neighbouring streams that were chosen to hurt, and says what epsilon is
/// at least, with 99 % confidence for all checks together; where everything is finite it calculates instead. Reads no
/// data. It is evidence, not proof. Also audits the published algorithms, which do not keep what they claim.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  In less than two minutes:
    frostpane audit --short
  The parameters of your own deployment, with a picture:
    frostpane audit --epsilon 0.5 --delta 1e-8 --norm l2 --keys open --picture audit.svg")]
pub struct AuditArgs {
    /// A tenth of the runs
    #[arg(long)]
    pub short: bool,

    /// Only this check; may be given several times [default: all]
    #[arg(long = "check", value_name = "NAME")]
    pub checks: Vec<String>,

    #[cfg(feature = "mutants")]
    #[command(flatten)]
    pub broken: MutantArgs,

    /// Check at this epsilon, instead of where a violation would show best
    #[arg(long, allow_negative_numbers = true)]
    pub epsilon: Option<f64>,

    /// Check open keys at this delta
    #[arg(long, allow_negative_numbers = true)]
    pub delta: Option<f64>,

    /// Check this norm only
    #[arg(long, value_enum, ignore_case = true)]
    pub norm: Option<NormArg>,

    /// Check such keys only
    #[arg(long, value_enum, ignore_case = true)]
    pub keys: Option<KeysArg>,

    /// Draw what came out on both streams of each check, as SVG
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,

    /// Write the outcome as one JSON object
    #[arg(long)]
    pub json: bool,
}

impl WatchArgs {
    /// What is asked for.
    pub fn resolve(&self) -> Result<Request> {
        let mut request = self.request.resolve(true)?;
        self.sequence.apply(&mut request.spec);
        Ok(request)
    }
}

impl PlanArgs {
    /// What is asked for.
    pub fn resolve(&self) -> Result<Request> {
        let mut request = self.request.resolve(self.watch)?;
        if self.user.is_some() {
            protect_users(&mut request.spec);
        }
        match (self.watch, self.sequence.horizon.or(self.sequence.together)) {
            (false, Some(_)) => Err(Failure::Message(
                "--horizon and --together are about a list at every slide: plan it with --watch".to_owned(),
            )),
            _ => {
                self.sequence.apply(&mut request.spec);
                Ok(match request.may_be_laid() && !self.watch && !self.pipe {
                    true => request.laid(),
                    false => request,
                })
            }
        }
    }
}
