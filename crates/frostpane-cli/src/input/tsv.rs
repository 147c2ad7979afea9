//! Tab-separated values: every tab separates and quotes are ordinary characters.

use std::io::BufRead;

use super::column::Wanted;
use super::fields::Fields;
use super::lines::{Lines, too_long};
use super::records::Records;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(wanted);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        records.take(number, Fields::new(line, b'\t'), too_long(line), sink)?;
    }
    Ok(())
}
