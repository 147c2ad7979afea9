//! Which columns of a Parquet file may hold users, and that they are read in step with the others.

use bytes::Bytes;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;

use super::read;
use super::same::written;
use crate::error::{Halt, Result};
use crate::schema::{ColumnSelection, PathColumns, Schema};
use crate::testing::{events, selection, text};

/// More than the cells of any batch, so that those of columns end at different rows.
const ROWS: usize = 40_000;

/// Keys, each with its user.
type UserRows = Vec<(Option<String>, Option<String>)>;

/// A file with a key in every row, its number, and whatever a user may be.
fn file<T: DataType>(user: &str, users: &[T::T], levels: [Option<&[i16]>; 2]) -> Bytes {
    let schema = format!("message events {{ required binary key (STRING); {user}; }}");
    let keys: Vec<ByteArray> = (0..ROWS).map(|row| row.to_string().into_bytes().into()).collect();
    written(&schema, 1, WriterProperties::builder(), |_, index, column| match index {
        0 => column.typed::<ByteArrayType>().write_batch(&keys, None, None),
        _ => column.typed::<T>().write_batch(users, levels[0], levels[1]),
    })
}

/// A file whose users are all the same.
fn constant<T: DataType>(user: &str, value: &T::T) -> Bytes {
    file::<T>(user, &vec![value.clone(); ROWS], [None; 2])
}

fn rows(file: Bytes, selection: &ColumnSelection) -> Result<UserRows> {
    let (rows, _) = events(&Schema::default(), |sink| read(file, selection, &|_| (), sink));
    Ok(rows?.into_iter().map(|(_, key, user)| (text(key), text(user))).collect())
}

fn by(user: &str) -> ColumnSelection {
    selection("key", None, Some(user))
}

/// Asserts that each row has its own user.
fn assert_users(file: Bytes, user: impl Fn(usize) -> Option<String>) {
    let rows = rows(file, &by("user")).unwrap();
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
        assert_users(file::<ByteArrayType>(schema, &some, [Some(&levels), None]), text);
    }
    let numbers: Vec<i64> = (0..ROWS as i64).map(|row| row - 5).collect();
    for (schema, unsigned) in [
        ("required int64 user", false),
        ("required int64 user (DECIMAL(18, 0))", false),
        ("required int64 user (INTEGER(64, false))", true),
    ] {
        assert_users(file::<Int64Type>(schema, &numbers, [None; 2]), |row| {
            let number = numbers[row];
            Some(if unsigned { (number as u64).to_string() } else { number.to_string() })
        });
    }
    let id: FixedLenByteArray = ByteArray::from((0..16).collect::<Vec<u8>>()).into();
    let ids = constant::<FixedLenByteArrayType>("required fixed_len_byte_array(16) user (UUID)", &id);
    assert_users(ids, |_| Some("00010203-0405-0607-0809-0a0b0c0d0e0f".to_owned()));
}

#[test]
fn other_columns_of_users_are_refused_for_the_whole_file() {
    let levels = [vec![1; ROWS], vec![0; ROWS]];
    let files = [
        constant::<BoolType>("required boolean user", &true),
        constant::<FloatType>("required float user", &17.0),
        constant::<DoubleType>("required double user", &17.0),
        constant::<Int96Type>("required int96 user", &Int96::new()),
        constant::<Int64Type>("required int64 user (TIMESTAMP(MICROS, true))", &17),
        constant::<Int64Type>("required int64 user (DECIMAL(18, 2))", &17),
        constant::<Int64Type>("required int64 user (TIME(MICROS, true))", &17),
        constant::<Int32Type>("required int32 user (DATE)", &17),
        file::<Int64Type>("repeated int64 user", &vec![17; ROWS], [Some(&levels[0]), Some(&levels[1])]),
    ];
    for (number, file) in files.into_iter().enumerate() {
        let Err(Halt::Error(refused)) = rows(file, &by("user")) else {
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
    let numbers = || constant::<Int64Type>("required int64 user", &17);
    let of_path =
        ColumnSelection { path_columns: PathColumns::of("who=ann/part.parquet".as_ref()), ..by("who") };
    let found = rows(numbers(), &of_path).unwrap();
    assert!(found.len() == ROWS && found.iter().all(|(_, user)| user.as_deref() == Some("ann")));
    let found = rows(numbers(), &by("key")).unwrap();
    assert!(found.len() == ROWS && found.iter().all(|(key, user)| key == user));
}
