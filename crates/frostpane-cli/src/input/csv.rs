//! Comma-separated values, with quotes as in RFC 4180. A line with nothing in it is no record; an empty key that stands
//! alone in its line is written as two quotes.

use std::io::{self, BufRead};

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::column::Wanted;
use super::records::Records;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut csv = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        // Line numbers would be one short with the default, which ends a record before the line feed of CR LF.
        .terminator(Terminator::Any(b'\n'))
        .from_reader(reader);
    let mut records = Records::new(wanted);
    let mut record = ByteRecord::new();
    while csv
        .read_byte_record(&mut record)
        .map_err(|cause| sink.unreadable(io::Error::from(cause)))?
    {
        if record != [b"\r"][..] {
            let line = record.position().map_or(0, |position| position.line());
            records.take(line, |index| field(&record, index), sink)?;
        }
    }
    Ok(())
}

fn field(record: &ByteRecord, index: usize) -> Option<&[u8]> {
    let field = record.get(index)?;
    let last = index + 1 == record.len();
    Some(field.strip_suffix(b"\r").filter(|_| last).unwrap_or(field))
}
