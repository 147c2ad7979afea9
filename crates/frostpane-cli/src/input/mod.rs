//! Events from files, whatever they are: formats, packing, columns, times.
//!
//! How a file is read follows from its name and from what was told, never from what stands in its lines, and every
//! line is one event: so one changed key changes one event. (Times are public: whether whole numbers are dates follows
//! from the first of them. Where events have users, they are not, and each is read by itself.)

mod column;
mod csv;
mod delimiter;
mod fields;
mod files;
mod find;
mod format;
mod guard;
mod header;
mod json_path;
mod jsonl;
mod lines;
mod missing;
mod packing;
mod parquet;
mod partitions;
mod pattern;
mod records;
mod sink;
mod source;
mod stream;
mod text;
mod time;
mod time_format;
mod tsv;
mod whole_lines;

#[cfg(test)]
mod hostile;

use std::path::Path;

use jiff::tz::TimeZone;

pub use column::Column;
pub use delimiter::Delimiter;
pub use format::Format;
pub use packing::Packing;
pub use pattern::Pattern;
pub use source::{Found, Part, Source};
pub use time_format::TimeFormat;

/// An event as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// In microseconds since 1970, if a time was asked for.
    pub time: Option<i64>,
    /// Not if it is missing, empty or null: the event took place all the same.
    pub key: Option<&'a [u8]>,
    /// Whose it is, if that was asked for. Not if it is missing, empty, null or [too long](sink::LONGEST_USER), nor where the event
    /// cannot be read: nobody has the events of somebody else.
    pub user: Option<&'a [u8]>,
}

impl Event<'_> {
    /// One of which no more is known than its time, if that.
    pub fn at(time: Option<i64>) -> Self {
        Self {
            time,
            key: None,
            user: None,
        }
    }

    /// With its time if windows go by time, and else without.
    #[inline]
    pub fn timed(self, by_clock: bool) -> Self {
        let time = self.time.filter(|_| by_clock);
        Self { time, ..self }
    }
}

/// What to read from the files, and how.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Without a key column the whole line is the key.
    pub key: Option<Column>,
    /// Without one events have no time.
    pub time: Option<Column>,
    /// Whether they need one, because the window goes by time.
    pub by_clock: bool,
    /// Without one events have no user.
    pub user: Option<Column>,
    /// Whether the first line names the columns, even if they are all given by number.
    pub header: bool,
    /// Whether an error may tell what stands in such a line.
    pub show_names: bool,
    /// Whether messages may show a line that cannot be read.
    pub show_input: bool,
    /// What the names of files do not have to tell.
    pub format: Option<Format>,
    pub packing: Option<Packing>,
    pub delimiter: Option<Delimiter>,
    /// What takes lines of text apart.
    pub pattern: Option<Pattern>,
    pub time_format: TimeFormat,
    /// Of times that name none.
    pub timezone: TimeZone,
    /// Whether records of CSV may go on over several lines.
    pub multiline: bool,
    /// Whether events are wanted as they come.
    pub live: bool,
    /// Whether a last line without an end is left out, because the rest of it may still come. One that is packed says itself where it ends.
    pub whole_lines: bool,
}

impl Default for Selection {
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
            packing: None,
            delimiter: None,
            pattern: None,
            time_format: TimeFormat::Any,
            timezone: TimeZone::UTC,
            multiline: false,
            live: false,
            whole_lines: false,
        }
    }
}

impl Selection {
    /// The columns to look for in a file, unless whole lines are taken.
    fn wanted(&self, file: &Path) -> Option<column::Wanted> {
        let times = time::Times::new(self.time_format.clone(), self.timezone.clone());
        Some(column::Wanted {
            key: self.key.clone()?,
            time: self.time.clone(),
            user: self.user.clone(),
            header: self.header,
            show_names: self.show_names,
            delimiter: self.delimiter,
            times: match self.user {
                Some(_) => times.by_themselves(),
                None => times,
            },
            partitions: partitions::Partitions::of(file),
        })
    }

    /// Whether the first line of CSV and TSV names the columns.
    fn has_header(&self) -> bool {
        let columns = [&self.key, &self.time, &self.user];
        self.header || columns.into_iter().flatten().any(Column::is_named)
    }
}
