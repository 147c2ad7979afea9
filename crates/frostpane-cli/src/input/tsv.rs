//! Tab-separated values: every tab separates and quotes are ordinary characters, so that a line is a line.

use std::io::BufRead;

use super::column::Wanted;
use super::lines::Lines;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut positions = wanted.by_number().filter(|_| !wanted.has_header());
    while let Some((number, line)) = lines.next().map_err(|cause| sink.unreadable(cause))? {
        match positions {
            Some(positions) => sink.line(number, positions.event(|index| fields(line).nth(index)))?,
            None => {
                let names: Vec<String> = fields(line)
                    .map(|name| String::from_utf8_lossy(name).into_owned())
                    .collect();
                positions = Some(wanted.among(&names).map_err(|wrong| sink.unfit(wrong))?);
            }
        }
    }
    Ok(())
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b'\t')
}
