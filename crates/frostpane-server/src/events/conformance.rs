//! Bodies of requests, on every row of the table that all edges share.

use frostpane::Bytes;

use super::{ParseRules, Wrong, read};
use crate::key::ServedKey;

#[path = "../../../frostpane-events/tests/table/mod.rs"]
mod table;

use table::{Expected, Row, rows};

fn rules(row: &Row, wrong: Wrong) -> ParseRules {
    let kind = match row.format.as_str() {
        "text" => "text/plain",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "jsonl" => "application/x-ndjson",
        "json" => "application/json",
        other => panic!("{other}"),
    };
    let format = super::format::of_content_type(Some(kind)).unwrap();
    let (has_time, has_user) = (row.has_time(), row.has_user());
    ParseRules { has_time, has_user, ..ParseRules::all_of(format, wrong) }
}

#[test]
fn bodies_are_the_events_of_the_table() {
    for row in rows() {
        let found = read(&row.body, &rules(&row, Wrong::Skip)).unwrap();
        let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        let batch = Bytes::batch(&found.batch).unwrap();
        let events: Vec<Expected> =
            batch.events().map(|event| (event.time, owned(event.key), owned(event.user))).collect();
        assert_eq!(events, row.events, "{}", row.name);
        assert_eq!(found.counts.events, Some(row.events.len() as u64), "{}", row.name);
        let refused = read(&row.body, &rules(&row, Wrong::Refuse));
        assert_eq!(refused.is_err(), row.is_refused, "{}", row.name);
        if let Err(refusal) = refused {
            assert_shows_nothing(&refusal.to_string(), &row.body);
        }
        // One of bytes that are no text is neither wrong nor refused.
        if row.unreadable > 0 {
            assert_eq!(found.counts.wrong > Some(0), row.is_refused, "{}", row.name);
        }
    }
}

/// Checks that a refusal is short and has no word of the body.
fn assert_shows_nothing(message: &str, body: &[u8]) {
    assert!(message.len() < 400, "{message}");
    for word in body.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.len() > 4) {
        assert!(!message.contains(&*String::from_utf8_lossy(word)), "{message}");
    }
}
