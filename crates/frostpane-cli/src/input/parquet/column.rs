//! One column of a Parquet row group.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescriptor;

use super::byte_cells::ByteCells;
use crate::input::guard::guarded;
use crate::input::time;

/// Cells that are held in memory at once.
const BATCH: usize = 1 << 13;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A value as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Boolean(bool),
    Integer(i64),
    Single(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

/// What stored integers and bytes stand for, as keys.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    Plain,
    Unsigned32,
    Unsigned64,
    Uuid,
}

/// What stored integers stand for, as times.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The unit follows from the size.
    Unknown,
    Days,
    Millis,
    Micros,
    Nanos,
}

impl Clock {
    pub fn micros(self, number: i64) -> Option<i64> {
        match self {
            Clock::Unknown => Some(time::of_integer(number)),
            Clock::Days => number.checked_mul(MICROS_PER_DAY),
            Clock::Millis => number.checked_mul(1_000),
            Clock::Micros => Some(number),
            Clock::Nanos => Some(number.div_euclid(1_000)),
        }
    }

    fn of(column: &ColumnDescriptor) -> Self {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(stamp)), _) => match stamp.unit {
                TimeUnit::MILLIS => Clock::Millis,
                TimeUnit::MICROS => Clock::Micros,
                TimeUnit::NANOS => Clock::Nanos,
            },
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Clock::Days,
            (_, ConvertedType::TIMESTAMP_MILLIS) => Clock::Millis,
            (_, ConvertedType::TIMESTAMP_MICROS) => Clock::Micros,
            _ => Clock::Unknown,
        }
    }
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Self {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Uuid), _) => Meaning::Uuid,
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32) => {
                Meaning::Unsigned32
            }
            (_, ConvertedType::UINT_64) => Meaning::Unsigned64,
            _ => Meaning::Plain,
        }
    }
}

/// The cells of a column, from the top down.
pub struct Cells {
    pub meaning: Meaning,
    pub clock: Clock,
    batch: Box<dyn Batch>,
}

impl Cells {
    /// The column with this number, from 0.
    pub fn open(group: &dyn RowGroupReader, index: usize) -> Result<Self, String> {
        let broken = |cause: ParquetError| format!("this cannot be read as Parquet: {cause}");
        let chunk = group.metadata().columns().get(index);
        let chunk = chunk.ok_or("a row group lacks columns")?;
        let column = chunk.column_descr_ptr();
        let unfit = |what: &str| format!("column {} holds {what}", column.path().string());
        if column.max_rep_level() > 0 {
            return Err(unfit("lists, but must hold one value a row"));
        }
        if column.converted_type() == ConvertedType::DECIMAL {
            return Err(unfit(
                "decimals, but must hold text, whole numbers, floats or timestamps",
            ));
        }
        let most = column.max_def_level();
        if ByteCells::can_read(chunk) {
            let pages = guarded(|| group.get_column_page_reader(index)).map_err(broken)?;
            let rows = group.metadata().num_rows();
            return Ok(Self::new(&column, Box::new(ByteCells::new(pages, most, rows))));
        }
        let batch: Box<dyn Batch> = match guarded(|| group.get_column_reader(index)).map_err(broken)? {
            ColumnReader::BoolColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int32ColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int64ColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::FloatColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::DoubleColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::ByteArrayColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int96ColumnReader(_) => {
                return Err(unfit("96-bit timestamps, but must hold 64-bit ones"));
            }
        };
        Ok(Self::new(&column, batch))
    }

    fn new(column: &ColumnDescriptor, batch: Box<dyn Batch>) -> Self {
        Self {
            meaning: Meaning::of(column),
            clock: Clock::of(column),
            batch,
        }
    }

    /// How many cells are at hand, after reading on if there were none; none at the end of the column.
    pub fn ready(&mut self) -> Result<usize, ParquetError> {
        match self.batch.left() {
            0 => guarded(|| self.batch.fill()),
            left => Ok(left),
        }
    }

    /// The value of the next cell, unless it is null.
    pub fn next(&mut self) -> Option<Value<'_>> {
        self.batch.next()
    }
}

trait Batch {
    /// How many cells are at hand.
    fn left(&self) -> usize;
    /// Reads more cells in place of those before, and says how many.
    fn fill(&mut self) -> Result<usize, ParquetError>;
    fn next(&mut self) -> Option<Value<'_>>;
}

impl Batch for ByteCells {
    fn left(&self) -> usize {
        self.left()
    }

    fn fill(&mut self) -> Result<usize, ParquetError> {
        self.fill()
    }

    fn next(&mut self) -> Option<Value<'_>> {
        self.next().map(Value::Bytes)
    }
}

struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The level of a cell that is not null.
    most: i16,
    /// Of each cell, if any of them may be null.
    levels: Vec<i16>,
    /// Of the cells that are not null.
    values: Vec<T::T>,
    cells: usize,
    next_cell: usize,
    next_value: usize,
}

impl<T: DataType> Typed<T>
where
    T::T: Stored,
{
    fn boxed(reader: ColumnReaderImpl<T>, most: i16) -> Box<dyn Batch> {
        Box::new(Self {
            reader,
            most,
            levels: Vec::new(),
            values: Vec::new(),
            cells: 0,
            next_cell: 0,
            next_value: 0,
        })
    }
}

impl<T: DataType> Batch for Typed<T>
where
    T::T: Stored,
{
    fn left(&self) -> usize {
        self.cells - self.next_cell
    }

    fn fill(&mut self) -> Result<usize, ParquetError> {
        self.levels.clear();
        self.values.clear();
        (self.cells, self.next_cell, self.next_value) = (0, 0, 0);
        (self.cells, ..) = self
            .reader
            .read_records(BATCH, Some(&mut self.levels), None, &mut self.values)?;
        Ok(self.cells)
    }

    fn next(&mut self) -> Option<Value<'_>> {
        let null = self.most > 0 && self.levels.get(self.next_cell) != Some(&self.most);
        self.next_cell += 1;
        if null {
            return None;
        }
        self.next_value += 1;
        self.values.get(self.next_value - 1).map(Stored::value)
    }
}

trait Stored {
    fn value(&self) -> Value<'_>;
}

impl Stored for bool {
    fn value(&self) -> Value<'_> {
        Value::Boolean(*self)
    }
}

impl Stored for i32 {
    fn value(&self) -> Value<'_> {
        Value::Integer((*self).into())
    }
}

impl Stored for i64 {
    fn value(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl Stored for f32 {
    fn value(&self) -> Value<'_> {
        Value::Single(*self)
    }
}

impl Stored for f64 {
    fn value(&self) -> Value<'_> {
        Value::Double(*self)
    }
}

impl Stored for ByteArray {
    fn value(&self) -> Value<'_> {
        Value::Bytes(self.data())
    }
}

impl Stored for FixedLenByteArray {
    fn value(&self) -> Value<'_> {
        Value::Bytes(self.data())
    }
}
