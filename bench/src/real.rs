//! Real streams of the folder `shared/data` beside the project, and their exact counts.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use frostpane::{Bytes, Norm, Release};
use hashbrown::HashMap;

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
    keys: Vec<Box<[u8]>>,
    numbers: HashMap<Vec<u8>, u32>,
}

/// Reads the streams that exist, and prints the names of the others.
pub fn streams() -> impl Iterator<Item = std::io::Result<RealStream>> {
    STREAMS.into_iter().filter_map(|(name, column)| RealStream::read(name, column).transpose())
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.tsv.zst"))
}

/// The text of a stream, or a message and nothing if its file does not exist.
pub fn lines(name: &str) -> std::io::Result<Option<Vec<u8>>> {
    if !path(name).exists() {
        eprintln!("left out: no {name} at {FOLDER}");
        return Ok(None);
    }
    zstd::decode_all(fs::read(path(name))?.as_slice()).map(Some)
}

impl RealStream {
    fn read(path_and_name: &'static str, column: usize) -> std::io::Result<Option<Self>> {
        let Some(text) = lines(path_and_name)? else {
            return Ok(None);
        };
        let name = path_and_name.rsplit('/').next().unwrap_or(path_and_name);
        let mut stream = Self { name, events: Vec::new(), keys: Vec::new(), numbers: HashMap::new() };
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let key = line.splitn(column + 1, |byte| *byte == b'\t').nth(column);
            stream.push(key.unwrap_or_default());
        }
        Ok(Some(stream))
    }

    fn push(&mut self, key: &[u8]) {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry_ref(key).or_insert(next);
        if number == next {
            self.keys.push(key.into());
        }
        self.events.push(number);
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn keys(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        self.events[range].iter().map(|key| &*self.keys[*key as usize])
    }

    pub fn truth(&self, range: Range<usize>) -> WindowTruth<'_> {
        let mut counts = vec![0; self.keys.len()];
        for key in &self.events[range] {
            counts[*key as usize] += 1;
        }
        let mut falling = counts.clone();
        falling.sort_unstable_by(|a, b| b.cmp(a));
        WindowTruth { stream: self, counts, falling }
    }
}

/// Exact counts of a window.
pub struct WindowTruth<'a> {
    stream: &'a RealStream,
    counts: Vec<u64>,
    falling: Vec<u64>,
}

impl WindowTruth<'_> {
    pub fn of(&self, key: &[u8]) -> u64 {
        let number = self.stream.numbers.get(key);
        number.map_or(0, |number| self.counts[*number as usize])
    }

    /// The number of keys with at least this count.
    pub fn at_least(&self, count: u64) -> usize {
        self.falling.partition_point(|other| *other >= count.max(1))
    }

    /// The count of the most frequent key.
    pub fn most(&self) -> u64 {
        self.falling.first().copied().unwrap_or(0)
    }

    pub fn norm(&self, norm: Norm) -> f64 {
        match norm {
            Norm::L1 => self.counts.iter().sum::<u64>() as f64,
            Norm::L2 => self.counts.iter().map(|count| (*count as f64).powi(2)).sum::<f64>().sqrt(),
        }
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

    /// Returns true if the three promises of a release are true.
    pub fn keeps_promises(&self, release: &Release<Bytes>) -> bool {
        let Some(alpha) = release.alpha else { return false };
        let line = alpha * self.norm(release.norm);
        let mut complete = 0;
        for heavy in &release.heavy {
            let truth = self.of(&heavy.key) as f64;
            if truth <= line / 2.0 || (heavy.count as f64 - truth).abs() > line / 4.0 {
                return false;
            }
            complete += usize::from(truth >= line);
        }
        complete == self.at_least(line.ceil() as u64)
    }
}
