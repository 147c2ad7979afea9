//! Fuzzing of stored bytes: decoding fails with an error or yields something usable, without a panic, an
//! overflow, much memory or a long time.
//!
//! `FROSTPANE_FUZZ_SECONDS` sets the duration, `FROSTPANE_FUZZ_SEED` the first seed. The crate `fuzz` does
//! the same guided by coverage.

mod common;

use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::decoders::{PARTS, Part, Written};
use frostpane::testing::{Entropy, InsecureSeededEntropy};

const LONGEST: Duration = Duration::from_secs(20);
const MOST_KILOBYTES: u64 = 1 << 20;
const FINGERPRINT: usize = 41;
const FRONT: usize = 200;
const EXTREME: [u64; 9] = [0, 1, 127, 1 << 31, 1 << 32, 1 << 60, i64::MAX as u64, u64::MAX - 1, u64::MAX];

/// A number in the variable-length encoding.
fn packed(mut number: u64) -> Vec<u8> {
    let mut packed = Vec::new();
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
    packed
}

fn overwrite(bytes: &mut Vec<u8>, place: usize, number: Vec<u8>) {
    let end = bytes[place..].iter().position(|byte| *byte < 0x80);
    let end = end.map_or(bytes.len(), |length| place + length + 1);
    bytes.splice(place..end, number);
}

struct Mutator(InsecureSeededEntropy);

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound.max(1) as u64).unwrap() as usize
    }

    /// Most structure is at the front, after the fingerprint.
    fn place(&mut self, length: usize) -> usize {
        match self.below(3) {
            0 => self.below(length),
            _ => (FINGERPRINT + self.below(FRONT)).min(length.saturating_sub(1)),
        }
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(40) + 1)
    }

    /// An encoded number that is far too large or small, or close to the original.
    fn number(&mut self) -> Vec<u8> {
        let near = self.below(1 << 10) as u64;
        let number = match self.below(3) {
            0 => EXTREME[self.below(EXTREME.len())],
            1 => (1_u64 << self.below(64)).wrapping_sub(near % 3),
            _ => near,
        };
        packed(number)
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let place = self.place(bytes.len());
        match self.below(7) {
            0 if !bytes.is_empty() => bytes[place] ^= 1 << self.below(8),
            1 if !bytes.is_empty() => bytes[place] = self.below(256) as u8,
            2 => bytes.truncate(place),
            3 => drop(bytes.drain(self.range(bytes.len()))),
            4 => drop(bytes.splice(place..place, self.number())),
            5 => overwrite(bytes, place, self.number()),
            _ => {
                let (from, to) = (self.range(other.len()), self.range(bytes.len()));
                bytes.splice(to, other[from].iter().copied());
            }
        }
    }

    /// Mutates stored bytes in a few places.
    fn case<'a>(&mut self, all: &'a [Written]) -> (&'a Written, Part, Vec<u8>) {
        let written = &all[self.below(all.len())];
        let part = match self.below(2) {
            0 => Part::State,
            _ => PARTS[self.below(PARTS.len())],
        };
        let mut bytes = written.bytes(part);
        let other = all[self.below(all.len())].bytes(part);
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, &other);
        }
        (written, part, bytes)
    }
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Writes the corpus of `fuzz` on request.
fn write_corpus(all: &[Written]) {
    let Some(folder) = env::var_os("FROSTPANE_FUZZ_CORPUS").map(PathBuf::from) else {
        return;
    };
    fs::create_dir_all(&folder).unwrap();
    for (number, written) in all.iter().enumerate() {
        for (place, part) in PARTS.into_iter().enumerate() {
            let bytes = [&[number as u8, place as u8], &*written.bytes(part)].concat();
            fs::write(folder.join(format!("{number}-{place}")), bytes).unwrap();
        }
    }
}

/// The most memory that the process has allocated so far.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap())
}

fn run(all: &[Written], seed: u64) -> bool {
    let (written, part, bytes) = Mutator(InsecureSeededEntropy::new(seed)).case(all);
    let before = peak();
    let case = format!("FROSTPANE_FUZZ_SEED={seed}: {part:?} of {}", written.name);
    let read = catch_unwind(AssertUnwindSafe(|| written.read(part, &bytes)));
    let read = read.unwrap_or_else(|_| panic!("{case}"));
    let taken = peak() - before;
    assert!(taken < MOST_KILOBYTES, "{case} took {taken} KB");
    read.is_ok()
}

/// Numbers that once caused an overflow or an endless loop.
const FOUND: [(&str, Part, usize, u64); 7] = [
    ("uniform", Part::Pane, 0, 1 << 60),
    ("exponential", Part::Pane, 26, (1 << 61) - 1),
    ("people", Part::State, 42, 1 << 31),
    ("people", Part::State, 43, 1 << 59),
    ("people", Part::State, 50, 1 << 31),
    ("people", Part::Paid, 0, 1 << 60),
    ("list by count", Part::State, 43, 1 << 59),
];

#[test]
fn what_was_believed_once_is_refused() {
    let all = Written::all();
    for (name, part, place, number) in FOUND {
        let refused = all.iter().filter(|written| written.name == name).filter(|written| {
            let mut bytes = written.bytes(part);
            overwrite(&mut bytes, place, packed(number));
            written.read(part, &bytes).is_err()
        });
        assert!(refused.count() > 0, "{name}: {part:?} at {place}");
    }
    let end_of_time = [&[1], i64::MAX.to_le_bytes().as_slice()].concat();
    for written in all.iter().filter(|written| written.name.contains("people")) {
        assert!(written.read(Part::Entry, &end_of_time).is_err(), "{}", written.name);
    }
}

#[test]
fn whatever_bytes_are_read_nothing_panics_overflows_or_takes_for_ever() {
    let long = env::var_os("FROSTPANE_LONG").is_some();
    let seconds = from_environment("FROSTPANE_FUZZ_SECONDS", if long { 60 } else { 3 });
    let first = from_environment("FROSTPANE_FUZZ_SEED", 0);
    let seed = Arc::new(AtomicU64::new(first));
    let running = {
        let seed = seed.clone();
        thread::spawn(move || {
            let all = Written::all();
            write_corpus(&all);
            for written in &all {
                PARTS.into_iter().for_each(|part| drop(written.read(part, &written.bytes(part))));
                assert!(written.read(Part::State, &written.bytes(Part::State)).is_ok(), "{}", written.name);
            }
            let (begin, mut read) = (Instant::now(), 0_u64);
            while begin.elapsed().as_secs() < seconds {
                read += u64::from(run(&all, seed.load(Ordering::Relaxed)));
                seed.fetch_add(1, Ordering::Relaxed);
            }
            read
        })
    };
    let (mut before, mut since) = (first, Instant::now());
    while !running.is_finished() {
        thread::sleep(Duration::from_millis(20));
        let now = seed.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < LONGEST, "FROSTPANE_FUZZ_SEED={now} takes for ever");
    }
    let read = running.join().unwrap_or_else(|_| panic!("the seed is above"));
    let cases = seed.load(Ordering::Relaxed) - first;
    println!("{cases} cases, {read} of which could be gone on with");
    assert!(read > cases / 100 && read < cases, "{read} of {cases}");
}
