//! The stream format of Arrow.
//!
//! What it says of itself may come from anyone: a few bytes can stand for as many rows, or for as much text, as they like. So every value
//! is looked up where it is, and nothing is made as large as a header says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{DataType, TimeUnit};

use super::packing::too_large;
use super::sink::{Fault, Parts, Sink};
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

/// The most bytes of text that a stream may stand for.
const MOST_TEXT: usize = 64 << 20;

/// Reads all batches.
pub fn batches<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    // Of what is not a stream the reader may panic rather than err.
    let read = catch_unwind(AssertUnwindSafe(|| decode(body)));
    let all = read.ok().flatten().ok_or_else(|| sink.refusal(Fault::Syntax))?;
    let rows = all.iter().map(|batch| batch.num_rows());
    // Of every type that is read here a row takes a byte at least.
    if rows.fold(0, usize::saturating_add) > body.len() {
        return Err(sink.refusal(Fault::Syntax));
    }
    let (mut before, mut text) = (0, 0);
    for batch in all {
        text += rows_of(&batch, before, text, sink)?;
        before += batch.num_rows() as u64;
    }
    Ok(())
}

fn decode(body: &[u8]) -> Option<Vec<RecordBatch>> {
    let mut decoder = StreamDecoder::new();
    let mut buffer = arrow_buffer::Buffer::from(body);
    let mut all = Vec::new();
    while !buffer.is_empty() {
        all.extend(decoder.decode(&mut buffer).ok()?);
    }
    decoder.finish().ok()?;
    Some(all)
}

/// Takes all rows of a batch, after so many rows and bytes of text. Returns how many bytes of text there were.
fn rows_of<K: ServedKey>(
    batch: &RecordBatch,
    before: u64,
    text_before: usize,
    sink: &mut Sink<'_, K>,
) -> Result<usize> {
    let columns = sink.columns();
    let key = Texts::of(column(batch, &columns.key)?).ok_or_else(not_text)?;
    let times = match &columns.time {
        Some(name) if sink.has().time => Some(times(column(batch, name)?)?),
        _ => None,
    };
    let user = match sink.has().user {
        true => Some(Texts::of(column(batch, &columns.user)?).ok_or_else(not_text)?),
        false => None,
    };
    let mut text = 0;
    for row in 0..batch.num_rows() {
        let key = key.value(row);
        let user = user.as_ref().map(|user| user.value(row));
        let length = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
        text += length(key) + user.map_or(0, length);
        if text_before + text > MOST_TEXT {
            return Err(too_large(MOST_TEXT));
        }
        let parts = Parts {
            key: Some(key),
            time: times.as_ref().map(|times| times[row]),
            user,
        };
        sink.push(before + row as u64 + 1, Ok(parts))?;
    }
    Ok(text)
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| {
        Problem::invalid(
            format!("the stream has no column {name:?}: nothing of the request was taken"),
            "give it one",
        )
    })
}

/// A column of text, bytes or whole numbers, whose values are looked up one by one: they may all be the same one.
struct Texts {
    values: ArrayRef,
    /// Of a dictionary: where the value of each row is, if it has one.
    indices: Option<Vec<Option<usize>>>,
}

impl Texts {
    fn of(column: &ArrayRef) -> Option<Self> {
        let DataType::Dictionary(..) = column.data_type() else {
            return Some(Self {
                values: plain(column)?,
                indices: None,
            });
        };
        let dictionary = column.as_any_dictionary();
        let keys = cast(dictionary.keys(), &DataType::Int64).ok()?;
        let index = |key: Option<i64>| key.and_then(|key| usize::try_from(key).ok());
        Some(Self {
            values: plain(dictionary.values())?,
            indices: Some(keys.as_primitive::<Int64Type>().iter().map(index).collect()),
        })
    }

    fn value(&self, row: usize) -> Option<&[u8]> {
        let index = match &self.indices {
            None => row,
            Some(indices) => indices[row]?,
        };
        if index >= self.values.len() || self.values.is_null(index) {
            return None;
        }
        bytes(&self.values, index)
    }
}

/// A column whose values have bytes of their own; whole numbers as their digits.
fn plain(column: &ArrayRef) -> Option<ArrayRef> {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match column.data_type() {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => Some(column.clone()),
        integer if integer.is_integer() => cast(column, &Utf8).ok(),
        _ => None,
    }
}

/// A value of such a column.
fn bytes(values: &ArrayRef, row: usize) -> Option<&[u8]> {
    Some(match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => values.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => values.as_string_view().value(row).as_bytes(),
        DataType::Binary => values.as_binary::<i32>().value(row),
        DataType::LargeBinary => values.as_binary::<i64>().value(row),
        DataType::BinaryView => values.as_binary_view().value(row),
        _ => return None,
    })
}

fn not_text() -> Problem {
    Problem::invalid(
        "a column of keys or users is of a type that is not read here: nothing of the request was taken",
        "make it text, bytes, or whole numbers",
    )
}

/// A column of times: timestamps, numbers or text.
fn times(column: &ArrayRef) -> Result<Vec<Option<i64>>> {
    let failed = || {
        Problem::invalid(
            "the column of times is of a type that is not read here: nothing of the request was taken",
            "make it timestamps, text as in RFC 3339, or numbers since 1970",
        )
    };
    Ok(match column.data_type() {
        DataType::Timestamp(_, zone) => {
            let micros = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            let array = cast(column, &micros).map_err(|_| failed())?;
            array.as_primitive::<TimestampMicrosecondType>().iter().collect()
        }
        integer if integer.is_integer() => {
            let array = cast(column, &DataType::Int64).map_err(|_| failed())?;
            let numbers = array.as_primitive::<Int64Type>().iter();
            numbers.map(|number| number.and_then(time::of_integer)).collect()
        }
        float if float.is_floating() => {
            let array = cast(column, &DataType::Float64).map_err(|_| failed())?;
            let numbers = array.as_primitive::<Float64Type>().iter();
            numbers.map(|number| number.and_then(time::of_number)).collect()
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = Texts::of(column).ok_or_else(failed)?;
            let time = |text: &[u8]| time::of_text(str::from_utf8(text).ok()?);
            (0..column.len())
                .map(|row| texts.value(row).and_then(time))
                .collect()
        }
        _ => return Err(failed()),
    })
}
