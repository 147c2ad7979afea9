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
use arrow_ipc::{MessageHeader, root_as_message};
use arrow_schema::{DataType, TimeUnit};

use super::packing::too_large;
use super::sink::{Fault, Parts, Sink};
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

/// The most bytes of text that a stream may stand for.
const MOST_TEXT: usize = 64 << 20;

/// The most columns of a stream.
const MOST_COLUMNS: usize = 256;
/// What begins a message, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Reads all batches.
pub fn batches<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    let mut decoder = StreamDecoder::new();
    let (mut rows, mut text) = (0, 0);
    let mut rest = arrow_buffer::Buffer::from(body);
    loop {
        // Of what is not a stream the reader may panic rather than err.
        let decoded = catch_unwind(AssertUnwindSafe(|| next(&mut decoder, &mut rest)));
        let Some(decoded) = decoded.ok().flatten() else {
            return Err(sink.refusal(Fault::Syntax));
        };
        let Some(batch) = decoded else {
            return Ok(());
        };
        // Of every type that is read here a row takes a byte at least.
        if rows + batch.num_rows() > body.len() {
            return Err(sink.refusal(Fault::Syntax));
        }
        text += rows_of(&batch, rows as u64, text, sink)?;
        rows += batch.num_rows();
    }
}

/// The next batch, within which there is none if there are no more; none of what is no stream.
fn next(decoder: &mut StreamDecoder, rest: &mut arrow_buffer::Buffer) -> Option<Option<RecordBatch>> {
    while !rest.is_empty() {
        let length = modest(rest)?;
        let mut message = rest.slice_with_length(0, length);
        rest.advance(length);
        if let Some(batch) = decoder.decode(&mut message).ok()? {
            return Some(Some(batch));
        }
    }
    decoder.finish().ok()?;
    Some(None)
}

/// How many bytes the first message has, if what it makes of them is no more: no bytes stand for several columns, and no dictionary is
/// made of one before.
fn modest(bytes: &[u8]) -> Option<usize> {
    let start = if bytes.starts_with(&CONTINUATION) { 4 } else { 0 };
    let size = bytes.get(start..start + 4)?.try_into().ok()?;
    let (start, size) = (start + 4, u32::from_le_bytes(size) as usize);
    if size == 0 {
        return Some(start);
    }
    let message = root_as_message(bytes.get(start..start.checked_add(size)?)?).ok()?;
    let length = usize::try_from(message.bodyLength()).ok()?;
    let is_modest = match message.header_type() {
        MessageHeader::Schema => message.header_as_schema()?.fields()?.len() <= MOST_COLUMNS,
        MessageHeader::RecordBatch => is_within(message.header_as_record_batch()?, length),
        MessageHeader::DictionaryBatch => {
            let dictionary = message.header_as_dictionary_batch()?;
            !dictionary.isDelta() && is_within(dictionary.data()?, length)
        }
        _ => false,
    };
    let end = (start + size).checked_add(length)?;
    (is_modest && end <= bytes.len()).then_some(end)
}

fn is_within(batch: arrow_ipc::RecordBatch<'_>, length: usize) -> bool {
    let buffers = batch.buffers().into_iter().flatten();
    let lengths = buffers.map(|buffer| u64::try_from(buffer.length()).unwrap_or(u64::MAX));
    lengths.fold(0, u64::saturating_add) <= length as u64
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
        // Digits would be made of all of its numbers for every batch.
        let values = Some(dictionary.values()).filter(|values| !values.data_type().is_integer())?;
        Some(Self {
            values: plain(values)?,
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
