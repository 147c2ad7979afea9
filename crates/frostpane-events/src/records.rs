//! Lines that are split into fields, with or without a first line that names them.

use crate::EventRef;
use crate::error::Result;
use crate::schema::{
    ColumnNames, ColumnPlace, ColumnPlaces, ColumnSelection, EventColumns, PathColumns, Schema,
};
use crate::sink::{EventFault, EventSink};
use crate::stream::BYTE_ORDER_MARK;

pub struct Records<'w> {
    selection: &'w ColumnSelection,
    /// None until the names have been read.
    index: Option<FieldIndex<'w>>,
    header: Vec<u8>,
    width: Option<usize>,
}

impl<'w> Records<'w> {
    pub fn new(selection: &'w ColumnSelection, schema: &Schema) -> Self {
        let places = selection.by_number().filter(|_| !schema.has_header());
        Self {
            selection,
            index: places.map(|places| FieldIndex::new(places, &selection.path_columns)),
            header: Vec::new(),
            width: None,
        }
    }

    /// Takes the line with this number, split into fields as far as it can be read.
    #[inline]
    pub fn take<'a>(
        &mut self,
        number: u64,
        line: &[u8],
        fields: impl Iterator<Item = &'a [u8]> + Clone,
        fault: Option<EventFault>,
        sink: &mut EventSink<'_>,
    ) -> Result<()> {
        let Some(index) = self.index else {
            return self.take_names(line, fields, sink);
        };
        let fault = match self.width {
            Some(width) => fault.or_else(|| other_columns(fields.clone(), width)),
            None => fault,
        };
        let EventColumns { key, time, user } =
            if index.has_users { index.pick::<true>(fields) } else { index.pick::<false>(fields) };
        let time = time.and_then(|time| self.selection.times.parse(time));
        if self.is_header(line) {
            return sink.repeated_header(number, time);
        }
        match (key, fault) {
            (Some(key), None) => {
                let key = Some(key).filter(|key| !key.is_empty());
                sink.event(number, EventRef { time, key, user }, line)
            }
            (_, fault) => sink.unreadable(number, time, fault.unwrap_or(EventFault::FewColumns), line),
        }
    }

    /// Returns true if the line repeats the header, as where files are put one after the other.
    #[inline]
    fn is_header(&self, line: &[u8]) -> bool {
        !self.header.is_empty() && self.header == line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
    }

    #[cold]
    fn take_names<'a>(
        &mut self,
        line: &[u8],
        fields: impl Iterator<Item = &'a [u8]>,
        sink: &mut EventSink<'_>,
    ) -> Result<()> {
        let all = names(fields);
        let names = ColumnNames { all: &all, are_public: sink.schema.show_names };
        let places = self.selection.among(&names).map_err(|wrong| sink.unfit(wrong))?;
        sink.tally.key_of_path |= places.key.is_of_path();
        self.index = Some(FieldIndex::new(places, &self.selection.path_columns));
        self.width = sink.schema.is_strict().then_some(all.len());
        self.header = line.to_vec();
        Ok(())
    }
}

/// Not inlined: most lines may have any number of columns.
#[cold]
#[inline(never)]
fn other_columns<'a>(fields: impl Iterator<Item = &'a [u8]>, width: usize) -> Option<EventFault> {
    (fields.count() != width).then_some(EventFault::OtherColumns)
}

/// The fields of every line in which they stand.
#[derive(Clone, Copy)]
struct FieldIndex<'w> {
    key: FieldPosition<'w>,
    time: FieldPosition<'w>,
    user: FieldPosition<'w>,
    has_users: bool,
    fields: usize,
}

impl<'w> FieldIndex<'w> {
    fn new(places: ColumnPlaces, paths: &'w PathColumns) -> Self {
        let spot = |place| FieldPosition::new(place, paths);
        let (key, time, user) = (Some(places.key), places.time, places.user);
        let fields = [key, time, user].into_iter().flatten().map(ColumnPlace::fields);
        Self {
            key: spot(key),
            time: spot(time),
            user: spot(user),
            has_users: user.is_some(),
            fields: fields.max().unwrap_or(0),
        }
    }

    /// The columns, as far as they are there; looks no further than the last of their fields, and for users
    /// only where there are any: a comparison more for each field can be felt.
    #[inline]
    fn pick<'s, 'a: 's, const USERS: bool>(
        self,
        fields: impl Iterator<Item = &'a [u8]>,
    ) -> EventColumns<&'s [u8]>
    where
        'w: 's,
    {
        let mut raw =
            EventColumns { key: self.key.of_path, time: self.time.of_path, user: self.user.of_path };
        for (index, field) in fields.take(self.fields).enumerate() {
            if index == self.key.field {
                raw.key = Some(field);
            }
            if index == self.time.field {
                raw.time = Some(field);
            }
            if USERS && index == self.user.field {
                raw.user = Some(field);
            }
        }
        raw
    }
}

/// The place of a column in every line: a plain number is compared faster than a [`ColumnPlace`].
#[derive(Clone, Copy)]
struct FieldPosition<'w> {
    /// From 0; beyond every line if it is no field of it.
    field: usize,
    of_path: Option<&'w [u8]>,
}

impl<'w> FieldPosition<'w> {
    fn new(place: Option<ColumnPlace>, paths: &'w PathColumns) -> Self {
        let (field, of_path) = match place {
            Some(ColumnPlace::Field(field)) => (field, None),
            Some(ColumnPlace::Path(position)) => (usize::MAX, Some(paths.value(position))),
            None => (usize::MAX, None),
        };
        Self { field, of_path }
    }
}

pub fn names<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    fields.map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv;
    use crate::testing::{Dice, Owned, events, selection};
    use crate::time::Times;

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
                    1 => text.push_str(&"x".repeat(dice.below(40))),
                    _ => text.push_str(&dice.below(100).to_string()),
                }
            }
            text.push_str(["\n", "\r\n"][dice.below(2)]);
        }
        text
    }

    fn read(text: &str, separator: char, selection: &ColumnSelection) -> (Vec<Owned>, u64) {
        let (events, tally) = events(&Schema::default(), |sink| match separator {
            ',' => csv::read(&mut text.as_bytes(), selection, sink),
            _ => csv::read_tsv(&mut text.as_bytes(), selection, sink),
        });
        (events.unwrap(), tally.unreadable)
    }

    /// The events of lines without names, and how many of them cannot be read.
    fn plainly(
        text: &str,
        separator: char,
        key: usize,
        [time, user]: [Option<usize>; 2],
    ) -> (Vec<Owned>, u64) {
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
            let separator = [',', '\t'][dice.below(2)];
            let text = generated(&mut dice, separator);
            let key = dice.below(4);
            let others = [(); 2].map(|()| (dice.below(2) == 0).then(|| dice.below(4)));
            let position = |index: usize| (index + 1).to_string();
            let [time, user] = others.map(|index| index.map(position));
            let selection = selection(&position(key), time.as_deref(), user.as_deref());
            let expected = plainly(&text, separator, key, others);
            assert_eq!(read(&text, separator, &selection), expected, "round {round}: {text:?}");
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
            let selection = selection("2", None, Some("3"));
            assert_eq!(read(&quoted, ',', &selection), read(&text, ',', &selection), "{quoted:?}");
        }
    }
}
