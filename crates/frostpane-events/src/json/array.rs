//! An array of objects, in memory.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Objects, names_of};
use crate::error::{Halt, Result};
use crate::schema::ColumnSelection;
use crate::sink::{EventFault, EventSink};

/// Reads an array of objects. One that does not end is refused: nobody knows how many events it has.
pub fn read_array(body: &[u8], selection: &ColumnSelection, sink: &mut EventSink<'_>) -> Result<()> {
    let names = names_of(selection);
    let readable = readable(body);
    let mut halt = None;
    let elements = Elements {
        body,
        readable: &readable,
        objects: Objects::new(selection, &names),
        sink,
        halt: &mut halt,
    };
    let mut json = serde_json::Deserializer::from_str(&readable);
    let read = json.deserialize_seq(elements).and_then(|()| json.end());
    match (halt, read) {
        (Some(halt), _) => Err(halt),
        (None, Err(cause)) => Err(sink.invalid(cause.line() as u64, EventFault::NoArray).into()),
        (None, Ok(())) => Ok(()),
    }
}

/// The text, with a question mark in place of every byte that is not UTF-8: every element stays where it is.
fn readable(body: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(body) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Takes the elements one by one: there may be far more of them than are held at once.
struct Elements<'s, 'a, 'o> {
    body: &'s [u8],
    readable: &'s str,
    objects: Objects<'o>,
    sink: &'s mut EventSink<'a>,
    halt: &'s mut Option<Halt>,
}

impl<'de> Visitor<'de> for Elements<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(raw) = all.next_element::<&RawValue>()? {
            number += 1;
            let raw = raw.get();
            let start = raw.as_ptr().addr() - self.readable.as_ptr().addr();
            let object = &self.body[start..start + raw.len()];
            if let Err(halt) = self.objects.take(number, object, self.sink) {
                *self.halt = Some(halt);
                return Err(A::Error::custom("halted"));
            }
        }
        Ok(())
    }
}
