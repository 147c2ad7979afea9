//! Values separated by tabs, or by another character: every one separates, and quotes are ordinary characters.

use std::io::BufRead;

use super::column::Wanted;
use super::delimiter::Delimiter;
use super::fields::Fields;
use super::lines::{Lines, too_long};
use super::records::Records;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(wanted);
    let delimiter = wanted.delimiter.unwrap_or(Delimiter::TAB);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        records.take(number, line, Fields::new(line, delimiter.0), too_long(line), sink)?;
    }
    Ok(())
}
