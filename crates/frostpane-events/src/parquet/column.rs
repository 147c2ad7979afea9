use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int64Type, Int96};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnDescriptor;

use super::byte_cells::ByteCells;
use super::logical_type::LogicalType;
use super::{guarded, unreadable};
use crate::time::Times;

const BATCH: usize = 1 << 13;
const JULIAN_DAY_OF_1970: i128 = 2_440_588;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;

#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Boolean(bool),
    Integer(i64),
    Single(f32),
    Double(f64),
    Bytes(&'a [u8]),
    /// Since 1970.
    Nanos(i128),
}

/// The cells of one column of a Parquet row group.
pub struct Cells {
    logical: LogicalType,
    batch: CellReader,
}

/// The usual types are variants of their own: values that pass through a virtual call pass through memory.
enum CellReader {
    Bytes(Box<ByteCells>),
    Integers(Box<Typed<Int64Type>>),
    Others(Box<dyn CellBatch>),
}

impl CellReader {
    fn left(&self) -> usize {
        match self {
            Self::Bytes(cells) => cells.left(),
            Self::Integers(cells) => cells.left(),
            Self::Others(cells) => cells.left(),
        }
    }

    fn fill(&mut self) -> Result<usize, ParquetError> {
        match self {
            Self::Bytes(cells) => cells.fill(),
            Self::Integers(cells) => cells.fill(),
            Self::Others(cells) => cells.fill(),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Value<'_>> {
        match self {
            Self::Bytes(cells) => cells.next().map(Value::Bytes),
            Self::Integers(cells) => cells.next(),
            Self::Others(cells) => cells.next(),
        }
    }
}

impl Cells {
    pub fn open(group: &dyn RowGroupReader, index: usize, show_input: bool) -> Result<Self, String> {
        let broken = |cause: ParquetError| unreadable(&cause, show_input);
        let chunk = group.metadata().columns().get(index);
        let chunk = chunk.ok_or("a row group lacks columns")?;
        let column = chunk.column_descr_ptr();
        if column.max_rep_level() > 0 {
            let name = column.path().string();
            return Err(format!("column {name} holds lists, but must hold one value a row"));
        }
        let most = column.max_def_level();
        if ByteCells::can_read(chunk) {
            let pages = guarded(|| group.get_column_page_reader(index)).map_err(broken)?;
            let rows = group.metadata().num_rows();
            let cells = ByteCells::new(pages, most, rows);
            return Ok(Self::new(&column, CellReader::Bytes(Box::new(cells))));
        }
        let batch = match guarded(|| group.get_column_reader(index)).map_err(broken)? {
            ColumnReader::BoolColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int32ColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int64ColumnReader(reader) => {
                CellReader::Integers(Box::new(Typed::new(reader, most)))
            }
            ColumnReader::FloatColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::DoubleColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::ByteArrayColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => Typed::boxed(reader, most),
            ColumnReader::Int96ColumnReader(reader) => Typed::boxed(reader, most),
        };
        Ok(Self::new(&column, batch))
    }

    fn new(column: &ColumnDescriptor, batch: CellReader) -> Self {
        Self { logical: LogicalType::of(column), batch }
    }

    pub fn constant(value: &[u8], cells: i64) -> Self {
        Self {
            logical: LogicalType::Plain,
            batch: CellReader::Others(Box::new(Constant {
                value: value.to_vec(),
                left: cells.try_into().unwrap_or(0),
            })),
        }
    }

    /// The number of cells at hand, after reading on if there were none; 0 at the end of the column.
    pub fn ready(&mut self) -> Result<usize, ParquetError> {
        match self.batch.left() {
            0 => guarded(|| self.batch.fill()),
            left => Ok(left),
        }
    }

    /// The next cell as a key or a user, unless it is null or empty.
    #[inline]
    pub fn text<'a>(&'a mut self, text: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let found = match (&mut self.batch, self.logical) {
            (CellReader::Bytes(cells), LogicalType::Plain) => cells.next()?,
            (cells, logical) => match (cells.next()?, logical) {
                (Value::Bytes(bytes), LogicalType::Plain) => bytes,
                (value, logical) => {
                    text.clear();
                    logical.write(value, text).ok()?;
                    text
                }
            },
        };
        Some(found).filter(|found| !found.is_empty())
    }

    /// The next cell as a time, if it is one. If it is none, its text is left in `shown`.
    #[inline]
    pub fn time(&mut self, times: &Times, shown: Option<&mut Vec<u8>>) -> Option<i64> {
        let value = self.batch.next()?;
        let time = self.logical.time(value, times);
        if let (None, Some(shown)) = (time, shown) {
            shown.clear();
            self.logical.write(value, shown).ok()?;
        }
        time
    }
}

trait CellBatch {
    fn left(&self) -> usize;
    fn fill(&mut self) -> Result<usize, ParquetError>;
    fn next(&mut self) -> Option<Value<'_>>;
}

struct Constant {
    value: Vec<u8>,
    left: usize,
}

impl CellBatch for Constant {
    fn left(&self) -> usize {
        self.left
    }

    fn fill(&mut self) -> Result<usize, ParquetError> {
        Ok(self.left)
    }

    fn next(&mut self) -> Option<Value<'_>> {
        self.left = self.left.saturating_sub(1);
        Some(Value::Bytes(&self.value))
    }
}

struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The level of a cell that is not null.
    most: i16,
    /// The level of each cell, if any may be null.
    levels: Vec<i16>,
    /// The values of the cells that are not null.
    values: Vec<T::T>,
    cells: usize,
    next_cell: usize,
    next_value: usize,
}

impl<T: DataType> Typed<T>
where
    T::T: Stored,
{
    fn boxed(reader: ColumnReaderImpl<T>, most: i16) -> CellReader {
        CellReader::Others(Box::new(Self::new(reader, most)))
    }

    fn new(reader: ColumnReaderImpl<T>, most: i16) -> Self {
        Self { reader, most, levels: Vec::new(), values: Vec::new(), cells: 0, next_cell: 0, next_value: 0 }
    }
}

impl<T: DataType> CellBatch for Typed<T>
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
        (self.cells, ..) = self.reader.read_records(BATCH, Some(&mut self.levels), None, &mut self.values)?;
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

macro_rules! stored {
    ($($type:ty: |$cell:ident| $value:expr;)*) => {
        $(impl Stored for $type {
            fn value(&self) -> Value<'_> {
                let $cell = self;
                $value
            }
        })*
    };
}

stored! {
    bool: |cell| Value::Boolean(*cell);
    i32: |cell| Value::Integer((*cell).into());
    i64: |cell| Value::Integer(*cell);
    f32: |cell| Value::Single(*cell);
    f64: |cell| Value::Double(*cell);
    Int96: |cell| Value::Nanos(nanos(cell));
    ByteArray: |cell| Value::Bytes(cell.data());
    FixedLenByteArray: |cell| Value::Bytes(cell.data());
}

fn nanos(instant: &Int96) -> i128 {
    let &[low, high, day] = instant.data().first_chunk().unwrap_or(&[0; 3]);
    let nanos = i128::from(high) << 32 | i128::from(low);
    (i128::from(day as i32) - JULIAN_DAY_OF_1970) * NANOS_PER_DAY + nanos
}
