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
    // An empty line is an event without a key: were it none, a key could decide how many events there are.
    for (number, line) in split(body) {
        let parts = Parts {
            key: Some(Some(line)),
            ..Parts::default()
        };
        sink.push(number, Ok(parts))?;
    }
    Ok(())
}

/// Lines with their numbers; what follows the last end is one if there is something.
pub fn split(body: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0;
    let last = match body.last() {
        None | Some(b'\n') => None,
        Some(_) => Some(body.len()),
    };
    let ends = memchr_iter(b'\n', body).chain(last);
    (1..).zip(ends.map(move |end| {
        let line = &body[start..end];
        start = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    }))
}
