mod column;
mod format;
mod path_columns;

use std::fmt;
use std::path::Path;

use jiff::tz::TimeZone;

pub use column::{Column, ColumnNames, ColumnPlace, ColumnPlaces, ColumnSelection, EventColumns};
pub use format::{Delimiter, Format, advice_to_unpack, seems_header};
pub use path_columns::PathColumns;

use crate::compression::Compression;
use crate::pattern::Pattern;
use crate::time::Times;
use crate::time_format::TimeFormat;

/// The treatment of input with an event that is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// An event that cannot be read has no key and no user.
    #[default]
    Count,
    /// The first refuses the input: an event that cannot be read, whose time is none, that lacks a field or
    /// has one twice, or that has not as many columns as the header. A key or a user refuses nothing,
    /// whatever it is.
    Refuse,
}

/// The columns to read, and the format.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Without a key column the whole line is the key.
    pub key: Option<Column>,
    /// Without a time column events have no time.
    pub time: Option<Column>,
    /// Events need a time, because the window goes by time.
    pub by_clock: bool,
    /// Without a user column events have no user.
    pub user: Option<Column>,
    /// The first line names the columns, even if they are all given by number.
    pub header: bool,
    /// An error may show a first line that names columns.
    pub show_names: bool,
    /// Messages may show a line that cannot be read.
    pub show_input: bool,
    /// None: as the name of the file says.
    pub format: Option<Format>,
    /// None: as the name of the file says.
    pub compression: Option<Compression>,
    /// None: as a header shows, or else the usual one of the format.
    pub delimiter: Option<Delimiter>,
    /// Takes lines of text apart.
    pub pattern: Option<Pattern>,
    /// The format of times.
    pub time_format: TimeFormat,
    /// The zone of times that name none.
    pub timezone: TimeZone,
    /// Records of CSV may go on over several lines.
    pub multiline: bool,
    /// Events are wanted as they come.
    pub live: bool,
    /// A last line without an end is left out, because the rest of it may still come. A compressed file
    /// itself says where it ends.
    pub whole_lines: bool,
    /// The treatment of input with an event that is invalid.
    pub on_invalid: OnInvalid,
    /// Input with more events than this is refused.
    pub most_events: u64,
    /// Tells the operator something while files are read.
    pub tell: fn(fmt::Arguments<'_>),
}

impl Default for Schema {
    fn default() -> Self {
        Self {
            key: None,
            time: None,
            by_clock: false,
            user: None,
            header: false,
            show_names: false,
            show_input: false,
            format: None,
            compression: None,
            delimiter: None,
            pattern: None,
            time_format: TimeFormat::Any,
            timezone: TimeZone::UTC,
            multiline: false,
            live: false,
            whole_lines: false,
            on_invalid: OnInvalid::Count,
            most_events: u64::MAX,
            tell: |_| (),
        }
    }
}

impl Schema {
    /// The columns to look for in a file; none if whole lines are taken.
    pub(crate) fn selection(&self, file: &Path) -> Option<ColumnSelection> {
        let times = Times::new(self.time_format.clone(), self.timezone.clone());
        Some(ColumnSelection {
            key: self.key.clone()?,
            time: self.time.clone(),
            user: self.user.clone(),
            times: if self.user.is_some() { times.by_themselves() } else { times },
            path_columns: PathColumns::of(file),
        })
    }

    /// Returns true if rows must have as many fields as the header, and objects each of the fields once.
    pub(crate) fn is_strict(&self) -> bool {
        self.on_invalid == OnInvalid::Refuse
    }

    /// Returns true if the first line of CSV and TSV names the columns: one is asked for by name, or the
    /// operator says so.
    pub fn has_header(&self) -> bool {
        let columns = [&self.key, &self.time, &self.user];
        self.header || columns.into_iter().flatten().any(Column::is_named)
    }
}
