//! The reader, on every row of the table that all edges share; files are read by the test of the program.

mod table;

use frostpane_events::{Column, Error, Format, OnInvalid, Schema, read_bytes};
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

#[test]
fn bytes_in_memory_are_the_events_of_the_table_and_form_alone_refuses() {
    let rows = rows();
    assert!(rows.len() >= 60, "{}", rows.len());
    for row in &rows {
        let mut events: Vec<Expected> = Vec::new();
        let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let tally = read_bytes(&row.body, format(row), &schema(row), |event| {
            events.push((event.time, owned(event.key), owned(event.user)));
            Ok::<_, Error>(())
        });
        let tally = tally.unwrap();
        assert_eq!(events, row.events, "{}", row.name);
        assert_eq!((tally.unreadable, tally.waiting), (row.unreadable, row.waiting), "{}", row.name);
        let strict = Schema { on_invalid: OnInvalid::Refuse, ..schema(row) };
        let outcome = read_bytes(&row.body, format(row), &strict, |_| Ok::<_, Error>(()));
        assert_eq!(outcome.is_err(), row.is_refused, "{}: {outcome:?}", row.name);
    }
}
