//! Options that say where events come from and how they are written.

use std::path::PathBuf;

use frostpane::Span;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::terminal::tell;
use frostpane_events::{Column, Compression, Delimiter, Format, Pattern, Schema, TimeFormat};

#[derive(clap::Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnArgs {
    /// Column that holds the key, by name or by position from 1 [default: the whole line]
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,

    /// Column that holds the time, by name or by position from 1
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,

    /// Column that holds the user, by name or by position from 1: protects all that one user did in one
    /// epoch, see --epoch
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

#[derive(clap::Args, Clone)]
pub struct InputArgs {
    /// Files to read, one after the other; a folder stands for all files below it
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// How times are written: unix, millis, micros or nanos, or a format such as '%d.%m.%Y %H:%M:%S'
    /// [default: told apart, as said below]
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<TimeFormat>,

    /// How events stand in the files [default: as their names end: .csv, .tsv, .jsonl, .parquet; else text]
    #[arg(long, value_enum, ignore_case = true)]
    pub format: Option<Format>,

    /// How the files are packed [default: as their names end: .gz, .zst; else not at all]
    #[arg(long, value_enum, ignore_case = true)]
    pub packing: Option<Compression>,

    /// The character that separates columns of CSV or TSV, or the word tab [default: what the first line
    /// shows, if it names the columns; else a comma in CSV and a tab in TSV]
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<Delimiter>,

    /// Takes lines of text apart by a regular expression with groups (?<key>...), (?<time>...) and
    /// (?<user>...), or as web servers write them: common, combined
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
    pub fn has_users(&self) -> bool {
        self.columns.user.is_some() || self.user_group().is_some()
    }

    fn user_group(&self) -> Option<Column> {
        self.pattern.as_ref().and_then(Pattern::group_of_users)
    }

    /// The parts of the input that are the events, for a window of this kind.
    pub fn schema(&self, window: Span, timezone: &TimeZone) -> Result<Schema> {
        let column = |text: &Option<String>| text.as_deref().map(Column::new).transpose();
        let group = |name| self.pattern.as_ref().and_then(|pattern| pattern.group(name));
        let key = column(&self.columns.key)?.or_else(|| group("key"));
        let time = column(&self.columns.time)?.or_else(|| group("time"));
        let user = column(&self.columns.user)?.or_else(|| self.user_group());
        let fault = match (&key, &time, window) {
            (None, _, _) if self.pattern.is_some() => {
                "--pattern has no group (?<key>...): name one so, or say which group is the key, with --key"
            }
            _ if self.multiline && self.columns.user.is_some() => {
                "--multiline was asked for with a column of users, but a quote that somebody left open would \
                 swallow what others did: write the file as JSON Lines or Parquet, or with one line an event"
            }
            (None, Some(_), _) => "--time is for files with columns: say which one holds the key, with --key",
            (None, None, _) if user.is_some() => {
                "--user is for files with columns: say which one holds the key, with --key"
            }
            (_, None, Span::Clock(_)) if user.is_some() => {
                "users are protected by the clock, which needs the times of the events: say which column \
                 holds them, with --time"
            }
            (_, None, Span::Clock(_)) => NO_TIME_COLUMN,
            _ => {
                return Ok(Schema {
                    key,
                    header: self.header || [&time, &user].into_iter().flatten().any(Column::is_named),
                    show_names: self.header || self.show_input,
                    show_input: self.show_input,
                    // Windows by count need times only to see whether order follows from keys where times are
                    // equal.
                    by_clock: matches!(window, Span::Clock(_)),
                    timezone: timezone.clone(),
                    time,
                    user,
                    format: self.format,
                    compression: self.packing,
                    delimiter: self.delimiter,
                    pattern: self.pattern.clone(),
                    time_format: self.time_format.clone().unwrap_or_default(),
                    multiline: self.multiline,
                    tell: |text| tell(text),
                    ..Schema::default()
                });
            }
        };
        Err(Failure::Message(fault.to_owned()))
    }
}

pub const NO_TIME_COLUMN: &str = "a window by time needs the times of the events: say which column holds \
                                  them, with --time, or give the window as a number of events";
