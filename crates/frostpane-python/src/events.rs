//! From columns to events, block by block.

use std::io::Write;
use std::ops::Range;

use frostpane::{Bytes, Edge, ErrorKind, Event, Key, Span};
use frostpane_events::{Times, valid_user};
use frostpane_store::StoredKey;
use jiff::Timestamp;

use crate::column::{Cursor, Kind, Piece, View};
use crate::error::CallError;
use crate::process_guard::UpdateError;
use crate::progress::ProgressReporter;

/// Rows that are read together, so that they stay in the cache.
const BLOCK: usize = 1 << 13;
/// Rows that are taken together without being read before.
const PLAIN: usize = 1 << 18;
/// Rows of people that are taken together.
const OF_PEOPLE: usize = 1 << 18;

#[derive(Clone, Copy)]
pub struct EventColumns<'a> {
    pub key: View<'a>,
    /// By the clock.
    pub time: Option<(View<'a>, Kind)>,
    /// Present if users are protected.
    pub user: Option<View<'a>>,
}

pub trait Sink<K: Key> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<(), CallError>;
}

/// A key that columns can hold.
pub trait ColumnKey: StoredKey {
    /// The keys of a block.
    type Output<'a>: Default;

    fn read<'a>(piece: &Piece<'a>, read: &mut Self::Output<'a>);

    fn key<'b>(read: &'b Self::Output<'_>, row: usize) -> Option<Self::Ref<'b>>;

    /// Returns true if keys outlast what was read.
    fn lasts(read: &Self::Output<'_>) -> bool;

    /// A key that does.
    fn lasting<'a>(read: &Self::Output<'a>, row: usize) -> Option<Self::Ref<'a>>;

    /// Takes a block whose events have nothing but keys, if there is a shorter way for it.
    fn take_plain(_piece: &Piece<'_>, _sink: &mut impl Sink<Self>) -> Option<Result<(), CallError>> {
        None
    }
}

/// Rows of bytes: where they are, or integers written out.
#[derive(Default)]
pub struct ByteRows<'a> {
    given: Vec<Option<&'a [u8]>>,
    numbers: Vec<Option<i128>>,
    written: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
    is_given: bool,
}

impl<'a> ByteRows<'a> {
    fn read(&mut self, piece: &Piece<'a>) {
        self.is_given = piece.bytes(&mut self.given);
        if self.is_given {
            return;
        }
        piece.integers(&mut self.numbers);
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
        if self.is_given {
            self.given[row]
        } else {
            self.places[row].clone().map(|place| &self.written[place])
        }
    }
}

impl ColumnKey for Bytes {
    type Output<'a> = ByteRows<'a>;

    fn read<'a>(piece: &Piece<'a>, read: &mut ByteRows<'a>) {
        read.read(piece);
    }

    fn key<'b>(read: &'b ByteRows<'_>, row: usize) -> Option<&'b [u8]> {
        read.row(row).filter(|key| !key.is_empty())
    }

    fn lasts(read: &ByteRows<'_>) -> bool {
        read.is_given
    }

    // As the trait has it, where the lifetime stands in nothing but projections.
    fn lasting<'a: 'a>(read: &ByteRows<'a>, row: usize) -> Option<&'a [u8]> {
        read.given[row].filter(|key| !key.is_empty())
    }
}

/// Rows of whole numbers from 0 on.
#[derive(Default)]
pub struct NumberRows<'a> {
    keys: Vec<Option<u64>>,
    numbers: Vec<Option<i128>>,
    texts: Vec<Option<&'a [u8]>>,
}

impl ColumnKey for u64 {
    type Output<'a> = NumberRows<'a>;

    fn read<'a>(piece: &Piece<'a>, read: &mut NumberRows<'a>) {
        read.keys.clear();
        if piece.bytes(&mut read.texts) {
            // As the program reads them.
            let parse = |text: &[u8]| str::from_utf8(text).ok()?.parse().ok();
            return read.keys.extend(read.texts.iter().map(|text| text.and_then(parse)));
        }
        piece.integers(&mut read.numbers);
        let narrow = |number: i128| u64::try_from(number).ok();
        read.keys.extend(read.numbers.iter().map(|number| number.and_then(narrow)));
    }

    fn key(read: &NumberRows<'_>, row: usize) -> Option<u64> {
        read.keys[row]
    }

    fn lasts(_read: &NumberRows<'_>) -> bool {
        true
    }

    fn lasting<'a: 'a>(read: &NumberRows<'a>, row: usize) -> Option<u64> {
        read.keys[row]
    }

    fn take_plain(piece: &Piece<'_>, sink: &mut impl Sink<u64>) -> Option<Result<(), CallError>> {
        let event = |key| Event { time: None, key, user: None };
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

/// Goes through columns side by side.
struct ColumnSource<'a> {
    keys: Cursor<'a>,
    times: Option<(Cursor<'a>, Kind)>,
    users: Option<Cursor<'a>>,
    /// Reads numbers, each by itself.
    times_read: Times,
}

impl<'a> ColumnSource<'a> {
    fn new(columns: EventColumns<'a>) -> Self {
        Self {
            keys: Cursor::new(columns.key),
            times: columns.time.map(|(view, kind)| (Cursor::new(view), kind)),
            users: columns.user.map(Cursor::new),
            times_read: Times::default().by_themselves(),
        }
    }

    /// The number of the next rows that are in one piece of each column, up to so many; zero at the end.
    fn ready(&mut self, most: usize) -> usize {
        let times = self.times.iter_mut().map(|(cursor, _)| cursor.ready());
        let others = times.chain(self.users.iter_mut().map(Cursor::ready));
        others.fold(self.keys.ready().min(most), usize::min)
    }
}

struct RowBlock<'a, K: ColumnKey> {
    rows: usize,
    keys: K::Output<'a>,
    times: Option<Vec<Option<i64>>>,
    users: Option<ByteRows<'a>>,
}

impl<'a, K: ColumnKey> RowBlock<'a, K> {
    fn new(columns: EventColumns<'a>) -> Self {
        Self {
            rows: 0,
            keys: K::Output::default(),
            times: columns.time.map(|_| Vec::new()),
            users: columns.user.map(|_| ByteRows::default()),
        }
    }

    fn read(&mut self, source: &mut ColumnSource<'a>, rows: usize) {
        self.rows = rows;
        K::read(&source.keys.take(rows), &mut self.keys);
        if let (Some(times), Some((cursor, kind))) = (&mut self.times, &mut source.times) {
            cursor.take(rows).times(*kind, &source.times_read, times);
        }
        if let (Some(users), Some(cursor)) = (&mut self.users, &mut source.users) {
            users.read(&cursor.take(rows));
        }
    }

    /// The number of rows that have no time, and are left out.
    fn without_time(&self) -> usize {
        self.times.iter().flatten().filter(|time| time.is_none()).count()
    }

    /// The time of a row, unless it has none and needs one.
    #[inline]
    fn time(&self, row: usize) -> Option<Option<i64>> {
        match &self.times {
            None => Some(None),
            Some(times) => times[row].map(Some),
        }
    }

    fn events(&self) -> impl Iterator<Item = Event<'_, K>> {
        (0..self.rows).filter_map(|row| {
            Some(Event {
                time: self.time(row)?,
                key: K::key(&self.keys, row),
                user: valid_user(self.users.as_ref().and_then(|users| users.row(row))),
            })
        })
    }

    /// Returns true if these are people, and their values lie in the columns, where they outlast this.
    fn lasts(&self) -> bool {
        self.users.as_ref().is_some_and(|users| users.is_given) && K::lasts(&self.keys)
    }

    #[inline]
    fn lasting(&self, row: usize) -> Option<Event<'a, K>> {
        Some(Event {
            time: self.time(row)?,
            key: K::lasting(&self.keys, row),
            user: valid_user(self.users.as_ref().and_then(|users| users.given[row])),
        })
    }
}

/// Rows that are read while others are taken, block by block, because two threads do it.
struct BlockReader<'s, 'a, K: ColumnKey> {
    source: &'s mut ColumnSource<'a>,
    block: &'s mut RowBlock<'a, K>,
    row: usize,
    /// The number of rows that were read, with those of the block.
    rows: usize,
    without_time: usize,
}

impl<'a, K: ColumnKey> Iterator for BlockReader<'_, 'a, K> {
    type Item = Event<'a, K>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a, K>> {
        loop {
            if self.row == self.block.rows {
                let rows = self.source.ready(BLOCK.min(OF_PEOPLE - self.rows));
                if rows == 0 {
                    return None;
                }
                self.block.read(self.source, rows);
                self.row = 0;
                self.rows += rows;
                self.without_time += self.block.without_time();
            }
            self.row += 1;
            let event = self.block.lasting(self.row - 1);
            if event.is_some() {
                return event;
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let unread = self.source.keys.left().min(OF_PEOPLE - self.rows);
        (0, Some(self.block.rows - self.row + unread))
    }
}

/// Gives all rows to a sink. Returns the number of those that were left out for want of a time.
pub fn feed<K: ColumnKey>(
    columns: EventColumns<'_>,
    pace: &mut ProgressReporter,
    sink: &mut impl Sink<K>,
) -> Result<u64, UpdateError> {
    let (mut source, mut block) = (ColumnSource::new(columns), RowBlock::<K>::new(columns));
    let (mut left_out, mut is_first) = (0, true);
    while source.ready(1) > 0 {
        let (rows, without_time, taken) = take_some(&mut source, &mut block, sink);
        taken.map_err(|cause| failed(cause, is_first))?;
        left_out += without_time as u64;
        is_first &= without_time == rows;
        pace.step(rows)?;
    }
    Ok(left_out)
}

/// Gives the next rows to a sink. Returns their number, and the number of those that were left out.
fn take_some<'a, K: ColumnKey>(
    source: &mut ColumnSource<'a>,
    block: &mut RowBlock<'a, K>,
    sink: &mut impl Sink<K>,
) -> (usize, usize, Result<(), CallError>) {
    if source.times.is_none() && source.users.is_none() {
        let rows = source.ready(PLAIN);
        if let Some(taken) = K::take_plain(&source.keys.clone().take(rows), sink) {
            source.keys.take(rows);
            return (rows, 0, taken);
        }
    }
    let rows = source.ready(BLOCK);
    block.read(source, rows);
    if !block.lasts() {
        return (rows, block.without_time(), sink.take(block.events()));
    }
    let mut reading = BlockReader { row: 0, rows, without_time: block.without_time(), source, block };
    let taken = sink.take(&mut reading);
    (reading.rows, reading.without_time, taken)
}

/// A window refuses events for their kind, or because it takes no more, with the first: then none was counted.
fn failed(cause: CallError, is_first: bool) -> UpdateError {
    match &cause {
        CallError::Library(refusal) if is_first && refusal.kind() == ErrorKind::Window => {
            UpdateError::Refused(cause)
        }
        _ => UpdateError::Broken(cause),
    }
}

/// The end of events by the clock, as the program finds it, and the number of them in a window before that.
pub fn end(view: View<'_>, kind: Kind, window: Span) -> Result<(Edge, u64), CallError> {
    let (mut cursor, mut moments) = (Cursor::new(view), Vec::new());
    let times = Times::default().by_themselves();
    let mut each = |see: &mut dyn FnMut(i64)| loop {
        let rows = cursor.ready().min(BLOCK);
        if rows == 0 {
            cursor = Cursor::new(view);
            return;
        }
        cursor.take(rows).times(kind, &times, &mut moments);
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
        return Err(CallError::Input("no event has a time: nothing was released".to_owned()));
    };
    // Of events that have days for times, the last day is over when the next begins.
    let step = if days { DAY } else { SECOND };
    let end = (latest + 1).div_euclid(step) * step + if (latest + 1).rem_euclid(step) > 0 { step } else { 0 };
    let first = end.saturating_sub(i64::try_from(window.length()).unwrap_or(i64::MAX));
    let mut within = 0;
    each(&mut |time| within += u64::from(time >= first));
    match Timestamp::from_microsecond(end) {
        Ok(end) => Ok((Edge::Instant(end), within)),
        Err(_) => {
            Err(CallError::Input("the latest event lies at the end of the calendar: give until".to_owned()))
        }
    }
}

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
