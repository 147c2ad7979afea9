//! Neighbours: another key or another user in one event, however odd, moves no other event, in any form and
//! with keys of either type.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int8Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_ipc::writer::StreamWriter;
use frostpane::Bytes;
use frostpane_events::Format;
use frostpane_store::KeyKind;

use super::{ParseRules, Wrong, read};
use crate::key::ServedKey;

const EVENTS: usize = 40;
/// Places of the odd event.
const PLACES: [usize; 3] = [0, 20, EVENTS - 1];

/// A key and a user, as bytes.
type KeyAndUser = (Option<Vec<u8>>, Option<Vec<u8>>);
/// A key and a user, as they are written.
type Row = [Vec<u8>; 2];

fn rules(format: Format, keys: KeyKind, wrong: Wrong) -> ParseRules {
    ParseRules { keys, has_time: true, has_user: true, ..ParseRules::all_of(format, wrong) }
}

/// The events of a body, and how many were left out.
fn events(body: &[u8], format: Format, keys: KeyKind) -> (Vec<KeyAndUser>, u64) {
    let found = read(body, &rules(format, keys, Wrong::Skip)).unwrap();
    // Where nothing can be taken for a delimiter, no key and no user refuses a request.
    if !matches!(format, Format::Csv | Format::Tsv) {
        assert!(read(body, &rules(format, keys, Wrong::Refuse)).is_ok(), "{}", body.escape_ascii());
    }
    let events = match keys {
        KeyKind::Bytes => parts::<Bytes>(&found, |key| key.to_vec()),
        KeyKind::Integers => parts::<u64>(&found, |key| key.to_string().into_bytes()),
    };
    (events, found.counts.wrong.unwrap())
}

fn parts<K: ServedKey>(found: &super::ParsedEvents, text: impl Fn(K::Ref<'_>) -> Vec<u8>) -> Vec<KeyAndUser> {
    let batch = K::batch(&found.batch).unwrap();
    let part = |event: frostpane::Event<'_, K>| (event.key.map(&text), event.user.map(<[u8]>::to_vec));
    batch.events().map(part).collect()
}

fn plain(row: usize) -> Row {
    [(row % 7).to_string(), format!("-{row}")].map(String::into_bytes)
}

/// Compares bodies that differ in the key, or in the user, of one event: nothing else does. `wrong` is the
/// number of events that cannot be read then.
fn assert_alone(format: Format, write: impl Fn(&[Row]) -> Vec<u8>, odd: &[u8], wrong: [u64; 2]) {
    let usual: Vec<Row> = (0..EVENTS).map(plain).collect();
    for keys in [KeyKind::Bytes, KeyKind::Integers] {
        let (before, unreadable) = events(&write(&usual), format, keys);
        assert_eq!((before.len(), unreadable), (EVENTS, 0));
        for place in PLACES {
            for column in [0, 1] {
                let mut rows = usual.clone();
                rows[place][column] = odd.to_vec();
                let (mut after, found) = events(&write(&rows), format, keys);
                let mut others = before.clone();
                others.remove(place);
                after.remove(place);
                let name = String::from_utf8_lossy(odd);
                assert_eq!(found, wrong[column], "{name} as {format:?}");
                assert_eq!(after, others, "{name} as {format:?}");
            }
        }
    }
}

/// Values of JSON in place of a key or a user, separated by blanks.
const JSON: &str = r#"9223372036854775808 -9223372036854775809 1180591620717411303424 0 -0 1.5 7.0 1e3 1e400 true null
    [7] {"key":7} "" "7" "seven" "a\"b" "a,b\n\t" "\ud800" "\u0000" "{}""#;

fn object(row: &Row) -> Vec<u8> {
    let [key, user] = row;
    [b"{\"key\": ", &key[..], b", \"time\": 1764547199, \"user\": ", user, b"}"].concat()
}

#[test]
fn one_value_of_json_moves_no_other_event() {
    let lines = |rows: &[Row]| rows.iter().map(object).collect::<Vec<_>>().join(&b'\n');
    let array = |rows: &[Row]| {
        let objects = rows.iter().map(object).collect::<Vec<_>>().join(&b',');
        [b"[", &objects[..], b"]"].concat()
    };
    for odd in JSON.split_whitespace().chain(["\"\u{2028}\""]) {
        assert_alone(Format::Jsonl, lines, odd.as_bytes(), [0; 2]);
        assert_alone(Format::JsonArray, array, odd.as_bytes(), [0; 2]);
    }
    assert_alone(Format::Jsonl, lines, b"\"\xff\"", [0; 2]);
}

/// Fields of CSV in place of a key or a user, separated by bars.
const CSV: &str = "1180591620717411303424|1.5|| |NA|key|\r|a\"b|\"a,\"\"b\"\"\"|\"a\"b|\"\"";

#[test]
fn one_value_of_csv_moves_no_other_event() {
    let rows_by = |delimiter: u8| {
        move |rows: &[Row]| {
            let line = |[key, user]: &Row| [&key[..], b"1764547199", user].join(&delimiter);
            let header = vec![[&b"key"[..], b"time", b"user"].join(&delimiter)];
            header.into_iter().chain(rows.iter().map(line)).collect::<Vec<_>>().join(&b'\n')
        }
    };
    let refused = ["\"", "\"a", "\"a\"\""].map(|odd| (odd.as_bytes(), [1; 2]));
    let taken = CSV.split('|').map(|odd| (odd.as_bytes(), [0; 2]));
    let others = [(&b"\xff"[..], [0; 2]), (b"a,b", [1, 0])];
    for (odd, wrong) in taken.chain(refused).chain(others) {
        assert_alone(Format::Csv, rows_by(b','), odd, wrong);
        assert_alone(Format::Tsv, rows_by(b'\t'), odd, [0; 2]);
    }
    assert_alone(Format::Tsv, rows_by(b'\t'), b"a\tb", [1, 0]);
}

/// Keys and users as columns, which hold what is no value of theirs as none.
fn stream(rows: &[Row], column: impl Fn(Vec<Option<&str>>) -> ArrayRef) -> Vec<u8> {
    let values = |place: usize| {
        let texts = rows.iter().map(|row| str::from_utf8(&row[place]).ok());
        column(texts.map(|text| text.filter(|text| *text != "none")).collect())
    };
    let times: ArrayRef = Arc::new(Int64Array::from(vec![1_764_547_199; rows.len()]));
    let columns = [("key", values(0), true), ("time", times, true), ("user", values(1), true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn one_value_of_arrow_moves_no_other_event() {
    type MakeColumn = fn(Vec<Option<&str>>) -> ArrayRef;
    let columns: [MakeColumn; 5] = [
        |values| Arc::new(StringArray::from(values)),
        |values| Arc::new(BinaryArray::from_iter(values)),
        |values| Arc::new(Int64Array::from_iter(values.iter().map(|text| (*text)?.parse::<i64>().ok()))),
        |values| {
            let value = |text: &str| text.trim_start_matches('-').parse::<u64>().ok();
            Arc::new(UInt64Array::from_iter(values.into_iter().map(|text| text.and_then(value))))
        },
        |values| {
            let places = (0..values.len()).map(|row| values[row].map(|_| row as i8));
            let places = Int8Array::from_iter(places);
            Arc::new(DictionaryArray::new(places, Arc::new(StringArray::from(values))))
        },
    ];
    for odd in
        ["none", "", "seven", "0", "9223372036854775807", "-9223372036854775808", "18446744073709551615"]
    {
        for column in columns {
            assert_alone(Format::Arrow, |rows| stream(rows, column), odd.as_bytes(), [0; 2]);
        }
    }
}
