//! Files in any order, with any end, with wrong clocks, and empty ones.

use std::fs;
use std::path::Path;

use crate::common::{
    assert_contains, assert_refused, assert_told, folder, frostpane, heavy, json, names,
    parquet_file::{self, column},
    read, releases, stderr, stdout, temporary, text, words, written,
};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use serde_json::Value;

/// The first of March 2025, at midnight in UTC, in seconds.
const MARCH: i64 = 1_740_787_200;
const HOUR: i64 = 3_600;

type Dated = (i64, usize, String);

/// A hundred events an hour, for ten days: the time, a country, and a key that thins out.
fn events() -> Vec<Dated> {
    (0..24_000)
        .map(|i: i64| (MARCH + i * 36, (i * 7 % 3) as usize, format!("key {}", i * i % 89 / 2)))
        .collect()
}

fn lines<'a>(events: impl IntoIterator<Item = &'a Dated>) -> Vec<u8> {
    events.into_iter().map(|(time, _, key)| format!("{time}\t{key}\n")).collect::<String>().into_bytes()
}

/// The same events in another order, each as far from where it was as can be.
fn shuffled() -> Vec<Dated> {
    let events = events();
    (0..events.len()).map(|i| events[i * 7_919 % events.len()].clone()).collect()
}

fn parquet<'a>(events: impl Iterator<Item = &'a Dated>) -> Vec<u8> {
    let (times, keys): (Vec<i64>, Vec<ByteArray>) =
        events.map(|(time, _, key)| (*time, ByteArray::from(key.as_str()))).unzip();
    parquet_file::new(
        "message events { required int64 at; required binary key (UTF8); }",
        [vec![column::<Int64Type>(times), column::<ByteArrayType>(keys)]],
    )
}

const QUIET: [&str; 5] = ["list", "--json", "--epsilon", "100000", "--all"];
const COLUMNS: [&str; 4] = ["--key", "2", "--time", "1"];

fn list(options: &[&str], files: &[&Path]) -> Value {
    let files: Vec<&str> = files.iter().map(|file| text(file)).collect();
    json(&[&QUIET[..], options, &files].concat(), b"")
}

/// Asserts where the window of a list begins, and how many events it has.
#[track_caller]
fn assert_window(found: &Value, from: &str, events: usize) {
    let window = &found["window"];
    assert_eq!((&window["from"], &window["events"]), (&from.into(), &events.into()), "{found}");
}

#[test]
fn files_that_overlap_are_shuffled_or_partitioned_give_what_the_sorted_one_gives() {
    let folder = folder("at-rest");
    let write = |name: &str, content: &[u8]| written(&folder, name, content);
    let all = events();
    let sorted = write("sorted.tsv", &lines(&all));
    let mixed = write("shuffled.tsv", &lines(&shuffled()));
    let servers = [0, 1].map(|server| {
        let its = all.iter().enumerate().filter(|(i, _)| (i * i / 3) % 2 == server);
        write(&format!("server-{server}.tsv"), &lines(its.map(|(_, event)| event)))
    });
    for country in 0..3 {
        let its = all.iter().filter(|event| event.1 == country);
        write(&format!("parts/country={country}/events.parquet"), &parquet(its));
    }
    for window in [&["--window", "3d"][..], &["--window", "1d", "--window", "30h", "--window", "9d"]] {
        for memory in ["64MB", "15MB"] {
            let options = [window, &["--memory", memory]].concat();
            let listed = |columns: &[&str], files: &[&Path]| {
                let files: Vec<&str> = files.iter().map(|file| text(file)).collect();
                let output = frostpane(&[&QUIET[..], columns, &options, &files].concat(), b"");
                let told = stderr(&output);
                assert!(!told.contains("late") && !told.contains("set aside"), "{told}");
                stdout(&output)
            };
            let expected = listed(&COLUMNS, &[&sorted]);
            assert_eq!(expected.lines().count(), window.len() / 2);
            assert!(expected.contains("\"cut\":0") && expected.contains("key 0"), "{expected}");
            assert_eq!(listed(&COLUMNS, &[&mixed]), expected);
            assert_eq!(listed(&COLUMNS, &[&servers[1], &servers[0]]), expected);
            assert_eq!(listed(&["--key", "key", "--time", "at"], &[&folder.join("parts")]), expected);
        }
    }
    // By count, in the order of arrival: the same file in two parts.
    let half = all.len() / 2;
    let parts = [write("1.tsv", &lines(&all[..half])), write("2.tsv", &lines(&all[half..]))];
    let by_count = ["--key", "2", "--window", "10000"];
    let found = list(&by_count, &[&parts[0], &parts[1]]);
    assert_eq!(found, list(&by_count, &[&sorted]));
    assert_eq!((&found["window"]["from"], &found["window"]["events"]), (&14_000.into(), &10_000.into()));
}

#[test]
fn a_window_is_what_was_asked_for_to_the_second() {
    let file = temporary("cover.tsv", &lines(&events()));
    for (window, until, from, to) in [
        ("1d", "", "2025-03-09T23:59:25Z", "2025-03-10T23:59:25Z"),
        ("7d", "", "2025-03-03T23:59:25Z", "2025-03-10T23:59:25Z"),
        ("1d --slide 1d", "", "2025-03-09T23:59:25Z", "2025-03-10T23:59:25Z"),
        ("24h", "2025-03-08", "2025-03-07T00:00:00Z", "2025-03-08T00:00:00Z"),
        ("1d", "2025-03-08T03:30:00Z", "2025-03-07T03:30:00Z", "2025-03-08T03:30:00Z"),
        ("90m", "2025-03-08 03:30", "2025-03-08T02:00:00Z", "2025-03-08T03:30:00Z"),
        ("today", "2025-03-08T03:30:00Z", "2025-03-08T00:00:00Z", "2025-03-08T03:30:00Z"),
        ("yesterday", "2025-03-08T03:30:00Z", "2025-03-07T00:00:00Z", "2025-03-08T00:00:00Z"),
    ] {
        let until = if until.is_empty() { vec![] } else { vec!["--until", until] };
        let found = list(&[&COLUMNS[..], &["--window"], &words(window), &until].concat(), &[&file]);
        let seconds = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
        let inside = events().iter().filter(|event| (seconds(from)..seconds(to)).contains(&event.0)).count();
        assert_window(&found, from, inside);
        assert_eq!((&found["window"]["to"], &found["asked"]["from"]), (&to.into(), &from.into()), "{window}");
    }
}

/// On 30 March 2025 clocks in Berlin were put forward at two, and the day had 23 hours.
#[test]
fn days_are_those_of_the_calendar_in_a_time_zone() {
    let events: Vec<_> = (0..40 * 24).map(|hour| (MARCH + hour * HOUR, 0, "elm".to_owned())).collect();
    let file = temporary("zones.tsv", &lines(&events));
    let zone = |window: &str, until: &str, file: &Path| {
        let options = ["--timezone", "Europe/Berlin", "--window", window, "--until", until];
        list(&[&COLUMNS[..], &options].concat(), &[file])
    };
    for (window, until, from, events) in [
        ("yesterday", "2025-03-31T00:00", "2025-03-29T23:00:00Z", 23),
        ("1d", "2025-03-31", "2025-03-29T23:00:00Z", 23),
        ("24h", "2025-03-31", "2025-03-29T22:00:00Z", 24),
        ("7d", "2025-03-31", "2025-03-23T23:00:00Z", 7 * 24 - 1),
        ("today", "2025-03-30T12:00", "2025-03-29T23:00:00Z", 11),
    ] {
        assert_window(&zone(window, until, &file), from, events);
    }
    // Times that do not say are read in it, too.
    let local =
        temporary("local.tsv", b"2025-03-30 00:30\telm\n2025-03-30 03:30\telm\n2025-03-29 23:30\telm\n");
    assert_window(&zone("1d", "2025-03-31", &local), "2025-03-29T23:00:00Z", 2);
}

#[test]
fn a_clock_that_is_wrong_moves_no_window() {
    let mut with_2100 = lines(&events());
    with_2100.extend(b"4102444800\tash\n");
    let (right, wrong) = (temporary("right.tsv", &lines(&events())), temporary("wrong.tsv", &with_2100));
    let options = [&COLUMNS[..], &["--window", "3d"]].concat();
    assert_eq!(list(&options, &[&wrong]), list(&options, &[&right]));
    let run = |more: &[&str]| frostpane(&[&QUIET[..], &options, more, &[text(&wrong)]].concat(), b"");
    let told = "1 event lies more than 1 hour in the future by the clock of this machine, and was set aside";
    assert_told(&run(&[]), told);
    let until = run(&["--until", "2025-03-05"]);
    let told =
        "14,401 events lie at or after 2025-03-05T00:00:00Z, where the window ends, and were set aside";
    assert_told(&until, told);
    assert_eq!(releases(&stdout(&until))[0]["window"]["events"], 7_200);
    // The same through a pipe, and in continual release.
    let piped = [&QUIET[..], &options, &["--format", "tsv", "--slide", "1h"]].concat();
    assert_eq!(json(&piped, &with_2100), json(&piped, &lines(&events())));
    let watched = [&["watch"], &options[..], &["--slide", "1d", text(&wrong)]].concat();
    assert_eq!(stdout(&frostpane(&watched, b"")).lines().count(), 10);
}

#[test]
fn the_last_slide_is_released_when_it_is_complete() {
    let file = temporary("slides.tsv", &lines(&events()[..2_350]));
    let watch = |options: &str, file: &Path| -> Vec<Value> {
        let output = frostpane(&[&["watch"], &COLUMNS[..], &words(options), &[text(file)]].concat(), b"");
        releases(&stdout(&output)).iter().map(|release| release["window"].clone()).collect()
    };
    let until = |until: &str| watch(&format!("--window 8h --slide 4h --norm l1 --until {until}"), &file);
    // 23 and a half hours: the sixth slide has passed long ago.
    let all = watch("--window 8h --slide 4h --norm l1", &file);
    assert_eq!(
        (all.len(), &all[5]["to"], &all[5]["events"]),
        (6, &"2025-03-02T00:00:00Z".into(), &750.into())
    );
    // By an end of our own: what it cuts is not complete.
    assert_eq!(until("2025-03-01T23:00:00Z"), all[..5]);
    assert_eq!(until("2025-03-02T00:00:00Z"), all);
    // And slides without events are, up to it.
    let late = until("2025-03-02T08:00:00Z");
    assert_eq!((late.len(), &late[7]["events"]), (8, &0.into()));
    // A slide that is not over is not released.
    let now = jiff::Timestamp::now().as_second();
    let running = temporary("running.tsv", format!("{}\telm\n{now}\telm\n", now - 7 * 86_400).as_bytes());
    assert_eq!(watch("--window 14d --slide 7d", &running).len(), 1);
}

#[test]
fn a_late_event_of_a_pipe_is_in_the_release_and_withholds_the_promises() {
    let mut events = events();
    // Three of the last day, and two of long ago, come at the end.
    let last = events.len() - 1;
    for (place, from) in [(0, last - 2_000), (1, last - 1_900), (2, last - 1_800), (3, 10), (4, 11)] {
        let moved = events[from].clone();
        events.push((moved.0, 0, format!("late {place}")));
    }
    let options = words("list --json --format tsv --key 2 --time 1 --window 1d --norm l1");
    let release = json(&options, &lines(&events));
    assert_eq!(release["window"]["missed"], 3);
    assert_eq!(release["promises"]["held"], false);
    assert_eq!(release["asked"]["promises"]["held"], false);
    let reason = release["promises"]["reason"].as_str().unwrap();
    assert_contains(reason, "3 events of the window came too late");
    let in_time = json(&options, &lines(&events[..=last]));
    assert_eq!((&in_time["window"]["missed"], &in_time["promises"]["held"]), (&Value::Null, &true.into()));
}

/// An event that was set aside is in the old ones: nobody has looked at its key.
#[test]
fn dead_input_replaces_no_page() {
    let folder = folder("dead");
    let page = written(&folder, "page.html", b"yesterday");
    let empty = temporary("dead.tsv", b"");
    let ahead = temporary("ahead.tsv", b"4102444800\tash\n4102444801\tash\n");
    let old = temporary("old.tsv", &[lines(&events()), b"4102444800\tash\n".to_vec()].concat());
    let run = |options: &str, key: &str, file: &Path| {
        let columns = ["--key", key, "--time", "1", "--report", text(&page), text(file)];
        frostpane(&[&words(options)[..], &columns].concat(), b"")
    };
    let range = "they are from 2025-03-01T00:00:00Z to 2025-03-10T23:59:24Z: --until TIME";
    let aside = "every event was set aside, because its time cannot be";
    let commands = ["list --window 3d", "watch --window 3d --slide 1d"];
    for (options, file, says) in [
        ("list --window 1d", &empty, "there is no event: nothing was released, and no file was written"),
        ("watch --window 1d --slide 1d", &empty, "there is no event"),
        (commands[0], &ahead, aside),
        (commands[1], &ahead, aside),
        ("list --window 1d --until 2026-01-01", &old, range),
        ("list --window today", &old, "no event lies in the window"),
        ("list --window 3d --alpha 2", &old, "alpha is 2"),
    ] {
        assert_refused(&run(options, "2", file), says);
        assert_eq!((read(&page).as_str(), names(&folder).len()), ("yesterday", 1));
    }
    // That no event has a key depends on keys, and must not show in what is published: the page is written.
    for options in commands {
        fs::write(&page, b"yesterday").unwrap();
        let output = run(options, "3", &old);
        assert_eq!(output.status.code(), Some(4), "{options}: {}", stderr(&output));
        assert_told(&output, "none of the events has a key that counts: is --key 3 right");
        assert!(!output.stdout.is_empty());
        assert!(read(&page).starts_with("<!doctype html>"));
        assert_eq!(names(&folder), ["page.html"]);
    }
}

/// The streams of `shared/data`, which lies beside the project.
#[test]
fn windows_of_real_streams_begin_where_they_were_asked_to() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("shared/data is not there: the real streams are NOT read");
        return;
    }
    for (name, ends) in [
        ("nycflights_dest", ["", "2013-07-04", "2013-05-01T17:45:10Z"]),
        ("homebrew_formula", ["", "2024-02-29", "2019-11-11T11:11:11Z"]),
        ("flights_route", ["", "2001-03-10", "2001-05-05T05:05:05Z"]),
        ("baseball_batter", ["", "2001-05-10", "1999-07-07T20:00:00Z"]),
    ] {
        let file = data.join(format!("{name}.tsv.zst"));
        for (end, window) in ends.into_iter().zip(["1d", "7d", "24h"]) {
            let until = if end.is_empty() { vec![] } else { vec!["--until", end] };
            let found = list(&[&COLUMNS[..], &["--window", window], &until].concat(), &[&file]);
            let [from, to] = ["from", "to"].map(|edge| found["window"][edge].as_str().unwrap());
            let [begins, ends] = [from, to].map(|edge| edge.parse::<jiff::Timestamp>().unwrap().as_second());
            let days = if window == "7d" { 7 } else { 1 };
            assert_eq!(ends - begins, days * 86_400, "{name} {window}");
            assert!(to.starts_with(end), "{found}");
            assert_eq!(found["asked"]["from"], found["window"]["from"]);
            assert!(!heavy(&found).is_empty(), "{name} {window} {end}");
        }
    }
}

/// A printed specification is read as the same, for files and for pipes; its hours are hours.
#[test]
fn a_specification_that_was_printed_asks_for_the_same() {
    let file = temporary("respecified.tsv", &lines(&shuffled()));
    let list =
        |options: &[&str]| json(&[&["list", "--json"], options, &COLUMNS, &[text(&file)]].concat(), b"");
    let options = ["--window", "3d", "--all", "--epsilon", "100000"];
    let printed = stdout(&frostpane(&[&["list"], &options[..], &["--print-spec"]].concat(), b""));
    let spec = temporary("respecified.toml", printed.as_bytes());
    let direct = list(&options);
    assert_eq!(list(&["--spec", text(&spec)]), direct);
    assert_eq!(direct["policy"], "fixed");

    let spec = temporary("berlin.toml", b"window = \"24h\"\nall = true\n");
    let options = ["--timezone", "Europe/Berlin", "--until", "2025-03-09", "--spec", text(&spec)];
    assert_eq!(list(&options)["window"]["from"], "2025-03-07T23:00:00Z");
    let printed = frostpane(&words("list --window 1d --timezone Europe/Berlin --print-spec"), b"");
    assert_told(&printed, "for days of --timezone give --window beside --spec");
    // Yesterday, before the end that the specification has.
    let spec = temporary("until.toml", b"window = \"1d\"\nuntil = \"2025-03-05T12:00:00Z\"\nall = true\n");
    let window = &list(&["--window", "yesterday", "--spec", text(&spec)])["window"];
    assert_eq!(
        (&window["from"], &window["to"]),
        (&"2025-03-04T00:00:00Z".into(), &"2025-03-05T00:00:00Z".into())
    );
}

#[test]
fn no_file_is_read_twice_or_written_over() {
    let folder = folder("apart");
    let input = written(&folder, "in.tsv", &lines(&events()));
    fs::create_dir_all(folder.join("below")).unwrap();
    let (file, detour, page) = (text(&input), folder.join("below/../in.tsv"), folder.join("page.html"));
    let (detour, page) = (text(&detour), text(&page));
    let columns = [&COLUMNS[..], &["--window", "1d", "--slide", "1d"]].concat();
    for (options, says) in [
        (&["--report", detour, file][..], "would be written over"),
        (&["--guarantee", file, file], "would be written over"),
        (&["--report", page, "--guarantee", page, file], "would be written over"),
        (&[file, detour], "in.tsv is named twice, and its events would count twice"),
    ] {
        for command in ["list", "watch"] {
            assert_refused(&frostpane(&[&[command], &columns[..], options].concat(), b""), says);
        }
    }
    assert_refused(&frostpane(&["demo", "--save", file], b""), "is there already");
    assert_eq!(fs::read(&input).unwrap(), lines(&events()));
}

/// The last day is over when the next begins.
#[test]
fn of_times_that_are_days_the_last_day_is_a_whole_one() {
    let days: String = (0..300).map(|i| format!("202503{:02}\telm\n", 1 + i % 10)).collect();
    let file = temporary("days.tsv", days.as_bytes());
    for (zone, from) in [("UTC", "2025-03-09T00:00:00Z"), ("Asia/Tokyo", "2025-03-08T15:00:00Z")] {
        let options = [&COLUMNS[..], &["--window", "2d", "--timezone", zone]].concat();
        assert_window(&list(&options, &[&file]), from, 60);
    }
}
