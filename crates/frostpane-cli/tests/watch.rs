//! `frostpane watch`, as it is run.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{
    assert_has, assert_told, browser, command, folder, frostpane, heavy, names, page_data, read, releases,
    stderr, stdout, temporary, text, words,
};
use serde_json::{Value, json};

fn lines(events: u32) -> String {
    (0..events).map(|i| format!("{}\n", if i % 3 == 0 { "oak" } else { "elm" })).collect()
}

fn start(args: &[&str]) -> (Child, ChildStdin, Lines<BufReader<ChildStdout>>) {
    let mut child = command(&[&["watch"], args].concat()).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, input, output)
}

fn wait_until(seconds: u64, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now();
    while !is_so() && patience.elapsed() < Duration::from_secs(seconds) {
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn there_is_one_release_for_each_slide_and_each_is_like_a_list() {
    let args = ["watch", "--norm", "l1", "--alpha", "0.2", "--window", "3200"];
    let releases = releases(&stdout(&frostpane(&args, lines(10_050).as_bytes())));
    assert_eq!(releases.len(), 100);
    for (index, release) in releases.iter().enumerate() {
        let to = 100 * (index as u64 + 1);
        assert_eq!(release["window"]["to"], to);
        assert_eq!(release["window"]["from"], to.saturating_sub(3_200));
        assert_eq!(release["epsilon"], 1.0);
        for (field, expected) in [("panes", 32), ("number", index + 1), ("together", 1_000)] {
            assert_eq!(release["continual"][field], expected, "{field}");
        }
    }
    let last = heavy(&releases[99]);
    assert_eq!(last.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["elm", "oak"]);
    assert!(last[0].1.abs_diff(2_133) < 200 && last[1].1.abs_diff(1_067) < 200, "{last:?}");
    assert_eq!(releases[99]["promises"]["held"], true);
}

/// In a real browser: the ranks and counts are those of the JSON, and a hostile key is text.
#[test]
fn a_browser_shows_what_was_released() {
    let file = temporary("watched-hostile.html", b"");
    let options = ["watch", "--norm", "l1", "--alpha", "0.1", "--window", "6400"];
    let args = [&options[..], &["--report", text(&file)]].concat();
    let hostile = "<script>alert(1)</script>";
    // One rises while the other falls.
    let key = |i: u32| if i * 7 % 12_800 < i { hostile } else { "elm" };
    let events: String = (0..12_800).map(|i| format!("{}\n", key(i))).collect();
    let released = releases(&stdout(&frostpane(&args, events.as_bytes())));
    let page = read(&file);
    let shown = page_data(&page);
    assert_eq!((released.len(), shown.len()), (64, 16));
    assert!(shown.iter().all(|release| released.contains(release)));
    assert_eq!(shown.last(), released.last());
    assert_eq!(browser::faults(&page, "watched"), Vec::<String>::new());
}

#[test]
fn by_time_a_slide_without_events_has_its_release() {
    let events = "1,ash\n12,ash\n13,elm\n95,oak\n";
    let args =
        "watch --format csv --key 2 --time 1 --window 30s --slide 10s --epsilon 100000 --norm l1 --alpha 0.1";
    // Few keys, so much epsilon that there is no noise, and keys that are declared.
    let keys = temporary("watched-keys.txt", b"ash\nelm\noak\n");
    let args = [&words(args)[..], &["--keys", text(&keys)]].concat();
    let releases = releases(&stdout(&frostpane(&args, events.as_bytes())));
    let counts: Vec<Vec<(String, u64)>> = releases.iter().map(heavy).collect();
    let pair = |key: &str, count| (key.to_owned(), count);
    // Of the panes from 20 to 90 without an event, two windows' worth; then releases pause.
    // And the last slide, whose end has passed.
    assert_eq!(counts.len(), 9);
    assert_eq!(counts[0], [pair("ash", 1)]);
    assert_eq!(counts[1], [pair("ash", 2), pair("elm", 1)]);
    assert_eq!(counts[3], [pair("ash", 1), pair("elm", 1)]);
    assert_eq!(counts[7], []);
    assert_eq!(releases[7]["note"], "the window has no events");
    assert_eq!(releases[1]["window"]["to"], "1970-01-01T00:00:20Z");
}

/// The release is there before the input ends.
#[test]
fn standard_input_is_followed_live() {
    let (mut child, mut input, mut output) = start(&["--window", "64", "--slide", "16"]);
    for round in 1..=3 {
        // A buffer's worth, so that it does not wait for more.
        input.write_all(lines(16).as_bytes()).unwrap();
        let release: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(release["window"]["to"], 16 * round);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// The page follows a stream that pauses, and is finished when it ends, also if nobody reads the releases.
#[test]
fn the_page_is_up_to_date_soon_and_at_the_end() {
    let file = temporary("watched-live.html", b"");
    let shown = || read(&file).matches("\"boundaries_epsilon\"").count();
    let (mut child, mut input, output) = start(&["--window", "64", "--slide", "16", "--report", text(&file)]);
    input.write_all(lines(5 * 16).as_bytes()).unwrap();
    wait_until(30, || shown() == 5);
    assert_eq!(shown(), 5);
    drop(output);
    input.write_all(lines(16).as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(shown() >= 5);
}

/// A report that cannot be written any more is not the fault of a line.
#[test]
fn what_is_wrong_with_the_page_is_said_as_such() {
    let folder = folder("watched-gone");
    let file = folder.join("page.html");
    let (child, mut input, mut output) = start(&["--window", "64", "--report", text(&file)]);
    input.write_all(("oak\n".to_owned() + &lines(4)).as_bytes()).unwrap();
    output.next().unwrap().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    input.write_all(lines(64).as_bytes()).unwrap();
    drop(input);
    let rest = output.count();
    let ended = child.wait_with_output().unwrap();
    let told = stderr(&ended);
    assert!(told.contains("cannot write the report") && !told.contains("line "), "{told}");
    assert!(!ended.status.success() && rest > 30);
}

#[test]
fn what_the_operator_should_know_is_told() {
    let sorted: String = (0..4_000).map(|i| format!("{:04}\n", i / 100)).collect();
    let told = stderr(&frostpane(&["watch", "--window", "3200", "--delta", "0.01"], sorted.as_bytes()));
    assert!(told.matches("the events seem to be grouped by key").count() == 1, "{told}");
    assert!(told.matches("delta is 1e-2").count() == 1, "{told}");
}

#[test]
fn what_cannot_be_watched_is_said() {
    let none = frostpane(&["watch", "--window", "1000"], b"a\nb\n");
    assert!(none.status.success() && none.stdout.is_empty());
    assert_told(&none, "no slide has ended");
    for (options, told) in [
        ("--window 10 --window 20", "2 windows were given, but continual release has one"),
        (
            "--key 2 --time 1 --format tsv --window yesterday",
            "the window yesterday has an end, but `frostpane watch` moves on",
        ),
        ("--keys 0..1000000000", "declare fewer, or leave the keys open"),
        ("--policy smooth", "leave the policy out"),
    ] {
        assert_told(&frostpane(&[&["watch"], &words(options)[..]].concat(), b""), told);
    }
}

/// A gap, and a time that lies far ahead by mistake, bring as many releases as two windows have slides; the
/// operator is told that everything after such a time is late.
#[test]
fn a_time_far_ahead_brings_few_releases_and_is_told() {
    let options = words("watch --format csv --key 2 --time 1 --norm l1");
    let args = [&options[..], &["--window", "30s", "--slide", "10s"]].concat();
    let events: String = (0..2_000).map(|_| "41,elm\n").collect();
    let ahead = frostpane(&args, format!("1,ash\n40000000000,ash\n{events}").as_bytes());
    assert_eq!(stdout(&ahead).lines().count(), 5, "the slides up to the latest that may be");
    assert_told(&ahead, "1 event lies more than 1 hour in the future");
    assert!(!stderr(&ahead).contains("too late"));
    // Unless it is said that such times may be.
    let args = [&args[..], &["--ahead", "2000w"]].concat();
    let far = frostpane(&args, format!("1,ash\n2000000000,ash\n{events}").as_bytes());
    assert_eq!(stdout(&far).lines().count(), 1 + 6);
    assert_told(&far, "2,000 of 2,002 events came too late");
    assert_eq!(stderr(&far).matches("1,000 events in a row came too late").count(), 1);
    let gap = frostpane(&args, b"1,ash\n2000000000,ash\n2000000041,elm\n");
    assert_eq!(stdout(&gap).lines().count(), 1 + 6 + 4);
    assert!(!stderr(&gap).contains("too late"), "{}", stderr(&gap));
}

/// A specification from before may have one.
#[test]
fn a_horizon_is_read_and_told_to_have_no_meaning_any_more() {
    let spec =
        temporary("watched-horizon.toml", b"continual = true\nhorizon = 12\nnorm = \"l1\"\nwindow = 3200\n");
    let output = frostpane(&["watch", "--spec", text(&spec), "--together", "5"], lines(2_000).as_bytes());
    let released = releases(&stdout(&output));
    assert_eq!((released.len(), &released[0]["continual"]["together"]), (20, &json!(5)));
    let told = stderr(&output);
    assert_eq!(told.matches("horizon is not used any more").count(), 1, "{told}");
    let options = words("watch --norm l1 --window 3200 --together 5");
    assert!(!stderr(&frostpane(&options, lines(2_000).as_bytes())).contains("horizon"));
}

#[test]
fn rows_of_values_begin_with_the_end_of_their_window() {
    let guarantee = temporary("watched-guarantee.txt", b"before");
    let options = words("watch --csv --top 1 --window 3200 --slide 1600");
    let args = [&options[..], &["--guarantee", text(&guarantee)]].concat();
    let output = frostpane(&args, lines(4_800).as_bytes());
    let csv = stdout(&output);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["to", "key", "count", "low", "high"]);
    let firsts: Vec<[&str; 2]> = rows[1..].iter().map(|row| [row[0], row[1]]).collect();
    assert_eq!(firsts, [["1600", "elm"], ["3200", "elm"], ["4800", "elm"]]);
    let heading = "The top key of 3,200 events, number 1,600 up to 4,800\n";
    assert_has(read(&guarantee), [heading, "once for all lists"]);
    assert_told(&output, "the guarantee is in ");
    assert_told(&frostpane(&options, lines(1_600).as_bytes()), "--guarantee FILE does");
}

#[cfg(unix)]
fn interrupt(child: &Child, signal: &str) {
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// The input is still open, and more may come: all that was released is in the files.
#[test]
#[cfg(unix)]
fn an_interrupt_writes_the_last_page() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = folder(&format!("interrupted{signal}"));
        let [page, guarantee] = ["page.html", "guarantee.txt"].map(|name| folder.join(name));
        let files = ["--report", text(&page), "--guarantee", text(&guarantee)];
        let (mut child, mut input, mut output) =
            start(&[&["--window", "64", "--slide", "16"], &files[..]].concat());
        input.write_all(lines(7 * 16).as_bytes()).unwrap();
        let last = output.by_ref().take(7).last().unwrap().unwrap();
        interrupt(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(output.count(), 0, "nothing after the last line");
        let last: Value = serde_json::from_str(&last).unwrap();
        let shown = page_data(&read(&page));
        assert_eq!((shown.len(), shown.last()), (7, Some(&last)));
        assert_has(read(&guarantee), ["number 48 up to 112"]);
        assert_eq!(names(&folder).len(), 2, "{:?}", names(&folder));
    }
}

/// While releases keep coming: every line is whole, and the page has the last of them.
#[test]
#[cfg(unix)]
fn an_interrupt_comes_between_two_releases() {
    let page = temporary("interrupted-midway.html", b"");
    let (mut child, mut input, output) = start(&["--window", "64", "--slide", "2", "--report", text(&page)]);
    let fed = std::thread::spawn(move || while input.write_all(lines(1_000).as_bytes()).is_ok() {});
    let last = output
        .enumerate()
        .inspect(|(number, _)| {
            if *number == 50 {
                interrupt(&child, "-INT");
            }
        })
        .last();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    fed.join().unwrap();
    let last: Value = serde_json::from_str(&last.unwrap().1.unwrap()).unwrap();
    assert_eq!(page_data(&read(&page)).last(), Some(&last));
}

/// Nobody reads what it writes, so the first interrupt waits for the line to end; the second does not.
#[test]
#[cfg(unix)]
fn a_second_interrupt_ends_it_at_once() {
    // Not read, and not closed.
    let (mut child, mut input, _output) = start(&["--window", "64", "--slide", "2"]);
    let fed = std::thread::spawn(move || {
        // More releases than a pipe holds; it ends when nobody reads any more.
        let _ = input.write_all(lines(100_000).as_bytes());
        input
    });
    sleep(Duration::from_millis(1_000));
    interrupt(&child, "-INT");
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "a line was cut");
    interrupt(&child, "-INT");
    wait_until(10, || child.try_wait().unwrap().is_some());
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    drop(fed.join());
    assert_eq!(ended.and_then(|ended| ended.code()), Some(130));
}
