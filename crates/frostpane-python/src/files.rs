//! Columns of the events of files, made by the reader of the program.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::ArrayBuilder;
use arrow_array::builder::{LargeBinaryBuilder, TimestampMicrosecondBuilder};
use frostpane_events::{Column, EventRef, ReadReport, Schema, Source};
use pyo3::prelude::*;

use crate::error::{CallError, Result};
use crate::spec::NeededColumns;

/// Rows of a chunk; after each the reader looks for an interrupt.
const CHUNK: usize = 1 << 18;

pub struct FileEvents {
    pub len: usize,
    pub keys: Vec<ArrayRef>,
    pub times: Option<Vec<ArrayRef>>,
    pub users: Option<Vec<ArrayRef>>,
    pub notes: Vec<String>,
}

/// The columns of keys, times and users.
pub fn schema(columns: [Option<&str>; 3], needed: NeededColumns) -> Result<Schema> {
    let [key, time, user] = columns.map(|name| name.map(Column::new).transpose());
    let invalid = |wrong| CallError::Parameter(format!("a column cannot be read: {wrong}"));
    let time = time.map_err(invalid)?.filter(|_| needed.time);
    Ok(Schema {
        key: key.map_err(invalid)?,
        by_clock: time.is_some(),
        time,
        user: user.map_err(invalid)?,
        ..Schema::default()
    })
}

pub fn read(files: &[PathBuf], schema: Schema) -> Result<FileEvents> {
    let mut chunks =
        Chunks { has_times: schema.by_clock, has_users: schema.user.is_some(), ..Chunks::default() };
    let mut source = Source::new(files, schema)?;
    source.for_each(|event| chunks.push(event))?;
    Ok(chunks.finish(notes(source.report())))
}

fn notes(report: &ReadReport) -> Vec<String> {
    let tally = &report.tally;
    let unreadable = tally.first.as_ref().map(|first| {
        format!(
            "{} of {} events could not be read and have no key; the first is in {first}",
            tally.unreadable, tally.events
        )
        .replace(" --", " ")
    });
    let empty = report.empty.first().map(|first| format!("{first} is empty"));
    unreadable.into_iter().chain(empty).collect()
}

/// Columns that grow, chunk by chunk.
#[derive(Default)]
struct Chunks {
    has_times: bool,
    has_users: bool,
    len: usize,
    key: LargeBinaryBuilder,
    time: TimestampMicrosecondBuilder,
    user: LargeBinaryBuilder,
    keys: Vec<ArrayRef>,
    times: Vec<ArrayRef>,
    users: Vec<ArrayRef>,
}

impl Chunks {
    #[inline]
    fn push(&mut self, event: EventRef<'_>) -> Result<()> {
        self.key.append_option(event.key);
        if self.has_times {
            self.time.append_option(event.time);
        }
        if self.has_users {
            self.user.append_option(event.user);
        }
        self.len += 1;
        if self.len.is_multiple_of(CHUNK) {
            self.end_chunk();
            Python::attach(|py| py.check_signals())?;
        }
        Ok(())
    }

    fn end_chunk(&mut self) {
        if self.key.len() > 0 {
            self.keys.push(Arc::new(self.key.finish()));
            self.times.push(Arc::new(self.time.finish()));
            self.users.push(Arc::new(self.user.finish()));
        }
    }

    fn finish(mut self, notes: Vec<String>) -> FileEvents {
        self.end_chunk();
        FileEvents {
            len: self.len,
            keys: mem::take(&mut self.keys),
            times: self.has_times.then_some(self.times),
            users: self.has_users.then_some(self.users),
            notes,
        }
    }
}
