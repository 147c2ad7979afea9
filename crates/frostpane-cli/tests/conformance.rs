//! The program and a state, on every row of the table that all edges share. A state knows a source by all of its events: one that was
//! given the events of the table has nothing new to take from the file, and refuses a file with other events.

use std::path::Path;

use frostpane::{Bytes, Event};
use frostpane_store::Store;

use crate::common::{folder, frostpane, stderr, stdout, text, words, written};

#[path = "../../frostpane-events/tests/table/mod.rs"]
mod table;

use table::{Row, outcome_rows, rows};

/// States and the options that begin them; text has a state of its own, because it has no columns.
const STATES: [(&str, &str); 4] = [
    ("text", "--window 1000 --slide 100"),
    ("count", "--key key --window 1000 --slide 100"),
    ("clock", "--key key --time time --window 3d --slide 1d"),
    ("user", "--key key --time time --user user --per-user 4 --window 3d --from 2025-11-01"),
];

fn take_events(state: &Path, rows: &[&Row]) {
    let mut store = Store::<Bytes>::open(state).unwrap();
    for row in rows {
        let mut feed = store.feed(&row.name).unwrap();
        for (time, key, user) in &row.events {
            feed.push(Event { time: *time, key: key.as_deref(), user: user.as_deref() }).unwrap();
        }
        feed.finish(false).unwrap();
    }
}

#[test]
fn files_are_the_events_of_the_table() {
    let folder = folder("conformance");
    let rows = rows();
    for (mode, options) in STATES {
        let state = folder.join(mode);
        let begin = ["init", text(&state), "--top", "5", "--epsilon", "1"];
        stdout(&frostpane(&[&begin[..], &words(options)].concat(), b""));
        let rows: Vec<&Row> = rows
            .iter()
            .filter(|row| mode == if row.format == "text" { "text" } else { &row.mode })
            .filter(|row| row.format != "json")
            .collect();
        take_events(&state, &rows);
        for row in rows {
            let file = written(&folder, "row", &row.body);
            let mut args = vec!["ingest", text(&state), text(&file)];
            args.extend(["--format", &row.format, "--id", &row.name, "--whole"]);
            if row.has_user() {
                args.extend(["--until", "2025-12-02"]);
            }
            let taken = frostpane(&args, b"");
            let said = stderr(&taken);
            if row.waiting > 0 {
                assert!(said.contains("no event has a time"), "{}: {said}", row.name);
                continue;
            }
            let noun = if row.events.len() == 1 { "event" } else { "events" };
            let expected = match row.events.len() {
                0 => ": no events".to_owned(),
                events => format!("nothing is new ({events} {noun} had been taken before, counted or not)"),
            };
            assert!(taken.status.success() && said.contains(&expected), "{}: {said}", row.name);
            let unreadable = format!("{} of {} events could not be read", row.unreadable, row.events.len());
            assert_eq!(said.contains(&unreadable), row.unreadable > 0, "{}: {said}", row.name);
        }
    }
}

#[test]
fn a_state_says_what_became_of_the_events_of_the_table() {
    let folder = folder("outcomes");
    let said = ["", "came too late", "of the future", "without a key that counts", "without a user"];
    for (number, row) in outcome_rows().into_iter().enumerate() {
        let state = folder.join(number.to_string());
        let spec = written(&folder, "spec.json", row.spec().as_bytes());
        let columns: &[&str] = match row.spec() {
            spec if spec.contains("user") => &["--time", "time", "--user", "user"],
            spec if spec.contains("12h") => &["--time", "time"],
            _ => &[],
        };
        let begin = ["init", text(&state), "--spec", text(&spec), "--key", "key"];
        stdout(&frostpane(&[&begin[..], columns].concat(), b""));
        let lines = row.lines(jiff::Timestamp::now().as_microsecond());
        let file = written(&folder, &format!("{number}.jsonl"), lines.as_bytes());
        let taken = stderr(&frostpane(&["ingest", text(&state), text(&file)], b""));
        let [counted, others @ ..] = row.outcomes;
        let parts = others.iter().zip(&said[1..]).filter(|(events, _)| **events > 0);
        let parts: String = parts.map(|(events, why)| format!(", {events} {why}")).collect();
        let expected = match &*parts {
            "" => format!("{counted} events were taken\n"),
            parts => format!("events were taken: {counted} counted{parts}\n"),
        };
        assert!(taken.contains(&expected), "{}: {taken}", row.name);
        assert_eq!(taken.contains("ingest them under another --id"), others[1] > 0, "{}: {taken}", row.name);
    }
}
