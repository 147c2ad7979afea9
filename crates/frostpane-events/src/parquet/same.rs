//! Comparison of the reader of byte arrays with that of the parquet crate, for files of every kind.

use std::slice::from_ref;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::byte_cells::ByteCells;

type Cell = Option<Vec<u8>>;

const REQUIRED: &str = "message m { required binary key; }";
const OPTIONAL: &str = "message m { optional binary key; }";
const NESTED: &str = "message m { optional group a { optional group b { optional binary key; } } }";

/// A file with so many row groups, whose columns `write` writes by the numbers of group and column.
pub fn written(
    schema: &str,
    groups: usize,
    properties: WriterPropertiesBuilder,
    write: impl Fn(usize, usize, &mut SerializedColumnWriter<'_>) -> parquet::errors::Result<usize>,
) -> Bytes {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    for number in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        for index in 0.. {
            let Some(mut column) = group.next_column().unwrap() else { break };
            write(number, index, &mut column).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes.into()
}

/// A file with these cells in each group; of those that are null, every other one is so a level higher.
pub fn with_cells(schema: &str, groups: &[Vec<Cell>], properties: WriterPropertiesBuilder) -> Bytes {
    written(schema, groups.len(), properties, |group, _, column| {
        let column = column.typed::<ByteArrayType>();
        let most = column.get_descriptor().max_def_level();
        let null = |row: usize| (most - 1 - row as i16 % 2).max(0);
        let rows = groups[group].iter().enumerate();
        let levels: Vec<i16> =
            rows.map(|(row, cell)| if cell.is_some() { most } else { null(row) }).collect();
        let values: Vec<ByteArray> = groups[group].iter().flatten().cloned().map(ByteArray::from).collect();
        column.write_batch(&values, Some(&levels), None)
    })
}

/// The cells as they are read here, of a file whose chunks must all be fit for it.
fn here(file: &SerializedFileReader<Bytes>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for group in (0..file.num_row_groups()).map(|index| file.get_row_group(index).unwrap()) {
        let chunk = group.metadata().column(0);
        assert!(ByteCells::can_read(chunk));
        let most = chunk.column_descr().max_def_level();
        let pages = group.get_column_page_reader(0).unwrap();
        let mut column = ByteCells::new(pages, most, group.metadata().num_rows());
        while column.fill().unwrap() > 0 {
            while column.left() > 0 {
                cells.push(column.next().map(<[u8]>::to_vec));
            }
        }
    }
    cells
}

/// The cells as the crate reads them.
fn there(file: &SerializedFileReader<Bytes>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for group in (0..file.num_row_groups()).map(|index| file.get_row_group(index).unwrap()) {
        let most = group.metadata().column(0).column_descr().max_def_level();
        let ColumnReader::ByteArrayColumnReader(mut column) = group.get_column_reader(0).unwrap() else {
            panic!("a column of byte arrays");
        };
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (rows, ..) = column.read_records(usize::MAX, Some(&mut levels), None, &mut values).unwrap();
        let mut values = values.into_iter();
        cells.extend((0..rows).map(|row| {
            let null = most > 0 && levels[row] != most;
            (!null).then(|| values.next().unwrap().data().to_vec())
        }));
    }
    cells
}

/// Cells with and without runs of equal ones, of few and of many values, with and without nulls.
fn columns() -> Vec<Vec<Cell>> {
    let text = |number: usize| Some(format!("key {number}").into_bytes());
    let rows = 0..2_503;
    let scattered = |row: usize| row * 2_654_435_761 % 4_294_967_291 / 7;
    vec![
        Vec::new(),
        vec![Some(Vec::new())],
        rows.clone().map(|_| Some(Vec::new())).collect(),
        rows.clone().map(|_| text(7)).collect(),
        rows.clone().map(|row| text(row / 700)).collect(),
        rows.clone().map(|row| text(scattered(row) % 5)).collect(),
        rows.clone().map(|row| text(scattered(row) % 300)).collect(),
        rows.clone().map(text).collect(),
        rows.clone().map(|row| text(if row < 2_000 { 1 } else { row % 70 })).collect(),
        rows.map(|row| Some(vec![row as u8; scattered(row) % 40])).collect(),
    ]
}

/// A column with nulls here and there, with long runs of them, and with nothing else.
fn with_nulls(column: &[Cell]) -> Vec<Vec<Cell>> {
    let without = |null: fn(usize) -> bool| {
        let cells = column.iter().cloned().enumerate();
        cells.map(|(row, cell)| cell.filter(|_| !null(row))).collect()
    };
    vec![
        without(|row| row % 3 == 1),
        without(|row| row / 900 % 2 == 0),
        without(|row| row % 1_000 < 30 && row % 7 != 0),
        without(|_| true),
    ]
}

/// Ways to write a file: pages of both versions, large and tiny, with a dictionary, a small one, and none.
fn writers() -> Vec<WriterPropertiesBuilder> {
    let mut writers = Vec::new();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for (dictionary, limit) in [(true, 1 << 20), (true, 200), (false, 0)] {
            for (rows, compression) in [
                (100_000, Compression::UNCOMPRESSED),
                (977, Compression::SNAPPY),
                (3, Compression::UNCOMPRESSED),
            ] {
                writers.push(
                    WriterProperties::builder()
                        .set_writer_version(version)
                        .set_encoding(Encoding::PLAIN)
                        .set_dictionary_enabled(dictionary)
                        .set_dictionary_page_size_limit(limit)
                        .set_data_page_row_count_limit(rows)
                        .set_write_batch_size(rows.min(500))
                        .set_compression(compression),
                );
            }
        }
    }
    writers
}

fn assert_same(schema: &str, groups: &[Vec<Cell>]) {
    for (index, properties) in writers().into_iter().enumerate() {
        let file = SerializedFileReader::new(with_cells(schema, groups, properties)).unwrap();
        let cells = here(&file);
        assert!(cells == groups.concat(), "{schema}, writer {index}");
        assert!(cells == there(&file), "{schema}, writer {index}");
    }
}

#[test]
fn columns_with_and_without_nulls_are_read_as_the_crate_reads_them() {
    for column in columns() {
        assert_same(REQUIRED, from_ref(&column));
        assert_same(OPTIONAL, from_ref(&column));
    }
    for column in columns().iter().flat_map(|column| with_nulls(column)) {
        assert_same(OPTIONAL, from_ref(&column));
        assert_same(NESTED, from_ref(&column));
    }
}

#[test]
fn row_groups_have_dictionaries_of_their_own() {
    assert_same(REQUIRED, &columns());
    assert_same(OPTIONAL, &with_nulls(&columns()[6]));
}

#[test]
fn other_encodings_are_left_to_the_crate() {
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
    let file = SerializedFileReader::new(with_cells(REQUIRED, &columns()[3..4], properties)).unwrap();
    assert!(!ByteCells::can_read(file.metadata().row_group(0).column(0)));
    assert_eq!(there(&file), columns()[3]);
}
