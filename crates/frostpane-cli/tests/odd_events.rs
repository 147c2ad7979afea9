//! Neighbouring streams of users through the real executable, as a list and as a state that is fed and watched: one
//! event whose user, key or time is odd, in every format and at every place, moves nothing but what is said
//! of it.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::data_type::{ByteArrayType, Int64Type};
use serde_json::Value;

use crate::common::{
    folder, frostpane, heavy, json,
    parquet_file::{self, ParquetColumn, column_of},
    stdout, text,
};

/// A time, a user and a key, as they are written.
type Event = [String; 3];

const PEOPLE: usize = 200;
const KEYS: usize = 4;
const TIME: &str = "2025-11-30T12:00:00Z";
/// Positions of the odd event: also where a format, a header or a unit of time could be guessed from it.
const PLACES: [usize; 3] = [0, 100, PEOPLE];

/// One event of each user on the last day of November 2025.
fn events() -> Vec<Event> {
    let event = |user: usize| [TIME.to_owned(), format!("-{user}"), (5 + user % KEYS).to_string()];
    (1..=PEOPLE).map(event).collect()
}

/// The counts, and everything else that is published.
type Published = (Vec<(String, u64)>, Value);

fn published(mut release: Value) -> Published {
    let counts = heavy(&release);
    for field in ["heavy", "norm_estimate"] {
        release.as_object_mut().unwrap().remove(field);
    }
    let window = release["window"].as_object_mut().unwrap();
    // How many events there were, with noise.
    for field in ["events", "between"] {
        window.remove(field);
    }
    (counts, release)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    List,
    /// `ingest DIR` and `release DIR`.
    Ingest,
    /// `watch DIR`, which is ended when half of the events have come, and started again.
    Watch,
}

/// Options for users, without noise.
const ASKED: [&str; 7] = ["--all", "--epsilon", "1000000", "--per-user", "1", "--window", "1d"];

fn columns(format: &str) -> [&'static str; 6] {
    match format {
        "csv" | "tsv" => ["--time", "1", "--user", "2", "--key", "3"],
        _ => ["--time", "time", "--user", "user", "--key", "key"],
    }
}

impl Way {
    /// Publishes the last day of November.
    fn publish(self, format: &str, write: &impl Fn(&[Event]) -> Vec<u8>, events: &[Event]) -> Published {
        match self {
            Self::List => list(format, &write(events)),
            Self::Ingest => {
                let state = State::new(format, &[]);
                state.run(&["ingest"], &write(events), "2025-12-01");
                published(json(&["release", text(&state.path), "--json", "--id", "one"], b""))
            }
            Self::Watch => {
                let state = State::new(format, &["--watch", "--slide", "1d"]);
                let watch = ["watch", "--json"];
                let early = state.run(&watch, &write(&events[..=PEOPLE / 2]), "2025-11-30T18:00:00Z");
                assert_eq!(early, "");
                published(serde_json::from_str(&state.run(&watch, &write(events), "2025-12-01")).unwrap())
            }
        }
    }
}

fn list(format: &str, bytes: &[u8]) -> Published {
    let asked = ["list", "--json", "--until", "2025-12-01", "--format", format];
    published(json(&[&asked[..], &ASKED, &columns(format)].concat(), bytes))
}

/// A state of users, and the file that it is fed from.
struct State {
    folder: PathBuf,
    path: PathBuf,
    file: PathBuf,
}

impl State {
    fn new(format: &str, more: &[&str]) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let folder = folder(&format!("odd-events-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let (path, file) = (folder.join("state"), folder.join(format!("events.{format}")));
        let begin = ["init", text(&path), "--from", "2025-11-30"];
        stdout(&frostpane(&[&begin[..], &ASKED, &columns(format), more].concat(), b""));
        Self { folder, path, file }
    }

    fn run(&self, command: &[&str], bytes: &[u8], until: &str) -> String {
        fs::write(&self.file, bytes).unwrap();
        let args = [text(&self.path), text(&self.file), "--until", until];
        stdout(&frostpane(&[&command[..1], &args, &command[1..]].concat(), b""))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Asserts that one more event moves no other, and whether it is counted.
fn assert_alone(format: &str, write: impl Fn(&[Event]) -> Vec<u8>, odd: &Event, counts: bool) {
    static USUAL: LazyLock<[Published; 3]> = LazyLock::new(|| {
        [Way::List, Way::Ingest, Way::Watch].map(|way| way.publish("csv", &separated(","), &events()))
    });
    // A state is fed one of them.
    let one = PLACES[odd.concat().len() % PLACES.len()];
    let states = [(Way::Ingest, one), (Way::Watch, one)];
    for (way, place) in PLACES.map(|place| (Way::List, place)).into_iter().chain(states) {
        let (mut expected, public) = USUAL[way as usize].clone();
        assert_eq!(expected.len(), KEYS);
        assert!(expected.iter().all(|(_, count)| *count == (PEOPLE / KEYS) as u64));
        expected[0].1 += u64::from(counts);
        let mut events = events();
        events.insert(place, odd.clone());
        let found = way.publish(format, &write, &events);
        let odd = odd.each_ref().map(|part| part.chars().take(100).collect::<String>());
        assert_eq!(found, (expected, public), "{odd:?} at {place} as {format}, {way:?}");
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
    move |events| events.iter().map(|event| event.join(by) + "\n").collect::<String>().into_bytes()
}

/// An event that is odd, from a cell that is.
type Odd = fn(&str) -> Event;

#[test]
fn one_event_of_csv_and_tsv_moves_no_other() {
    let assert_same = |odd: &Event, counts: bool| {
        assert_alone("csv", separated(","), odd, counts);
        assert_alone("tsv", separated("\t"), odd, counts);
    };
    for (odd, counts, cells) in [
        (
            by as Odd,
            true,
            "9223372036854775808|1180591620717411303424|1.5|user| |-1.0|2025-11-30|NaN|a\"b|a\0b",
        ),
        (by, false, ""),
        (of, false, "9223372036854775808|1180591620717411303424|key||{\"a\": 1}"),
        (at, true, "20251130|1764504000|1764504000000|1764504000000000.5|2025-11-30 12:00"),
        (at, false, "time|noon|1180591620717411303424|"),
    ] {
        cells.split('|').for_each(|cell| assert_same(&odd(cell), counts));
    }
    assert_same(&by(&"x".repeat(1 << 16)), true);
    assert_same(&by(&"x".repeat((1 << 16) + 1)), false);
    // As a line that is not written as CSV is.
    for odd in [by("\"ann"), of("\"5"), of("\"5\"\""), at("\"2025-11-30")] {
        assert_alone("csv", separated(","), &odd, false);
    }
}

fn json_lines(events: &[Event]) -> Vec<u8> {
    let line = |[time, user, key]: &Event| {
        let is_date = time.starts_with(|first: char| first.is_ascii_digit()) && time.contains('T');
        let time = if is_date { format!("\"{time}\"") } else { time.clone() };
        format!("{{\"time\": {time}, \"user\": {user}, \"key\": {key}}}\n")
    };
    events.iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn one_event_of_json_moves_no_other() {
    let of: Odd = |key| [TIME, "\"ann\"", key].map(str::to_owned);
    let at: Odd = |time| [time, "\"ann\"", "5"].map(str::to_owned);
    for (odd, counts, values) in [
        (by as Odd, true, r#"9223372036854775808|1180591620717411303424|"ann"|"\ud800"|"2025-11-30"|-0"#),
        (by, true, r#""a\"b\n\u0000"|"ann", "user": "-1"|"ann", "time": 5"#),
        (by, false, r#"007|17.0|1.5|1e400|true|null|""|[1]|{"id": 1}|NaN|ann|"ann"#),
        (of, false, "9223372036854775808|1180591620717411303424|5.5|1e400|true|null|[5]|5.0|NaN"),
        (of, false, r#"{"key": 5}|"five"|""|"\ud800""#),
        (at, true, r#"1764504000|1764504000000|1764504000.5|20251130|"2025-11-30""#),
        (at, false, r#""noon"|1180591620717411303424|null|true|[1764504000]"#),
    ] {
        values.split('|').for_each(|value| assert_alone("jsonl", json_lines, &odd(value), counts));
    }
    for (bytes, counts) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        assert_alone("jsonl", json_lines, &by(&format!("\"{}\"", "x".repeat(bytes))), counts);
    }
}

/// A file of Parquet with columns of these types; what is no value of a column is null.
fn parquet(user: &str, key: &str, events: &[Event]) -> Vec<u8> {
    let schema =
        format!("message events {{ optional binary time (STRING); optional {user}; optional {key}; }}");
    let columns = ["binary", user, key].into_iter().enumerate().map(|(place, kind)| {
        let cells: Vec<&str> = events.iter().map(|event| event[place].as_str()).collect();
        if kind.starts_with("int64") { integers(&cells) } else { texts(&cells) }
    });
    parquet_file::new(&schema, [columns.collect()])
}

fn integers(cells: &[&str]) -> ParquetColumn {
    let number =
        |cell: &&str| cell.parse::<i64>().or_else(|_| cell.parse::<u64>().map(|number| number as i64));
    let numbers = cells.iter().filter_map(|cell| number(cell).ok()).collect();
    let levels = cells.iter().map(|cell| i16::from(number(cell).is_ok())).collect();
    column_of::<Int64Type>(numbers, Some(levels), None)
}

fn texts(cells: &[&str]) -> ParquetColumn {
    let some = cells.iter().filter(|cell| **cell != "null");
    let texts = some.map(|cell| cell.as_bytes().to_vec().into()).collect();
    let levels = cells.iter().map(|cell| i16::from(*cell != "null")).collect();
    column_of::<ByteArrayType>(texts, Some(levels), None)
}

#[test]
fn one_event_of_parquet_moves_no_other() {
    let (user, key) = ("binary user (STRING)", "binary key (STRING)");
    let unsigned = "int64 user (INTEGER(64, false))";
    for (odd, counts, values, user, key) in [
        (by as Odd, true, "9223372036854775808|1180591620717411303424|1.5", user, key),
        (by, false, "|null", user, key),
        (by, true, "9223372036854775807|-9223372036854775808|0", "int64 user", key),
        (by, false, "null", "int64 user", key),
        (by, true, "9223372036854775808", unsigned, key),
        (by, false, "null", unsigned, key),
        (of, false, "9223372036854775808|null", user, key),
        (of, false, "-9223372036854775808|null", user, "int64 key"),
        (at, true, "1764504000|20251130", user, key),
        (at, false, "noon|null", user, key),
    ] {
        let write = |events: &[Event]| parquet(user, key, events);
        values.split('|').for_each(|value| assert_alone("parquet", write, &odd(value), counts));
    }
}
