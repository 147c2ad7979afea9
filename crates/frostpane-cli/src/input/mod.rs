//! Events from files, whatever they are: formats, packing, columns, times.
//!
//! How a file is read follows from its name and from what was told, never from what stands in its lines, and every
//! line is one event: so one changed key changes one event.

mod column;
mod csv;
mod fields;
mod files;
mod find;
mod format;
mod guard;
mod json_path;
mod jsonl;
mod lines;
mod packing;
mod parquet;
mod records;
mod sink;
mod source;
mod stream;
mod text;
mod time;
mod tsv;

#[cfg(test)]
mod hostile;

pub use column::Column;
pub use format::Format;
pub use packing::Packing;
pub use source::Source;

/// An event as it stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// In microseconds since 1970, if a time was asked for.
    pub time: Option<i64>,
    /// Not if it is missing, empty or null: the event took place all the same.
    pub key: Option<&'a [u8]>,
}

/// What to read from the files, and how.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Without a key column the whole line is the key.
    pub key: Option<Column>,
    /// If the window goes by time.
    pub time: Option<Column>,
    /// Whether the first line names the columns, even if they are all given by number.
    pub header: bool,
    /// What the names of files do not have to tell.
    pub format: Option<Format>,
    pub packing: Option<Packing>,
    /// Whether records of CSV may go on over several lines.
    pub multiline: bool,
    /// Whether events are wanted as they come.
    pub live: bool,
}

impl Selection {
    /// The columns to look for, unless whole lines are taken.
    fn wanted(&self) -> Option<column::Wanted> {
        Some(column::Wanted {
            key: self.key.clone()?,
            time: self.time.clone(),
            header: self.header,
        })
    }
}
