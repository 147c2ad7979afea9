//! From columns to events, block by block.

use std::io::Write;
use std::ops::Range;

use frostpane::{Bytes, Edge, ErrorKind, Event, Key, Span};
use frostpane_store::StoredKey;
use jiff::Timestamp;

use crate::column::{Cursor, Kind, Piece, View};
use crate::error::Failure;
use crate::own::Change;
use crate::pace::Pace;

/// So many rows at a time: what is read of them stays in the cache.
const BLOCK: usize = 1 << 13;
/// So many where nothing is read before they are taken.
const PLAIN: usize = 1 << 18;

/// The columns of events.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    pub key: View<'a>,
    /// By the clock.
    pub time: Option<(View<'a>, Kind)>,
    /// Where people are protected.
    pub user: Option<View<'a>>,
}

/// Takes events.
pub trait Sink<K: Key> {
    /// All of these.
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<(), Failure>;
}

/// A key that columns can hold.
pub trait ColumnKey: StoredKey {
    /// What is read of a block.
    type Read<'a>: Default;

    /// Whether there are blocks that need not be read first.
    const MAY_BE_PLAIN: bool = false;

    fn read<'a>(piece: &Piece<'a>, read: &mut Self::Read<'a>);

    fn key<'b>(read: &'b Self::Read<'_>, row: usize) -> Option<Self::Ref<'b>>;

    /// Takes a block whose events have nothing but keys, if there is a shorter way for it.
    fn take_plain(_piece: &Piece<'_>, _sink: &mut impl Sink<Self>) -> Option<Result<(), Failure>> {
        None
    }
}

/// Rows of bytes: where they are, or integers written out.
#[derive(Default)]
pub struct Texts<'a> {
    given: Vec<Option<&'a [u8]>>,
    numbers: Vec<Option<i128>>,
    written: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
    is_given: bool,
}

impl<'a> Texts<'a> {
    fn read(&mut self, piece: &Piece<'a>) {
        self.is_given = piece.bytes(&mut self.given);
        if self.is_given {
            return;
        }
        piece.integers(&mut self.numbers);
        (self.written, self.places) = (
            std::mem::take(&mut self.written),
            std::mem::take(&mut self.places),
        );
        self.written.clear();
        self.places.clear();
        for number in &self.numbers {
            let start = self.written.len();
            // Writing into memory does not fail.
            let written = number.and_then(|number| write!(self.written, "{number}").ok());
            self.places.push(written.map(|()| start..self.written.len()));
        }
    }

    fn row(&self, row: usize) -> Option<&[u8]> {
        match self.is_given {
            true => self.given[row],
            false => self.places[row].clone().map(|place| &self.written[place]),
        }
    }
}

impl ColumnKey for Bytes {
    type Read<'a> = Texts<'a>;

    fn read<'a>(piece: &Piece<'a>, read: &mut Texts<'a>) {
        read.read(piece);
    }

    fn key<'b>(read: &'b Texts<'_>, row: usize) -> Option<&'b [u8]> {
        read.row(row)
    }
}

/// Rows of whole numbers from 0 on.
#[derive(Default)]
pub struct Numbers<'a> {
    keys: Vec<Option<u64>>,
    numbers: Vec<Option<i128>>,
    texts: Vec<Option<&'a [u8]>>,
}

impl ColumnKey for u64 {
    type Read<'a> = Numbers<'a>;

    const MAY_BE_PLAIN: bool = true;

    fn read<'a>(piece: &Piece<'a>, read: &mut Numbers<'a>) {
        read.keys.clear();
        if piece.bytes(&mut read.texts) {
            // As the program reads them.
            let parse = |text: &[u8]| str::from_utf8(text).ok()?.parse().ok();
            return read
                .keys
                .extend(read.texts.iter().map(|text| text.and_then(parse)));
        }
        piece.integers(&mut read.numbers);
        let narrow = |number: i128| u64::try_from(number).ok();
        read.keys
            .extend(read.numbers.iter().map(|number| number.and_then(narrow)));
    }

    fn key(read: &Numbers<'_>, row: usize) -> Option<u64> {
        read.keys[row]
    }

    fn take_plain(piece: &Piece<'_>, sink: &mut impl Sink<u64>) -> Option<Result<(), Failure>> {
        let event = |key| Event {
            time: None,
            key,
            user: None,
        };
        if let Some(keys) = piece.plain() {
            return Some(sink.take(keys.iter().map(|key| event(Some(*key)))));
        }
        let keys = piece.signed()?;
        if keys.iter().all(|key| *key >= 0) {
            return Some(sink.take(keys.iter().map(|key| event(Some(key.unsigned_abs())))));
        }
        Some(sink.take(keys.iter().map(|key| event(u64::try_from(*key).ok()))))
    }
}

/// Gives all rows to a sink. Returns how many had no time, where they need one, and were left out.
pub fn feed<K: ColumnKey>(
    columns: Columns<'_>,
    pace: &mut Pace,
    sink: &mut impl Sink<K>,
) -> Result<u64, Change> {
    let mut keys = Cursor::new(columns.key);
    let mut times = columns.time.map(|(view, kind)| (Cursor::new(view), kind));
    let mut users = columns.user.map(Cursor::new);
    let (mut read, mut moments, mut people) = (K::Read::default(), Vec::new(), Texts::default());
    let (mut without_time, mut is_first) = (0, true);
    loop {
        let ready = times
            .iter_mut()
            .map(|(cursor, _)| cursor.ready())
            .chain(users.iter_mut().map(Cursor::ready));
        let ready = ready.fold(keys.ready(), usize::min);
        let may_be_plain = times.is_none() && users.is_none() && K::MAY_BE_PLAIN;
        let rows = ready.min(if may_be_plain { PLAIN } else { BLOCK });
        if rows == 0 {
            return Ok(without_time);
        }
        let piece = keys.take(rows);
        if let Some(taken) = may_be_plain.then(|| K::take_plain(&piece, sink)).flatten() {
            taken.map_err(|cause| failed(cause, is_first))?;
            is_first = false;
            pace.step(rows)?;
            continue;
        }
        K::read(&piece, &mut read);
        if let Some((cursor, kind)) = &mut times {
            cursor.take(rows).times(*kind, &mut moments);
        }
        if let Some(cursor) = &mut users {
            people.read(&cursor.take(rows));
        }
        let event = |row: usize, time| Event {
            time,
            key: K::key(&read, row),
            user: columns.user.and_then(|_| people.row(row)),
        };
        let left_out = match times {
            None => 0,
            Some(_) => moments.iter().filter(|time| time.is_none()).count(),
        };
        without_time += left_out as u64;
        let taken = match times {
            None => sink.take((0..rows).map(|row| event(row, None))),
            Some(_) => {
                let timed = (0..rows).filter(|row| moments[*row].is_some());
                sink.take(timed.map(|row| event(row, moments[row])))
            }
        };
        taken.map_err(|cause| failed(cause, is_first))?;
        is_first &= left_out == rows;
        pace.step(rows)?;
    }
}

/// What kind of events a window takes, and whether it takes any more, does not depend on what they are: then the first is refused, and none was counted.
fn failed(cause: Failure, is_first: bool) -> Change {
    match &cause {
        Failure::Library(refusal) if is_first && refusal.kind() == ErrorKind::Window => {
            Change::Refused(cause)
        }
        _ => Change::Broken(cause),
    }
}

/// Where events by the clock end, as the program finds it, and about how many lie in a window before that.
pub fn end(view: View<'_>, kind: Kind, window: Span) -> Result<(Edge, u64), Failure> {
    let (mut cursor, mut moments) = (Cursor::new(view), Vec::new());
    let mut each = |see: &mut dyn FnMut(i64)| loop {
        let rows = cursor.ready().min(BLOCK);
        if rows == 0 {
            cursor = Cursor::new(view);
            return;
        }
        cursor.take(rows).times(kind, &mut moments);
        moments.iter().flatten().for_each(|time| see(*time));
    };
    let (mut latest, mut days) = (None, true);
    // A time further ahead of ours is wrong, and does not say where events end.
    let ahead = Timestamp::now().as_microsecond() + HOUR;
    each(&mut |time| {
        if time <= ahead {
            latest = latest.max(Some(time));
            days &= time.rem_euclid(DAY) == 0;
        }
    });
    let Some(latest) = latest else {
        return Err(Failure::Input(
            "no event has a time: nothing was released".to_owned(),
        ));
    };
    // Of events that have days for times, the last day is over when the next begins.
    let step = if days { DAY } else { SECOND };
    let end = (latest + 1).div_euclid(step) * step
        + if (latest + 1).rem_euclid(step) > 0 {
            step
        } else {
            0
        };
    let first = end.saturating_sub(i64::try_from(window.length()).unwrap_or(i64::MAX));
    let mut within = 0;
    each(&mut |time| within += u64::from(time >= first));
    match Timestamp::from_microsecond(end) {
        Ok(end) => Ok((Edge::Instant(end), within)),
        Err(_) => Err(Failure::Input(
            "the latest event lies at the end of the calendar: give until".to_owned(),
        )),
    }
}

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
