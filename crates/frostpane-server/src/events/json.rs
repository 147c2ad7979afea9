//! Objects, one a line or in an array.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::sink::{Fault, Parts, Sink};
use super::text::split;
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};
use crate::stream::Columns;

/// Reads an object a line.
pub fn lines<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    let mut unescaped = Default::default();
    // No key makes a line empty.
    for (number, line) in split(body).filter(|(_, line)| !line.is_empty()) {
        object(number, line, &mut unescaped, sink)?;
    }
    Ok(())
}

/// Reads an array of objects.
pub fn array<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    let mut refused = None;
    // A key that is no text refuses nothing.
    let body = String::from_utf8_lossy(body);
    let mut deserializer = serde_json::Deserializer::from_str(&body);
    let elements = Elements {
        sink,
        refused: &mut refused,
    };
    let read = deserializer
        .deserialize_seq(elements)
        .and_then(|()| deserializer.end());
    match (refused, read) {
        (Some(problem), _) => Err(problem),
        (None, Err(cause)) => Err(sink.refusal(Fault::Syntax).at(cause.line() as u64)),
        (None, Ok(())) => Ok(()),
    }
}

/// Takes the elements of an array one by one: there may be far more of them than are held at once.
struct Elements<'s, 'a, K> {
    sink: &'s mut Sink<'a, K>,
    refused: &'s mut Option<Problem>,
}

impl<'de, K: ServedKey> Visitor<'de> for Elements<'_, '_, K> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> std::result::Result<(), A::Error> {
        let (mut number, mut unescaped) = (0, Default::default());
        while let Some(raw) = all.next_element::<&RawValue>()? {
            number += 1;
            if let Err(problem) = object(number, raw.get().as_bytes(), &mut unescaped, self.sink) {
                *self.refused = Some(problem);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}

fn object<K: ServedKey>(
    number: u64,
    json: &[u8],
    unescaped: &mut [Vec<u8>; 2],
    sink: &mut Sink<'_, K>,
) -> Result<()> {
    let fault = Cell::new(Fault::Syntax);
    let seed = Fields {
        columns: sink.columns(),
        fault: &fault,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let found = seed
        .deserialize(&mut deserializer)
        .and_then(|found| deserializer.end().map(|()| found));
    match found {
        Ok(found) => sink.push(number, Ok(found.parts(unescaped))),
        Err(_) => sink.push(number, without_text(json, sink.columns()).ok_or(fault.get())),
    }
}

/// An event without a key or a user, of an object that is whole but for bytes that are no text.
fn without_text<'a>(json: &[u8], columns: &Columns) -> Option<Parts<'a>> {
    let Cow::Owned(readable) = String::from_utf8_lossy(json) else {
        return None;
    };
    let seed = Fields {
        columns,
        fault: &Cell::new(Fault::Syntax),
    };
    let mut deserializer = serde_json::Deserializer::from_str(&readable);
    let found = seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(Parts {
        key: found.key.map(|_| None),
        time: found.time.map(time_of),
        user: found.user.map(|_| None),
    })
}

/// The parts of an object as they are written there.
#[derive(Default)]
struct Found<'a> {
    key: Option<&'a str>,
    time: Option<&'a str>,
    user: Option<&'a str>,
}

impl Found<'_> {
    fn parts<'a>(&'a self, [key, user]: &'a mut [Vec<u8>; 2]) -> Parts<'a> {
        Parts {
            key: self.key.map(|raw| text(raw, key)),
            time: self.time.map(time_of),
            user: self.user.map(|raw| text(raw, user).filter(|_| is_name(raw))),
        }
    }
}

/// What a value is as text: strings without quotes, numbers and booleans as written, nothing else. Whatever it is, it is no fault.
fn text<'a>(raw: &'a str, unescaped: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    match raw.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Some(inner),
        [b'"', ..] => {
            unescaped.clear();
            let mut deserializer = serde_json::Deserializer::from_str(raw);
            deserializer.deserialize_bytes(Unescape(unescaped)).ok()?;
            Some(unescaped)
        }
        [b'{' | b'[' | b'n', ..] => None,
        scalar => Some(scalar),
    }
}

/// Whether a value may say who someone is: text or a whole number, and none that is written in several ways.
fn is_name(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    raw.starts_with('"') || digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn time_of(raw: &str) -> Option<i64> {
    match raw.starts_with('"') {
        true => time::of_text(str::from_utf8(text(raw, &mut Vec::new())?).ok()?),
        false => match raw.parse() {
            Ok(number) => time::of_integer(number),
            Err(_) => raw.parse().ok().and_then(time::of_number),
        },
    }
}

/// Takes bytes rather than text: half of a surrogate pair is a legal escape in JSON, but no text.
struct Unescape<'a>(&'a mut Vec<u8>);

impl Visitor<'_> for Unescape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Looks for the parts in an object.
struct Fields<'a> {
    columns: &'a Columns,
    fault: &'a Cell<Fault>,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Found<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Found<'de>, A::Error> {
        let mut found = Found::default();
        while let Some(part) = map.next_key_seed(Names(self.columns))? {
            let place = match part {
                Part::Key => &mut found.key,
                Part::Time => &mut found.time,
                Part::User => &mut found.user,
                Part::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if place.is_some() {
                self.fault.set(Fault::Twice);
                return Err(A::Error::custom("twice"));
            }
            *place = Some(map.next_value::<&RawValue>()?.get());
        }
        Ok(found)
    }
}

enum Part {
    Key,
    Time,
    User,
    Other,
}

/// Which part a field is.
struct Names<'a>(&'a Columns);

impl<'de> DeserializeSeed<'de> for Names<'_> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Part, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Names<'_> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<Part, E> {
        Ok(match self.0 {
            Columns { key, .. } if key == name => Part::Key,
            Columns { time: Some(time), .. } if time == name => Part::Time,
            Columns { user, .. } if user == name => Part::User,
            _ => Part::Other,
        })
    }
}
