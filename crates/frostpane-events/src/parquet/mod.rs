//! Parquet: the columns of keys, times and users, read in step.

pub mod byte_cells;
mod column;
mod decimal;
mod logical_type;
mod runs;

#[cfg(test)]
pub mod same;
#[cfg(test)]
mod users;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

use crate::EventRef;
use crate::error::{Error, Halt, Result};
use crate::guard;
use crate::schema::{ColumnNames, ColumnPlace, ColumnPlaces, ColumnSelection};
use crate::sink::EventSink;
use column::Cells;
use logical_type::LogicalType;

/// Reads a file. `progress` is called with the share of the rows that has been read.
pub fn read(
    file: impl ChunkReader + 'static,
    selection: &ColumnSelection,
    progress: &dyn Fn(f64),
    sink: &mut EventSink<'_>,
) -> Result<()> {
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(|cause| broken(sink, &cause))?;
    let places = places(reader.metadata(), selection).map_err(|wrong| sink.unfit(wrong))?;
    sink.tally.key_of_path |= places.key.is_of_path();
    check_users(reader.metadata(), places).map_err(|wrong| sink.unfit(wrong))?;
    let mut rows =
        Rows { selection, places, total: reader.metadata().file_metadata().num_rows(), done: 0, progress };
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).map_err(|cause| broken(sink, &cause))?;
        rows.read(&*group, sink)?;
    }
    Ok(())
}

fn broken(sink: &EventSink<'_>, cause: &ParquetError) -> Halt {
    sink.unfit(unreadable(cause, sink.schema.show_input))
}

/// The message of an error, and what to do. The words of the parquet crate may hold a part of the file, so
/// they are shown only if the operator has asked for that.
fn unreadable(cause: &ParquetError, show_input: bool) -> String {
    let why = match cause {
        ParquetError::NYI(what) => what,
        ParquetError::General(what) if what.starts_with("Invalid Parquet file") => {
            "it does not end as Parquet files do, so it is none, or was cut off: copy or write it again, or give its --format"
        }
        ParquetError::EOF(_) | ParquetError::NeedMoreData(_) | ParquetError::NeedMoreDataRange(_) => {
            "it is cut off: copy or write it again"
        }
        _ => "it is damaged: copy or write it again",
    };
    if show_input {
        format!("this cannot be read as Parquet: {why} ({cause})")
    } else {
        format!("this cannot be read as Parquet: {why}")
    }
}

/// Runs a part of the parquet crate, whose panic is an error.
fn guarded<T>(run: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    guard::guarded(run).unwrap_or_else(|| Err(damaged()))
}

fn damaged() -> ParquetError {
    ParquetError::General("it is damaged".to_owned())
}

fn places(file: &ParquetMetaData, selection: &ColumnSelection) -> Result<ColumnPlaces, Error> {
    let columns = file.file_metadata().schema_descr().columns();
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    selection.among(&ColumnNames { all: &names, are_public: true })
}

/// Refuses users that other files may write in another way.
fn check_users(file: &ParquetMetaData, places: ColumnPlaces) -> Result<(), String> {
    let Some(ColumnPlace::Field(index)) = places.user else {
        return Ok(());
    };
    let column = file.file_metadata().schema_descr().column(index);
    if LogicalType::can_name(&column) {
        return Ok(());
    }
    Err(format!(
        "column {}, for which --user asks, holds neither text, bytes nor whole numbers, one a row: give a column that does, with --user",
        column.path().string()
    ))
}

struct Rows<'a> {
    selection: &'a ColumnSelection,
    places: ColumnPlaces,
    total: i64,
    done: u64,
    progress: &'a dyn Fn(f64),
}

impl Rows<'_> {
    fn read(&mut self, group: &dyn RowGroupReader, sink: &mut EventSink<'_>) -> Result<()> {
        let mut keys = self.open(group, self.places.key, sink)?;
        let times = self.places.time.map(|place| self.open(group, place, sink));
        let users = self.places.user.map(|place| self.open(group, place, sink));
        let (mut times, mut users) = (times.transpose()?, users.transpose()?);
        // The text of a key and of a user that is none in the file, and of a time that cannot be read.
        let (mut text, mut name, mut shown) = (Vec::new(), Vec::new(), sink.schema.show_input.then(Vec::new));
        loop {
            let ready = |cells: &mut Cells| cells.ready().map_err(|cause| broken(sink, &cause));
            let with_key = ready(&mut keys)?;
            let with_time = times.as_mut().map_or(Ok(with_key), ready)?;
            let with_user = users.as_mut().map_or(Ok(with_key), ready)?;
            let rows = with_key.min(with_time).min(with_user);
            if rows == 0 && with_key.max(with_time).max(with_user) > 0 {
                return Err(sink.unfit("the columns of this Parquet file differ in length".to_owned()));
            }
            if rows == 0 {
                return Ok(());
            }
            for _ in 0..rows {
                self.done += 1;
                let time = times.as_mut().and_then(|times| times.time(&self.selection.times, shown.as_mut()));
                let key = keys.text(&mut text);
                let user = users.as_mut().and_then(|users| users.text(&mut name));
                sink.event(self.done, EventRef { time, key, user }, shown.as_deref().unwrap_or_default())?;
            }
            (self.progress)(self.done as f64 / self.total.max(1) as f64);
        }
    }

    fn open(&self, group: &dyn RowGroupReader, place: ColumnPlace, sink: &EventSink<'_>) -> Result<Cells> {
        match place {
            ColumnPlace::Field(index) => {
                Cells::open(group, index, sink.schema.show_input).map_err(|wrong| sink.unfit(wrong))
            }
            ColumnPlace::Path(position) => {
                let value = self.selection.path_columns.value(position);
                Ok(Cells::constant(value, group.metadata().num_rows()))
            }
        }
    }
}
