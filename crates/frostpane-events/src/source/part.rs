//! The files of a source, to be read side by side.

use std::iter;
use std::mem;

use super::{FileLayout, ReadReport, Source};
use crate::EventRef;
use crate::error::Error;
use crate::schema::Schema;

/// Each has a thread, and up to two open files.
const MOST: usize = 64;

/// A file of several, which any thread may read.
pub struct FilePart {
    layout: FileLayout,
    schema: Schema,
    announced: String,
}

impl FilePart {
    /// A source of this file alone.
    pub fn open(self) -> Source {
        Source { announced: self.announced, ..Source::of(vec![self.layout], self.schema) }
    }
}

impl Source {
    /// Returns true if events are wanted in the order of time, of files that may overlap in it, and that are
    /// not too many.
    pub fn is_read_side_by_side(&self) -> bool {
        self.may_overlap() && self.files.len() <= MOST
    }

    /// A note for the operator if files are read one after the other although they may overlap in time.
    pub fn note_of_order(&self) -> Option<String> {
        (self.may_overlap() && self.files.len() > MOST).then(|| {
            format!(
                "the {} files are read one after the other, and each has to begin where the one before it ends: up to {MOST} may overlap in time",
                self.files.len()
            )
        })
    }

    fn may_overlap(&self) -> bool {
        let in_order = self.schema.live && self.schema.by_clock;
        in_order && self.total_bytes.is_some() && self.files.len() > 1
    }

    /// All files. One that is read as the one before is not announced.
    pub fn take_apart(&mut self) -> Vec<FilePart> {
        let files = mem::take(&mut self.files);
        let texts: Vec<String> = files.iter().map(|layout| layout.text(&self.schema)).collect();
        let announced = iter::once(String::new()).chain(texts);
        let schema = Schema { live: false, ..self.schema.clone() };
        files
            .into_iter()
            .zip(announced)
            .map(|(layout, announced)| FilePart { layout, schema: schema.clone(), announced })
            .collect()
    }

    /// Adds the reports of its parts, and returns the events of those in which none has a time.
    pub fn put_together(
        &mut self,
        parts: Vec<ReadReport>,
    ) -> Result<impl Iterator<Item = EventRef<'static>> + use<>, Error> {
        for part in parts {
            self.report.tally.add(part.tally);
            self.report.is_delimited |= part.is_delimited;
            self.report.empty.extend(part.empty);
        }
        let timed = self.report.tally.timed();
        self.check_times()?;
        Ok(timed)
    }
}
