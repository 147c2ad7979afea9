//! Writes files of Parquet.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::DataType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

pub type ParquetColumn = Box<dyn Fn(&mut SerializedColumnWriter<'_>)>;

/// A column without nulls.
pub fn column<T: DataType>(values: Vec<T::T>) -> ParquetColumn {
    column_of::<T>(values, None, None)
}

/// A column with these definition levels and repetition levels.
pub fn column_of<T: DataType>(
    values: Vec<T::T>,
    definitions: Option<Vec<i16>>,
    repetitions: Option<Vec<i16>>,
) -> ParquetColumn {
    Box::new(move |column| {
        let (definitions, repetitions) = (definitions.as_deref(), repetitions.as_deref());
        column.typed::<T>().write_batch(&values, definitions, repetitions).unwrap();
    })
}

/// A file with groups of rows, each with its columns.
pub fn new(schema: &str, groups: impl IntoIterator<Item = Vec<ParquetColumn>>) -> Vec<u8> {
    compressed(schema, Compression::UNCOMPRESSED, groups)
}

pub fn compressed(
    schema: &str,
    compression: Compression,
    groups: impl IntoIterator<Item = Vec<ParquetColumn>>,
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for columns in groups {
        let mut group = writer.next_row_group().unwrap();
        for write in columns {
            let mut column = group.next_column().unwrap().unwrap();
            write(&mut column);
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}
