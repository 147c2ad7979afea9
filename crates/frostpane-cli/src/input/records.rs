//! Lines that are split into fields, with or without a first line that names them.

use super::column::{Positions, Wanted};
use super::sink::Sink;
use super::{Event, time};
use crate::failure::Result;

/// Turns the lines of a file into events.
pub struct Records<'w> {
    wanted: &'w Wanted,
    /// Not before the names have been read.
    positions: Option<Positions>,
}

impl<'w> Records<'w> {
    pub fn new(wanted: &'w Wanted) -> Self {
        Self {
            wanted,
            positions: wanted.by_number().filter(|_| !wanted.has_header()),
        }
    }

    /// Takes the line with this number, given what stands in each of its fields.
    pub fn take<'a, F>(&mut self, number: u64, field: F, sink: &mut Sink<'_>) -> Result<()>
    where
        F: Fn(usize) -> Option<&'a [u8]>,
    {
        match self.positions {
            Some(positions) => sink.line(number, self.event(positions, number, field)),
            None => {
                let positions = self.wanted.among(&names(field));
                self.positions = Some(positions.map_err(|wrong| sink.unfit(wrong))?);
                Ok(())
            }
        }
    }

    fn event<'a>(
        &self,
        positions: Positions,
        number: u64,
        field: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> std::result::Result<Event<'a>, String> {
        let find =
            |index: usize, option: &str| field(index).ok_or_else(|| too_few(count(&field), option, index));
        let key = find(positions.key, "--key")?;
        let time = match positions.time {
            Some(index) => Some(time::parse(find(index, "--time")?).map_err(|wrong| {
                match (number, self.wanted.has_header()) {
                    (1, false) => format!("{wrong}; if this line names the columns, use --header"),
                    _ => wrong,
                }
            })?),
            None => None,
        };
        Ok(Event {
            time,
            key: Some(key).filter(|key| !key.is_empty()),
        })
    }
}

fn too_few(there: usize, option: &str, index: usize) -> String {
    let columns = if there == 1 { "column" } else { "columns" };
    format!(
        "{there} {columns} found, but {option} asks for column {}",
        index + 1
    )
}

fn count<'a>(field: &impl Fn(usize) -> Option<&'a [u8]>) -> usize {
    (0..).take_while(|index| field(*index).is_some()).count()
}

fn names<'a>(field: impl Fn(usize) -> Option<&'a [u8]>) -> Vec<String> {
    (0..)
        .map_while(field)
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}
