//! Lines that are split into fields, with or without a first line that names them.

use super::Event;
use super::column::{Names, Place, Positions, Wanted};
use super::partitions::Partitions;
use super::sink::{Fault, Sink};
use super::stream::BYTE_ORDER_MARK;
use crate::failure::Result;

/// Turns the lines of a file into events.
pub struct Records<'w> {
    wanted: &'w Wanted,
    /// Not before the names have been read.
    spots: Option<Spots<'w>>,
    /// The line that they stood in.
    header: Vec<u8>,
}

impl<'w> Records<'w> {
    pub fn new(wanted: &'w Wanted) -> Self {
        let positions = wanted.by_number().filter(|_| !wanted.has_header());
        Self {
            wanted,
            spots: positions.map(|positions| Spots::new(positions, &wanted.partitions)),
            header: Vec::new(),
        }
    }

    /// Takes the line with this number, split into fields as far as it can be read.
    #[inline]
    pub fn take<'a>(
        &mut self,
        number: u64,
        line: &[u8],
        fields: impl Iterator<Item = &'a [u8]>,
        fault: Option<Fault>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(spots) = self.spots else {
            return self.take_names(line, fields, sink);
        };
        let Picked { key, time, user } = match spots.has_users {
            true => spots.pick::<true>(fields),
            false => spots.pick::<false>(fields),
        };
        let time = time.and_then(|time| self.wanted.times.parse(time));
        if self.is_header(line) {
            return sink.repeated_header(number, time);
        }
        match (key, fault) {
            (Some(key), None) => {
                let key = Some(key).filter(|key| !key.is_empty());
                sink.event(number, Event { time, key, user }, line)
            }
            (_, fault) => sink.unreadable(number, time, fault.unwrap_or(Fault::FewColumns), line),
        }
    }

    /// Whether this is the line once more that named the columns, as where files are put one after the other.
    #[inline]
    fn is_header(&self, line: &[u8]) -> bool {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        !self.header.is_empty() && self.header == line
    }

    /// Takes the first line.
    #[cold]
    fn take_names<'a>(
        &mut self,
        line: &[u8],
        fields: impl Iterator<Item = &'a [u8]>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let names = Names {
            all: &names(fields),
            are_public: self.wanted.show_names,
        };
        let positions = self.wanted.among(&names).map_err(|wrong| sink.unfit(wrong))?;
        sink.tally.key_of_path |= positions.key.is_of_path();
        self.spots = Some(Spots::new(positions, &self.wanted.partitions));
        self.header = line.to_vec();
        Ok(())
    }
}

/// The columns of a line that make an event.
struct Picked<'a> {
    key: Option<&'a [u8]>,
    time: Option<&'a [u8]>,
    user: Option<&'a [u8]>,
}

/// Where they stand in every line.
#[derive(Clone, Copy)]
struct Spots<'w> {
    key: Spot<'w>,
    time: Spot<'w>,
    user: Spot<'w>,
    has_users: bool,
    /// How many fields have to be looked at.
    fields: usize,
}

impl<'w> Spots<'w> {
    fn new(positions: Positions, paths: &'w Partitions) -> Self {
        let spot = |place| Spot::new(place, paths);
        let (key, time, user) = (Some(positions.key), positions.time, positions.user);
        let fields = [key, time, user].into_iter().flatten().map(Place::fields);
        Self {
            key: spot(key),
            time: spot(time),
            user: spot(user),
            has_users: user.is_some(),
            fields: fields.max().unwrap_or(0),
        }
    }

    /// The columns, as far as they are there; looks no further than the last of their fields, and for users only where there are any: a
    /// comparison more for each field can be felt.
    #[inline]
    fn pick<'s, 'a: 's, const USERS: bool>(self, fields: impl Iterator<Item = &'a [u8]>) -> Picked<'s>
    where
        'w: 's,
    {
        let mut picked = Picked {
            key: self.key.of_path,
            time: self.time.of_path,
            user: self.user.of_path,
        };
        for (index, field) in fields.take(self.fields).enumerate() {
            if index == self.key.field {
                picked.key = Some(field);
            }
            if index == self.time.field {
                picked.time = Some(field);
            }
            if USERS && index == self.user.field {
                picked.user = Some(field);
            }
        }
        picked
    }
}

/// Where a column stands in every line: a plain number is compared faster than a [`Place`].
#[derive(Clone, Copy)]
struct Spot<'w> {
    /// From 0; beyond every line if it is no field of it.
    field: usize,
    of_path: Option<&'w [u8]>,
}

impl<'w> Spot<'w> {
    fn new(place: Option<Place>, paths: &'w Partitions) -> Self {
        let (field, of_path) = match place {
            Some(Place::Field(field)) => (field, None),
            Some(Place::Path(position)) => (usize::MAX, Some(paths.value(position))),
            None => (usize::MAX, None),
        };
        Self { field, of_path }
    }
}

/// The names of columns, from the fields of a line.
pub fn names<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    fields
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::column::Column;
    use super::super::sink::Tally;
    use super::super::time::Times;
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

    /// Times, keys and users.
    type Events = Vec<(Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>)>;

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

    fn read(text: &str, separator: char, wanted: &Wanted) -> (Events, u64) {
        let (mut tally, mut events) = (Tally::default(), Vec::new());
        let mut sink = Sink {
            file: "events",
            unit: "line",
            by_clock: false,
            live: false,
            show_input: false,
            tally: &mut tally,
            visit: &mut |event: Event<'_>| {
                let owned = |text: Option<&[u8]>| text.map(<[u8]>::to_vec);
                events.push((event.time, owned(event.key), owned(event.user)));
                Ok(())
            },
        };
        let read = if separator == ',' { csv::read } else { tsv::read };
        read(&mut text.as_bytes(), wanted, &mut sink).unwrap();
        (events, tally.unreadable)
    }

    /// The events of lines without names, and how many of them cannot be read.
    fn plainly(text: &str, separator: char, key: usize, [time, user]: [Option<usize>; 2]) -> (Events, u64) {
        let (mut events, mut unreadable) = (Vec::new(), 0);
        for line in text.lines() {
            let fields: Vec<&str> = line.split(separator).collect();
            let time = time.and_then(|index| fields.get(index));
            let time = time.and_then(|time| Times::default().parse(time.as_bytes()));
            let key = fields.get(key);
            unreadable += u64::from(key.is_none());
            let user = user.filter(|_| key.is_some()).and_then(|index| fields.get(index));
            let [key, user] = [key, user].map(|text| text.filter(|text| !text.is_empty()));
            let owned = |text: &&str| text.as_bytes().to_vec();
            events.push((time, key.map(owned), user.map(owned)));
        }
        (events, unreadable)
    }

    #[test]
    fn fields_are_those_of_a_plain_split_and_every_line_is_an_event() {
        let mut dice = Dice(1);
        for round in 0..20_000 {
            let separator = [',', '\t'][dice.below(2) as usize];
            let text = generated(&mut dice, separator);
            let key = dice.below(4) as usize;
            let others = [(); 2].map(|()| (dice.below(2) == 0).then(|| dice.below(4) as usize));
            let position = |index| Column::Position(index + 1);
            let [time, user] = others.map(|index| index.map(position));
            let wanted = Wanted {
                user,
                ..Wanted::new(position(key), time)
            };
            let expected = plainly(&text, separator, key, others);
            assert_eq!(
                read(&text, separator, &wanted),
                expected,
                "round {round}: {text:?}"
            );
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
            let wanted = Wanted::new(Column::Position(2), None).by(Column::Position(3));
            assert_eq!(
                read(&quoted, ',', &wanted),
                read(&text, ',', &wanted),
                "{quoted:?}"
            );
        }
    }
}
