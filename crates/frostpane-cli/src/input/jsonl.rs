//! JSON Lines: one object a line. Only the wanted fields are looked at; nothing else is built. (A tape of
//! simd-json is 1.7 times as fast, but refuses lines with half a surrogate pair and does not keep numbers as
//! they are written.)

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

use serde::de::{Deserializer, Error, IgnoredAny, Visitor};

use super::column::{Wanted, listed};
use super::json_path::{Found, Paths, find};
use super::lines::Lines;
use super::sink::Sink;
use super::{Event, time};
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let (key, time) = (wanted.key.text(), wanted.time.as_ref().map(|time| time.text()));
    let paths = Paths {
        key: Some(&key),
        time: time.as_deref(),
    };
    let mut lines = Lines::new(reader);
    let mut unescaped = Vec::new();
    while let Some((number, line)) = lines.next().map_err(|cause| sink.unreadable(cause))? {
        if !line.trim_ascii().is_empty() {
            sink.line(number, event(line, paths, &mut unescaped))?;
        }
    }
    Ok(())
}

fn event<'a>(
    line: &'a [u8],
    paths: Paths<'_>,
    unescaped: &'a mut Vec<u8>,
) -> std::result::Result<Event<'a>, String> {
    let found: Found<'a> = find(line, paths).map_err(|cause| not_an_object(line, &cause))?;
    let time = match paths.time {
        Some(path) => Some(time_of(line, path, found.time)?),
        None => None,
    };
    let key = match found.key {
        Some(raw) => text(raw, unescaped),
        None => None,
    };
    Ok(Event { time, key })
}

fn not_an_object(line: &[u8], cause: &serde_json::Error) -> String {
    if line.trim_ascii().starts_with(b"[") {
        return "this is a JSON array, but must be one object a line, as `jq -c '.[]'` writes them"
            .to_owned();
    }
    // The position counts lines from this one on.
    let cause = cause.to_string();
    let cause = cause.split(" at line ").next().unwrap_or(&cause);
    format!("this is no JSON object in one line: {cause}")
}

fn time_of(line: &[u8], path: &str, raw: Option<&str>) -> std::result::Result<i64, String> {
    let mut unescaped = Vec::new();
    if let Some(text) = raw.and_then(|raw| text(raw, &mut unescaped)) {
        return time::parse(text);
    }
    let fields: BTreeMap<String, IgnoredAny> = serde_json::from_slice(line).unwrap_or_default();
    let names: Vec<String> = fields.into_keys().collect();
    Err(format!(
        "there is no time in field {path:?}, for which --time asks; there are {}",
        listed(&names)
    ))
}

/// What a JSON value is as text: strings without quotes, numbers and booleans as written, nothing else.
fn text<'a>(raw: &'a str, unescaped: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let text = match raw.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => inner,
        [b'"', ..] => {
            unescaped.clear();
            serde_json::Deserializer::from_str(raw)
                .deserialize_bytes(Unescape(unescaped))
                .ok()?;
            unescaped
        }
        [b'{' | b'[' | b'n', ..] => return None,
        scalar => scalar,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Takes bytes rather than text: half of a surrogate pair is a legal escape in JSON, but no text.
struct Unescape<'a>(&'a mut Vec<u8>);

impl Visitor<'_> for Unescape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> std::result::Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
