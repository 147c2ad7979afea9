//! Formats that the real executable reads.

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};

use crate::common::{
    EXACT, by_pipe, exact, frostpane, gzip, heavy,
    parquet_file::{self, column, column_of},
    stderr, temporary, text, words, zstd,
};

const EVENTS: u64 = 4_000;
const START: u64 = 1_700_000_000;

/// Three keys, one of which needs quotes and escapes, and events without a key.
fn key(event: u64) -> Option<&'static str> {
    ["elm", "elm", "elm", "oak", "a \"b\", ü"].get(event as usize % 6).copied()
}

fn lines(line: impl Fn(u64, &str) -> String) -> Vec<u8> {
    let lines = (0..EVENTS).map(|event| line(START + event, key(event).unwrap_or_default()) + "\n");
    lines.collect::<String>().into_bytes()
}

fn tsv() -> Vec<u8> {
    lines(|time, key| format!("{time}\tmore\t{key}"))
}

fn csv() -> Vec<u8> {
    let quoted = |key: &str| format!("\"{}\"", key.replace('"', "\"\""));
    let rows = lines(|time, key| format!("{time},\"more, \",{}", quoted(key)));
    [b"at, what ,tree\r\n".to_vec(), rows].concat()
}

fn jsonl() -> Vec<u8> {
    let line = |event| {
        let at = (START + event) * 1_000;
        let the = serde_json::json!({ "x": 1, "tree": key(event) });
        format!("{}\n", serde_json::json!({ "at": at, "more": [{ "at": 1 }], "the": the }))
    };
    (0..EVENTS).map(line).collect::<String>().into_bytes()
}

fn parquet() -> Vec<u8> {
    let schema = "message events { required int64 at (TIMESTAMP(MILLIS, true)); optional group the { optional binary tree (STRING); } }";
    let group = |rows: std::ops::Range<u64>| {
        let times = rows.clone().map(|event| (START + event) as i64 * 1_000).collect();
        let keys = rows.clone().filter_map(key).map(ByteArray::from).collect();
        let levels = rows.map(|event| if key(event).is_some() { 2 } else { 1 }).collect();
        vec![column::<Int64Type>(times), column_of::<ByteArrayType>(keys, Some(levels), None)]
    };
    parquet_file::new(schema, [0..EVENTS / 2, EVENTS / 2..EVENTS].map(group))
}

/// The same events as a file and through a pipe, plain, packed and packed twice, give this release.
fn assert_same(name: &str, content: &[u8], options: &[&str], expected: &serde_json::Value) {
    let format = match name.split_once('.').unwrap().1 {
        "txt" => "text",
        ending => ending,
    };
    let packed =
        [("", "none", content.to_vec()), (".gz", "gzip", gzip(content)), (".zst", "zstd", zstd(content))];
    for (ending, packing, bytes) in &packed {
        let piped = exact(&[options, &["--format", format, "--packing", packing]].concat(), bytes);
        assert_eq!(&piped, expected, "{name}{ending} by pipe");
    }
    let twice = (".zst.gz", "gzip", gzip(&zstd(content)));
    for (ending, _, bytes) in packed.iter().chain([&twice]) {
        let file = temporary(&format!("{name}{ending}"), bytes);
        let of_file = exact(&[options, &[text(&file)]].concat(), b"");
        assert_eq!(&by_pipe(of_file, expected), expected, "{name}{ending} by file");
    }
}

/// The same in every format that has columns.
fn assert_same_columns(name: &str, window: &str, times: [&str; 2], expected: &serde_json::Value) {
    for (format, key, time, content) in [
        ("tsv", "3", times[0], tsv()),
        ("csv", "tree", times[1], csv()),
        ("jsonl", "the.tree", times[1], jsonl()),
        ("parquet", "the.tree", times[1], parquet()),
    ] {
        let options = format!("{window} --key {key} {time}");
        assert_same(&format!("{name}.{format}"), &content, &words(&options), expected);
    }
}

#[test]
fn every_format_packed_or_not_by_file_or_by_pipe_gives_the_same_release() {
    let window = "--window 30m --slide 1m";
    let expected = exact(&words(&format!("{window} --key 3 --time 1 --format tsv")), &tsv());
    assert_eq!(expected["window"]["from"], "2023-11-14T22:50:00Z");
    assert_eq!(expected["window"]["events"], 1_800);
    assert_eq!(
        heavy(&expected),
        [("elm".to_owned(), 900), ("a \"b\", ü".to_owned(), 300), ("oak".to_owned(), 300)],
        "the 300 events without a key are events and no key"
    );
    assert_same_columns("same", window, ["--time 1", "--time at"], &expected);
}

#[test]
fn columns_and_whole_lines_give_the_same_release_by_count() {
    let window = "--window 3000 --slide 100";
    let text = lines(|_, key| key.to_owned());
    let expected = exact(&words(window), &text);
    assert_eq!(expected["window"]["events"], 3_000);
    assert_same("lines.txt", &text, &words(window), &expected);
    assert_same_columns("lines", window, ["", ""], &expected);
}

#[test]
fn a_record_of_several_lines_is_one_event_only_where_that_is_asked_for() {
    let events = b"x,\"elm\nold\"\n".repeat(500);
    let options = ["--format", "csv", "--key", "2"];
    let lines = frostpane(&[&EXACT[..], &options].concat(), &events);
    assert_eq!(lines.status.code(), Some(4), "none has a key");
    let release: serde_json::Value = serde_json::from_slice(&lines.stdout).unwrap();
    assert_eq!(release["window"]["events"], 1_000);
    assert_eq!(heavy(&release), []);
    let release = exact(&[&options[..], &["--multiline"]].concat(), &events);
    assert_eq!(release["window"]["events"], 500);
    assert_eq!(heavy(&release), [("elm\nold".to_owned(), 500)]);
}

#[test]
fn patterns_are_expanded_in_the_order_of_names() {
    let first = temporary("pattern-1.csv", &b"elm\n".repeat(500));
    temporary("pattern-2.csv.gz", &gzip(&b"oak\n".repeat(400)));
    let pattern = text(&first).replace("1.csv", "*");
    let release = exact(&["--key", "1", "--window", "700", "--slide", "100", &pattern], b"");
    assert_eq!(release["window"], serde_json::json!({"events": 700, "from": 200, "to": 900}));
    assert_eq!(heavy(&release), [("oak".to_owned(), 400), ("elm".to_owned(), 300)]);
    let literal = temporary("pattern [x].txt", &b"a yew\r\n".repeat(500));
    let release = exact(&[text(&literal), "-"], &b"a yew\n".repeat(100));
    assert_eq!(heavy(&release), [("a yew".to_owned(), 600)]);
}

#[test]
fn an_order_that_follows_from_keys_is_warned_of_only_for_windows_by_count() {
    let sorted: String = (0..2_000).map(|i| format!("{START}\t{i:04}\n")).collect();
    let told = |more: &str| {
        let options = format!("list --format tsv --key 2 --time 1 {more}");
        stderr(&frostpane(&words(&options), sorted.as_bytes()))
    };
    let message = told("");
    assert!(message.starts_with("frostpane: warning: the events seem to be sorted by key, so"), "{message}");
    assert!(message.contains(": use a window by time, or "), "{message}");
    assert!(!told("--window 1h").contains("by key"));
}
