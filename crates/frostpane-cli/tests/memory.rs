//! The program stays within the memory it was given, and takes at most what its plan says.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{command, folder, frostpane, planned, stderr, stdout, text, written};

/// The most memory that a process has had so far, in bytes, without that of its code: how much of that the system
/// holds differs from run to run.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    Some(field("VmHWM:")?.checked_sub(field("RssFile:")?)? * 1024)
}

fn is_told() -> bool {
    let told = peak(std::process::id()).is_some();
    if !told {
        eprintln!("skipped: this system does not tell the memory of a process");
    }
    told
}

/// The most memory that a process has until it ends.
fn peak_of(mut child: Child) -> u64 {
    let mut most = 0;
    let status = loop {
        most = most.max(peak(child.id()).unwrap_or(0));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    assert!(status.success());
    most
}

/// The resident code of a release build, at most; that of a build for tests is larger.
const CODE: u64 = 8_500_000;

/// The most memory that a release build would have had until it ends.
fn measured(child: Child) -> u64 {
    peak_of(child) + CODE
}

/// The program, whose output nobody looks at.
fn start(args: &[&str]) -> Child {
    command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn lines(folder: &Path, name: &str, lines: impl Iterator<Item = String>) -> PathBuf {
    let lines: String = lines.map(|line| line + "\n").collect();
    written(folder, name, lines.as_bytes())
}

/// Asserts that `list`, or `watch`, takes no more than its plan says.
fn check(command: &str, request: &[&str], to_plan: &[&str], input: &[&str]) {
    let plan = planned(&[request, to_plan].concat());
    let mut child = start(&[&[command, "--json"], request, input].concat());
    drop(child.stdin.take());
    let measured = measured(child);
    let planned = plan["memory"].as_u64().unwrap();
    println!(
        "{command} {request:?}: {:.1} MB planned, {:.1} MB measured",
        planned as f64 / 1e6,
        measured as f64 / 1e6
    );
    assert!(
        measured <= planned,
        "{command} {request:?}: {measured} bytes measured, {} planned",
        plan["plan"]["memory"]
    );
}

/// A list of keys that all differ fills every pane: of integers and of text, of as many bytes as was said and
/// of more, from files and at every slide, by count, by time and up to a known end.
#[test]
fn no_list_takes_more_memory_than_was_planned() {
    if !is_told() {
        return;
    }
    const EVENTS: u64 = 200_000;
    let folder = folder("memory-lists");
    let number = |i: u64| i * 7_919 % 199_999;
    let of = |name: &str, line: &dyn Fn(u64) -> String| lines(&folder, name, (0..EVENTS).map(line));
    let numbers = of("numbers.txt", &|i| number(i).to_string());
    let texts = of("texts.txt", &|i| format!("{:016}", number(i)));
    let long = of("long.txt", &|i| format!("{:080}", number(i)));
    let rows = (0..EVENTS).map(|i| format!("{},{:016}", 1_700_000_000 + i / 10, number(i)));
    let timed = lines(&folder, "timed.csv", ["at,key".to_owned()].into_iter().chain(rows));
    let declared = lines(&folder, "declared", (0..100_000).map(|i| format!("{i:016}")));
    let repeated = of("repeated", &|i| format!("{:016}", i % 100));
    let longer = lines(&folder, "longer", (0..50_000).map(|i| format!("{i:080}")));
    let spec = written(&folder, "long.toml", b"key_bytes = 80");
    let [numbers, texts, long, declared] = [&numbers, &texts, &long, &declared].map(|file| text(file));
    let window = ["--window", "200000"];
    let (by_time, at) = (["--window", "6h"], ["--key", "key", "--time", "at", text(&timed)]);
    let until = [&["--until", "2023-11-15T03:46:40Z"], &at[..]].concat();
    let of = |more: &[&'static str]| [&window[..], more].concat();
    for (request, input) in [
        (of(&[]), texts),
        (of(&["--norm", "l1", "--memory", "16MB"]), texts),
        (of(&["--all", "--epsilon", "10", "--delta", "0.001"]), texts),
        (of(&["--keys", "0..200000"]), numbers),
        (of(&["--keys", "0..200000", "--all", "--epsilon", "0.1"]), numbers),
        (of(&["--keys", "0..200000", "--top", "3"]), numbers),
        ([&window[..], &["--spec", text(&spec)]].concat(), long),
    ] {
        check("list", &request, &[], &[input]);
    }
    for (file, input) in [(declared, texts), (text(&repeated), texts), (text(&longer), long)] {
        let request = [&window[..], &["--keys", file, "--all"]].concat();
        check("list", &request, &[], &[input]);
    }
    check("list", &["--window", "1000", "--keys", declared, "--all"], &[], &[texts]);
    check("list", &by_time, &["--events", "200000"], &at);
    check("list", &by_time, &["--events", "200000"], &until);
    let window = ["--window", "64000", "--slide", "16000"];
    check("watch", &window, &["--watch"], &[texts]);
    check("watch", &[&window[..], &["--keys", "0..200000"]].concat(), &["--watch"], &[numbers]);
    check("watch", &[&window[..], &["--keys", declared]].concat(), &["--watch"], &[texts]);
    fs::remove_dir_all(&folder).unwrap();
}

/// 200,000 keys of 80 bytes do not fit where those of 16 do; nothing is said where they do, or it was told.
#[test]
fn keys_that_are_longer_than_assumed_are_told() {
    let folder = folder("memory-long");
    let long = lines(&folder, "long.txt", (0..200_000).map(|i| format!("{i:080}")));
    let spec = written(&folder, "long.toml", b"key_bytes = 80");
    let told = |request: &[&str]| {
        let args = [&["list", "--json", "--window", "200000"], request, &[text(&long)]].concat();
        let output = frostpane(&args, b"");
        stdout(&output);
        stderr(&output).contains("keys have 80 bytes in the mean, but 16 were assumed")
    };
    assert!(told(&["--memory", "18MB"]));
    assert!(!told(&["--memory", "64MB"]));
    assert!(!told(&["--memory", "18MB", "--spec", text(&spec)]));
}

/// Events that fill every pane of a pipe: in each, as many keys as it can keep, all just frequent enough to
/// be kept; and one event in twenty with a key that never comes again. Of 100 million events that makes about
/// ten million keys, each of 16 bytes.
fn fill(child: &mut Child, events: u64, plan: &Value) {
    let (slide, entries) = (plan["slide"].as_u64().unwrap(), plan["entries"].as_u64().unwrap());
    let kept = slide * 19 / 20 / (slide / (entries + 1) + 1);
    let mut out = BufWriter::with_capacity(1 << 20, child.stdin.take().unwrap());
    for event in 0..events {
        let key = match event % 20 {
            0 => event,
            _ => 1 << 40 | (event / slide * kept + (event - event / 20) % kept),
        };
        writeln!(out, "{key:016x}").unwrap();
    }
}

/// No more than was planned, and not much less; the last of them is counted exactly.
#[test]
fn windows_of_millions_of_events_fit_into_the_memory_that_was_planned() {
    if !is_told() {
        return;
    }
    for (window, memory) in [(50_000_000, "64MB"), (12_000_000, "16MB"), (1_000_000, "64MB")] {
        let window_text = window.to_string();
        let request = ["--window", &window_text, "--memory", memory];
        let plan = planned(&[&["--pipe"], &request[..]].concat());
        let mut child = start(&[&["list", "--json"], &request[..]].concat());
        fill(&mut child, 2 * window, &plan["plan"]);
        let measured = measured(child) as f64;
        let planned = plan["memory"].as_f64().unwrap();
        println!("window {window}, {memory}: {planned:.3e} bytes planned, {measured:.3e} measured");
        assert!(
            measured <= planned && measured >= 0.7 * planned,
            "{measured} bytes measured, {planned} planned"
        );
    }
}

/// As it is said, whatever more memory would be used for.
#[test]
fn the_memory_that_a_refusal_names_is_enough() {
    let refusal = |args: &[&str], memory: &str| {
        let plan = ["plan", "--json", "--events", "1000000", "--memory", memory];
        let output = frostpane(&[&plan, args].concat(), b"");
        let message = stderr(&output);
        assert_eq!(output.status.success(), message.is_empty(), "{args:?}: {message}");
        let (_, least) = message.split_once("give at least ")?;
        Some(least.split_once(',').unwrap().0.to_owned())
    };
    for alpha in ["0.5", "0.001"] {
        for window in ["1000000", "100000000", "1d"] {
            for keys in [&[][..], &["--keys", "0..1000000"]] {
                for kind in [&[][..], &["--pipe"], &["--watch"], &["--norm", "l1"]] {
                    let args = [&["--alpha", alpha, "--window", window], keys, kind].concat();
                    let least = refusal(&args, "1.5MB").unwrap();
                    assert_eq!(refusal(&args, &least), None, "{args:?}: {least}");
                }
            }
        }
    }
}
