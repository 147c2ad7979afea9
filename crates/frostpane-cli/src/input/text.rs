//! Plain text: the whole line is the key.

use std::io::BufRead;

use super::Event;
use super::lines::{Lines, too_long};
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        if let Some(fault) = too_long(line) {
            sink.unreadable(number, None, fault, line)?;
            continue;
        }
        let key = Some(line).filter(|line| !line.is_empty());
        sink.event(
            number,
            Event {
                key,
                ..Event::at(None)
            },
            line,
        )?;
    }
    Ok(())
}
