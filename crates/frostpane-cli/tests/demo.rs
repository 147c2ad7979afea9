//! The made-up searches as a file: the stream of the demo, with times and users.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::common::{
    assert_has, assert_refused, folder, frostpane, heavy, json, names, read, run, stderr, stdout, text,
};

fn save(file: &Path) -> String {
    let output = frostpane(&["demo", "--save", text(file)], b"");
    assert_eq!(stdout(&output), "");
    stderr(&output)
}

struct Saved {
    file: PathBuf,
    told: String,
    text: String,
}

/// The stream saved as TSV, once for all tests.
static SAVED: LazyLock<Saved> = LazyLock::new(|| {
    let file = folder("demo-saved").join("searches.tsv");
    let told = save(&file);
    Saved { text: read(&file), file, told }
});

/// The number of times that each search occurs after so many events.
fn counts_after(events: usize) -> HashMap<&'static str, u64> {
    let searches = SAVED.text.lines().skip(1 + events).map(|line| line.rsplit('\t').next().unwrap());
    let mut counts = HashMap::new();
    searches.for_each(|search| *counts.entry(search).or_insert(0) += 1);
    counts
}

#[test]
fn what_is_saved_is_the_stream_whose_truth_the_demo_shows() {
    let shown = stdout(&frostpane(&["demo"], b""));
    let privacy = "Privacy: epsilon 1, delta 1e-9, for the key of one event.";
    assert_has(&shown, ["snow tomorrow", "the three promises at alpha 0.05", privacy]);
    assert!(!shown.contains("where is parcel"), "a single search is shown: {shown}");
    let truth = counts_after(2_000_000);
    let rows: Vec<(&str, &str)> = shown
        .lines()
        .filter_map(|line| line.split_once('█'))
        .map(|(numbers, rest)| {
            let bar_ends = rest.rfind("  ").unwrap();
            (numbers.split_whitespace().last().unwrap(), rest[bar_ends..].trim())
        })
        .collect();
    assert_eq!(rows.len(), 20, "{shown}");
    for (count, search) in rows {
        assert_eq!(count.replace(',', ""), truth[search].to_string(), "{search}");
    }
}

#[test]
fn every_run_saves_the_same_bytes_and_csv_has_the_same_with_commas() {
    let fnv = SAVED.text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    });
    assert_eq!(format!("{fnv:016x}"), "56cdfb1a76100831");
    let file = folder("demo-csv").join("searches.csv");
    save(&file);
    assert!(!SAVED.text.contains([',', '"']), "a key would have to be quoted");
    assert!(read(&file) == SAVED.text.replace('\t', ","), "CSV differs from TSV in more than the separator");
}

#[test]
fn the_program_says_where_the_file_is_and_reads_it_as_it_says() {
    let name = text(&SAVED.file);
    let users = "--user user --per-user 4 ";
    let next = format!(
        "frostpane list --top 5 --key search --time time {users}--window 7d --until 2025-12-01 {name}"
    );
    assert_eq!(
        SAVED.told,
        format!(
            "frostpane: 3,000,000 made-up searches of November 2025 are in {name}, with their times and \
             users; next: {next}\n"
        )
    );
    let release = |next: &str| {
        let arguments: Vec<&str> = next.split(' ').skip(2).collect();
        json(&[&["list", "--json", "--epsilon", "100000"], &arguments[..]].concat(), b"")
    };
    assert_eq!(heavy(&release(&next)).len(), 5);
    let release = release(&next.replace(users, ""));
    assert_eq!(heavy(&release).len(), 5);
    assert_eq!(release["window"]["events"], 700_000);
    assert_eq!(release["window"]["from"], "2025-11-24T00:00:00Z");
    let week = counts_after(2_300_000);
    for (search, count) in heavy(&release) {
        assert_eq!(count, week[search.as_str()], "{search}");
    }
}

#[test]
fn a_name_that_does_not_say_how_to_write_is_refused() {
    let folder = folder("demo-name");
    for name in ["searches.txt", "searches", ".csv"] {
        let file = folder.join(name);
        let output = frostpane(&["demo", "--save", text(&file)], b"");
        let what = format!("cannot tell from the name {} what to write", file.display());
        assert_refused(&output, &format!("frostpane: {what}: let it end with .tsv or .csv\n"));
    }
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_up_leaves_nothing_behind() {
    let folder = folder("demo-full");
    let file = folder.join("searches.tsv");
    // Files of at most a thousand blocks; without the trap the first byte too many would end the program.
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" demo --save \"$1\"";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_frostpane")])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = run(&mut shell, b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("frostpane: cannot write the searches "), "{}", stderr(&output));
    assert_eq!(names(&folder), Vec::<String>::new());
}
