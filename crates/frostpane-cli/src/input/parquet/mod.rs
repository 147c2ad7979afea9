//! Parquet: the key and time columns, read in step.

pub mod byte_cells;
mod column;
mod runs;

#[cfg(test)]
pub mod same;

use std::io::Write;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

use crate::failure::{Failure, Result};
use crate::input::column::{Positions, Wanted};
use crate::input::guard::guarded;
use crate::input::sink::Sink;
use crate::input::{Event, time};
use column::{Cells, Clock, Meaning, Value};

/// `progress` is told which share of the rows has been read.
pub fn read(
    file: impl ChunkReader + 'static,
    wanted: &Wanted,
    progress: &dyn Fn(f64),
    sink: &mut Sink<'_>,
) -> Result<()> {
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(|cause| broken(sink, &cause))?;
    let positions = positions(reader.metadata(), wanted).map_err(|wrong| sink.unfit(wrong))?;
    let mut rows = Rows {
        total: reader.metadata().file_metadata().num_rows(),
        done: 0,
        progress,
        text: Vec::new(),
    };
    for index in 0..reader.num_row_groups() {
        let group = reader
            .get_row_group(index)
            .map_err(|cause| broken(sink, &cause))?;
        rows.read(&*group, positions, sink)?;
    }
    Ok(())
}

fn broken(sink: &Sink<'_>, cause: &ParquetError) -> Failure {
    sink.unfit(format!("this cannot be read as Parquet: {cause}"))
}

fn positions(file: &ParquetMetaData, wanted: &Wanted) -> std::result::Result<Positions, String> {
    let columns = file.file_metadata().schema_descr().columns();
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    wanted.among(&names)
}

/// Passes over the rows of a file, group by group.
struct Rows<'a> {
    total: i64,
    done: u64,
    progress: &'a dyn Fn(f64),
    /// The text of a key that is none in the file.
    text: Vec<u8>,
}

impl Rows<'_> {
    fn read(&mut self, group: &dyn RowGroupReader, positions: Positions, sink: &mut Sink<'_>) -> Result<()> {
        let open = |index| Cells::open(group, index).map_err(|wrong| sink.unfit(wrong));
        let mut keys = open(positions.key)?;
        let mut times = positions.time.map(open).transpose()?;
        loop {
            let ready = |cells: &mut Cells| cells.ready().map_err(|cause| broken(sink, &cause));
            let with_key = ready(&mut keys)?;
            let with_time = times.as_mut().map_or(Ok(with_key), ready)?;
            let rows = with_key.min(with_time);
            if rows == 0 && with_key != with_time {
                return Err(sink.unfit("the columns of this Parquet file differ in length".to_owned()));
            }
            if rows == 0 {
                return Ok(());
            }
            for _ in 0..rows {
                self.done += 1;
                let event = event(&mut keys, times.as_mut(), &mut self.text);
                sink.event(self.done, event)?;
            }
            (self.progress)(self.done as f64 / self.total.max(1) as f64);
        }
    }
}

/// The event of the next row.
fn event<'a>(keys: &'a mut Cells, times: Option<&mut Cells>, text: &'a mut Vec<u8>) -> Event<'a> {
    let meaning = keys.meaning;
    let key = keys.next().and_then(|value| key(value, meaning, text));
    let time = times.and_then(|times| {
        let clock = times.clock;
        micros(times.next()?, clock)
    });
    Event {
        time,
        key: key.filter(|key| !key.is_empty()),
    }
}

fn key<'a>(value: Value<'a>, meaning: Meaning, text: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    text.clear();
    match (value, meaning) {
        (Value::Bytes(bytes), Meaning::Uuid) => {
            for (index, byte) in bytes.iter().enumerate() {
                let dash = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
                write!(text, "{dash}{byte:02x}").ok()?;
            }
        }
        (Value::Bytes(bytes), _) => return Some(bytes),
        (Value::Boolean(value), _) => write!(text, "{value}").ok()?,
        (Value::Integer(value), Meaning::Unsigned32) => write!(text, "{}", value as u32).ok()?,
        (Value::Integer(value), Meaning::Unsigned64) => write!(text, "{}", value as u64).ok()?,
        (Value::Integer(value), _) => write!(text, "{value}").ok()?,
        (Value::Single(value), _) => write!(text, "{value}").ok()?,
        (Value::Double(value), _) => write!(text, "{value}").ok()?,
    }
    Some(text)
}

fn micros(value: Value<'_>, clock: Clock) -> Option<i64> {
    match value {
        Value::Integer(number) => clock.micros(number),
        Value::Bytes(text) => time::parse(text),
        Value::Single(value) => time::of_float(value.into()),
        Value::Double(value) => time::of_float(value),
        Value::Boolean(_) => None,
    }
}
