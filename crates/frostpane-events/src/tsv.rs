//! Values separated by tabs, or by another character: every one separates, and quotes are ordinary
//! characters.

use std::io::BufRead;

use crate::error::Result;
use crate::fields::Fields;
use crate::lines::{Lines, too_long};
use crate::records::Records;
use crate::schema::{ColumnSelection, Delimiter};
use crate::sink::EventSink;

pub fn read(reader: &mut dyn BufRead, selection: &ColumnSelection, sink: &mut EventSink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(selection);
    let delimiter = selection.delimiter.unwrap_or(Delimiter::TAB);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        records.take(number, line, Fields::new(line, delimiter.0), too_long(line), sink)?;
    }
    Ok(())
}
