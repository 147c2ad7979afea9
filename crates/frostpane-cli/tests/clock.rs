//! `watch DIR` of users by the clock of the machine, with the real executable.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::common::{
    assert_refused, assert_told, command, folder, frostpane, heavy, releases, stdout, text, words, written,
};

/// A state of users, from a second on, with a release of every epoch; noise is 0 but for a negligible chance.
fn state(name: &str, from: i64, epoch: &str, lateness: &str) -> PathBuf {
    let folder = folder(name);
    let (state, keys) = (folder.join("state"), written(&folder, "keys.txt", b"base\nx\n"));
    let from = Timestamp::from_second(from).unwrap();
    let options = format!(
        "--key 3 --time 1 --user 2 --per-user 1 --epoch {epoch} --window {epoch} --slide {epoch} \
         --lateness {lateness} --top 2 --epsilon 1000000 --from {from} --watch --keys"
    );
    stdout(&frostpane(&[&["init", text(&state)], &words(&options)[..], &[text(&keys)]].concat(), b""));
    state
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn watch(state: &Path) -> [&str; 8] {
    ["watch", text(state), "-", "--id", "log", "--format", "tsv", "--json"]
}

fn watched(state: &Path, more: &str, log: &[u8]) -> std::process::Output {
    frostpane(&[&watch(state)[..], &words(more)].concat(), log)
}

/// Returns the counts of each key over all releases, and the number of releases.
fn counted(state: &Path, log: &[u8]) -> (BTreeMap<String, u64>, usize) {
    let mut lists = BTreeMap::new();
    for list in releases(&stdout(&watched(state, "--after 0", log))) {
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
        let mut child = command(&watch(&state)).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let _ = pipe.write_all(&first);
        sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // It shows releases also while the pipe stays open.
    let mut child = command(&watch(&state)).spawn().unwrap();
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
        let refused = watched(&state, "", log.as_bytes());
        assert_refused(&refused, "far ahead");
        assert_told(&refused, "--accept-clock");
    }
    let lists = stdout(&watched(&state, "--accept-clock", log.as_bytes()));
    assert!((319..=321).contains(&lists.lines().count()));
    assert_eq!(stdout(&watched(&state, "", log.as_bytes())), "");
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
        stdout(&watched(&state, "--ahead 7h", log.as_bytes()));
        let lists = stdout(&watched(&state, &format!("--after 0 --until {until}"), log.as_bytes()));
        let x = |list: &Value| heavy(list).iter().find(|(key, _)| key == "x").map_or(0, |(_, count)| *count);
        assert_eq!(releases(&lists).iter().map(x).collect::<Vec<_>>(), counts, "{what}");
    }
}
