//! Columns that come from Python.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt64Type,
};
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_schema::{DataType, TimeUnit};
use frostpane_events::Times;
use jiff::Timestamp;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::{CallError, Result};
use crate::number::{is_number, rewritten};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Key,
    Time,
    User,
}

impl Role {
    pub fn plural(self) -> &'static str {
        match self {
            Self::Key => "keys",
            Self::Time => "times",
            Self::User => "users",
        }
    }
}

/// The contents of a column, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, or other bytes.
    Text,
    Integers,
    /// Floats or decimals, which may be whole.
    Numbers,
    Time,
    /// Nothing at all.
    Nulls,
}

pub enum InputColumn {
    Arrow {
        chunks: Vec<ArrayRef>,
        kind: Kind,
    },
    /// Times are microseconds since 1970.
    Signed(Py<PyArray1<i64>>, Kind),
    Unsigned(Py<PyArray1<u64>>),
}

impl InputColumn {
    /// A column of Arrow's, if its type can have this role.
    pub fn arrow(chunks: Vec<ArrayRef>, data: &DataType, role: Role, name: &str) -> Result<Self> {
        let kind = kind(data).filter(|kind| suits(*kind, role, data));
        match kind {
            Some(Kind::Numbers) => Ok(Self::Arrow {
                chunks: chunks.iter().map(|chunk| rewritten(chunk, role)).collect(),
                kind: if role == Role::Time { Kind::Time } else { Kind::Text },
            }),
            Some(kind) => Ok(Self::Arrow { chunks, kind }),
            None => {
                let allowed = match role {
                    Role::Key | Role::User => "text, bytes or whole numbers",
                    Role::Time => "timestamps, dates or numbers (Unix times)",
                };
                let what = role.plural();
                Err(CallError::Input(format!(
                    "{name} holds {data}, but {what} are {allowed}: cast it to one of these"
                )))
            }
        }
    }

    /// Returns true if it has rows, and a value in none of them.
    pub fn is_blank(&self) -> bool {
        let Self::Arrow { chunks, .. } = self else {
            return false;
        };
        let blank = |chunk: &ArrayRef| chunk.logical_null_count() == chunk.len();
        chunks.iter().any(|chunk| !chunk.is_empty()) && chunks.iter().all(blank)
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Arrow { kind, .. } => *kind,
            Self::Signed(_, kind) => *kind,
            Self::Unsigned(_) => Kind::Integers,
        }
    }

    pub fn len(&self, py: Python<'_>) -> usize {
        match self {
            Self::Arrow { chunks, .. } => chunks.iter().map(|chunk| chunk.len()).sum(),
            Self::Signed(array, _) => array.bind(py).len().unwrap_or(0),
            Self::Unsigned(array) => array.bind(py).len().unwrap_or(0),
        }
    }

    /// Keeps others from writing to it.
    pub fn borrow<'py>(&self, py: Python<'py>) -> Result<Borrowed<'_, 'py>> {
        Ok(match self {
            Self::Arrow { chunks, .. } => Borrowed::Arrow(chunks),
            Self::Signed(array, _) => Borrowed::Signed(readonly(array.bind(py))?),
            Self::Unsigned(array) => Borrowed::Unsigned(readonly(array.bind(py))?),
        })
    }
}

fn readonly<'py, T: numpy::Element>(array: &Bound<'py, PyArray1<T>>) -> Result<PyReadonlyArray1<'py, T>> {
    array
        .try_readonly()
        .map_err(|cause| CallError::Input(format!("an array cannot be read while it is written to: {cause}")))
}

/// A column that nobody writes to.
pub enum Borrowed<'a, 'py> {
    Arrow(&'a [ArrayRef]),
    Signed(PyReadonlyArray1<'py, i64>),
    Unsigned(PyReadonlyArray1<'py, u64>),
}

impl Borrowed<'_, '_> {
    /// For a thread that does not hold the lock of Python.
    pub fn view(&self) -> Result<View<'_>> {
        let gaps = |_| {
            CallError::Input("an array of numbers has gaps: give numpy.ascontiguousarray of it".to_owned())
        };
        Ok(match self {
            Self::Arrow(chunks) => View::Arrow(chunks),
            Self::Signed(array) => View::Signed(array.as_slice().map_err(gaps)?),
            Self::Unsigned(array) => View::Unsigned(array.as_slice().map_err(gaps)?),
        })
    }
}

#[derive(Clone, Copy)]
pub enum View<'a> {
    Arrow(&'a [ArrayRef]),
    Signed(&'a [i64]),
    Unsigned(&'a [u64]),
}

#[derive(Clone)]
pub enum Piece<'a> {
    Arrow(&'a ArrayRef, Range<usize>),
    Signed(&'a [i64]),
    Unsigned(&'a [u64]),
}

#[derive(Clone)]
pub struct Cursor<'a> {
    view: View<'a>,
    chunk: usize,
    row: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(view: View<'a>) -> Self {
        Self { view, chunk: 0, row: 0 }
    }

    /// The number of the next rows that are in one piece; zero at the end.
    pub fn ready(&mut self) -> usize {
        match self.view {
            View::Signed(rows) => rows.len() - self.row,
            View::Unsigned(rows) => rows.len() - self.row,
            View::Arrow(chunks) => {
                while chunks.get(self.chunk).is_some_and(|chunk| chunk.len() == self.row) {
                    (self.chunk, self.row) = (self.chunk + 1, 0);
                }
                chunks.get(self.chunk).map_or(0, |chunk| chunk.len() - self.row)
            }
        }
    }

    pub fn left(&self) -> usize {
        let all = match self.view {
            View::Signed(rows) => rows.len(),
            View::Unsigned(rows) => rows.len(),
            View::Arrow(chunks) => chunks.iter().skip(self.chunk).map(|chunk| chunk.len()).sum(),
        };
        all - self.row
    }

    pub fn take(&mut self, rows: usize) -> Piece<'a> {
        let range = self.row..self.row + rows;
        self.row += rows;
        match self.view {
            View::Signed(all) => Piece::Signed(&all[range]),
            View::Unsigned(all) => Piece::Unsigned(&all[range]),
            View::Arrow(chunks) => Piece::Arrow(&chunks[self.chunk], range),
        }
    }
}

/// The contents of a column of this type, if it can be read.
fn kind(data: &DataType) -> Option<Kind> {
    Some(match data {
        data if data.is_string() || data.is_binary() => Kind::Text,
        data if data.is_integer() => Kind::Integers,
        data if is_number(data) => Kind::Numbers,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => Kind::Time,
        DataType::Null => Kind::Nulls,
        DataType::Dictionary(_, values) if !matches!(**values, DataType::Dictionary(..)) => kind(values)?,
        _ => return None,
    })
}

fn suits(kind: Kind, role: Role, data: &DataType) -> bool {
    match role {
        Role::Key | Role::User => kind != Kind::Time,
        Role::Time => kind != Kind::Text && !data.is_decimal(),
    }
}

/// Evaluates an expression with a function that reads the rows of an array of integers of any width.
macro_rules! with_integers {
    ($array:expr, $read:ident => $value:expr, $other:expr) => {{
        let array: &dyn Array = $array;
        downcast_integer_array!(
            array => {
                let $read = |row: usize| array.is_valid(row).then(|| i128::from(array.value(row)));
                $value
            }
            _ => $other
        )
    }};
}

/// The same for an array of text or bytes in any layout.
macro_rules! with_bytes {
    ($array:expr, $read:ident => $value:expr, $other:expr) => {
        match $array.data_type() {
            DataType::Utf8 => with_bytes!(@ $array.as_string::<i32>(), as_bytes, $read => $value),
            DataType::LargeUtf8 => with_bytes!(@ $array.as_string::<i64>(), as_bytes, $read => $value),
            DataType::Utf8View => with_bytes!(@ $array.as_string_view(), as_bytes, $read => $value),
            DataType::Binary => with_bytes!(@ $array.as_binary::<i32>(), as_ref, $read => $value),
            DataType::LargeBinary => with_bytes!(@ $array.as_binary::<i64>(), as_ref, $read => $value),
            DataType::BinaryView => with_bytes!(@ $array.as_binary_view(), as_ref, $read => $value),
            DataType::FixedSizeBinary(_) => with_bytes!(@ $array.as_fixed_size_binary(), as_ref, $read => $value),
            _ => $other,
        }
    };
    (@ $array:expr, $as_bytes:ident, $read:ident => $value:expr) => {{
        let typed = $array;
        let $read = |row: usize| -> Option<&[u8]> { typed.is_valid(row).then(|| typed.value(row).$as_bytes()) };
        $value
    }};
}

/// The places of the values of the rows of a dictionary, as far as there are any.
fn places(array: &ArrayRef, range: Range<usize>) -> Vec<Option<usize>> {
    let dictionary = array.as_any_dictionary();
    let keys = dictionary.keys();
    let most = dictionary.values().len();
    with_integers!(keys, read => {
        let place = |row| read(row).and_then(|key| usize::try_from(key).ok()).filter(|place| *place < most);
        range.map(place).collect()
    }, Vec::new())
}

impl<'a> Piece<'a> {
    /// The rows as integers, where they are integers.
    pub fn integers(&self, into: &mut Vec<Option<i128>>) {
        into.clear();
        match self {
            Self::Signed(rows) => into.extend(rows.iter().map(|row| Some(i128::from(*row)))),
            Self::Unsigned(rows) => into.extend(rows.iter().map(|row| Some(i128::from(*row)))),
            Self::Arrow(array, range) => read_integers(array, range.clone(), into),
        }
    }

    /// The rows as bytes. Returns false if they are neither text nor bytes.
    pub fn bytes(&self, into: &mut Vec<Option<&'a [u8]>>) -> bool {
        into.clear();
        match self {
            Self::Arrow(array, range) => read_bytes(array, range.clone(), into),
            Self::Signed(_) | Self::Unsigned(_) => false,
        }
    }

    /// The rows as moments in microseconds since 1970, as far as they are within the calendar. Numbers are read by `times`, unless the
    /// column is known to be of times.
    pub fn times(&self, kind: Kind, times: &Times, into: &mut Vec<Option<i64>>) {
        into.clear();
        match self {
            Self::Signed(rows) if kind == Kind::Time => {
                into.extend(rows.iter().map(|row| within_calendar(i128::from(*row))));
            }
            Self::Signed(rows) => into.extend(rows.iter().map(|row| of_integer((*row).into(), times))),
            Self::Unsigned(rows) => into.extend(rows.iter().map(|row| of_integer((*row).into(), times))),
            Self::Arrow(array, range) => read_times(array, range.clone(), times, into),
        }
    }

    /// The rows as they are, where they are whole numbers from 0 on and none is missing.
    pub fn plain(&self) -> Option<&'a [u64]> {
        match self {
            Self::Unsigned(rows) => Some(rows),
            Self::Arrow(array, range)
                if *array.data_type() == DataType::UInt64 && array.null_count() == 0 =>
            {
                Some(&array.as_primitive::<UInt64Type>().values()[range.clone()])
            }
            _ => None,
        }
    }

    /// The same where they may be below 0.
    pub fn signed(&self) -> Option<&'a [i64]> {
        match self {
            Self::Signed(rows) => Some(rows),
            Self::Arrow(array, range) if *array.data_type() == DataType::Int64 && array.null_count() == 0 => {
                Some(&array.as_primitive::<Int64Type>().values()[range.clone()])
            }
            _ => None,
        }
    }
}

fn read_integers(array: &ArrayRef, range: Range<usize>, into: &mut Vec<Option<i128>>) {
    if let DataType::Dictionary(..) = array.data_type() {
        let places = places(array, range);
        let values = array.as_any_dictionary().values();
        return with_integers!(values, read => into.extend(places.into_iter().map(|place| read(place?))), into.resize(places.len(), None));
    }
    let rows = range.len();
    with_integers!(array, read => into.extend(range.map(read)), into.resize(rows, None));
}

fn read_bytes<'a>(array: &'a ArrayRef, range: Range<usize>, into: &mut Vec<Option<&'a [u8]>>) -> bool {
    if let DataType::Dictionary(..) = array.data_type() {
        let places = places(array, range);
        let values = array.as_any_dictionary().values();
        with_bytes!(values, read => into.extend(places.into_iter().map(|place| read(place?))), return false);
        return true;
    }
    with_bytes!(array, read => into.extend(range.map(read)), return false);
    true
}

fn read_times(array: &ArrayRef, range: Range<usize>, times: &Times, into: &mut Vec<Option<i64>>) {
    if let DataType::Dictionary(..) = array.data_type() {
        let mut values = Vec::new();
        let all = array.as_any_dictionary().values();
        read_times(all, 0..all.len(), times, &mut values);
        into.extend(places(array, range).into_iter().map(|place| values[place?]));
        return;
    }
    macro_rules! scaled {
        ($type:ty, $micros:expr) => {{
            let typed = array.as_primitive::<$type>();
            let moment = |row| typed.is_valid(row).then(|| $micros(i128::from(typed.value(row))));
            into.extend(range.map(|row| moment(row).and_then(within_calendar)))
        }};
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            scaled!(TimestampSecondType, |seconds: i128| seconds * 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            scaled!(TimestampMillisecondType, |millis: i128| millis * 1_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            scaled!(TimestampMicrosecondType, |micros: i128| micros)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            scaled!(TimestampNanosecondType, |nanos: i128| nanos.div_euclid(1_000))
        }
        DataType::Date32 => scaled!(Date32Type, |days: i128| days * 86_400_000_000),
        DataType::Date64 => scaled!(Date64Type, |millis: i128| millis * 1_000),
        _ => {
            let rows = range.len();
            with_integers!(array, read => into.extend(range.map(|row| read(row).and_then(|number| of_integer(number, times)))), into.resize(rows, None));
        }
    }
}

fn of_integer(number: i128, times: &Times) -> Option<i64> {
    within_calendar(times.of_integer(i64::try_from(number).ok()?)?.into())
}

fn within_calendar(micros: i128) -> Option<i64> {
    let micros = i64::try_from(micros).ok()?;
    let (first, last) = (Timestamp::MIN.as_microsecond(), Timestamp::MAX.as_microsecond());
    (first..=last).contains(&micros).then_some(micros)
}
