//! Objects of JSON, one a line or in an array. Only the fields of the schema are looked at; nothing else is
//! built. (A tape of simd-json is 1.7 times as fast, but refuses lines with half a surrogate pair and does
//! not keep numbers as they are written.)

mod array;
mod path;

use std::fmt;
use std::io::BufRead;

use serde::de::{Deserializer, Error, Visitor};

use crate::EventRef;
use crate::error::Result;
use crate::lines::{Lines, too_long};
use crate::schema::{Column, ColumnSelection, EventColumns};
use crate::sink::{EventFault, EventSink};
pub use array::read_array;
use path::{JsonFields, Paths, find};

pub fn read(reader: &mut dyn BufRead, selection: &ColumnSelection, sink: &mut EventSink<'_>) -> Result<()> {
    let names = names_of(selection);
    let mut objects = Objects::new(selection, &names);
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        objects.take(number, line, sink)?;
    }
    Ok(())
}

fn names_of(selection: &ColumnSelection) -> EventColumns<String> {
    let path = |column: &Option<Column>| column.as_ref().map(Column::text);
    EventColumns { key: Some(selection.key.text()), time: path(&selection.time), user: path(&selection.user) }
}

struct Objects<'a> {
    selection: &'a ColumnSelection,
    paths: Paths<'a>,
    /// The values of columns in the path of the file, which objects without such a field have.
    of_path: EventColumns<&'a [u8]>,
    unescaped_key: Vec<u8>,
    unescaped_user: Vec<u8>,
}

impl<'a> Objects<'a> {
    fn new(selection: &'a ColumnSelection, names: &'a EventColumns<String>) -> Self {
        let EventColumns { key, time, user } = names;
        let paths = Paths { key: key.as_deref(), time: time.as_deref(), user: user.as_deref() };
        Self {
            selection,
            paths,
            of_path: paths.map(|name| selection.path_columns.get(name)),
            unescaped_key: Vec::new(),
            unescaped_user: Vec::new(),
        }
    }

    #[inline]
    fn take(&mut self, number: u64, object: &[u8], sink: &mut EventSink<'_>) -> Result<()> {
        let (found, is_whole) = find(object, self.paths);
        if !is_whole || too_long(object).is_some() {
            return self.take_unreadable(number, object, found.time, sink);
        }
        let time = self.time(found.time);
        if sink.schema.is_strict()
            && let Some(fault) = self.fault(&found)
        {
            return sink.unreadable(number, time, fault, object);
        }
        let key = match found.key {
            Some(raw) => text(raw, &mut self.unescaped_key),
            None => self.of_path.key.filter(|key| !key.is_empty()),
        };
        sink.tally.key_of_path |= found.key.is_none() && self.of_path.key.is_some();
        let user = match found.user {
            Some(raw) => text(raw, &mut self.unescaped_user).filter(|_| is_name(raw)),
            None => self.of_path.user,
        };
        sink.event(number, EventRef { time, key, user }, object)
    }

    /// Takes what is no whole object. Its time is read if possible, even after a key that is not UTF-8.
    #[cold]
    fn take_unreadable(
        &self,
        number: u64,
        object: &[u8],
        time: Option<&str>,
        sink: &mut EventSink<'_>,
    ) -> Result<()> {
        let readable = String::from_utf8_lossy(object);
        let (found, is_whole) = find(readable.as_bytes(), self.paths);
        let time = self.time(time).or_else(|| self.time(found.time));
        let fault = if is_whole { EventFault::NotText } else { EventFault::NoObject };
        let fault = match too_long(object) {
            None if is_whole && sink.schema.is_strict() => self.fault(&found).unwrap_or(fault),
            too_long => too_long.unwrap_or(fault),
        };
        sink.unreadable(number, time, fault, object)
    }

    /// A field that is missing, or there twice.
    fn fault(&self, found: &JsonFields<'_>) -> Option<EventFault> {
        let is_missing = |path: Option<&str>, found: Option<&str>| path.is_some() && found.is_none();
        match found {
            JsonFields { is_twice: true, .. } => Some(EventFault::Twice),
            found if is_missing(self.paths.key, found.key) => Some(EventFault::MissingKey),
            found if is_missing(self.paths.time, found.time) => Some(EventFault::MissingTime),
            found if is_missing(self.paths.user, found.user) => Some(EventFault::MissingUser),
            _ => None,
        }
    }

    #[inline]
    fn time(&self, raw: Option<&str>) -> Option<i64> {
        let times = &self.selection.times;
        match raw {
            Some(raw) => times.parse(text(raw, &mut Vec::new())?),
            None => times.parse(self.of_path.time?),
        }
    }
}

/// A JSON value as text: strings without quotes, numbers and booleans as written, nothing else.
fn text<'a>(raw: &'a str, unescaped: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let text = match raw.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => inner,
        [b'"', ..] => {
            unescaped.clear();
            serde_json::Deserializer::from_str(raw).deserialize_bytes(Unescape(unescaped)).ok()?;
            unescaped
        }
        [b'{' | b'[' | b'n', ..] => return None,
        scalar => scalar,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Returns true for a value that may be a user: text or a whole number, which are written in one way.
fn is_name(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    raw.starts_with('"') || digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes bytes rather than text: half of a surrogate pair is a legal escape in JSON, but no text.
struct Unescape<'a>(&'a mut Vec<u8>);

impl Visitor<'_> for Unescape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::testing::{events, selection, text};

    #[test]
    fn a_user_may_stand_below_other_fields_and_names_may_have_dots() {
        let lines = [
            r#"{"who": {"id": 17}, "k": 1}"#,
            r#"{"who.id": "\u0031\u0037", "k": 1}"#,
            r#"{"who": "17", "k": 1}"#,
            r#"{"id": "17", "k": 1}"#,
            r#"{"who": {"id": "17"}, "k": "x", "who": {"id": "18"}, "y": ""}"#,
        ]
        .join("\n");
        let selection = selection("k", None, Some("who.id"));
        let (found, _) = events(&Schema::default(), |sink| read(&mut lines.as_bytes(), &selection, sink));
        let users: Vec<_> = found.unwrap().into_iter().map(|(.., user)| text(user)).collect();
        let expected = [Some("17"), Some("17"), None, None, Some("17")].map(|user| user.map(str::to_owned));
        assert_eq!(users, expected);
    }
}
