//! Comma-separated values, with quotes as in RFC 4180. Lines without anything are no records.

use std::io::{self, BufRead};

use csv::{ByteRecord, ReaderBuilder};

use super::column::Wanted;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut csv = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(reader);
    let mut positions = wanted.by_number().filter(|_| !wanted.has_header());
    let mut record = ByteRecord::new();
    while csv
        .read_byte_record(&mut record)
        .map_err(|cause| sink.unreadable(io::Error::from(cause)))?
    {
        match positions {
            Some(positions) => {
                let line = record.position().map_or(0, |position| position.line());
                sink.line(line, positions.event(|index| record.get(index)))?;
            }
            None => {
                let names = names(&record);
                positions = Some(wanted.among(&names).map_err(|wrong| sink.unfit(wrong))?);
            }
        }
    }
    Ok(())
}

fn names(header: &ByteRecord) -> Vec<String> {
    header
        .iter()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}
