//! Values with a delimiter between them, below a header. A line is a row, also where a quote in it does not end: else one key could swallow
//! the events after it.

use csv::ByteRecord;
use memchr::memchr;

use super::sink::{Fault, Parts, Sink};
use super::text::split;
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads all rows.
pub fn rows<K: ServedKey>(body: &[u8], delimiter: u8, sink: &mut Sink<'_, K>) -> Result<()> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    // With two columns or more no key makes a line empty.
    let mut lines = split(body).filter(|(_, line)| !line.is_empty());
    let (mut header, mut record, mut unquoted) = (ByteRecord::new(), ByteRecord::new(), Vec::new());
    let (_, first) = lines.next().unwrap_or_default();
    if !row(first, delimiter, &mut header, &mut unquoted) {
        return Err(sink.refusal(Fault::Syntax).at(1));
    }
    if header.len() == 1 {
        // A key that is empty would make an empty line, and so decide how many events there are.
        return Err(Problem::invalid(
            "there is one column: nothing of the request was taken",
            "send its values as text/plain, a line each",
        ));
    }
    let places = Places::find(&header, sink)?;
    for (number, line) in lines {
        let is_row = row(line, delimiter, &mut record, &mut unquoted) && record.len() == header.len();
        let parts = is_row.then(|| places.parts(&record));
        sink.push(number, parts.ok_or(Fault::Syntax))?;
    }
    Ok(())
}

/// Takes a line apart, and says whether all quotes in it end. Values between tabs have none.
fn row(line: &[u8], delimiter: u8, record: &mut ByteRecord, unquoted: &mut Vec<u8>) -> bool {
    record.clear();
    if delimiter != b',' || memchr(b'"', line).is_none() {
        line.split(|byte| *byte == delimiter)
            .for_each(|field| record.push_field(field));
        return true;
    }
    let mut rest = Some(line);
    while let Some(text) = rest {
        unquoted.clear();
        let after = match text.strip_prefix(b"\"") {
            Some(text) => match unquote(text, unquoted) {
                Some(after) => after,
                None => return false,
            },
            None => text,
        };
        // Quotes within a value, and what follows the last of one, are text.
        let end = memchr(delimiter, after);
        unquoted.extend_from_slice(&after[..end.unwrap_or(after.len())]);
        record.push_field(unquoted);
        rest = end.map(|end| &after[end + 1..]);
    }
    true
}

/// Reads up to the end of a quote, and says what follows; none if it does not end. Two quotes are one.
fn unquote<'a>(mut text: &'a [u8], into: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let end = memchr(b'"', text)?;
        into.extend_from_slice(&text[..end]);
        text = &text[end + 1..];
        match text.strip_prefix(b"\"") {
            Some(rest) => {
                into.push(b'"');
                text = rest;
            }
            None => return Some(text),
        }
    }
}

/// Which columns hold the parts.
struct Places {
    key: usize,
    time: Option<usize>,
    user: Option<usize>,
}

impl Places {
    fn find<K: ServedKey>(header: &ByteRecord, sink: &Sink<'_, K>) -> Result<Self> {
        let find = |name: &str| {
            header
                .iter()
                .position(|column| column == name.as_bytes())
                .ok_or_else(|| {
                    Problem::invalid(
                        format!("the header has no column {name:?}: nothing of the request was taken"),
                        "name the columns in the first line",
                    )
                    .at(1)
                })
        };
        let columns = sink.columns();
        let time = columns.time.as_deref().filter(|_| sink.has().time);
        Ok(Self {
            key: find(&columns.key)?,
            time: time.map(find).transpose()?,
            user: match sink.has().user {
                true => Some(find(&columns.user)?),
                false => None,
            },
        })
    }

    fn parts<'a>(&self, record: &'a ByteRecord) -> Parts<'a> {
        let text = |place: usize| record.get(place).and_then(|value| str::from_utf8(value).ok());
        let value = |place: usize| record.get(place);
        Parts {
            key: Some(value(self.key)),
            time: self.time.map(|place| text(place).and_then(time::of_text)),
            user: self.user.map(value),
        }
    }
}
