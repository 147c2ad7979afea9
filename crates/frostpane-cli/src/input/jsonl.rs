//! JSON Lines: one object a line. Only the wanted fields are looked at; nothing else is built. (A tape of
//! simd-json is 1.7 times as fast, but refuses lines with half a surrogate pair and does not keep numbers as
//! they are written.)

use std::fmt;
use std::io::BufRead;

use serde::de::{Deserializer, Error, Visitor};

use super::Event;
use super::column::{Column, Wanted};
use super::json_path::{Paths, find};
use super::lines::{Lines, too_long};
use super::sink::{Fault, Sink};
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let path = |column: &Option<Column>| column.as_ref().map(Column::text);
    let (key, time, user) = (wanted.key.text(), path(&wanted.time), path(&wanted.user));
    let paths = Paths {
        key: Some(&key),
        time: time.as_deref(),
        user: user.as_deref(),
    };
    let of_file = |name: &str| wanted.partitions.get(name);
    let (key_of_file, time_of_file) = (of_file(&key), time.as_deref().and_then(of_file));
    let user_of_file = user.as_deref().and_then(of_file);
    let time_of = |raw: Option<&str>| match raw {
        Some(raw) => wanted.times.parse(text(raw, &mut Vec::new())?),
        None => wanted.times.parse(time_of_file?),
    };
    let mut lines = Lines::new(reader);
    let (mut unescaped, mut unescaped_user) = (Vec::new(), Vec::new());
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        let (found, whole) = find(line, paths);
        if whole && too_long(line).is_none() {
            let time = time_of(found.time);
            let key = match found.key {
                Some(raw) => text(raw, &mut unescaped),
                None => key_of_file.filter(|key| !key.is_empty()),
            };
            sink.tally.key_of_path |= found.key.is_none() && key_of_file.is_some();
            let user = match found.user {
                Some(raw) => text(raw, &mut unescaped_user).filter(|_| is_name(raw)),
                None => user_of_file,
            };
            sink.event(number, Event { time, key, user }, line)?;
        } else {
            // As far as it can be read, or if a key in it is no text.
            let time = time_of(found.time).or_else(|| {
                let readable = String::from_utf8_lossy(line);
                time_of(find(readable.as_bytes(), paths).0.time)
            });
            let fault = too_long(line).unwrap_or(Fault::NoObject);
            sink.unreadable(number, time, fault, line)?;
        }
    }
    Ok(())
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

/// Whether a value may say who someone is: text or a whole number, and none that is written in several ways.
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

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> std::result::Result<(), E> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::Tally;
    use super::*;

    #[test]
    fn a_time_is_read_whatever_the_key_is() {
        let lines: [&[u8]; 6] = [
            b"{\"at\": 5, \"k\": \"elm\"}",
            b"{\"at\": 5, \"k\": \"x\", \"at\": 7, \"y\": \"\"}",
            b"{\"at\": 5, \"k\": \"x\"y\"}",
            b"{\"at\": 5, \"k\": \"",
            b"{\"at\": 5, \"k\": \"\xff\"}",
            b"{\"k\": \"\xff\", \"at\": 5}",
        ];
        let (mut tally, mut events) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            unit: "line",
            by_clock: true,
            live: false,
            show_input: false,
            tally: &mut tally,
            visit: &mut |event| {
                events.push((event.time, event.key.map(<[u8]>::to_vec)));
                Ok(())
            },
        };
        let named = |name: &str| Column::Name(name.to_owned());
        let wanted = Wanted::new(named("k"), Some(named("at")));
        // Each between two that have another time, so that none can be taken from there.
        for line in lines {
            let text = [b"{\"at\": 1}\n", line, b"\n{\"at\": 9}\n"].concat();
            read(&mut text.as_slice(), &wanted, &mut sink).unwrap();
        }
        assert_eq!(events.len(), 18);
        let keys = [Some(b"elm".to_vec()), Some(b"x".to_vec()), None, None, None, None];
        for (event, key) in events.into_iter().skip(1).step_by(3).zip(keys) {
            assert_eq!(event, (Some(5_000_000), key));
        }
    }
    /// The users of lines that all have a key.
    fn users(lines: &[&str]) -> Vec<Option<String>> {
        let (mut tally, mut users) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            unit: "line",
            by_clock: false,
            live: false,
            show_input: false,
            tally: &mut tally,
            visit: &mut |event| {
                users.push(event.user.map(|user| String::from_utf8_lossy(user).into_owned()));
                Ok(())
            },
        };
        let named = |name: &str| Column::Name(name.to_owned());
        let wanted = Wanted::new(named("k"), None).by(named("who.id"));
        read(&mut lines.join("\n").as_bytes(), &wanted, &mut sink).unwrap();
        users
    }

    #[test]
    fn a_user_is_text_or_a_whole_number_and_the_same_either_way() {
        let somebody = [
            r#"{"who": {"id": 17}, "k": 1}"#,
            r#"{"who": {"id": "17"}, "k": 1}"#,
            r#"{"who.id": "\u0031\u0037", "k": 1}"#,
        ];
        assert_eq!(users(&somebody), [(); 3].map(|()| Some("17".to_owned())));
        let below_zero = [r#"{"who": {"id": -17}}"#];
        assert_eq!(users(&below_zero), [Some("-17".to_owned())]);
        let nobody = [
            r#"{"who": {"id": 17.0}, "k": 1}"#,
            r#"{"who": {"id": 17e0}, "k": 1}"#,
            r#"{"who": {"id": true}, "k": 1}"#,
            r#"{"who": {"id": null}, "k": 1}"#,
            r#"{"who": {"id": ""}, "k": 1}"#,
            r#"{"who": {"id": ["17"]}, "k": 1}"#,
            r#"{"who": "17", "k": 1}"#,
            r#"{"id": "17", "k": 1}"#,
            r#"{"who": {"id": "17"}, "k": 1"#,
            r#"{"who": {"id": "17"}, "k": "x"y"}"#,
        ];
        assert_eq!(users(&nobody), [(); 10].map(|()| None));
    }

    #[test]
    fn no_key_touches_the_user_before_it() {
        let line = r#"{"who": {"id": "17"}, "k": "x", "who": {"id": "18"}, "y": ""}"#;
        assert_eq!(users(&[line]), [Some("17".to_owned())]);
    }
}
