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
    /// How many fields the first line has.
    width: Option<usize>,
}

impl<'w> Records<'w> {
    pub fn new(wanted: &'w Wanted) -> Self {
        Self {
            wanted,
            positions: wanted.by_number().filter(|_| !wanted.has_header()),
            width: None,
        }
    }

    /// Takes the line with this number, split into fields.
    pub fn take<'a, F>(&mut self, number: u64, fields: F, sink: &mut Sink<'_>) -> Result<()>
    where
        F: Iterator<Item = &'a [u8]> + Clone,
    {
        if self.is_filler(fields.clone()) {
            return Ok(());
        }
        self.width.get_or_insert_with(|| fields.clone().count());
        match self.positions {
            Some(positions) => sink.line(number, self.event(positions, number, fields)),
            None => {
                let positions = self.wanted.among(&names(fields));
                self.positions = Some(positions.map_err(|wrong| sink.unfit(wrong))?);
                Ok(())
            }
        }
    }

    /// A line with nothing in it is an event without a key if there is but one column, and else nothing.
    fn is_filler<'a>(&self, mut fields: impl Iterator<Item = &'a [u8]>) -> bool {
        let one_column = match self.positions {
            Some(Positions { key: 0, time: None }) => self.width.unwrap_or(1) == 1,
            _ => false,
        };
        !one_column && fields.next() == Some(b"") && fields.next().is_none()
    }

    fn event<'a, F>(
        &self,
        positions: Positions,
        number: u64,
        fields: F,
    ) -> std::result::Result<Event<'a>, String>
    where
        F: Iterator<Item = &'a [u8]> + Clone,
    {
        let find = |index: usize, option: &str| {
            let found = fields.clone().nth(index);
            found.ok_or_else(|| too_few(fields.clone().count(), option, index))
        };
        let key = find(positions.key, "--key")?;
        let time = match positions.time {
            Some(index) => {
                let time = time::parse(find(index, "--time")?);
                Some(time.map_err(|wrong| self.with_advice(number, wrong))?)
            }
            None => None,
        };
        Ok(Event {
            time,
            key: Some(key).filter(|key| !key.is_empty()),
        })
    }

    fn with_advice(&self, number: u64, wrong: String) -> String {
        if number == 1 && !self.wanted.has_header() {
            format!("{wrong}; if this line names the columns, use --header")
        } else {
            wrong
        }
    }
}

fn too_few(there: usize, option: &str, index: usize) -> String {
    let columns = if there == 1 { "column" } else { "columns" };
    format!(
        "{there} {columns} found, but {option} asks for column {}",
        index + 1
    )
}

fn names<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    fields
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}
