//! The stream format of Arrow, in memory.
//!
//! Its metadata may come from anyone: a few bytes can stand for as many rows, or for as much text, as they
//! like. So every value is looked up where it is, and no allocation is as large as a header says.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_cast::cast;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{MessageHeader, root_as_message};
use arrow_schema::{DataType, TimeUnit};

use crate::EventRef;
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::schema::{ColumnNames, ColumnPlace, ColumnPlaces, ColumnSelection};
use crate::sink::{EventFault, EventSink};
use crate::time::Times;

const MOST_TEXT: usize = 64 << 20;
const MOST_COLUMNS: usize = 256;
/// The bytes that begin a message, before its length.
const CONTINUATION: [u8; 4] = [0xff; 4];

pub fn read(body: &[u8], selection: &ColumnSelection, sink: &mut EventSink<'_>) -> Result<()> {
    let mut decoder = StreamDecoder::new();
    let (mut rows, mut text) = (0, 0);
    let mut rest = Buffer::from(body);
    loop {
        let Some(decoded) = guarded(|| next(&mut decoder, &mut rest)).flatten() else {
            return Err(sink.invalid(0, EventFault::NoStream).into());
        };
        let Some(batch) = decoded else {
            return Ok(());
        };
        // Of every type that is read here a row takes a byte at least.
        if rows + batch.num_rows() > body.len() {
            return Err(sink.invalid(0, EventFault::NoStream).into());
        }
        text += read_batch(&batch, (rows as u64, text), selection, sink)?;
        rows += batch.num_rows();
    }
}

/// The next batch: `Some(None)` at the end of the stream, and None if it is no stream.
fn next(decoder: &mut StreamDecoder, rest: &mut Buffer) -> Option<Option<RecordBatch>> {
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

/// The length of the first message, if its columns take no more bytes than it has: no bytes stand for several
/// columns, and no dictionary is made of one before.
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

fn read_batch(
    batch: &RecordBatch,
    (rows_before, text_before): (u64, usize),
    selection: &ColumnSelection,
    sink: &mut EventSink<'_>,
) -> Result<usize> {
    let columns = Columns::of(batch, selection).map_err(|wrong| sink.unfit(wrong))?;
    let length = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
    let mut text = 0;
    for row in 0..batch.num_rows() {
        let key = columns.key.value(row);
        let user = columns.user.as_ref().and_then(|users| users.value(row));
        text += length(key) + length(user);
        if text_before + text > MOST_TEXT {
            return Err(Error::TooLarge(MOST_TEXT).into());
        }
        let event = EventRef {
            time: columns.times.as_ref().and_then(|times| times[row]),
            key: key.filter(|key| !key.is_empty()),
            user,
        };
        sink.event(rows_before + row as u64 + 1, event, b"")?;
    }
    Ok(text)
}

struct Columns {
    key: Texts,
    times: Option<Vec<Option<i64>>>,
    user: Option<Texts>,
}

impl Columns {
    fn of(batch: &RecordBatch, selection: &ColumnSelection) -> Result<Self, Error> {
        let names: Vec<String> =
            batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
        let ColumnPlaces { key, time, user } =
            selection.among(&ColumnNames { all: &names, are_public: true })?;
        let column = |place| match place {
            ColumnPlace::Field(index) => Ok(batch.column(index)),
            ColumnPlace::Path(_) => Err(Error::Input("a stream has no path".to_owned())),
        };
        let texts = |place| Texts::of(column(place)?).ok_or_else(not_text);
        Ok(Self {
            key: texts(key)?,
            times: time.map(|place| times(column(place)?, &selection.times)).transpose()?,
            user: user.map(texts).transpose()?,
        })
    }
}

/// A column of text, bytes or whole numbers, looked up one by one: all rows may have the same value.
struct Texts {
    values: ArrayRef,
    /// The place of the value of each row in a dictionary, if it has one.
    indices: Option<Vec<Option<usize>>>,
}

impl Texts {
    fn of(column: &ArrayRef) -> Option<Self> {
        let DataType::Dictionary(..) = column.data_type() else {
            return Some(Self { values: plain(column)?, indices: None });
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

fn not_text() -> Error {
    Error::Input(
        "a column of keys or users is of a type that is not read here: make it text, bytes, or whole numbers"
            .to_owned(),
    )
}

/// A column of times: timestamps, dates, numbers or text.
fn times(column: &ArrayRef, times: &Times) -> Result<Vec<Option<i64>>, Error> {
    let failed = || {
        Error::Input(
            "the column of times is of a type that is not read here: make it timestamps, text such as 2026-01-31T12:00:00Z, or numbers since 1970"
                .to_owned(),
        )
    };
    let as_type = |data: &DataType| cast(column, data).map_err(|_| failed());
    let micros = |zone| -> Result<Vec<Option<i64>>, Error> {
        let array = as_type(&DataType::Timestamp(TimeUnit::Microsecond, zone))?;
        Ok(array.as_primitive::<TimestampMicrosecondType>().iter().collect())
    };
    let from_wall_clock = |shown: Vec<Option<i64>>| {
        shown.into_iter().map(|micros| micros.and_then(|micros| times.of_wall_clock(micros))).collect()
    };
    Ok(match column.data_type() {
        DataType::Timestamp(_, Some(zone)) => micros(Some(zone.clone()))?,
        DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64 => from_wall_clock(micros(None)?),
        integer if integer.is_integer() => {
            let array = as_type(&DataType::Int64)?;
            let numbers = array.as_primitive::<Int64Type>().iter();
            numbers.map(|number| number.and_then(|number| times.of_integer(number))).collect()
        }
        float if float.is_floating() => {
            let array = as_type(&DataType::Float64)?;
            let numbers = array.as_primitive::<Float64Type>().iter();
            numbers.map(|number| number.and_then(|number| times.of_float(number))).collect()
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = Texts::of(column).ok_or_else(failed)?;
            (0..column.len()).map(|row| times.parse(texts.value(row)?)).collect()
        }
        _ => return Err(failed()),
    })
}
