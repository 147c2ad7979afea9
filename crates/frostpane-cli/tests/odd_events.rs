//! Neighbours of people through the real executable: one event whose user, key or time is odd, in every format and at every place, moves nothing but
//! what is said of it.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::common::{heavy, json};

/// A time, a user and a key, as they are written.
type Event = [String; 3];

const PEOPLE: i64 = 200;
const TIME: &str = "2025-11-30T12:00:00Z";
/// Where the odd event stands: also where a format, a header or a unit of time could be guessed from it.
const PLACES: [usize; 3] = [0, 100, PEOPLE as usize];

/// Of each user one event of the last day of November 2025.
fn events() -> Vec<Event> {
    let event = |user: i64| [TIME.to_owned(), (-user).to_string(), "5".to_owned()];
    (1..=PEOPLE).map(event).collect()
}

/// The list of such events, without noise.
fn listed(format: &str, bytes: &[u8]) -> Vec<(String, u64)> {
    let asked = [
        "list",
        "--json",
        "--all",
        "--epsilon",
        "1000000",
        "--per-user",
        "1",
    ];
    let columns = match format {
        "csv" | "tsv" => ["--time", "1", "--user", "2", "--key", "3"],
        _ => ["--time", "time", "--user", "user", "--key", "key"],
    };
    let window = ["--window", "1d", "--until", "2025-12-01", "--format", format];
    heavy(&json(&[&asked[..], &columns, &window].concat(), bytes))
}

/// That the user of one more event, or the key or the time, moves no other; whether that event is counted.
fn assert_alone(format: &str, write: impl Fn(&[Event]) -> Vec<u8>, odd: &Event, counts: bool) {
    let people = PEOPLE as u64;
    for place in PLACES {
        let mut events = events();
        events.insert(place, odd.clone());
        let listed = listed(format, &write(&events));
        let expected = vec![("5".to_owned(), people + u64::from(counts))];
        assert_eq!(listed, expected, "{odd:?} at {place} as {format}");
    }
}

fn by(user: &str) -> Event {
    [TIME, user, "5"].map(str::to_owned)
}

fn of(key: &str) -> Event {
    [TIME, "ann", key].map(str::to_owned)
}

fn at(time: &str) -> Event {
    [time, "ann", "5"].map(str::to_owned)
}

fn separated(by: &'static str) -> impl Fn(&[Event]) -> Vec<u8> {
    move |events| {
        let lines = events.iter().map(|event| event.join(by) + "\n");
        lines.collect::<String>().into_bytes()
    }
}

#[test]
fn one_event_of_csv_and_tsv_moves_no_other() {
    for (odd, counts) in [
        (by("9223372036854775808"), true),
        (by("1180591620717411303424"), true),
        (by("1.5"), true),
        (by("user"), true),
        (by(""), false),
        (of("9223372036854775808"), false),
        (of("1180591620717411303424"), false),
        (of("key"), false),
        (of(""), false),
        (of("{\"a\": 1}"), false),
        (at("20251130"), true),
        (at("1764504000"), true),
        (at("1764504000000"), true),
        (at("1764504000000000.5"), true),
        (at("2025-11-30 12:00"), true),
        (at("time"), false),
        (at("noon"), false),
        (at("1180591620717411303424"), false),
        (at(""), false),
    ] {
        assert_alone("csv", separated(","), &odd, counts);
        assert_alone("tsv", separated("\t"), &odd, counts);
    }
    // As a line that is not written as CSV is.
    for odd in [by("\"ann"), of("\"5"), of("\"5\"\""), at("\"2025-11-30")] {
        assert_alone("csv", separated(","), &odd, false);
    }
}

fn json_lines(events: &[Event]) -> Vec<u8> {
    let line = |[time, user, key]: &Event| {
        let time = match time.starts_with(|first: char| first.is_ascii_digit()) && time.contains('T') {
            true => format!("\"{time}\""),
            false => time.clone(),
        };
        format!("{{\"time\": {time}, \"user\": {user}, \"key\": {key}}}\n")
    };
    events.iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn one_event_of_json_moves_no_other() {
    for (user, counts) in [
        ("9223372036854775808", true),
        ("1180591620717411303424", true),
        ("\"ann\"", true),
        ("\"\\ud800\"", true),
        ("1.5", false),
        ("1e400", false),
        ("true", false),
        ("null", false),
        ("\"\"", false),
        ("[1]", false),
        ("{\"id\": 1}", false),
    ] {
        assert_alone("jsonl", json_lines, &by(user), counts);
    }
    for key in [
        "9223372036854775808",
        "1180591620717411303424",
        "5.5",
        "1e400",
        "true",
        "null",
        "[5]",
        "\"five\"",
    ] {
        let odd = [TIME, "\"ann\"", key].map(str::to_owned);
        assert_alone("jsonl", json_lines, &odd, false);
    }
    for (time, counts) in [
        ("1764504000", true),
        ("1764504000000", true),
        ("1764504000.5", true),
        ("20251130", true),
        ("\"2025-11-30\"", true),
        ("\"noon\"", false),
        ("1180591620717411303424", false),
        ("null", false),
        ("true", false),
        ("[1764504000]", false),
    ] {
        let odd = [time, "\"ann\"", "5"].map(str::to_owned);
        assert_alone("jsonl", json_lines, &odd, counts);
    }
}

/// A file of Parquet with columns of these types; what is no value of a column is null.
fn parquet(user: &str, key: &str, events: &[Event]) -> Vec<u8> {
    let schema =
        format!("message events {{ optional binary time (STRING); optional {user}; optional {key}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::new())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (place, kind) in ["binary", user, key].into_iter().enumerate() {
        let cells: Vec<&str> = events.iter().map(|event| event[place].as_str()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        match kind.starts_with("int64") {
            true => write_integers(&mut column, &cells),
            false => write_texts(&mut column, &cells),
        }
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn write_integers(column: &mut SerializedColumnWriter<'_>, cells: &[&str]) {
    let number = |cell: &&str| {
        cell.parse::<i64>()
            .or_else(|_| cell.parse::<u64>().map(|number| number as i64))
    };
    let numbers: Vec<i64> = cells.iter().filter_map(|cell| number(cell).ok()).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(number(cell).is_ok())).collect();
    let column = column.typed::<Int64Type>();
    column.write_batch(&numbers, Some(&levels), None).unwrap();
}

fn write_texts(column: &mut SerializedColumnWriter<'_>, cells: &[&str]) {
    let some = || cells.iter().filter(|cell| **cell != "null");
    let texts: Vec<ByteArray> = some().map(|cell| cell.as_bytes().to_vec().into()).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(*cell != "null")).collect();
    let column = column.typed::<ByteArrayType>();
    column.write_batch(&texts, Some(&levels), None).unwrap();
}

#[test]
fn one_event_of_parquet_moves_no_other() {
    let text = "binary user (STRING)";
    for (user, column, counts) in [
        ("9223372036854775808", text, true),
        ("1180591620717411303424", text, true),
        ("1.5", text, true),
        ("", text, false),
        ("null", text, false),
        ("9223372036854775807", "int64 user", true),
        ("-9223372036854775808", "int64 user", true),
        ("0", "int64 user", true),
        ("null", "int64 user", false),
        ("9223372036854775808", "int64 user (INTEGER(64, false))", true),
        ("null", "int64 user (INTEGER(64, false))", false),
    ] {
        let write = |events: &[Event]| parquet(column, "binary key (STRING)", events);
        assert_alone("parquet", write, &by(user), counts);
    }
    for (key, column) in [
        ("9223372036854775808", "binary key (STRING)"),
        ("null", "binary key (STRING)"),
        ("-9223372036854775808", "int64 key"),
        ("null", "int64 key"),
    ] {
        let write = |events: &[Event]| parquet(text, column, events);
        assert_alone("parquet", write, &of(key), false);
    }
    for (time, counts) in [
        ("1764504000", true),
        ("20251130", true),
        ("noon", false),
        ("null", false),
    ] {
        let write = |events: &[Event]| parquet(text, "binary key (STRING)", events);
        assert_alone("parquet", write, &at(time), counts);
    }
}
