//! The stream format of Arrow.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, RecordBatch};
use arrow_cast::cast;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{DataType, TimeUnit};

use super::sink::{Fault, Parts, Sink};
use super::time;
use crate::key::ServedKey;
use crate::problem::{Problem, Result};

/// The most bytes of views that are unpacked.
const MOST_VIEWED: u64 = 64 << 20;

/// Reads all batches.
pub fn batches<K: ServedKey>(body: &[u8], sink: &mut Sink<'_, K>) -> Result<()> {
    // Of what is not a stream the reader may panic rather than err.
    let read = catch_unwind(AssertUnwindSafe(|| decode(body)));
    let all = read.ok().flatten().ok_or_else(|| sink.refusal(Fault::Syntax))?;
    // Every type that is read has at least a byte a row: rows without bytes are made up.
    let rows_in_all: usize = all.iter().map(RecordBatch::num_rows).sum();
    if rows_in_all > body.len() {
        return Err(sink.refusal(Fault::Syntax));
    }
    let mut before = 0;
    for batch in all {
        rows(&batch, before, sink)?;
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

fn rows<K: ServedKey>(batch: &RecordBatch, before: u64, sink: &mut Sink<'_, K>) -> Result<()> {
    let columns = sink.columns();
    let key = text(column(batch, &columns.key)?)?;
    let times = match &columns.time {
        Some(name) if sink.has().time => Some(times(column(batch, name)?)?),
        _ => None,
    };
    let user = match sink.has().user {
        true => Some(text(column(batch, &columns.user)?)?),
        false => None,
    };
    for row in 0..batch.num_rows() {
        let parts = Parts {
            key: Some(value(&key, row)),
            time: times.as_ref().map(|times| times[row]),
            user: user.as_ref().map(|user| value(user, row)),
        };
        sink.push(before + row as u64 + 1, Ok(parts))?;
    }
    Ok(())
}

fn value(array: &LargeBinaryArray, row: usize) -> Option<&[u8]> {
    array.is_valid(row).then(|| array.value(row))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| {
        Problem::invalid(
            format!("the stream has no column {name:?}: nothing of the request was taken"),
            "give it one",
        )
    })
}

/// A column of text, bytes or whole numbers.
fn text(column: &ArrayRef) -> Result<LargeBinaryArray> {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    let text = match column.data_type() {
        integer if integer.is_integer() => cast(column, &DataType::Utf8).map_err(|_| not_text())?,
        Utf8 | LargeUtf8 | Binary | LargeBinary => column.clone(),
        // Views of one long text may be many.
        Utf8View | BinaryView if viewed(column) <= MOST_VIEWED => column.clone(),
        // Others can stand for far more than they are.
        _ => return Err(not_text()),
    };
    let bytes = cast(&text, &DataType::LargeBinary).map_err(|_| not_text())?;
    Ok(bytes.as_binary::<i64>().clone())
}

/// How many bytes the texts of a column of views have together.
fn viewed(column: &ArrayRef) -> u64 {
    // The lowest part of a view is its length.
    let views = match column.data_type() {
        DataType::Utf8View => column.as_string_view().views(),
        _ => column.as_binary_view().views(),
    };
    views.iter().map(|view| u64::from(*view as u32)).sum()
}

fn not_text() -> Problem {
    Problem::invalid(
        "a column of keys or users is of a type that is not read here: nothing of the request was taken",
        "make it text, bytes, or whole numbers",
    )
}

/// A column of times: timestamps, numbers or text.
fn times(column: &ArrayRef) -> Result<Vec<Option<i64>>> {
    let failed = |_| {
        Problem::invalid(
            "the column of times is of a type that is not read here: nothing of the request was taken",
            "make it timestamps, text as in RFC 3339, or numbers since 1970",
        )
    };
    Ok(match column.data_type() {
        DataType::Timestamp(_, zone) => {
            let micros = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            let array = cast(column, &micros).map_err(failed)?;
            array.as_primitive::<TimestampMicrosecondType>().iter().collect()
        }
        integer if integer.is_integer() => {
            let array = cast(column, &DataType::Int64).map_err(failed)?;
            let numbers = array.as_primitive::<Int64Type>().iter();
            numbers.map(|number| number.and_then(time::of_integer)).collect()
        }
        float if float.is_floating() => {
            let array = cast(column, &DataType::Float64).map_err(failed)?;
            let numbers = array.as_primitive::<Float64Type>().iter();
            numbers.map(|number| number.and_then(time::of_number)).collect()
        }
        DataType::Utf8 | DataType::LargeUtf8 => {
            let array = cast(column, &DataType::LargeUtf8).map_err(failed)?;
            let texts = array.as_string::<i64>().iter();
            texts.map(|text| text.and_then(time::of_text)).collect()
        }
        _ => return Err(failed(arrow_schema::ArrowError::CastError(String::new()))),
    })
}
