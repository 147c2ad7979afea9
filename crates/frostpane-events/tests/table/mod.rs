//! The rows of `conformance.json`, which every edge reads: odd input, and the events that it is.
#![allow(dead_code)]

use serde_json::Value;

/// Time in microseconds, key and user.
pub type Expected = (Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>);

/// Odd input. Events have the columns `key`, `time` and `user`, as far as the mode has them.
pub struct Row {
    pub name: String,
    /// `text`, `csv`, `tsv`, `jsonl`, or `json` for an array, which is no file.
    pub format: String,
    pub mode: String,
    pub body: Vec<u8>,
    pub events: Vec<Expected>,
    pub unreadable: u64,
    /// It is refused where invalid events refuse the input.
    pub is_refused: bool,
    /// The number of events for which there is no time to be had.
    pub waiting: u64,
}

impl Row {
    pub fn has_time(&self) -> bool {
        self.mode != "count"
    }

    pub fn has_user(&self) -> bool {
        self.mode == "user"
    }
}

pub fn rows() -> Vec<Row> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../frostpane-events/tests/conformance.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    table.as_array().unwrap().iter().map(row).collect()
}

/// Events around the present, and the number of those with each outcome.
pub struct OutcomeRow {
    pub name: String,
    mode: String,
    events: Vec<Value>,
    /// Counted, late, ahead, without a key, without a user.
    pub outcomes: [u64; 5],
}

pub const OUTCOMES: [&str; 5] = ["counted", "late", "ahead", "without_key", "without_user"];

impl OutcomeRow {
    /// The specification of its stream.
    pub fn spec(&self) -> &'static str {
        match self.mode.as_str() {
            "count" => r#"{ "window": 1000, "slide": 100, "top": 5 }"#,
            "clock" => r#"{ "window": "12h", "slide": "1h", "lateness": "1h", "top": 5 }"#,
            _ => r#"{ "window": "3d", "top": 5, "unit": { "user": { "per_user": 1, "epoch": "1d" } } }"#,
        }
    }

    /// The events as JSON Lines, with times in microseconds since 1970.
    pub fn lines(&self, present: i64) -> String {
        let line = |event: &Value| {
            let mut line = serde_json::json!({ "key": event[1], "user": event[2] });
            if let Some(seconds) = event[0].as_i64() {
                line["time"] = (present + seconds * 1_000_000).into();
            }
            format!("{line}\n")
        };
        self.events.iter().map(line).collect()
    }
}

pub fn outcome_rows() -> Vec<OutcomeRow> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../frostpane-events/tests/outcomes.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let row = |row: &Value| OutcomeRow {
        name: row["name"].as_str().unwrap().to_owned(),
        mode: row["mode"].as_str().unwrap().to_owned(),
        events: row["events"].as_array().unwrap().clone(),
        outcomes: OUTCOMES.map(|outcome| row[outcome].as_u64().unwrap()),
    };
    table.as_array().unwrap().iter().map(row).collect()
}

fn row(row: &Value) -> Row {
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    let number = |name: &str| row[name].as_u64().unwrap();
    let event = |event: &Value| (event[0].as_i64(), optional(&event[1]), optional(&event[2]));
    Row {
        name: text("name"),
        format: text("format"),
        mode: text("mode"),
        body: bytes(&row["body"]),
        events: row["events"].as_array().unwrap().iter().map(event).collect(),
        unreadable: number("unreadable"),
        is_refused: row["refused"].as_bool().unwrap(),
        waiting: number("waiting"),
    }
}

fn optional(value: &Value) -> Option<Vec<u8>> {
    (!value.is_null()).then(|| bytes(value))
}

/// Each character is a byte; a list is of parts, and `["x", 3]` is a part three times.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.chars().map(|c| u8::try_from(c).unwrap()).collect(),
        Value::Array(parts) => match &parts[..] {
            [part, Value::Number(times)] => bytes(part).repeat(times.as_u64().unwrap() as usize),
            parts => parts.iter().flat_map(bytes).collect(),
        },
        _ => panic!("{value} is no text"),
    }
}
