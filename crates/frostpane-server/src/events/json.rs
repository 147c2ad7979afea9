//! Objects, one a line or in an array.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::sink::{Fault, Parts, Sink};
use super::text::split;
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};
use crate::stream::Columns;

/// Reads an object a line.
pub fn lines<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    for (number, line) in split(body) {
        object(number, line, sink)?;
    }
    Ok(())
}

/// Reads an array of objects.
pub fn array<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    let mut refused = None;
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let elements = Elements {
        sink: &mut *sink,
        refused: &mut refused,
    };
    let read = (&mut deserializer)
        .deserialize_seq(elements)
        .and_then(|()| deserializer.end());
    match (refused, read) {
        (Some(problem), _) => Err(problem),
        (None, Err(cause)) => Err(sink.refusal(Fault::Syntax).at(cause.line() as u64)),
        (None, Ok(())) => Ok(()),
    }
}

/// Reads the elements of an array one by one.
struct Elements<'a, 'b, K> {
    sink: &'a mut Sink<'b, K>,
    refused: &'a mut Option<Problem>,
}

impl<'de, K: ServedKey> Visitor<'de> for Elements<'_, '_, K> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> std::result::Result<(), A::Error> {
        let mut number = 0;
        while let Some(raw) = all.next_element::<&RawValue>()? {
            number += 1;
            if let Err(problem) = object(number, raw.get().as_bytes(), self.sink) {
                *self.refused = Some(problem);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}

fn object<K: ServedKey>(number: u64, json: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
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
        Ok(found) => sink.push(number, Ok(found.parts())),
        Err(_) => sink.push(number, Err(fault.get())),
    }
}

/// The parts of an object, which may not be in it as they are.
#[derive(Default)]
struct Found<'a> {
    key: Option<Value<'a>>,
    time: Option<Value<'a>>,
    user: Option<Value<'a>>,
}

impl Found<'_> {
    fn parts(&self) -> Parts<'_> {
        Parts {
            key: self.key.as_ref().map(Value::text),
            time: self.time.as_ref().map(Value::time),
            user: self.user.as_ref().map(Value::text),
        }
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
            self.fault.set(Fault::Type);
            *place = Some(map.next_value()?);
            self.fault.set(Fault::Syntax);
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

/// What a part may be.
enum Value<'a> {
    Null,
    Text(Cow<'a, str>),
    /// With its digits.
    Integer(i128, String),
    Number(f64),
}

impl Value<'_> {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            Self::Integer(_, digits) => Some(digits.as_bytes()),
            Self::Null | Self::Number(_) => None,
        }
    }

    fn time(&self) -> Option<i64> {
        match self {
            Self::Null => None,
            Self::Text(text) => time::of_text(text),
            Self::Integer(number, _) => i64::try_from(*number).ok().and_then(time::of_integer),
            Self::Number(number) => time::of_number(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a number or null")
            }

            fn visit_unit<E>(self) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Null)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Integer(number.into(), number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Integer(number.into(), number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Value<'de>, E> {
                Ok(Value::Number(number))
            }
        }

        deserializer.deserialize_any(Any)
    }
}
