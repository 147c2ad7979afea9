//! `watch DIR` of users by the clock of the machine, with the real executable.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use jiff::Timestamp;
use serde_json::Value;

use crate::common::{command, folder, frostpane, heavy, run, stderr, stdout, text};

/// A state of users, from a second on, with a release of every epoch; noise is 0 but for a negligible chance.
fn state(name: &str, from: i64, epoch: &str, lateness: &str) -> PathBuf {
    let folder = folder(name);
    let (state, keys) = (folder.join("state"), folder.join("keys.txt"));
    fs::write(&keys, "base\nx\n").unwrap();
    let from = Timestamp::from_second(from).unwrap().to_string();
    let options = [
        ["--key", "3", "--time", "1", "--user", "2", "--per-user", "1"].as_slice(),
        &["--epoch", epoch, "--window", epoch, "--slide", epoch, "--lateness", lateness],
        &["--keys", keys.to_str().unwrap(), "--top", "2", "--epsilon", "1000000", "--from", &from],
        &["--watch"],
    ]
    .concat();
    stdout(&frostpane(&[&["init", text(&state)], &options[..]].concat(), b""));
    state
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn watch(state: &Path) -> [&str; 8] {
    ["watch", text(state), "-", "--id", "log", "--format", "tsv", "--json"]
}

fn start(state: &Path) -> Child {
    command(&watch(state))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the counts of each key over all releases, and the number of releases.
fn counted(state: &Path, log: &[u8]) -> (BTreeMap<String, u64>, usize) {
    let args = [&watch(state)[..], &["--after", "0"]].concat();
    let output = run(&mut command(&args), log);
    assert!(output.status.success(), "{}", stderr(&output));
    let mut lists = BTreeMap::new();
    for line in stdout(&output).lines() {
        let list: Value = serde_json::from_str(line).unwrap();
        let before = lists.insert(list["continual"]["number"].as_u64().unwrap(), list.clone());
        assert!(before.is_none_or(|before| before == list), "{list}");
    }
    let mut counts = BTreeMap::new();
    for (key, count) in lists.values().flat_map(heavy) {
        *counts.entry(key).or_default() += count;
    }
    (counts, lists.len())
}

/// So many events of each of some seconds, each of another user.
fn log(seconds: std::ops::Range<i64>, each: usize) -> Vec<u8> {
    let line = |second| move |user| format!("{second}\tu{user}\tbase\n");
    seconds.flat_map(|second| (0..each).map(line(second))).collect::<String>().into_bytes()
}

/// The content of a log at a start is counted before the clock ends anything.
#[test]
fn a_log_that_has_grown_is_drained_before_the_clock_ticks() {
    const EACH: usize = 20_000;
    let begin = now() - 30;
    let state = state("clock-drained", begin, "1s", "1s");
    let (first, all) = (log(begin..begin + 8, EACH), log(begin..begin + 24, EACH));
    // Killed while it reads, and while it waits.
    for wait in [200, 1_200] {
        let mut child = start(&state);
        let mut pipe = child.stdin.take().unwrap();
        let _ = pipe.write_all(&first);
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // It shows releases also while the pipe stays open.
    let mut child = start(&state);
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&all).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"number\":1"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
    let (counts, lists) = counted(&state, &all);
    assert_eq!(counts["base"], 24 * EACH as u64);
    assert!(lists >= 24, "{lists}");
}

/// A state that nobody has looked at for long is not ended by a clock that nobody has looked at either.
#[test]
fn a_clock_that_is_far_ahead_ends_nothing_until_it_is_accepted() {
    let state = state("clock-ahead", now() - 320 * 86_400, "1d", "1s");
    let log = format!("{}\tu\tx\n", now());
    for _ in 0..2 {
        let refused = run(&mut command(&watch(&state)), log.as_bytes());
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("far ahead") && said.contains("--accept-clock"), "{said}");
        assert!(refused.stdout.is_empty());
    }
    let accepted = [&watch(&state)[..], &["--accept-clock"]].concat();
    let lists = stdout(&run(&mut command(&accepted), log.as_bytes()));
    assert!((319..=321).contains(&lists.lines().count()));
    let again = run(&mut command(&watch(&state)), log.as_bytes());
    assert!(again.status.success() && again.stdout.is_empty(), "{}", stderr(&again));
}

/// An event counts in the epoch of its own time, also where the clock has not come to it.
#[test]
fn an_event_counts_in_the_epoch_of_its_own_time() {
    // At whatever time this runs, the next epoch begins within the tolerance; the one before it waits for an
    // hour.
    let epoch = 6 * 3_600;
    let begins = (now() / epoch + 1) * epoch;
    let until = Timestamp::from_second(begins + epoch + 3_600).unwrap();
    let from = begins - epoch;
    let rows: [(&str, &[i64], [u64; 2]); 6] = [
        ("ahead, of the epoch that begins", &[1], [0, 1]),
        ("ahead, twice", &[1, 1], [0, 1]),
        ("of the first moment", &[0], [0, 1]),
        ("of the last second before", &[-1], [1, 0]),
        ("on either side, the later first", &[1, -1], [1, 1]),
        ("before the state", &[-epoch - 1], [0, 0]),
    ];
    for (number, (what, seconds, counts)) in rows.into_iter().enumerate() {
        let state = state(&format!("clock-own-time-{number}"), from, "6h", "1h");
        let line = |second: &i64| format!("{}\tchallenge\tx\n", begins + second);
        let log: String = seconds.iter().map(line).collect();
        let ahead = [&watch(&state)[..], &["--ahead", "7h"]].concat();
        let shown = run(&mut command(&ahead), log.as_bytes());
        assert!(shown.status.success(), "{}", stderr(&shown));
        let until = until.to_string();
        let told = [&watch(&state)[..], &["--after", "0", "--until", &until]].concat();
        let lists = stdout(&run(&mut command(&told), log.as_bytes()));
        let x = |list: &str| {
            let heavy = heavy(&serde_json::from_str(list).unwrap());
            heavy.iter().find(|(key, _)| key == "x").map_or(0, |(_, count)| *count)
        };
        assert_eq!(lists.lines().map(x).collect::<Vec<_>>(), counts, "{what}");
    }
}
