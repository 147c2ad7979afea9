//! What the real executable reads, and what it says when it cannot.

mod common;

use std::fmt::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzEncoder;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use common::{exact, frostpane, heavy, stderr, temporary};

const EVENTS: u64 = 4_000;
const START: u64 = 1_700_000_000;

/// Three keys, one of which needs quotes and escapes, and events without a key.
fn key(event: u64) -> Option<&'static str> {
    ["elm", "elm", "elm", "oak", "a \"b\", ü"]
        .get(event as usize % 6)
        .copied()
}

fn lines(line: impl Fn(u64, &str) -> String) -> Vec<u8> {
    let text: String = (0..EVENTS)
        .map(|event| line(START + event, key(event).unwrap_or_default()) + "\n")
        .collect();
    text.into_bytes()
}

fn tsv() -> Vec<u8> {
    lines(|time, key| format!("{time}\tmore\t{key}"))
}

fn csv() -> Vec<u8> {
    let quoted = |key: &str| format!("\"{}\"", key.replace('"', "\"\""));
    let rows = lines(|time, key| format!("{time},\"more, \n\n\",{}", quoted(key)));
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
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::new())).unwrap();
    for rows in [0..EVENTS / 2, EVENTS / 2..EVENTS] {
        let mut group = writer.next_row_group().unwrap();
        let times: Vec<i64> = rows.clone().map(|event| (START + event) as i64 * 1_000).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&times, None, None)
            .unwrap();
        column.close().unwrap();
        let keys: Vec<ByteArray> = rows.clone().filter_map(key).map(ByteArray::from).collect();
        let levels: Vec<i16> = rows
            .map(|event| if key(event).is_some() { 2 } else { 1 })
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&keys, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    std::io::copy(&mut GzEncoder::new(bytes, Compression::fast()), &mut packed).unwrap();
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// The same events as a file and through a pipe, plain, packed, and packed twice, give this release.
fn assert_same(name: &str, content: &[u8], options: &[&str], expected: &serde_json::Value) {
    for (ending, bytes) in [
        ("", content.to_vec()),
        (".gz", gzip(content)),
        (".zst", zstd(content)),
        (".zst.gz", gzip(&zstd(content))),
    ] {
        let file = temporary(&format!("{name}{ending}"), &bytes);
        let by_file = exact(&[options, &[file.to_str().unwrap()]].concat(), b"");
        assert_eq!(&by_file, expected, "{name}{ending} by file");
        assert_eq!(&exact(options, &bytes), expected, "{name}{ending} by pipe");
    }
}

#[test]
fn every_format_packed_or_not_by_file_or_by_pipe_gives_the_same_release() {
    let window = ["--window", "30m", "--slide", "1m"];
    let options =
        |key: &'static str, time: &'static str| [&window[..], &["--key", key, "--time", time]].concat();
    let expected = exact(&options("3", "1"), &tsv());
    assert_eq!(expected["window"]["from"], "2023-11-14T22:50:00Z");
    assert_eq!(expected["window"]["events"], 1_800);
    assert_eq!(
        heavy(&expected),
        [
            ("elm".to_owned(), 900),
            ("a \"b\", ü".to_owned(), 300),
            ("oak".to_owned(), 300)
        ],
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

#[test]
fn a_header_is_there_for_names_and_when_told() {
    let named = b"tree,at\n"
        .iter()
        .chain(b"elm,1\n".repeat(900).iter())
        .copied()
        .collect::<Vec<u8>>();
    for (options, events) in [
        (vec!["--key", "tree"], 900),
        (vec!["--key", "1", "--time", "at"], 900),
        (vec!["--key", "1", "--header"], 900),
        (vec!["--key", "1"], 901),
    ] {
        assert_eq!(exact(&options, &named)["window"]["events"], events, "{options:?}");
    }
}

#[test]
fn an_empty_line_is_an_event_without_a_key_only_where_there_is_one_column() {
    for (options, lines, events) in [
        (["--format", "csv", "--key", "1"], "elm\n\n\"\"\n", 3_000),
        (["--format", "csv", "--key", "1"], "\nelm\r\n\r\n", 3_000),
        (["--format", "tsv", "--key", "1"], "elm\n\n\n", 3_000),
        (["--format", "csv", "--key", "1"], "elm,1\r\n\r\n\n", 1_000),
        (["--format", "tsv", "--key", "2"], "1\telm\n\n2\t\n", 2_000),
    ] {
        let release = exact(&options, lines.repeat(1_000).as_bytes());
        assert_eq!(release["window"]["events"], events, "{lines:?}");
        assert_eq!(heavy(&release), [("elm".to_owned(), 1_000)]);
    }
}

#[test]
fn numbers_and_booleans_are_keys_by_their_text_and_other_values_are_none() {
    let lines = "{\"k\": 7.50}\n{\"k\": true}\n{\"k\": \"\\u00fc\\ud800\"}\n{\"k\": null}\n{\"k\": [1]}\n{}\n{\"k\": \"\"}\n\n";
    let release = exact(&["--key", "k"], lines.repeat(300).as_bytes());
    assert_eq!(release["window"]["events"], 2_100, "empty lines are no events");
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
    let release = exact(
        &["--key", "1", "--window", "700", "--slide", "100", &pattern],
        b"",
    );
    assert_eq!(
        heavy(&release),
        [("oak".to_owned(), 400), ("elm".to_owned(), 300)]
    );
    let literal = temporary("pattern [x].txt", &b"yew\n".repeat(500));
    let release = exact(&[literal.to_str().unwrap(), "-"], &b"yew\n".repeat(100));
    assert_eq!(heavy(&release), [("yew".to_owned(), 600)]);
}

#[test]
fn what_was_guessed_from_content_is_said_and_nothing_else() {
    let quiet = temporary("quiet.csv.gz", &gzip(b"a,b\nelm,1\n"));
    let said = |args: &[&str], input: &[u8]| stderr(&frostpane(&[&["list"], args].concat(), input));
    assert_eq!(said(&["--key", "a", quiet.to_str().unwrap()], b""), "");
    assert_eq!(said(&[], b"elm\n"), "");
    assert_eq!(said(&["--key", "a", "--format", "csv"], b"a,b\nelm,1\n"), "");
    assert_eq!(
        said(&["--key", "a"], &gzip(b"a,b\nelm,1\n")),
        "frostpane: reading standard input as CSV with a header, gzip\n"
    );
    assert_eq!(
        said(&["--key", "2"], b"1\telm\n"),
        "frostpane: reading standard input as TSV\n"
    );
    assert_eq!(
        said(&["--key", "a"], b" {\"a\": 1}\n"),
        "frostpane: reading standard input as JSON Lines\n"
    );
}

#[test]
fn bad_lines_are_left_out_and_counted_on_request() {
    let lines = [&b"1,elm\nnoon,elm\n3\n"[..], &b"4,elm\n".repeat(900)].concat();
    let options = ["--format", "csv", "--key", "2", "--time", "1", "--skip-bad-lines"];
    let output = frostpane(&[&common::EXACT[..], &options].concat(), &lines);
    let message = stderr(&output);
    assert!(
        message.starts_with("frostpane: 2 lines could not be read and were left out\n"),
        "{message}"
    );
    let release: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(release["window"]["events"], 901);
}

#[test]
fn a_key_that_no_event_has_is_pointed_out() {
    let output = frostpane(
        &["list", "--format", "jsonl", "--key", "tre"],
        b"{\"tree\": \"elm\"}\n",
    );
    let message = stderr(&output);
    assert!(
        message.starts_with(
            "frostpane: none of the events has a key: is --key tre right?
"
        ),
        "{message}"
    );
}

#[test]
fn events_sorted_by_key_are_warned_of_only_for_windows_by_count() {
    let sorted: Vec<u8> = (0..2_000)
        .flat_map(|event| format!("{START}\t{:02}\n", event / 100).into_bytes())
        .collect();
    let options = ["list", "--format", "tsv", "--key", "2", "--time", "1"];
    let message = stderr(&frostpane(&options, &sorted));
    assert!(
        message.starts_with(
            "frostpane: warning: the events seem to be sorted by key, and a window by count is not private then"
        ),
        "{message}"
    );
    let by_clock = [&options[..], &["--window", "1h"]].concat();
    assert!(!stderr(&frostpane(&by_clock, &sorted)).contains("sorted by key"));
}

/// A Parquet file of one row group with a whole number, a boolean, a UUID and a time in nanoseconds, 900
/// times.
fn typed_parquet() -> Vec<u8> {
    let schema = "message events { required int32 port (INTEGER(16, false)); required boolean ok; required fixed_len_byte_array(16) id (UUID); required int64 at (TIMESTAMP(NANOS, true)); repeated int32 list; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::new())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let id: FixedLenByteArray = ByteArray::from((0..16).collect::<Vec<u8>>()).into();
    let mut index = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        match index {
            0 => column
                .typed::<Int32Type>()
                .write_batch(&[65_535; 900], None, None),
            1 => column.typed::<BoolType>().write_batch(&[true; 900], None, None),
            2 => column
                .typed::<FixedLenByteArrayType>()
                .write_batch(&vec![id.clone(); 900], None, None),
            3 => column
                .typed::<Int64Type>()
                .write_batch(&[1_700_000_000_123_456_789; 900], None, None),
            _ => column
                .typed::<Int32Type>()
                .write_batch(&[], Some(&[0; 900]), Some(&[0; 900])),
        }
        .unwrap();
        column.close().unwrap();
        index += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn parquet_values_that_are_no_text_are_keys_by_their_text() {
    let file = typed_parquet();
    for (column, key) in [
        ("port", "65535"),
        ("ok", "true"),
        ("id", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    ] {
        let release = exact(&["--key", column, "--time", "at", "--window", "1h"], &file);
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
type Case = (&'static [&'static str], &'static [u8], &'static str);

const MESSAGES: [Case; 19] = [
    (
        &["--format", "csv", "--key", "contry"],
        b"time,user,country\n1,2,3\n",
        "standard input: there is no column \"contry\", for which --key asks; there are time, user, country",
    ),
    (
        &["--format", "tsv", "--key", "user", "--time", "4"],
        b"time\tuser\n",
        "standard input: there is no column number 4, for which --time asks; there are time, user",
    ),
    (
        &["--format", "csv", "--key", "2"],
        b"a,b\r\n\r\n\"c\r\nd\"\r\n",
        "standard input, line 3: 1 column found, but --key asks for column 2; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "csv", "--key", "2"],
        b"a,b\n\n\n\"c\",\"d\ne,f\n",
        "standard input, line 4: a quote that begins here does not end; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "tsv", "--key", "1", "--time", "2"],
        b"elm\t5\nelm\tnoon\n",
        "standard input, line 2: the time is \"noon\", but must be a Unix time or a date and time such as 2026-01-31T12:00:00Z; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "tsv", "--key", "2", "--time", "1"],
        b"time\ttree\n1\telm\n",
        "standard input, line 1: the time is \"time\", but must be a Unix time or a date and time such as 2026-01-31T12:00:00Z; if this line names the columns, use --header; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "jsonl", "--key", "a", "--time", "b.c"],
        b"{\"a\": 1, \"b\": {\"d\": 1}}\n",
        "standard input, line 1: there is no time in field \"b.c\", for which --time asks; there are a, b; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "jsonl", "--key", "a"],
        b"{\"a\": 1}\n{\"a\": \n",
        "standard input, line 2: this is no JSON object in one line: EOF while parsing a value; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "jsonl", "--key", "a"],
        b"[{\"a\": 1}]\n",
        "standard input, line 1: this is a JSON array, but must be one object a line, as `jq -c '.[]'` writes them; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "jsonl", "--key", "a"],
        b"7\n",
        "standard input, line 1: this is no JSON object in one line: invalid type: integer `7`, expected an object; to leave such lines out, use --skip-bad-lines",
    ),
    (
        &["--format", "jsonl"],
        b"{\"a\": 1}\n",
        "standard input: this is JSON Lines: say which column holds the key, with --key, or take whole lines with --format text; the first one is {\"a\": 1}",
    ),
    (
        &["--format", "parquet"],
        b"PAR1",
        "standard input: this is Parquet: say which column holds the key, with --key",
    ),
    (
        &["--format", "text", "--key", "a"],
        b"elm\n",
        "standard input: text has no columns: leave out --key and --time, or give another --format",
    ),
    (
        &["--format", "parquet", "--key", "a"],
        b"PAR1 and no more",
        "standard input: this cannot be read as Parquet: Parquet error: Invalid Parquet file. Corrupt footer",
    ),
    (&["--key", "0"], b"", "columns are counted from 1"),
    (&["--key", ""], b"", "the name of a column is empty"),
    (&["no/such/*.csv"], b"", "no file matches \"no/such/*.csv\""),
    (
        &["no/such/[.csv"],
        b"",
        "\"no/such/[.csv\" is neither a file nor a pattern of file names: invalid range pattern",
    ),
    (
        &[],
        b"\x1f\x8b\x08\x00",
        "cannot read standard input: unexpected end of file",
    ),
];

#[test]
fn every_fault_of_a_file_ends_with_its_place_and_what_to_do() {
    for (args, input, message) in MESSAGES {
        let output = frostpane(&[&["list"], args].concat(), input);
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
    let message = said(&["--key", "at", "--time", "the.tree"]);
    assert!(
        message.contains("faults.parquet, row 1: the time is \"elm\", but must be a Unix time")
            && message.ends_with("; to leave such rows out, use --skip-bad-lines\n"),
        "{message}"
    );
}
