//! Neighbouring files through the real executable: another key in one event, however odd, changes nothing
//! that is published but two counts, each by one.
//!
//! Every pair of files follows from its number alone. With so much epsilon that there is no noise what comes
//! out is exact, so there are no false alarms.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use serde_json::{Map, Value};

use crate::common::{
    folder, frostpane, gzip, heavy,
    parquet_file::{self, column, column_of},
    read, releases, text, words, written, zstd,
};

/// So many pairs are tried in any case, and then as many as there is time for.
const LEAST_PAIRS: u64 = 1_000;
/// More events than any file has.
const WHOLE: &str = "1000";
const START: i64 = 1_700_000_040;

/// First keys that files of other formats begin with.
const TELLING: [&[u8]; 8] = [
    b"{x",
    b"{\"key\": 1}",
    b"[",
    b"PAR1",
    b"\x1f\x8b\x08\x00",
    b"\x28\xb5\x2f\xfd",
    b"\xef\xbb\xbf",
    b"\xff\xfee\0",
];

/// Repeatable, not secret.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33) as usize % end
    }

    fn one_in(&mut self, end: usize) -> bool {
        self.below(end) == 0
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Text,
    Csv,
    /// With `--multiline`.
    Records,
    Tsv,
    Jsonl,
    Parquet,
    /// With `--pattern`.
    Log,
}

impl Format {
    fn option(self) -> &'static str {
        match self {
            Format::Text | Format::Log => "text",
            Format::Csv | Format::Records => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::Parquet => "parquet",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Text => "txt",
            Format::Log => "log",
            other => other.option(),
        }
    }
}

/// The way in which the program learns how to read the file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Name,
    Options,
    /// Options, and it is no file but a pipe.
    Pipe,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Clock {
    None,
    BeforeKey,
    AfterKey,
}

/// The key of an event, if it has one.
type Key = Option<Vec<u8>>;

/// The form of a file, and the options of the program.
#[derive(Debug)]
struct Setting {
    format: Format,
    packing: &'static str,
    told: Told,
    clock: Clock,
    /// True if times are written as 20251001120000.
    dates: bool,
    /// True if keys are quoted and escaped as the format says.
    careful: bool,
    header: bool,
    /// The separator of columns, where it may be chosen.
    delimiter: char,
    delimiter_told: bool,
    /// True if the program is given a folder that contains the file.
    partitioned: bool,
    /// After the key, there is one column more.
    wide: bool,
    l2: bool,
    declared: bool,
    watch: bool,
    /// True if the guarantee and the report are compared too.
    files: bool,
    windows: &'static [&'static str],
}

impl Setting {
    fn draw(dice: &mut Dice) -> Self {
        use Format::{Csv, Jsonl, Log, Parquet, Records, Text, Tsv};
        let formats = [Text, Text, Csv, Csv, Csv, Records, Tsv, Tsv, Jsonl, Jsonl, Parquet, Log, Log];
        let format = dice.of(&formats);
        let clock = match format {
            Format::Text => Clock::None,
            _ => dice.of(&[Clock::None, Clock::BeforeKey, Clock::AfterKey]),
        };
        let watch = dice.one_in(5);
        let windows: &[&[&str]] = match (clock == Clock::None, watch) {
            (true, false) => &[&[WHOLE], &["40", "8"], &["24", "4"]],
            (true, true) => &[&["32", "8"], &["16", "4"]],
            (false, false) => &[&["1h", "5m"], &["10m", "1m"], &["90s", "15s"]],
            (false, true) => &[&["10m", "1m"], &["2m", "30s"]],
        };
        let header = dice.one_in(2);
        let (delimiter, delimiter_told) = match format {
            Format::Tsv => dice.of(&[('\t', false), ('\t', false), ('|', true)]),
            // A header shows it.
            Format::Csv | Format::Records if header => (dice.of(&[',', ';', '\t']), dice.one_in(2)),
            _ => dice.of(&[(',', false), (',', false), (';', true)]),
        };
        Self {
            format,
            packing: dice.of(&["none", "none", "gzip", "zstd"]),
            told: dice.of(&[Told::Name, Told::Options, Told::Pipe]),
            clock,
            dates: dice.one_in(4),
            careful: dice.one_in(2) || clock == Clock::AfterKey || format == Format::Records,
            header,
            delimiter,
            delimiter_told,
            partitioned: dice.one_in(3),
            wide: dice.one_in(2),
            l2: dice.one_in(4),
            declared: dice.one_in(4),
            watch,
            files: !watch && dice.one_in(8),
            windows: dice.of(windows),
        }
    }

    /// A common key, or one that would like to be something else.
    fn key(&self, dice: &mut Dice) -> Key {
        const COMMON: [&[u8]; 4] = [b"elm", b"oak", b"ash", b"yew"];
        const SHORT: [&[u8]; 28] = [
            b"x", b"", b" ", b"\"", b"\"\"", b"\"elm", b"elm\"", b"\"elm\"", b"a\"b", b"\"a\"b", b",",
            b"y, z", b",,,,", b"\"a,b\"", b"\\", b"\\\"", b"\r", b"elm\r", b"\0", b"a\0b", b"\xff", b"[[",
            b"}", b"null", b";", b"a;b|c", b"] [", b"key",
        ];
        const LONG: [&[u8]; 8] = [
            b"\"a\"\"b\"",
            b"\xc3\xa9",
            b"\xef\xbb\xbfelm",
            b"1700000000",
            b"x\", \"at\": 1800000000, \"y\": \"z",
            b"x 1700000000",
            // As `key` does, such a line makes a header with what stands beside it.
            b"key,size",
            b"key;size",
        ];
        let odd = [&SHORT[..], &LONG].concat();
        let mut key = match dice.below(400) {
            0..170 => return Some(dice.of(&COMMON).to_vec()),
            170..185 => return None,
            185 => vec![b'x'; 66_000 + dice.below(2_000)],
            186..197 => [dice.of(&odd), &[dice.below(256) as u8], dice.of(&odd)].concat(),
            197..220 => dice.of(&TELLING).to_vec(),
            _ => dice.of(&odd).to_vec(),
        };
        if dice.one_in(8) {
            key.extend(dice.of::<&[u8]>(&[b"\t", b"\tx\ty", b"\n", b"a\nb"]));
        }
        // Elsewhere a line break cannot be written as part of a key.
        let in_quotes = self.format == Format::Jsonl && self.careful;
        if !in_quotes && !matches!(self.format, Format::Parquet | Format::Records) {
            key.retain(|&byte| byte != b'\n');
        }
        // What separates columns cannot be written there as anything else.
        if self.format == Format::Tsv && self.careful {
            key.retain(|&byte| char::from(byte) != self.delimiter);
        }
        Some(key)
    }

    /// Above what is read of a line, unless the time would be lost with it, or the record.
    fn longest(&self, dice: &mut Dice) -> Vec<u8> {
        let most = match (self.format, self.clock) {
            (Format::Records, _) | (_, Clock::AfterKey) => 1_000_000,
            _ => 16_000_100,
        };
        vec![dice.of(b"x,\"\\\r"); most - dice.below(200)]
    }

    /// A line without its end.
    fn line(&self, event: usize, key: &Key) -> Vec<u8> {
        let time = self.written(event).to_string().into_bytes();
        match self.format {
            Format::Text => key.clone().unwrap_or_default(),
            Format::Jsonl => self.object(&time, key),
            Format::Log => self.logged(&time, key),
            _ => self.fields(time, key),
        }
    }

    /// The time as a number that is written down: Unix seconds, or a date.
    fn written(&self, event: usize) -> i64 {
        let time = START + 7 * event as i64;
        let date = jiff::Timestamp::from_second(time).unwrap().strftime("%Y%m%d%H%M%S");
        if self.dates { date.to_string().parse().unwrap() } else { time }
    }

    fn fields(&self, time: Vec<u8>, key: &Key) -> Vec<u8> {
        let mut fields = Vec::new();
        if self.clock == Clock::BeforeKey {
            fields.push(time.clone());
        }
        match key {
            // The row ends before it.
            None if self.clock != Clock::AfterKey => return fields.concat(),
            None => fields.push(Vec::new()),
            Some(key) if self.careful && self.format != Format::Tsv => fields.push(quoted(key)),
            Some(key) => fields.push(key.clone()),
        }
        if self.clock == Clock::AfterKey {
            fields.push(time);
        }
        if self.wide {
            fields.push(b"1".to_vec());
        }
        fields.join(&[self.delimiter as u8][..])
    }

    /// A line as a server may write it, which no key can keep from matching.
    fn logged(&self, time: &[u8], key: &Key) -> Vec<u8> {
        let key = key.as_deref().unwrap_or_default();
        match self.clock {
            Clock::None => [b"asked: ", key].concat(),
            Clock::BeforeKey => [b"at ", time, b" asked: ", key].concat(),
            Clock::AfterKey => [b"asked: ", key, b" at ", time].concat(),
        }
    }

    fn pattern(&self) -> &'static str {
        match self.clock {
            Clock::None => "^asked: (?<key>.*)$",
            Clock::BeforeKey => r"^at (?<time>\d+)(?: asked: (?<key>.*))?$",
            Clock::AfterKey => r"^asked: (?<key>.*) at (?<time>\d+)$",
        }
    }

    fn object(&self, time: &[u8], key: &Key) -> Vec<u8> {
        let key = match key {
            None => b"\"other\": null".to_vec(),
            Some(key) if self.careful => [b"\"key\": \"", &escaped(key)[..], b"\""].concat(),
            Some(key) => [b"\"key\": \"", &key[..], b"\""].concat(),
        };
        let at = [b"\"at\": ", time].concat();
        match self.clock {
            Clock::None => [b"{", &key[..], b"}"].concat(),
            Clock::BeforeKey => [b"{", &at[..], b", ", &key, b"}"].concat(),
            Clock::AfterKey => [b"{", &key[..], b", ", &at, b"}"].concat(),
        }
    }

    fn file(&self, keys: &[Key]) -> Vec<u8> {
        let plain = match self.format {
            Format::Parquet => self.parquet(keys),
            _ => self.lines(keys),
        };
        match self.packing {
            "gzip" => gzip(&plain),
            "zstd" => zstd(&plain),
            _ => plain,
        }
    }

    fn lines(&self, keys: &[Key]) -> Vec<u8> {
        let names: &[&[u8]] = match self.clock {
            Clock::None => &[b"key", b"size"],
            Clock::BeforeKey => &[b"at", b"key", b"size"],
            Clock::AfterKey => &[b"key", b"at", b"size"],
        };
        let has_names = self.header && self.is_delimited();
        let names = has_names.then(|| names.join(&[self.delimiter as u8][..]));
        let lines = keys.iter().enumerate().map(|(event, key)| self.line(event, key));
        names.into_iter().chain(lines).flat_map(|line| [line, b"\n".to_vec()].concat()).collect()
    }

    fn is_delimited(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Records | Format::Tsv)
    }

    fn parquet(&self, keys: &[Key]) -> Vec<u8> {
        let schema = "message events { required int64 at; optional binary key; }";
        let times: Vec<i64> = (0..keys.len()).map(|event| self.written(event)).collect();
        let levels: Vec<i16> = keys.iter().map(|key| i16::from(key.is_some())).collect();
        let keys: Vec<ByteArray> = keys.iter().flatten().map(|key| key.clone().into()).collect();
        let keys = column_of::<ByteArrayType>(keys, Some(levels), None);
        parquet_file::new(schema, [vec![column::<Int64Type>(times), keys]])
    }

    fn options(&self, folder: &Path) -> Vec<String> {
        let mut options = words(if self.watch { "watch" } else { "list" });
        options.extend(words("--json --epsilon 100000 --alpha 0.03 --norm"));
        options.push(if self.l2 { "l2" } else { "l1" });
        let by_name = self.header || matches!(self.format, Format::Jsonl | Format::Parquet);
        let (key, time) = match (by_name, self.clock) {
            (true, _) => ("key", "at"),
            (false, Clock::BeforeKey) => ("2", "1"),
            (false, _) => ("1", "2"),
        };
        match self.format {
            Format::Log => options.extend(["--pattern", self.pattern()]),
            Format::Text => {}
            _ => options.extend(["--key", key]),
        }
        if self.clock != Clock::None && self.format != Format::Log {
            options.extend(["--time", time]);
        }
        let delimiter = self.delimiter.to_string();
        if self.delimiter_told && self.is_delimited() {
            options.extend(["--delimiter", &delimiter]);
        }
        if self.l2 && !self.watch {
            // Choosing takes longer than all the rest.
            options.extend(["--policy", "uniform"]);
        }
        if self.format == Format::Records {
            options.push("--multiline");
        }
        options.extend(["--window", self.windows[0]]);
        if let Some(slide) = self.windows.get(1) {
            options.extend(["--slide", slide]);
        }
        // Text is what nothing tells.
        let untold = self.format == Format::Text && self.packing == "none" && self.wide;
        if self.told != Told::Name && !untold {
            options.extend(["--format", self.format.option(), "--packing", self.packing]);
        }
        let [declared, guarantee, report] =
            ["declared.txt", "guarantee.txt", "report.html"].map(|name| folder.join(name));
        if self.declared {
            options.extend(["--keys", text(&declared)]);
        }
        if self.files {
            options.extend(["--guarantee", text(&guarantee), "--report", text(&report)]);
        }
        options.into_iter().map(str::to_owned).collect()
    }

    fn name(&self) -> String {
        let packed = match self.packing {
            "gzip" => ".gz",
            "zstd" => ".zst",
            _ => "",
        };
        match self.told {
            Told::Name => format!("events.{}{packed}", self.format.ending()),
            _ => "untold".to_owned(),
        }
    }

    fn run(&self, folder: &Path, keys: &[Key]) -> Outcome {
        let bytes = self.file(keys);
        let mut options = self.options(folder);
        let piped = self.told == Told::Pipe;
        if !piped {
            let place = if self.partitioned { "events/shop=7/" } else { "" };
            let _ = fs::remove_dir_all(folder.join("events"));
            let file = written(folder, &(place.to_owned() + &self.name()), &bytes);
            let given = if self.partitioned { folder.join("events") } else { file };
            options.push(text(&given).to_owned());
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let output = frostpane(&options, if piped { &bytes } else { b"" });
        Outcome {
            code: output.status.code(),
            told: String::from_utf8_lossy(&output.stderr).into_owned(),
            releases: releases(str::from_utf8(&output.stdout).unwrap()),
            files: self.files.then(|| {
                let [guarantee, report] =
                    ["guarantee.txt", "report.html"].map(|name| read(&folder.join(name)));
                [guarantee, undated(&report)]
            }),
        }
    }
}

fn quoted(key: &[u8]) -> Vec<u8> {
    let doubled = key.iter().flat_map(|&byte| if byte == b'"' { vec![b'"'; 2] } else { vec![byte] });
    [b"\"".to_vec(), doubled.collect(), b"\"".to_vec()].concat()
}

fn escaped(key: &[u8]) -> Vec<u8> {
    let escape = |&byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        0..0x20 => format!("\\u{byte:04x}").into_bytes(),
        byte => vec![byte],
    };
    key.iter().flat_map(escape).collect()
}

/// All that a run gives away, and what it told the operator.
struct Outcome {
    code: Option<i32>,
    told: String,
    releases: Vec<Value>,
    /// The guarantee and the report.
    files: Option<[String; 2]>,
}

/// Two files that differ in the key of one event.
struct Pair {
    number: u64,
    setting: Setting,
    keys: Vec<Key>,
    changed: usize,
    other: Key,
}

impl Pair {
    fn new(number: u64) -> Self {
        let mut dice = Dice(number);
        let setting = Setting::draw(&mut dice);
        let events = 20 + dice.below(120);
        let mut keys: Vec<Key> = (0..events).map(|_| setting.key(&mut dice)).collect();
        let changed = match dice.below(4) {
            0 => 0,
            1 => events - 1,
            _ => dice.below(events),
        };
        // What a changed first line can do is to be seen best where the others are alike.
        if dice.one_in(3) {
            keys.fill(setting.key(&mut dice).filter(|key| key.len() < 1_000));
            keys[changed] = setting.key(&mut dice);
        }
        let other = match dice.below(40) {
            0 => Some(setting.longest(&mut dice)),
            1..10 => Some(dice.of(&TELLING).to_vec()),
            _ => setting.key(&mut dice),
        };
        Self { number, setting, keys, changed, other }
    }

    /// Finds something that is published of one file and could not be of the other.
    fn fault(&self, folder: &Path) -> Result<(), String> {
        fs::write(folder.join("declared.txt"), b"elm\nash\n\"elm\n\xff\n{x\nPAR1\ny, z\n").unwrap();
        let one = self.setting.run(folder, &self.keys);
        let mut keys = self.keys.clone();
        keys[self.changed] = self.other.clone();
        let other = self.setting.run(folder, &keys);
        for outcome in [&one, &other] {
            // 4: no event had a key that counts, which is for the operator to know.
            if !matches!(outcome.code, Some(0 | 4)) {
                return Err(format!("refused: {}", outcome.told));
            }
        }
        let (ones, others) = (&one.releases, &other.releases);
        if ones.len() != others.len() {
            return Err(format!("{} releases against {}", ones.len(), others.len()));
        }
        for (one, other) in ones.iter().zip(others) {
            self.compare(one, other)?;
            compare_lists(one, other)?;
        }
        self.check_counts(ones, &self.keys)?;
        self.check_counts(others, &keys)?;
        compare_files(&one, &other)
    }

    /// A key that can be read back is counted as often as it occurs.
    fn check_counts(&self, releases: &[Value], keys: &[Key]) -> Result<(), String> {
        let exact = self.setting.careful
            && matches!(self.setting.format, Format::Csv | Format::Records | Format::Jsonl);
        let whole = self.setting.windows[0] == WHOLE;
        let ([release], true) = (releases, whole && (exact || self.setting.format == Format::Parquet)) else {
            return Ok(());
        };
        for common in ["elm", "ash"] {
            let there = keys.iter().filter(|key| key.as_deref() == Some(common.as_bytes())).count() as i64;
            let listed = counts(release).get(common).copied();
            let expected = Some(there).filter(|there| *there >= release["threshold"].as_i64().unwrap());
            if listed != expected {
                return Err(format!("{there} events with key {common} are {listed:?}"));
            }
        }
        Ok(())
    }

    fn compare(&self, one: &Value, other: &Value) -> Result<(), String> {
        let events = self.keys.len() as u64;
        if self.setting.windows[0] == WHOLE && one["window"]["events"] != events {
            return Err(format!("{} events are {}", events, one["window"]["events"]));
        }
        if one["cut"] != 0 || one["noise"] != 0 {
            return Err("counts are not exact".to_owned());
        }
        let (public, other_public) = (self.public(one), self.public(other));
        if public != other_public {
            return Err(format!("{} against {}", Value::from(public), Value::from(other_public)));
        }
        for field in ["/norm_estimate", "/asked/slack"] {
            let values = [one, other].map(|release| release.pointer(field).and_then(Value::as_i64));
            if let [Some(one), Some(other)] = values
                && one.abs_diff(other) > 1
            {
                return Err(format!("{field} {one} against {other}"));
            }
        }
        Ok(())
    }

    /// The part that must be the same: all but counts, and for L2 what follows from the norm.
    fn public(&self, release: &Value) -> Map<String, Value> {
        let mut public = release.as_object().unwrap().clone();
        public.remove("heavy");
        public.remove("note");
        if self.setting.l2 {
            for field in words("norm_estimate threshold complete_above nothing_below promises") {
                public.remove(field);
            }
        }
        if let Some(asked) = public.get_mut("asked").and_then(Value::as_object_mut) {
            asked.remove("slack");
            asked.remove("promises");
        }
        public
    }
}

/// One count is up by one and one down, at most; a key comes or goes only at the threshold.
fn compare_lists(one: &Value, other: &Value) -> Result<(), String> {
    let (ones, others) = (counts(one), counts(other));
    let least = |release: &Value| release["threshold"].as_i64().unwrap().max(1);
    let (mut up, mut down) = (0, 0);
    for key in ones.keys().chain(others.keys().filter(|key| !ones.contains_key(*key))) {
        let step = match (ones.get(key), others.get(key)) {
            (Some(one), Some(other)) => other - one,
            // Below the threshold is all that is known.
            (Some(one), None) => (least(other) - 1).min(*one) - one,
            (None, Some(other)) => other - (least(one) - 1).min(*other),
            (None, None) => 0,
        };
        match step {
            0 => {}
            1 => up += 1,
            -1 => down += 1,
            _ => return Err(format!("a count moves by {step}")),
        }
    }
    if up > 1 || down > 1 {
        return Err(format!("{up} counts are up and {down} down"));
    }
    Ok(())
}

/// If the releases are the same, so is every byte that is written; the guarantee also if counts differ.
fn compare_files(one: &Outcome, other: &Outcome) -> Result<(), String> {
    if one.releases == other.releases && one.files != other.files {
        return Err("the guarantee or the report differ".to_owned());
    }
    let without_counts = |outcome: &Outcome| {
        let mut releases = outcome.releases.clone();
        for release in &mut releases {
            let is_empty = counts(release).is_empty();
            release["heavy"] = is_empty.into();
        }
        releases
    };
    let guarantee = |outcome: &Outcome| outcome.files.as_ref().map(|[guarantee, _]| guarantee.clone());
    if without_counts(one) == without_counts(other) && guarantee(one) != guarantee(other) {
        return Err("the guarantees differ".to_owned());
    }
    Ok(())
}

/// A page without the minute in which it was made.
fn undated(page: &str) -> String {
    page.lines().filter(|line| !line.contains("Made on ")).collect()
}

fn counts(release: &Value) -> BTreeMap<String, i64> {
    heavy(release).into_iter().map(|(key, count)| (key, count as i64)).collect()
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |key: &Key| match key {
            None => "no key".to_owned(),
            Some(key) => format!("{} bytes {}", key.len(), key[..key.len().min(40)].escape_ascii()),
        };
        writeln!(f, "pair {}, {:?}", self.number, self.setting)?;
        writeln!(f, "event {} of {}", self.changed, self.keys.len())?;
        writeln!(f, "one: {}", shown(&self.keys[self.changed]))?;
        writeln!(f, "other: {}", shown(&self.other))?;
        let first: Vec<String> = self.keys.iter().take(5).map(shown).collect();
        write!(f, "first keys: {first:?}")
    }
}

#[test]
fn another_key_in_one_event_moves_two_counts_by_one_and_nothing_else() {
    let seconds = if std::env::var_os("FROSTPANE_LONG").is_some() { 600 } else { 30 };
    let end = Instant::now() + Duration::from_secs(seconds);
    let next = AtomicU64::new(0);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let try_pairs = |thread: usize| {
        let folder = folder(&format!("neighbours-{thread}"));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= LEAST_PAIRS && Instant::now() > end {
                return;
            }
            let pair = Pair::new(number);
            if let Err(fault) = pair.fault(&folder) {
                panic!("{fault}\n{pair}");
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..threads {
            let try_pairs = &try_pairs;
            scope.spawn(move || try_pairs(thread));
        }
    });
    let pairs = next.into_inner() - threads as u64;
    writeln!(std::io::stderr(), "{pairs} pairs of neighbouring files").unwrap();
}
