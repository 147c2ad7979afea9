//! Plain text: the whole line is the key.

use std::io::BufRead;

use crate::EventRef;
use crate::error::Result;
use crate::lines::{Lines, too_long};
use crate::sink::EventSink;

pub fn read(reader: &mut dyn BufRead, sink: &mut EventSink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        if let Some(fault) = too_long(line) {
            sink.unreadable(number, None, fault, line)?;
            continue;
        }
        let key = Some(line).filter(|line| !line.is_empty());
        sink.event(number, EventRef { key, ..EventRef::at(None) }, line)?;
    }
    Ok(())
}
