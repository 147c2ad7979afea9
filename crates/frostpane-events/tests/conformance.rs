//! The reader, on every row of the table that all edges share.

mod table;

use frostpane_events::{Column, Error, Format, OnInvalid, Schema, Source, read_bytes};
use table::{Expected, Row, rows};

fn schema(row: &Row) -> Schema {
    let column = |name: &str| Some(Column::Name(name.to_owned()));
    Schema {
        key: column("key").filter(|_| row.format != "text"),
        time: column("time").filter(|_| row.has_time()),
        user: column("user").filter(|_| row.has_user()),
        by_clock: row.has_time(),
        ..Schema::default()
    }
}

fn format(row: &Row) -> Format {
    match row.format.as_str() {
        "text" => Format::Text,
        "csv" => Format::Csv,
        "tsv" => Format::Tsv,
        "jsonl" => Format::Jsonl,
        "json" => Format::JsonArray,
        other => panic!("{other}"),
    }
}

fn owned(event: frostpane_events::EventRef<'_>) -> Expected {
    let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    (event.time, owned(event.key), owned(event.user))
}

#[test]
fn bytes_in_memory_are_the_events_of_the_table() {
    let rows = rows();
    assert!(rows.len() >= 60, "{}", rows.len());
    for row in &rows {
        let mut events = Vec::new();
        let tally = read_bytes(&row.body, format(row), &schema(row), |event| {
            events.push(owned(event));
            Ok::<_, Error>(())
        });
        let tally = tally.unwrap();
        assert_eq!(events, row.events, "{}", row.name);
        assert_eq!((tally.unreadable, tally.waiting), (row.unreadable, row.waiting), "{}", row.name);
    }
}

#[test]
fn form_alone_refuses() {
    for row in rows() {
        let strict = Schema { on_invalid: OnInvalid::Refuse, ..schema(&row) };
        let outcome = read_bytes(&row.body, format(&row), &strict, |_| Ok::<_, Error>(()));
        assert_eq!(outcome.is_err(), row.is_refused, "{}: {outcome:?}", row.name);
    }
}

#[test]
fn files_are_the_events_of_the_table() {
    let folder = std::env::temp_dir().join(format!("frostpane-conformance-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (number, row) in rows().iter().enumerate().filter(|(_, row)| row.format != "json") {
        let ending = if row.format == "text" { "txt" } else { &row.format };
        let file = folder.join(format!("{number}.{ending}"));
        std::fs::write(&file, &row.body).unwrap();
        let mut events = Vec::new();
        let read = Source::new(&[file], schema(row)).unwrap().for_each(|event| {
            events.push(owned(event));
            Ok::<_, Error>(())
        });
        assert_eq!(events, row.events, "{}", row.name);
        assert_eq!(read.is_err(), row.waiting > 0, "{}: {read:?}", row.name);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
