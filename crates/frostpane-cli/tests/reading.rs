//! Formats that the real executable reads, and its messages when it cannot.

use std::fmt::Write as _;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};

use crate::common::{
    EXACT, assert_contains, exact, frostpane, gzip, heavy,
    parquet_file::{self, column, column_of},
    stderr, stdout, temporary, zstd,
};

const EVENTS: u64 = 4_000;
const START: u64 = 1_700_000_000;

/// Three keys, one of which needs quotes and escapes, and events without a key.
fn key(event: u64) -> Option<&'static str> {
    ["elm", "elm", "elm", "oak", "a \"b\", ü"].get(event as usize % 6).copied()
}

fn lines(line: impl Fn(u64, &str) -> String) -> Vec<u8> {
    let text: String =
        (0..EVENTS).map(|event| line(START + event, key(event).unwrap_or_default()) + "\n").collect();
    text.into_bytes()
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
    let mut text = String::new();
    for event in 0..EVENTS {
        let millis = (START + event) * 1_000;
        let key = serde_json::json!(key(event));
        writeln!(
            text,
            "{{\"at\": {millis}, \"more\": [{{\"at\": 1}}], \"the\": {{\"x\": 1, \"tree\": {key}}}}}"
        )
        .unwrap();
    }
    text.into_bytes()
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

/// The same events as a file and through a pipe, plain and packed, and as a file packed twice, give this
/// release.
fn assert_same(name: &str, content: &[u8], options: &[&str], expected: &serde_json::Value) {
    let format = match name.split_once('.').unwrap().1 {
        "txt" => "text",
        ending => ending,
    };
    for (ending, packing, bytes) in
        [("", "none", content.to_vec()), (".gz", "gzip", gzip(content)), (".zst", "zstd", zstd(content))]
    {
        let file = temporary(&format!("{name}{ending}"), &bytes);
        let by_file = exact(&[options, &[file.to_str().unwrap()]].concat(), b"");
        assert_eq!(&crate::common::by_pipe(by_file, expected), expected, "{name}{ending} by file");
        let told = ["--format", format, "--packing", packing];
        let by_pipe = exact(&[options, &told].concat(), &bytes);
        assert_eq!(&by_pipe, expected, "{name}{ending} by pipe");
    }
    let twice = temporary(&format!("{name}.zst.gz"), &gzip(&zstd(content)));
    let by_file = exact(&[options, &[twice.to_str().unwrap()]].concat(), b"");
    assert_eq!(&crate::common::by_pipe(by_file, expected), expected, "{name}.zst.gz");
}

#[test]
fn every_format_packed_or_not_by_file_or_by_pipe_gives_the_same_release() {
    let window = ["--window", "30m", "--slide", "1m"];
    let options =
        |key: &'static str, time: &'static str| [&window[..], &["--key", key, "--time", time]].concat();
    let piped = [&options("3", "1")[..], &["--format", "tsv"]].concat();
    let expected = exact(&piped, &tsv());
    assert_eq!(expected["window"]["from"], "2023-11-14T22:50:00Z");
    assert_eq!(expected["window"]["events"], 1_800);
    assert_eq!(
        heavy(&expected),
        [("elm".to_owned(), 900), ("a \"b\", ü".to_owned(), 300), ("oak".to_owned(), 300)],
        "the 300 events without a key are events and no key"
    );
    assert_same("same.tsv", &tsv(), &options("3", "1"), &expected);
    assert_same("same.csv", &csv(), &options("tree", "at"), &expected);
    assert_same("same.jsonl", &jsonl(), &options("the.tree", "at"), &expected);
    assert_same("same.parquet", &parquet(), &options("the.tree", "at"), &expected);
}

#[test]
fn columns_and_whole_lines_give_the_same_release_by_count() {
    let window = ["--window", "3000", "--slide", "100"];
    let options = |key: &'static str| [&window[..], &["--key", key]].concat();
    let text = lines(|_, key| key.to_owned());
    let expected = exact(&window, &text);
    assert_eq!(expected["window"]["events"], 3_000);
    assert_same("lines.txt", &text, &window, &expected);
    assert_same("lines.tsv", &tsv(), &options("3"), &expected);
    assert_same("lines.csv", &csv(), &options("tree"), &expected);
    assert_same("lines.jsonl", &jsonl(), &options("the.tree"), &expected);
    assert_same("lines.parquet", &parquet(), &options("the.tree"), &expected);
}

/// The first key in a thousand events must not decide what the others are.
#[test]
fn nothing_but_names_and_options_tells_how_a_file_is_read() {
    let rest = b"Paris, France\n".repeat(999);
    let firsts: [&[u8]; 8] =
        [b"x", b"y, z", b"u\tv", b"{\"a\": 1}", b"PAR1", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"a\0b"];
    for first in firsts {
        let events = [first, b"\n", &rest].concat();
        let file = temporary("first.txt", &events);
        let file = file.to_str().unwrap();
        for options in [&[][..], &["--format", "text"], &[file]] {
            let release = exact(options, &events);
            assert_eq!(release["window"]["events"], 1_000, "{first:?} {options:?}");
            assert_eq!(heavy(&release), [("Paris, France".to_owned(), 999)], "{first:?}");
        }
        for (format, key) in [("csv", "Paris"), ("tsv", "Paris, France")] {
            let release = exact(&["--key", "1", "--format", format], &events);
            assert_eq!(release["window"]["events"], 1_000, "{first:?} {format}");
            assert_eq!(heavy(&release), [(key.to_owned(), 999)], "{first:?} {format}");
        }
        let refused = frostpane(&["list", "--key", "1", file], b"");
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            stderr(&refused).ends_with(
                "first.txt: nothing tells how its columns are written: say so with --format csv, tsv, jsonl or parquet, or what separates them with --delimiter\n"
            ),
            "{}",
            stderr(&refused)
        );
    }
}

#[test]
fn what_cannot_be_read_is_an_event_without_a_key() {
    let long = vec![b'x'; 17_000_000];
    let long: &[u8] = &long;
    for (options, line, unreadable) in [
        (&[][..], long, true),
        (&[], b"", false),
        (&["--format", "tsv", "--key", "2"], b"x", true),
        (&["--format", "tsv", "--key", "2"], b"", true),
        (&["--format", "tsv", "--key", "2"], long, true),
        (&["--format", "csv", "--key", "2"], b"x,", false),
        (&["--format", "csv", "--key", "2"], b"x,\"elm", true),
        (&["--format", "csv", "--key", "2"], b"\"x,elm", true),
        (&["--format", "csv", "--key", "2"], long, true),
        (&["--format", "jsonl", "--key", "k"], b"", true),
        (&["--format", "jsonl", "--key", "k"], b"[{\"k\": 1}]", true),
        (&["--format", "jsonl", "--key", "k"], b"{\"k\": 1", true),
        (&["--format", "jsonl", "--key", "k"], b"{\"k\": \"\xff\"}", true),
        (&["--format", "jsonl", "--key", "k"], long, true),
    ] {
        let elm: &[u8] = match options {
            [_, "tsv", ..] => b"x\telm\n",
            [_, "csv", ..] => b"x,elm\n",
            [_, "jsonl", ..] => b"{\"k\": \"elm\"}\n",
            _ => b"elm\n",
        };
        let events = [elm, line, b"\n", &elm.repeat(998)].concat();
        let output = frostpane(&[&crate::common::EXACT[..], options].concat(), &events);
        let release: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(release["window"]["events"], 1_000, "{options:?}");
        assert_eq!(heavy(&release), [("elm".to_owned(), 999)], "{options:?}");
        let told = stderr(&output);
        let pointed_out = told.contains(
            "1 of 1,000 events could not be read and have no key; the first is in standard input, line 2: ",
        );
        assert_eq!(pointed_out, unreadable, "{options:?}: {told}");
        assert_contains(&told, "1 of 1,000 events had no key that counts");
    }
}

/// The times stand before the keys, so that no key can touch them.
#[test]
fn what_cannot_be_read_keeps_its_time() {
    let long = "x".repeat(17_000_000);
    let clock = ["--window", "10m", "--slide", "1m", "--time"];
    for (format, time, key, line) in [
        ("tsv", "1", "2", "AT\tKEY"),
        ("csv", "1", "2", "AT,KEY"),
        ("jsonl", "at", "k", "{\"at\": AT, \"k\": \"KEY\"}"),
    ] {
        for key_of_last in ["elm", "", "\"", "\"\"\"", "\\", "a,b\"", "\t", &long] {
            let event = |event: u64, key: &str| {
                let at = START - START % 60 + event;
                line.replace("AT", &at.to_string()).replace("KEY", key) + "\n"
            };
            let events: String = (0..900).map(|second| event(second, "elm")).collect();
            let events = events + &event(3_600, key_of_last);
            let options = [&clock[..], &[time, "--key", key, "--format", format]].concat();
            let release = exact(&options, events.as_bytes());
            let shown = &key_of_last[..key_of_last.len().min(9)];
            assert_eq!(release["window"]["events"], 1, "{format} {shown}");
            assert_eq!(release["window"]["to"], "2023-11-14T23:13:01Z", "{format} {shown}");
        }
    }
}

#[test]
fn an_event_whose_time_cannot_be_read_has_that_of_the_one_before() {
    let events = [&b"when,what\nnoon,elm\n"[..], &b"1700000000,elm\n".repeat(900), b"later,elm\n\n"].concat();
    let options = ["--format", "csv", "--key", "2", "--time", "1", "--window", "1h"];
    let output = frostpane(&[&crate::common::EXACT[..], &options].concat(), &events);
    let release: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(release["window"]["events"], 904);
    assert_eq!(release["window"]["to"], "2023-11-14T22:13:21Z");
    assert_eq!(heavy(&release), [("elm".to_owned(), 900)]);
    let told = stderr(&output);
    assert!(
        told.starts_with(
            "frostpane: 4 of 904 events could not be read and have no key; the first is in standard input, \
             line 1: no time can be read in it, be it a Unix time or a date such as 2026-01-31T12:00:00Z; \
             --time-format tells how others are written; if it names the columns, use --header\n"
        ),
        "{told}"
    );
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
fn a_header_is_there_for_names_and_when_told() {
    let named = b"tree,at\n".iter().chain(b"elm,1\n".repeat(900).iter()).copied().collect::<Vec<u8>>();
    for (options, events) in [
        (vec!["--key", "tree"], 900),
        (vec!["--key", "1", "--time", "at"], 900),
        (vec!["--key", "1", "--header"], 900),
        (vec!["--key", "1"], 901),
    ] {
        let options = [&options[..], &["--format", "csv"]].concat();
        assert_eq!(exact(&options, &named)["window"]["events"], events, "{options:?}");
    }
}

#[test]
fn every_line_is_an_event_also_an_empty_one() {
    for (options, lines, events) in [
        (["--format", "csv", "--key", "1"], "elm\n\n\"\"\n", 3_000),
        (["--format", "csv", "--key", "1"], "\nelm\r\n\r\n", 3_000),
        (["--format", "tsv", "--key", "1"], "elm\n\n\n", 3_000),
        (["--format", "csv", "--key", "1"], "elm,1\r\n\r\n\n", 3_000),
        (["--format", "tsv", "--key", "2"], "1\telm\n\n2\t\n", 3_000),
        (["--format", "jsonl", "--key", "k"], "{\"k\":\"elm\"}\n\n \n", 3_000),
    ] {
        let release = exact(&options, lines.repeat(1_000).as_bytes());
        assert_eq!(release["window"]["events"], events, "{lines:?}");
        assert_eq!(heavy(&release), [("elm".to_owned(), 1_000)]);
    }
}

#[test]
fn numbers_and_booleans_are_keys_by_their_text_and_other_values_are_none() {
    let lines = "{\"k\": 7.50}\n{\"k\": true}\n{\"k\": \"\\u00fc\\ud800\"}\n{\"k\": null}\n{\"k\": [1]}\n{}\n{\"k\": \"\"}\n\n";
    let release = exact(&["--key", "k", "--format", "jsonl"], lines.repeat(300).as_bytes());
    assert_eq!(release["window"]["events"], 2_400);
    let keys: Vec<String> = heavy(&release).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), 3);
    for key in ["7.50", "true", "ü\\xed\\xa0\\x80"] {
        assert!(keys.iter().any(|there| there == key), "{key}: {keys:?}");
    }
}

#[test]
fn patterns_are_expanded_in_the_order_of_names() {
    let first = temporary("pattern-1.csv", &b"elm\n".repeat(500));
    temporary("pattern-2.csv.gz", &gzip(&b"oak\n".repeat(400)));
    let pattern = first.to_str().unwrap().replace("1.csv", "*");
    let release = exact(&["--key", "1", "--window", "700", "--slide", "100", &pattern], b"");
    assert_eq!(heavy(&release), [("oak".to_owned(), 400), ("elm".to_owned(), 300)]);
    let literal = temporary("pattern [x].txt", &b"yew\n".repeat(500));
    let release = exact(&[literal.to_str().unwrap(), "-"], &b"yew\n".repeat(100));
    assert_eq!(heavy(&release), [("yew".to_owned(), 600)]);
}

#[test]
fn what_a_file_seems_to_be_is_said_to_the_operator_and_changes_nothing() {
    let quiet = temporary("quiet.csv.gz", &gzip(b"a,b\nelm,1\n"));
    let said = |args: &[&str], input: &[u8]| stderr(&frostpane(&[&["list"], args].concat(), input));
    assert_eq!(said(&["--key", "a", quiet.to_str().unwrap()], b""), "");
    assert_eq!(said(&[], b"elm\n"), "");
    assert_eq!(said(&["--key", "a", "--format", "csv"], b"a,b\nelm,1\n"), "");
    assert_eq!(
        said(&["--format", "text"], b"e\0l\0m\0\n"),
        "frostpane: warning: standard input is read as text, but has zero bytes: if it is UTF-16, convert it to UTF-8\n"
    );
    for packed in [&b"\x1f\x8b\x08\x01\n"[..], b"\x1f\x8b\x08\0\n"] {
        assert_eq!(
            said(&[], packed),
            "frostpane: warning: standard input is read as text, but begins as gzip does: if it is packed, use --packing gzip\n"
        );
    }
    assert_eq!(said(&["--packing", "none"], b"\x1f\x8b\x08\x01\n"), "");
    let plain = temporary("plain.txt.gz", b"elm\nelm\nelm\n");
    let plain = plain.to_str().unwrap();
    assert_eq!(said(&["--packing", "none", plain], b""), "");
    assert!(said(&[plain], b"").ends_with("plain.txt.gz: it does not begin as what gzip has packed does: if it is not packed, use --packing none\n"));
    assert_eq!(
        said(&[], b" {\"a\": 1}\n"),
        "frostpane: warning: standard input is read as text, but begins as JSON does: if its lines are objects, use --format jsonl and --key\n"
    );
}

#[test]
fn a_key_that_no_event_has_is_pointed_out() {
    let output = frostpane(&["list", "--format", "jsonl", "--key", "tre"], b"{\"tree\": \"elm\"}\n");
    let message = stderr(&output);
    assert!(
        output.status.code() == Some(4)
            && message.contains("none of the events has a key that counts: is --key tre right, and --keys?"),
        "{message}"
    );
}

#[test]
fn an_order_that_follows_from_keys_is_warned_of_only_for_windows_by_count() {
    let lines = |line: &dyn Fn(u64) -> String| (0..2_000).map(line).collect::<String>().into_bytes();
    let scattered = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let sorted = lines(&|i| format!("{START}\t{i:04}\n"));
    let grouped = lines(&|i| format!("{START}\t{}\n", scattered(i / 100)));
    // The second of two with the same time has the higher key.
    let within_times = lines(&|i| {
        let [one, two] = [i - i % 2, i - i % 2 + 1].map(scattered);
        let key = if i % 2 == 0 { one.min(two) } else { one.max(two) };
        format!("{}\t{key:04}\n", START + i / 2)
    });
    let options = ["list", "--format", "tsv", "--key", "2", "--time", "1"];
    for (events, what) in [
        (sorted, "the events seem to be sorted by key"),
        (grouped, "the events seem to be grouped by key"),
        (within_times, "events of the same time seem to be sorted by key"),
    ] {
        let message = stderr(&frostpane(&options, &events));
        let why = ", so with another key an event would stand elsewhere";
        assert!(message.starts_with(&format!("frostpane: warning: {what}{why}")), "{message}");
        assert!(message.contains(": use a window by time, or "), "{message}");
        let by_clock = [&options[..], &["--window", "1h"]].concat();
        assert!(!stderr(&frostpane(&by_clock, &events)).contains("by key"));
    }
}

/// A Parquet file of one row group with a whole number, a boolean, a UUID and a time in nanoseconds, 900
/// times.
fn typed_parquet() -> Vec<u8> {
    let schema = "message events { required int32 port (INTEGER(16, false)); required boolean ok; required fixed_len_byte_array(16) id (UUID); required int64 at (TIMESTAMP(NANOS, true)); repeated int32 list; }";
    let id: FixedLenByteArray = ByteArray::from((0..16).collect::<Vec<u8>>()).into();
    let columns = vec![
        column::<Int32Type>(vec![65_535; 900]),
        column::<BoolType>(vec![true; 900]),
        column::<FixedLenByteArrayType>(vec![id; 900]),
        column::<Int64Type>(vec![1_700_000_000_123_456_789; 900]),
        column_of::<Int32Type>(Vec::new(), Some(vec![0; 900]), Some(vec![0; 900])),
    ];
    parquet_file::new(schema, [columns])
}

#[test]
fn parquet_values_that_are_no_text_are_keys_by_their_text() {
    let file = typed_parquet();
    for (column, key) in [("port", "65535"), ("ok", "true"), ("id", "00010203-0405-0607-0809-0a0b0c0d0e0f")] {
        let options = ["--format", "parquet", "--key", column, "--time", "at", "--window", "1h"];
        let release = exact(&options, &file);
        assert_eq!(heavy(&release), [(key.to_owned(), 900)]);
        assert_eq!(release["window"]["to"], "2023-11-14T22:13:21Z");
    }
    let output = frostpane(&["list", "--format", "parquet", "--key", "list"], &file);
    assert_eq!(
        stderr(&output),
        "frostpane: standard input: column list holds lists, but must hold one value a row\n"
    );
}

/// Arguments, what comes in, and the whole message.
type Case = (&'static str, &'static [u8], &'static str);

const MESSAGES: [Case; 22] = [
    (
        "--format csv --key 3 --time 1 --user usr --window 1d --until 2023-11-15",
        b"time,user,country\n1,2,3\n",
        "standard input: there is no column \"usr\", for which --user asks; the first line has 3 columns; --header says that it names them, and then they are shown here",
    ),
    ("--user 2", b"elm\n", "--user is for files with columns: say which one holds the key, with --key"),
    ("--key 3 --user 0", b"", "columns are counted from 1"),
    (
        "--format csv --key contry",
        b"time,user,country\n1,2,3\n",
        "standard input: there is no column \"contry\", for which --key asks; the first line has 3 columns; --header says that it names them, and then they are shown here",
    ),
    (
        "--format tsv --key user --time 4 --window 1h",
        b"time\tuser\n",
        "standard input: there is no column number 4, for which --time asks; the first line has 2 columns; --header says that it names them, and then they are shown here",
    ),
    (
        "--format csv --key 2 --multiline",
        b"a,b\n\n\n\"c\",\"d\ne,f\n",
        "standard input: the record that begins in line 4 has a quote that does not end: write the file again, or leave out --multiline",
    ),
    (
        "--format tsv --key 1 --time 2 --window 1h",
        b"elm\tnoon\nelm\n",
        "no event has a time: is --time 2 right? The first is in standard input, line 1: no time can be read in it, be it a Unix time or a date such as 2026-01-31T12:00:00Z; --time-format tells how others are written",
    ),
    (
        "--format jsonl --key a --time b.c --window 1h",
        b"{\"a\": 1, \"b\": {\"d\": 1}}\n",
        "no event has a time: is --time b.c right? The first is in standard input, line 1: no time can be read in it, be it a Unix time or a date such as 2026-01-31T12:00:00Z; --time-format tells how others are written",
    ),
    (
        "--format jsonl",
        b"{\"a\": 1}\n",
        "standard input: this is JSON Lines: say which column holds the key, with --key, or take whole lines with --format text",
    ),
    (
        "no/such/file.csv",
        b"",
        "cannot read no/such/file.csv: there is no such file; there is no folder no/such either",
    ),
    (
        "--key a",
        b"a,b\nelm,1\n",
        "standard input: nothing tells how its columns are written: say so with --format csv, tsv, jsonl or parquet, or what separates them with --delimiter",
    ),
    (
        "--format csv",
        b"elm\n",
        "standard input: this is CSV: say which column holds the key, with --key, or take whole lines with --format text",
    ),
    (
        "--format parquet",
        b"PAR1",
        "standard input: this is Parquet: say which column holds the key, with --key, or take whole lines with --format text",
    ),
    (
        "--format text --key a",
        b"elm\n",
        "standard input: text has no columns: leave out --key, --time and --user, or give another --format",
    ),
    (
        "--format parquet --key a",
        b"PAR1 and no more",
        "standard input: this cannot be read as Parquet: it does not end as Parquet files do, so it is none, or was cut off: copy or write it again, or give its --format",
    ),
    ("--key 0", b"", "columns are counted from 1"),
    ("--key ", b"", "the name of a column is empty"),
    ("no/such/*.csv", b"", "no file matches \"no/such/*.csv\"; there is no folder no/such either"),
    (
        "no/such/[.csv",
        b"",
        "\"no/such/[.csv\" is neither a file nor a pattern of file names: invalid range pattern",
    ),
    (
        "--packing gzip",
        b"\x1f\x8b\x08\x00",
        "cannot read standard input: it ends in the middle of what was packed: it was cut off, so copy it again",
    ),
    (
        "--packing gzip",
        b"elm\nelm\nelm\nelm\n",
        "cannot read standard input: it does not begin as what gzip has packed does: if it is not packed, use --packing none",
    ),
    (
        "--packing zstd",
        b"elm\n",
        "cannot read standard input: it does not begin as what zstd has packed does: if it is not packed, use --packing none",
    ),
];

#[test]
fn every_fault_of_a_file_ends_with_its_place_and_what_to_do() {
    for (args, input, message) in MESSAGES {
        // One of the arguments is empty.
        let args: Vec<&str> = ["list"].into_iter().chain(args.split(' ')).collect();
        let output = frostpane(&args, input);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(stderr(&output), format!("frostpane: {message}\n"), "{args:?}");
        assert!(output.stdout.is_empty());
    }
    let output = frostpane(&["list", "--format", "xml"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("[possible values: text, csv, tsv, jsonl, parquet]"));
}

#[test]
fn faults_of_parquet_files_name_columns_and_rows() {
    let file = temporary("faults.parquet", &parquet());
    let said = |args: &[&str]| {
        let output = frostpane(&[&["list", file.to_str().unwrap()], args].concat(), b"");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        stderr(&output)
    };
    let message = said(&["--key", "tree"]);
    assert!(
        message.ends_with(
            "faults.parquet: there is no column \"tree\", for which --key asks; there are at, the.tree\n"
        ),
        "{message}"
    );
    let message = said(&["--key", "at", "--time", "the.tree", "--window", "1h"]);
    assert!(
        message.starts_with("frostpane: no event has a time: is --time the.tree right? The first is in")
            && message.contains("faults.parquet, row 1: no time can be read in it"),
        "{message}"
    );
}
