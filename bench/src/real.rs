//! Real streams of the folder `shared/data` beside the project, and their exact counts.

use std::fs;
use std::ops::Range;
use std::path::Path;

use frostpane::{Bytes, Release};
use hashbrown::HashMap;
use serde_json::Value;

use crate::BenchResult;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");

/// File and column of the keys.
const STREAMS: [(&str, usize); 7] = [
    ("baseball_batter", 1),
    ("flights_route", 1),
    ("homebrew_formula", 1),
    ("nycflights_dest", 1),
    ("people/commits_folder", 2),
    ("people/mathoverflow_answers", 2),
    ("people/retail_items", 2),
];

pub struct RealStream {
    pub name: &'static str,
    events: Vec<u32>,
    keys: Vec<Bytes>,
}

/// Reads the streams that exist, and prints the names of the others.
pub fn streams() -> impl Iterator<Item = std::io::Result<RealStream>> {
    STREAMS.into_iter().filter_map(|(name, column)| RealStream::read(name, column).transpose())
}

/// The text of a stream, or a message and nothing if its file does not exist.
pub fn lines(name: &str) -> std::io::Result<Option<Vec<u8>>> {
    let file = Path::new(FOLDER).join(format!("{name}.tsv.zst"));
    if !file.exists() {
        eprintln!("left out: no {name} at {FOLDER}");
        return Ok(None);
    }
    zstd::decode_all(fs::read(file)?.as_slice()).map(Some)
}

impl RealStream {
    fn read(path_and_name: &'static str, column: usize) -> std::io::Result<Option<Self>> {
        let Some(text) = lines(path_and_name)? else {
            return Ok(None);
        };
        let name = path_and_name.rsplit('/').next().unwrap_or(path_and_name);
        let (mut events, mut keys, mut numbers) = (Vec::new(), Vec::new(), HashMap::<&[u8], u32>::new());
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let key = line.splitn(column + 1, |byte| *byte == b'\t').nth(column).unwrap_or_default();
            let number = *numbers.entry(key).or_insert_with(|| {
                keys.push(key.into());
                keys.len() as u32 - 1
            });
            events.push(number);
        }
        Ok(Some(Self { name, events, keys }))
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn keys(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        self.events[range].iter().map(|key| &*self.keys[*key as usize])
    }

    pub fn truth(&self, range: Range<usize>) -> KeyTruth {
        let mut counts = vec![0; self.keys.len()];
        for key in &self.events[range] {
            counts[*key as usize] += 1;
        }
        let counts = self.keys.iter().zip(counts).filter(|(_, count)| *count > 0);
        KeyTruth::new(counts.map(|(key, count)| (key.clone(), count)).collect())
    }
}

pub type ExactKeyCounts = HashMap<Bytes, u64>;

/// Exact counts.
pub struct KeyTruth {
    counts: ExactKeyCounts,
    falling: Vec<u64>,
}

impl KeyTruth {
    pub fn new(counts: ExactKeyCounts) -> Self {
        let mut falling: Vec<u64> = counts.values().copied().collect();
        falling.sort_unstable_by(|a, b| b.cmp(a));
        Self { counts, falling }
    }

    pub fn of(&self, key: &[u8]) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    pub fn keys(&self) -> usize {
        self.falling.len()
    }

    pub fn sum(&self) -> u64 {
        self.falling.iter().sum()
    }

    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        self.falling.get(rank as usize - 1).copied()
    }

    /// The number of keys with at least this count.
    pub fn at_least(&self, count: u64) -> usize {
        self.falling.partition_point(|other| *other >= count.max(1))
    }

    /// Returns true if the intervals, `complete_above` and `nothing_below` of a release are true.
    pub fn bears_out(&self, release: &Release<Bytes>) -> bool {
        let mut complete = 0;
        for heavy in &release.heavy {
            let truth = self.of(&heavy.key);
            if !(heavy.low..=heavy.high).contains(&truth) || truth < release.nothing_below {
                return false;
            }
            complete += usize::from(truth >= release.complete_above);
        }
        complete == self.at_least(release.complete_above)
    }
}

/// JSON field, value, and the title and the width of the column that shows it, if one does.
pub type TableCell = (&'static str, Value, Option<(&'static str, usize)>);

pub fn shown(field: &'static str, title: &'static str, width: usize, value: impl Into<Value>) -> TableCell {
    (field, value.into(), Some((title, width)))
}

pub fn hidden(field: &'static str, value: impl Into<Value>) -> TableCell {
    (field, value.into(), None)
}

/// A table on standard error, and its rows as JSON on standard output.
#[derive(Default)]
pub struct MeasurementTable {
    rows: Vec<Value>,
}

impl MeasurementTable {
    pub fn push(&mut self, row: Vec<TableCell>) {
        let (mut titles, mut texts) = (Vec::new(), Vec::new());
        for (_, value, column) in &row {
            if let Some((title, width)) = column {
                titles.push(format!("{title:>width$}"));
                texts.push(format!("{:>width$}", text(value)));
            }
        }
        if self.rows.is_empty() {
            eprintln!("{}", titles.join(" "));
        }
        eprintln!("{}", texts.join(" "));
        self.rows.push(row.into_iter().map(|(field, value, _)| (field, value)).collect());
    }

    pub fn print(self) -> BenchResult {
        println!("{}", serde_json::to_string_pretty(&self.rows)?);
        Ok(())
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => format!("{:.2}", number.as_f64().unwrap_or(f64::NAN)),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
