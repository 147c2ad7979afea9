//! The files of a source, to be read side by side.

use std::iter;
use std::mem;

use super::{Found, Layout, Source};
use crate::failure::Result;
use crate::input::{Event, Selection};

/// Each has a thread, and up to two open files.
const MOST: usize = 64;

/// A file of several, which any thread may read.
pub struct Part {
    layout: Layout,
    selection: Selection,
    announced: String,
}

impl Part {
    pub fn open(self) -> Source {
        Source {
            announced: self.announced,
            ..Source::of(vec![self.layout], self.selection)
        }
    }
}

impl Source {
    /// Whether events are wanted in the order of time, of files that may overlap in it, and that are not too many.
    pub fn is_read_side_by_side(&self) -> bool {
        self.may_overlap() && self.files.len() <= MOST
    }

    /// That files are read one after the other although they may overlap in time.
    pub fn note_of_order(&self) -> Option<String> {
        (self.may_overlap() && self.files.len() > MOST).then(|| {
            format!(
                "the {} files are read one after the other, and each has to begin where the one before it ends: up to {MOST} may overlap in time",
                self.files.len()
            )
        })
    }

    fn may_overlap(&self) -> bool {
        let in_order = self.selection.live && self.selection.by_clock;
        in_order && self.total_bytes.is_some() && self.files.len() > 1
    }

    /// All files. What to say of one that is read as the one before was said.
    pub fn take_apart(&mut self) -> Vec<Part> {
        let files = mem::take(&mut self.files);
        let texts: Vec<String> = files.iter().map(|layout| layout.text(&self.selection)).collect();
        let announced = iter::once(String::new()).chain(texts);
        let selection = Selection {
            live: false,
            ..self.selection.clone()
        };
        files
            .into_iter()
            .zip(announced)
            .map(|(layout, announced)| Part {
                layout,
                selection: selection.clone(),
                announced,
            })
            .collect()
    }

    /// Takes in what was found in its parts, and gives the events of those in which none has a time.
    pub fn put_together(
        &mut self,
        parts: Vec<Found>,
    ) -> Result<impl Iterator<Item = Event<'static>> + use<>> {
        for part in parts {
            self.found.tally.add(part.tally);
            self.found.is_delimited |= part.is_delimited;
            self.found.empty.extend(part.empty);
        }
        let timed = self.found.tally.timed();
        self.check_times()?;
        Ok(timed)
    }

    pub fn into_found(self) -> Found {
        self.found
    }
}
