//! Values with a delimiter between them, below a header.

use csv::{ByteRecord, ReaderBuilder};

use super::sink::{Fault, Parts, Sink};
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

/// Reads all rows.
pub fn rows<K: ServedKey>(body: &[u8], delimiter: u8, sink: &mut Sink<'_, K>) -> Result<()> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .quoting(delimiter == b',')
        .from_reader(body);
    let header = reader
        .byte_headers()
        .map_err(|_| sink.refusal(Fault::Syntax).at(1))?
        .clone();
    if header.len() == 1 {
        // A key that is empty would make a line of which the reader takes no notice, and so decide how many events there are.
        return Err(Problem::invalid(
            "there is one column: nothing of the request was taken",
            "send its values as text/plain, a line each",
        ));
    }
    let places = Places::find(&header, sink)?;
    let mut record = ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record);
        let line = record.position().map_or(0, csv::Position::line);
        match more {
            Ok(false) => return Ok(()),
            Ok(true) if record.len() != header.len() => sink.push(line, Err(Fault::Syntax))?,
            Ok(true) => sink.push(line, Ok(places.parts(&record)))?,
            Err(_) => sink.push(line, Err(Fault::Syntax))?,
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
