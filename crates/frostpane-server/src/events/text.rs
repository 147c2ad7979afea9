//! A key a line.

use memchr::memchr_iter;

use super::sink::{Parts, Sink};
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

/// Reads lines; the last needs no end.
pub fn lines<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    if sink.has().time || sink.has().user {
        return Err(Problem::invalid(
            "a line of text is a key alone, but events of this stream have a time or a user too",
            "send JSON Lines, CSV or Arrow; or have events take the time of their arrival, by creating the stream with ?time=arrival",
        ));
    }
    for (number, line) in split(body) {
        let parts = Parts {
            key: Some(Some(line)),
            ..Parts::default()
        };
        sink.push(number, Ok(parts))?;
    }
    Ok(())
}

/// Lines with their numbers, without empty ones.
pub fn split(body: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0;
    let ends = memchr_iter(b'\n', body).chain(std::iter::once(body.len()));
    (1..)
        .zip(ends.map(move |end| {
            let line = &body[start.min(end)..end];
            start = end + 1;
            line.strip_suffix(b"\r").unwrap_or(line)
        }))
        .filter(|(_, line)| !line.is_empty())
}
