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
    #[inline]
    pub fn take<'a, F>(&mut self, number: u64, fields: F, sink: &mut Sink<'_>) -> Result<()>
    where
        F: Iterator<Item = &'a [u8]> + Clone,
    {
        let Some(positions) = self.positions else {
            return self.take_names(fields, sink);
        };
        let event = self.event(positions, number, fields.clone());
        // A line with a key has something in it.
        let keyed = matches!(event, Ok(Event { key: Some(_), .. }));
        if !keyed && self.is_filler(fields.clone()) {
            return Ok(());
        }
        self.width.get_or_insert_with(|| fields.count());
        sink.line(number, event)
    }

    /// Takes the first line with something in it.
    #[cold]
    fn take_names<'a, F>(&mut self, fields: F, sink: &Sink<'_>) -> Result<()>
    where
        F: Iterator<Item = &'a [u8]> + Clone,
    {
        if self.is_filler(fields.clone()) {
            return Ok(());
        }
        let names = names(fields);
        let positions = self.wanted.among(&names).map_err(|wrong| sink.unfit(wrong))?;
        self.positions = Some(positions);
        self.width = Some(names.len());
        Ok(())
    }

    /// A line with nothing in it is an event without a key if there is but one column, and else nothing.
    fn is_filler<'a>(&self, mut fields: impl Iterator<Item = &'a [u8]>) -> bool {
        let one_column = match self.positions {
            Some(Positions { key: 0, time: None }) => self.width.unwrap_or(1) == 1,
            _ => false,
        };
        !one_column && fields.next() == Some(b"") && fields.next().is_none()
    }

    #[inline]
    fn event<'a, F>(
        &self,
        positions: Positions,
        number: u64,
        fields: F,
    ) -> std::result::Result<Event<'a>, String>
    where
        F: Iterator<Item = &'a [u8]> + Clone,
    {
        let (key, time) = pick(positions, fields.clone());
        let key = key.ok_or_else(|| too_few(fields.clone().count(), "--key", positions.key))?;
        let time = match positions.time {
            Some(index) => {
                let time = time.ok_or_else(|| too_few(fields.count(), "--time", index))?;
                let time = time::parse(time);
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

/// The fields of the key and of the time, as far as they are there; looks no further than the last of them.
#[inline]
fn pick<'a>(
    positions: Positions,
    fields: impl Iterator<Item = &'a [u8]>,
) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
    let (mut key, mut time) = (None, None);
    for (index, field) in fields.enumerate() {
        if index == positions.key {
            key = Some(field);
        }
        if Some(index) == positions.time {
            time = Some(field);
        }
        if index >= positions.key && Some(index) >= positions.time {
            break;
        }
    }
    (key, time)
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

#[cfg(test)]
mod tests {
    use super::super::column::Column;
    use super::super::sink::Tally;
    use super::super::{csv, tsv};
    use super::*;

    /// Repeatable, not secret.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % end
        }
    }

    type Events = Vec<(Option<i64>, Option<Vec<u8>>)>;

    /// Lines of up to five fields, some empty and some longer than others, which end in either way.
    fn generated(dice: &mut Dice, separator: char) -> String {
        let mut text = String::new();
        for _ in 0..dice.below(12) {
            for field in 0..dice.below(6) {
                if field > 0 {
                    text.push(separator);
                }
                match dice.below(4) {
                    0 => {}
                    1 => text.push_str(&"x".repeat(dice.below(40) as usize)),
                    _ => text.push_str(&dice.below(100).to_string()),
                }
            }
            text.push_str(["\n", "\r\n"][dice.below(2) as usize]);
        }
        text
    }

    fn read(text: &str, separator: char, wanted: &Wanted, skip_bad_lines: bool) -> (Result<()>, Events, u64) {
        let (mut tally, mut events) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            skip_bad_lines,
            tally: &mut tally,
            visit: &mut |event: Event<'_>| {
                events.push((event.time, event.key.map(<[u8]>::to_vec)));
                Ok(())
            },
        };
        let read = if separator == ',' { csv::read } else { tsv::read };
        let outcome = read(&mut text.as_bytes(), wanted, &mut sink);
        (outcome, events, tally.skipped)
    }

    /// The events of lines without names, and what is wrong with the first line that is none.
    fn plainly(
        text: &str,
        separator: char,
        key: usize,
        time: Option<usize>,
    ) -> (Events, Option<String>, u64) {
        let (mut events, mut fault, mut faults) = (Vec::new(), None, 0);
        let mut width = None;
        for (index, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split(separator).collect();
            let one_column = key == 0 && time.is_none() && width.unwrap_or(1) == 1;
            if line.is_empty() && !one_column {
                continue;
            }
            width.get_or_insert(fields.len());
            let find = |index: usize, option: &str| {
                let found = fields.get(index).copied();
                found.ok_or_else(|| too_few(fields.len(), option, index))
            };
            let event = find(key, "--key").and_then(|key| {
                let time = time.map(|index| time::parse(find(index, "--time")?.as_bytes()));
                Ok((time.transpose()?, (!key.is_empty()).then(|| key.into())))
            });
            match event {
                Ok(event) => events.push(event),
                Err(wrong) => {
                    faults += 1;
                    fault.get_or_insert(format!("events, line {}: {wrong}", index + 1));
                }
            }
        }
        (events, fault, faults)
    }

    #[test]
    fn fields_are_those_of_a_plain_split() {
        let mut dice = Dice(1);
        for round in 0..20_000 {
            let separator = [',', '\t'][dice.below(2) as usize];
            let text = generated(&mut dice, separator);
            let key = dice.below(4) as usize;
            let time = (dice.below(2) == 0).then(|| dice.below(4) as usize);
            let wanted = Wanted {
                key: Column::Position(key + 1),
                time: time.map(|time| Column::Position(time + 1)),
                header: false,
            };
            let (events, fault, faults) = plainly(&text, separator, key, time);
            let (_, read_events, skipped) = read(&text, separator, &wanted, true);
            assert_eq!(
                (read_events, skipped),
                (events, faults),
                "round {round}: {text:?}"
            );
            match (read(&text, separator, &wanted, false).0, fault) {
                (Ok(()), None) => {}
                (Err(failure), Some(fault)) => assert!(failure.to_string().starts_with(&fault), "{text:?}"),
                (outcome, fault) => panic!("{text:?}: {outcome:?}, but {fault:?}"),
            }
        }
    }

    #[test]
    fn quotes_change_nothing_but_what_they_enclose() {
        let mut dice = Dice(2);
        for _ in 0..5_000 {
            let text = generated(&mut dice, ',');
            let quoted: String = text
                .split_inclusive('\n')
                .map(|line| {
                    let fields = line.trim_end().split(',').map(|field| match dice.below(3) {
                        0 if line.trim_end() != field => format!("\"{field}\""),
                        _ => field.to_owned(),
                    });
                    fields.collect::<Vec<_>>().join(",") + "\n"
                })
                .collect();
            let wanted = Wanted {
                key: Column::Position(2),
                time: None,
                header: false,
            };
            let (_, events, skipped) = read(&text, ',', &wanted, true);
            assert_eq!(read(&quoted, ',', &wanted, true).1, events, "{quoted:?}");
            assert_eq!(read(&quoted, ',', &wanted, true).2, skipped, "{quoted:?}");
        }
    }
}
