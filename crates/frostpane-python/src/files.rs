//! Columns of the events of files, made by the reader of the program.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, LargeBinaryBuilder, TimestampMicrosecondBuilder};
use frostpane_events::{Column, EventRef, ReadReport, Schema, Source};
use pyo3::prelude::*;

use crate::error::{CallError, Result};
use crate::spec::NeededColumns;

/// Rows of a chunk; after each the reader looks for an interrupt.
const CHUNK: usize = 1 << 18;

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
    let (has_times, has_users) = (schema.by_clock, schema.user.is_some());
    let mut events = FileEvents { has_times, has_users, ..FileEvents::default() };
    let mut source = Source::new(files, schema)?;
    source.for_each(|event| events.push(event))?;
    events.end_chunk();
    events.notes = notes(&source.report);
    Ok(events)
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
    unreadable.into_iter().chain(report.without_events()).collect()
}

/// Columns that grow, chunk by chunk.
#[derive(Default)]
pub struct FileEvents {
    pub has_times: bool,
    pub has_users: bool,
    pub len: usize,
    pub keys: Vec<ArrayRef>,
    pub times: Vec<ArrayRef>,
    pub users: Vec<ArrayRef>,
    pub notes: Vec<String>,
    key: LargeBinaryBuilder,
    time: TimestampMicrosecondBuilder,
    user: LargeBinaryBuilder,
}

impl FileEvents {
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
}
