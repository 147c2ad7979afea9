//! Which columns of a Parquet file may hold users, and that they are read in step with the others.

use std::sync::Arc;

use bytes::Bytes;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::read;
use crate::error::{Halt, Result};
use crate::schema::{Column, ColumnSelection, PathColumns, Schema};
use crate::testing::{events, text};

/// More than the cells of any batch, so that those of columns end at different rows.
const ROWS: usize = 40_000;

/// Keys, each with its user.
type Rows = Vec<(Option<String>, Option<String>)>;

/// A file with a key in every row, its number, and whatever a user may be.
fn file(user: &str, write: impl Fn(&mut SerializedColumnWriter<'_>)) -> Bytes {
    let schema = format!("message events {{ required binary key (STRING); {user}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::new())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let keys: Vec<ByteArray> = (0..ROWS).map(|row| row.to_string().into_bytes().into()).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&keys, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    write(&mut column);
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes.into()
}

fn rows(file: Bytes, selection: &ColumnSelection) -> Result<Rows> {
    let (rows, _) = events(&Schema::default(), |sink| read(file, selection, &|_| (), sink));
    Ok(rows?.into_iter().map(|(_, key, user)| (text(key), text(user))).collect())
}

fn selection(user: &str) -> ColumnSelection {
    let named = |name: &str| Column::Name(name.to_owned());
    ColumnSelection::new(named("key"), None).by(named(user))
}

/// Asserts that each row has its own user.
fn assert_users(file: Bytes, user: impl Fn(usize) -> Option<String>) {
    let rows = rows(file, &selection("user")).unwrap();
    assert_eq!(rows.len(), ROWS);
    for (row, found) in rows.into_iter().enumerate() {
        assert_eq!(found, (Some(row.to_string()), user(row)), "row {row}");
    }
}

#[test]
fn users_are_text_bytes_and_whole_numbers_as_they_are_written_elsewhere() {
    let text = |row: usize| (row % 7 != 3).then(|| format!("u{}", row % 999));
    let some: Vec<ByteArray> = (0..ROWS).filter_map(text).map(|user| user.into_bytes().into()).collect();
    let levels: Vec<i16> = (0..ROWS).map(|row| i16::from(text(row).is_some())).collect();
    for schema in ["optional binary user (STRING)", "optional binary user"] {
        let written = file(schema, |column| {
            let column = column.typed::<ByteArrayType>();
            column.write_batch(&some, Some(&levels), None).unwrap();
        });
        assert_users(written, text);
    }
    let numbers: Vec<i64> = (0..ROWS as i64).map(|row| row - 5).collect();
    for (schema, unsigned) in [
        ("required int64 user", false),
        ("required int64 user (DECIMAL(18, 0))", false),
        ("required int64 user (INTEGER(64, false))", true),
    ] {
        let written = file(schema, |column| {
            let column = column.typed::<Int64Type>();
            column.write_batch(&numbers, None, None).unwrap();
        });
        assert_users(written, |row| {
            let number = numbers[row];
            Some(if unsigned { (number as u64).to_string() } else { number.to_string() })
        });
    }
    let id: FixedLenByteArray = ByteArray::from((0..16).collect::<Vec<u8>>()).into();
    let written = file("required fixed_len_byte_array(16) user (UUID)", |column| {
        let column = column.typed::<FixedLenByteArrayType>();
        column.write_batch(&vec![id.clone(); ROWS], None, None).unwrap();
    });
    assert_users(written, |_| Some("00010203-0405-0607-0809-0a0b0c0d0e0f".to_owned()));
}

#[test]
fn other_columns_of_users_are_refused_for_the_whole_file() {
    let int64 = |column: &mut SerializedColumnWriter<'_>| {
        let column = column.typed::<Int64Type>();
        column.write_batch(&vec![17; ROWS], None, None).unwrap();
    };
    let int32 = |column: &mut SerializedColumnWriter<'_>| {
        let column = column.typed::<Int32Type>();
        column.write_batch(&vec![17; ROWS], None, None).unwrap();
    };
    let files = [
        file("required boolean user", |column| {
            let column = column.typed::<BoolType>();
            column.write_batch(&vec![true; ROWS], None, None).unwrap();
        }),
        file("required float user", |column| {
            let column = column.typed::<FloatType>();
            column.write_batch(&vec![17.0; ROWS], None, None).unwrap();
        }),
        file("required double user", |column| {
            let column = column.typed::<DoubleType>();
            column.write_batch(&vec![17.0; ROWS], None, None).unwrap();
        }),
        file("required int96 user", |column| {
            let column = column.typed::<Int96Type>();
            column.write_batch(&vec![Int96::new(); ROWS], None, None).unwrap();
        }),
        file("required int64 user (TIMESTAMP(MICROS, true))", int64),
        file("required int64 user (DECIMAL(18, 2))", int64),
        file("required int64 user (TIME(MICROS, true))", int64),
        file("required int32 user (DATE)", int32),
        file("repeated int64 user", |column| {
            let column = column.typed::<Int64Type>();
            let levels = [vec![1; ROWS], vec![0; ROWS]];
            column.write_batch(&vec![17; ROWS], Some(&levels[0]), Some(&levels[1])).unwrap();
        }),
    ];
    for (number, file) in files.into_iter().enumerate() {
        let Err(Halt::Error(refused)) = rows(file, &selection("user")) else {
            panic!("file {number} was read");
        };
        assert_eq!(
            refused.to_string(),
            "events: column user, for which --user asks, holds neither text, bytes nor whole numbers, one a row: \
             give a column that does, with --user",
            "file {number}"
        );
    }
}

#[test]
fn a_user_may_stand_in_the_path_and_may_be_the_key() {
    let numbers = || {
        file("required int64 user", |column| {
            let column = column.typed::<Int64Type>();
            column.write_batch(&vec![17; ROWS], None, None).unwrap();
        })
    };
    let of_path = ColumnSelection {
        path_columns: PathColumns::of("who=ann/part.parquet".as_ref()),
        ..selection("who")
    };
    let found = rows(numbers(), &of_path).unwrap();
    assert!(found.len() == ROWS && found.iter().all(|(_, user)| user.as_deref() == Some("ann")));
    let found = rows(numbers(), &selection("key")).unwrap();
    assert!(found.len() == ROWS && found.iter().all(|(key, user)| key == user));
}
