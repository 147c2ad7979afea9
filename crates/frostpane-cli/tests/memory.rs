//! That the program stays within the memory it was given, and that its plan says how much it takes.

use std::io::{BufWriter, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

fn frostpane(args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frostpane"));
    command.args(args);
    command
}

/// The most memory that a process has had so far, in bytes.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Feeds a process and returns the most memory it had.
fn peak_while(mut child: Child, feed: impl FnOnce(ChildStdin)) -> u64 {
    let (process, stdin) = (child.id(), child.stdin.take().unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let watch = std::thread::spawn({
        let done = done.clone();
        move || {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(peak(process).unwrap_or(0));
                std::thread::sleep(Duration::from_millis(1));
            }
            most
        }
    });
    feed(stdin);
    assert!(child.wait().unwrap().success());
    done.store(true, Ordering::Relaxed);
    watch.join().unwrap()
}

/// Events that fill every pane: in each, as many keys as it can keep, all just frequent enough to be kept;
/// and one event in twenty with a key that never comes again. Of 100 million events that makes about ten
/// million keys, each of 16 bytes.
fn fill(stdin: ChildStdin, events: u64, plan: &Value) {
    let (slide, entries) = (plan["slide"].as_u64().unwrap(), plan["entries"].as_u64().unwrap());
    let kept = slide * 19 / 20 / (slide / (entries + 1) + 1);
    let mut out = BufWriter::with_capacity(1 << 20, stdin);
    for event in 0..events {
        let key = match event % 20 {
            0 => event,
            _ => 1 << 40 | (event / slide * kept + (event - event / 20) % kept),
        };
        writeln!(out, "{key:016x}").unwrap();
    }
}

fn check(window: u64, events: u64, memory: &str, most: u64) {
    if peak(std::process::id()).is_none() {
        eprintln!("skipped: this system does not tell the memory of a process");
        return;
    }
    let request = ["--window", &window.to_string(), "--memory", memory].map(str::to_owned);
    let plan = frostpane(
        &[
            &["plan".to_owned(), "--pipe".to_owned(), "--json".to_owned()],
            &request[..],
        ]
        .concat(),
    )
    .output()
    .unwrap();
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    let child = frostpane(&[&["list".to_owned(), "--json".to_owned()], &request[..]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let measured = peak_while(child, |stdin| fill(stdin, events, &plan["plan"])) as f64;
    let planned = plan["memory"].as_f64().unwrap();
    println!(
        "window {window}, {memory}: {:.1} MB planned, {:.1} MB measured",
        planned / 1e6,
        measured / 1e6
    );
    assert!(measured < most as f64, "{measured} bytes");
    assert!(
        (measured / planned - 1.0).abs() <= 0.15,
        "{measured} bytes measured, {planned} planned"
    );
}

#[test]
fn a_window_of_50_million_events_fits_into_64_megabytes() {
    check(50_000_000, 100_000_000, "64MB", 128_000_000);
}

#[test]
fn a_window_of_12_million_events_fits_into_16_megabytes() {
    check(12_000_000, 24_000_000, "16MB", 64_000_000);
}

#[test]
fn a_window_that_is_counted_exactly_takes_what_was_planned() {
    check(1_000_000, 2_000_000, "64MB", 64_000_000);
}
