//! Files as the world writes them: the same events give the same release, whatever they are written in.

use parquet::basic::{BrotliLevel, Compression};
use parquet::data_type::{ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type, Int96, Int96Type};
use serde_json::Value;

use crate::common::{
    exact, folder, heavy,
    parquet_file::{self, column},
    text, written,
};

const EVENTS: i64 = 1_000;
const START: i64 = 1_759_320_000;

/// Nine in ten events have the first key.
fn key(event: i64) -> &'static str {
    if event % 10 == 0 { "a;b|c, \"d\"" } else { "elm" }
}

/// An event a second.
fn lines(line: impl Fn(i64, &str) -> String) -> Vec<u8> {
    let lines = (0..EVENTS).map(|event| line(START + event, key(event)) + "\n");
    lines.collect::<String>().into_bytes()
}

fn quoted(key: &str) -> String {
    format!("\"{}\"", key.replace('"', "\"\""))
}

/// The last ten minutes of the events.
fn expected() -> Value {
    let events = lines(|time, key| format!("{time}\t{key}"));
    let release = last(&["--format", "tsv", "--time", "1", "--key", "2"], &events);
    assert_eq!(release["window"]["events"], 580);
    assert_eq!(heavy(&release), [("elm".to_owned(), 522), (key(0).to_owned(), 58)]);
    release
}

/// The release of the last ten minutes.
fn last(options: &[&str], events: &[u8]) -> Value {
    exact(&[&["--window", "10m", "--slide", "1m"], options].concat(), events)
}

#[test]
fn columns_are_separated_as_told_or_as_a_header_shows() {
    let expected = expected();
    for (delimiter, name) in [(";", ";"), ("|", "|"), ("\t", "tab"), ("\t", "\\t"), ("^", "^")] {
        let rows = lines(|time, key| [time.to_string(), quoted("x,y;z"), quoted(key)].join(delimiter));
        let header = ["at", "what", "\"the tree\"", "\n"].join(delimiter).into_bytes();
        assert_eq!(last(&["--delimiter", name, "--time", "1", "--key", "3"], &rows), expected, "{name}");
        let named = ["--format", "csv", "--time", "at", "--key", "the tree", "--delimiter", name];
        let with_header = [header, rows].concat();
        assert_eq!(last(&named, &with_header), expected, "{name}");
        if delimiter != "^" {
            assert_eq!(last(&named[..6], &with_header), expected, "{name} from the header");
        }
    }
    let unquoted = lines(|time, key| format!("{time};{}", key.replace(';', ":")));
    let release = last(&["--format", "tsv", "--delimiter", ";", "--time", "1", "--key", "2"], &unquoted);
    assert_eq!(heavy(&release)[1], ("a:b|c, \"d\"".to_owned(), 58), "TSV has no quotes");
}

#[test]
fn patterns_take_lines_apart() {
    let expected = expected();
    let logged = |time: i64| {
        let time = jiff::Timestamp::from_second(time).unwrap();
        let zoned = time.to_zoned(jiff::tz::TimeZone::get("Asia/Kathmandu").unwrap());
        jiff::fmt::strtime::format("%d/%b/%Y:%H:%M:%S %z", &zoned).unwrap()
    };
    let own = lines(|time, key| format!("INFO {time} user=7 q={key}"));
    let options = ["--pattern", r"^\w+ (?<time>\d+) user=(?<user>\d+) q=(?<key>.*)$"];
    assert_eq!(last(&options, &own), expected);
    let options =
        ["--pattern", r"^\w+ (?<when>\d+) user=\d+ q=(?<what>.*)$", "--key", "what", "--time", "when"];
    assert_eq!(last(&options, &own), expected);
    let request = |key: &str| {
        if key == "elm" { "GET /elm HTTP/1.1".to_owned() } else { "GET /oak".to_owned() }
    };
    let common =
        |time: i64, key: &str| format!("192.0.2.7 - ann [{}] \"{}\" 200 -", logged(time), request(key));
    let combined = |time: i64, key: &str| format!("{} \"-\" \"Agent \\\"x\\\" ü\"", common(time, key));
    for (name, events) in
        [("common", lines(common)), ("common", lines(combined)), ("combined", lines(combined))]
    {
        let release = last(&["--pattern", name], &events);
        assert_eq!(release["window"], expected["window"]);
        assert_eq!(heavy(&release), [("/elm".to_owned(), 522), ("/oak".to_owned(), 58)], "{name}");
    }
    let release = exact(&["--pattern", "combined", "--key", "agent"], &lines(combined));
    assert_eq!(heavy(&release), [("Agent \\\"x\\\" ü".to_owned(), 1_000)]);
}

/// Requests, which anyone chooses, do not affect times.
#[test]
fn the_patterns_of_web_servers_keep_the_time_of_every_request() {
    let line = |minute: i64, request: &str| {
        format!("192.0.2.7 - - [01/Oct/2025:12:{minute:02}:00 +0000] {request}\n").into_bytes()
    };
    let usual = line(5, "\"GET /elm HTTP/1.1\" 200 17 \"-\" \"-\"");
    let requests: [&[u8]; 7] = [
        b"\"GET /oak HTTP/1.1\" 200 17 \"-\" \"-\"",
        b"\"-\" 408 -",
        b"\"\\x16\\x03\" 400 0 \"-\" \"-\"",
        b"\"GET /a b\" c\" d\" 400 0 \"-\" \"-\"",
        b"\"GET /\xff\xfe] [x] HTTP/1.1\" 200 5 \"-\" \"-\"",
        b"\"",
        b"",
    ];
    for name in ["common", "combined"] {
        for request in requests {
            let odd = [&line(9, "")[..line(9, "").len() - 1], request, b"\n"].concat();
            let events = [usual.repeat(500), odd].concat();
            let release = exact(&["--pattern", name, "--window", "1h", "--slide", "1m"], &events);
            assert_eq!(release["window"]["to"], "2025-10-01T12:09:01Z", "{}", request.escape_ascii());
            assert_eq!(release["window"]["events"], 501);
        }
    }
}

/// Both keys from the path, all other columns from the file.
#[test]
fn folders_are_read_whole_and_their_names_are_columns() {
    let root = folder("partitions");
    let write = |name: &str, content: &[u8]| written(&root, name, content);
    let rows = |from: i64, line: &dyn Fn(i64) -> String| {
        let lines = (from..from + EVENTS / 2).map(|event| line(START + event) + "\n");
        lines.collect::<String>().into_bytes()
    };
    let csv = |from| [b"at,city\n".to_vec(), rows(from, &|time| format!("{time},x"))].concat();
    let json = |from| rows(from, &|time| format!("{{\"at\": {time}, \"city\": \"x\"}}"));
    for (format, file) in [("csv", &csv as &dyn Fn(i64) -> Vec<u8>), ("jsonl", &json)] {
        write(&format!("{format}/city=y/country=S%C3%A3o/part-0.{format}"), &file(0));
        write(&format!("{format}/city=z/country=__HIVE_DEFAULT_PARTITION__/part-1.{format}"), &file(500));
        write(&format!("{format}/_SUCCESS"), b"x");
        write(&format!("{format}/city=z/.part.crc"), b"x");
        write(&format!("{format}/_temporary/0/part.{format}"), &file(0));
        let folder = root.join(format);
        let options = |key| ["--key", key, "--time", "at", "--window", "1h", text(&folder)];
        let release = exact(&options("country"), b"");
        assert_eq!(release["window"]["events"], 1_000, "{format}");
        assert_eq!(heavy(&release), [("São".to_owned(), 500)], "{format}: null is no key");
        let release = exact(&options("city"), b"");
        let x = [("x".to_owned(), 1_000)];
        assert_eq!(heavy(&release), x, "{format}: the file counts more than its path");
    }
    let pattern = root.join("csv/*/country=*");
    let by_pattern = ["--key", "city", "--time", "at", "--window", "1h", text(&pattern)];
    assert_eq!(heavy(&exact(&by_pattern, b"")), [("x".to_owned(), 1_000)], "folders that match");
}

/// One column of every kind, all with the same value in each row but for the first, which counts the seconds.
fn kinds(compression: Compression) -> Vec<u8> {
    let schema = "message events {
        required int96 at;
        required int32 price (DECIMAL(9, 2));
        required int64 large (DECIMAL(18, 0));
        required binary bytes (DECIMAL(30, 3));
        required fixed_len_byte_array(9) fixed (DECIMAL(20, 1));
        required int32 day (DATE);
        required int64 noon (TIME(MICROS, true));
        required int64 local (TIMESTAMP(MILLIS, false));
        required int64 stamp (TIMESTAMP(NANOS, true));
        required fixed_len_byte_array(2) half (FLOAT16);
    }";
    let rows = EVENTS as usize;
    let fixed = |bytes: &[u8]| column::<FixedLenByteArrayType>(vec![bytes.to_vec().into(); rows]);
    let int = |value| column::<Int32Type>(vec![value; rows]);
    let long = |value| column::<Int64Type>(vec![value; rows]);
    let columns = vec![
        column::<Int96Type>((0..EVENTS).map(|event| instant(START + event)).collect()),
        int(-1_999),
        long(1_999),
        column::<ByteArrayType>(vec![vec![1, 0].into(); rows]),
        fixed(&[0xFF; 9]),
        int(20_362),
        long(43_200_000_000),
        long(1_759_320_000_000),
        long(1_759_320_000_000_000_000),
        fixed(&[0x66, 0x2E]),
    ];
    parquet_file::compressed(schema, compression, [columns])
}

/// Nanoseconds of a day, and the day.
fn instant(second: i64) -> Int96 {
    let (day, nanos) = (second / 86_400 + 2_440_588, second % 86_400 * 1_000_000_000);
    let mut instant = Int96::new();
    instant.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
    instant
}

#[test]
fn parquet_is_unpacked_however_it_was_packed_and_keys_are_what_people_write() {
    let plain = kinds(Compression::UNCOMPRESSED);
    for (column, key) in [
        ("price", "-19.99"),
        ("large", "1999"),
        ("bytes", "0.256"),
        ("fixed", "-0.1"),
        ("day", "2025-10-01"),
        ("noon", "12:00:00"),
        ("local", "2025-10-01T12:00:00"),
        ("stamp", "2025-10-01T12:00:00Z"),
        ("half", "0.1"),
    ] {
        let release = exact(&["--format", "parquet", "--key", column], &plain);
        assert_eq!(heavy(&release), [(key.to_owned(), 1_000)], "{column}");
    }
    let expected = &expected()["window"];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(BrotliLevel::default()),
    ] {
        let options = ["--format", "parquet", "--key", "half", "--time", "at"];
        let release = last(&options, &kinds(compression));
        assert_eq!(&release["window"], expected, "{compression:?}");
        assert_eq!(heavy(&release), [("0.1".to_owned(), 580)], "{compression:?}");
    }
    for time in ["day", "local", "stamp"] {
        let options = ["--format", "parquet", "--key", "half", "--time", time, "--window", "1h"];
        assert_eq!(exact(&options, &plain)["window"]["events"], 1_000, "{time}");
    }
}
