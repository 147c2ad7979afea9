//! Files in any order, with any end, with wrong clocks, and empty ones.

use std::fs;
use std::path::Path;

use crate::common::{
    assert_contains, assert_told, folder, frostpane, heavy, json, names,
    parquet_file::{self, column},
    stderr, stdout, temporary, text, words,
};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use serde_json::Value;

/// The first of March 2025, at midnight in UTC, in seconds.
const MARCH: i64 = 1_740_787_200;
const HOUR: i64 = 3_600;

/// A hundred events an hour, for ten days: the time, a country, and a key that thins out.
fn events() -> Vec<(i64, usize, String)> {
    (0..24_000)
        .map(|i: i64| (MARCH + i * 36, (i * 7 % 3) as usize, format!("key {}", i * i % 89 / 2)))
        .collect()
}

fn lines<'a>(events: impl IntoIterator<Item = &'a (i64, usize, String)>) -> Vec<u8> {
    let lines = events.into_iter().map(|(time, _, key)| format!("{time}\t{key}\n"));
    lines.collect::<String>().into_bytes()
}

/// The same events in another order, each as far from where it was as can be.
fn shuffled() -> Vec<(i64, usize, String)> {
    let events = events();
    (0..events.len()).map(|i| events[i * 7_919 % events.len()].clone()).collect()
}

fn parquet<'a>(events: impl Iterator<Item = &'a (i64, usize, String)>) -> Vec<u8> {
    let (times, keys): (Vec<i64>, Vec<ByteArray>) =
        events.map(|(time, _, key)| (*time, ByteArray::from(key.as_str()))).unzip();
    parquet_file::new(
        "message events { required int64 at; required binary key (UTF8); }",
        [vec![column::<Int64Type>(times), column::<ByteArrayType>(keys)]],
    )
}

const QUIET: [&str; 5] = ["list", "--json", "--epsilon", "100000", "--all"];

fn list(options: &[&str], files: &[&Path]) -> Value {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    json(&[&QUIET[..], options, &files].concat(), b"")
}

#[test]
fn files_that_overlap_are_shuffled_or_partitioned_give_what_the_sorted_one_gives() {
    let folder = folder("at-rest");
    let write = |name: &str, content: &[u8]| {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        file
    };
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
    let tsv = ["--key", "2", "--time", "1"];
    for window in [&["--window", "3d"][..], &["--window", "1d", "--window", "30h", "--window", "9d"]] {
        for memory in ["64MB", "15MB"] {
            let options = [window, &["--memory", memory]].concat();
            let listed = |columns: &[&str], files: &[&Path]| {
                let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
                let output = frostpane(&[&QUIET[..], columns, &options, &files].concat(), b"");
                let told = stderr(&output);
                assert!(!told.contains("late") && !told.contains("set aside"), "{told}");
                stdout(&output)
            };
            let expected = listed(&tsv, &[&sorted]);
            assert_eq!(expected.lines().count(), window.len() / 2);
            assert!(expected.contains("\"cut\":0") && expected.contains("key 0"), "{expected}");
            assert_eq!(listed(&tsv, &[&mixed]), expected);
            assert_eq!(listed(&tsv, &[&servers[1], &servers[0]]), expected);
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
    let columns = ["--key", "2", "--time", "1"];
    for (options, from, to) in [
        (&["--window", "1d"][..], "2025-03-09T23:59:25Z", "2025-03-10T23:59:25Z"),
        (&["--window", "7d"], "2025-03-03T23:59:25Z", "2025-03-10T23:59:25Z"),
        (&["--window", "1d", "--slide", "1d"], "2025-03-09T23:59:25Z", "2025-03-10T23:59:25Z"),
        (&["--window", "24h", "--until", "2025-03-08"], "2025-03-07T00:00:00Z", "2025-03-08T00:00:00Z"),
        (
            &["--window", "1d", "--until", "2025-03-08T03:30:00Z"],
            "2025-03-07T03:30:00Z",
            "2025-03-08T03:30:00Z",
        ),
        (&["--window", "90m", "--until", "2025-03-08 03:30"], "2025-03-08T02:00:00Z", "2025-03-08T03:30:00Z"),
        (
            &["--window", "today", "--until", "2025-03-08T03:30:00Z"],
            "2025-03-08T00:00:00Z",
            "2025-03-08T03:30:00Z",
        ),
        (
            &["--window", "yesterday", "--until", "2025-03-08T03:30:00Z"],
            "2025-03-07T00:00:00Z",
            "2025-03-08T00:00:00Z",
        ),
    ] {
        let options = [&columns[..], options].concat();
        let found = list(&options, &[&file]);
        assert_eq!(
            (&found["window"]["from"], &found["window"]["to"]),
            (&from.into(), &to.into()),
            "{options:?}"
        );
        assert_eq!(found["asked"]["from"], from, "{options:?}");
        let seconds = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
        let inside = events().iter().filter(|event| (seconds(from)..seconds(to)).contains(&event.0)).count();
        assert_eq!(found["window"]["events"], inside, "{options:?}");
    }
}

/// On 30 March 2025 clocks in Berlin were put forward at two, and the day had 23 hours.
#[test]
fn days_are_those_of_the_calendar_in_a_time_zone() {
    let events: Vec<_> = (0..40 * 24).map(|hour| (MARCH + hour * HOUR, 0, "elm".to_owned())).collect();
    let file = temporary("zones.tsv", &lines(&events));
    let zone = ["--key", "2", "--time", "1", "--timezone", "Europe/Berlin"];
    for (options, from, events) in [
        (["--window", "yesterday", "--until", "2025-03-31T00:00"], "2025-03-29T23:00:00Z", 23),
        (["--window", "1d", "--until", "2025-03-31"], "2025-03-29T23:00:00Z", 23),
        (["--window", "24h", "--until", "2025-03-31"], "2025-03-29T22:00:00Z", 24),
        (["--window", "7d", "--until", "2025-03-31"], "2025-03-23T23:00:00Z", 7 * 24 - 1),
        (["--window", "today", "--until", "2025-03-30T12:00"], "2025-03-29T23:00:00Z", 11),
    ] {
        let found = list(&[&zone[..], &options].concat(), &[&file]);
        assert_eq!(
            (&found["window"]["from"], &found["window"]["events"]),
            (&from.into(), &events.into()),
            "{options:?}"
        );
    }
    // Times that do not say are read in it, too.
    let local =
        temporary("local.tsv", b"2025-03-30 00:30\telm\n2025-03-30 03:30\telm\n2025-03-29 23:30\telm\n");
    let found = list(&[&zone[..], &["--window", "1d", "--until", "2025-03-31"]].concat(), &[&local]);
    assert_eq!(found["window"]["events"], 2);
}

#[test]
fn a_clock_that_is_wrong_moves_no_window() {
    let mut with_2100 = lines(&events());
    with_2100.extend(b"4102444800\tash\n");
    let (right, wrong) = (temporary("right.tsv", &lines(&events())), temporary("wrong.tsv", &with_2100));
    let options = ["--key", "2", "--time", "1", "--window", "3d"];
    assert_eq!(list(&options, &[&wrong]), list(&options, &[&right]));
    let run = |more: &[&str]| {
        let file = [wrong.to_str().unwrap()];
        frostpane(&[&QUIET[..], &options, more, &file].concat(), b"")
    };
    assert!(stderr(&run(&[])).contains(
        "1 event lies more than 1 hour in the future by the clock of this machine, and was set aside"
    ));
    let until = run(&["--until", "2025-03-05"]);
    assert!(
        stderr(&until).contains(
            "14,401 events lie at or after 2025-03-05T00:00:00Z, where the window ends, and were set aside"
        ),
        "{}",
        stderr(&until)
    );
    assert_eq!(serde_json::from_str::<Value>(&stdout(&until)).unwrap()["window"]["events"], 7_200);
    // The same through a pipe, and in a list at every slide.
    let piped = [&QUIET[..], &options, &["--format", "tsv", "--slide", "1h"]].concat();
    assert_eq!(json(&piped, &with_2100), json(&piped, &lines(&events())));
    let watched =
        ["watch", "--key", "2", "--time", "1", "--window", "3d", "--slide", "1d", wrong.to_str().unwrap()];
    assert_eq!(stdout(&frostpane(&watched, b"")).lines().count(), 10);
}

#[test]
fn the_last_slide_is_released_when_it_is_complete() {
    let file = temporary("slides.tsv", &lines(&events()[..2_350]));
    let releases = |more: &[&str]| {
        let options = words("watch --key 2 --time 1 --window 8h --slide 4h --norm l1");
        let output = frostpane(&[&options[..], more, &[file.to_str().unwrap()]].concat(), b"");
        let text = stdout(&output);
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["window"].clone())
            .collect::<Vec<_>>()
    };
    // 23 and a half hours: the sixth slide has passed long ago.
    let all = releases(&[]);
    assert_eq!(
        (all.len(), &all[5]["to"], &all[5]["events"]),
        (6, &"2025-03-02T00:00:00Z".into(), &750.into())
    );
    // By an end of our own: what it cuts is not complete.
    let early = releases(&["--until", "2025-03-01T23:00:00Z"]);
    assert_eq!(early[..], all[..5]);
    assert_eq!(releases(&["--until", "2025-03-02T00:00:00Z"]), all);
    // And slides without events are, up to it.
    let late = releases(&["--until", "2025-03-02T08:00:00Z"]);
    assert_eq!((late.len(), &late[7]["events"]), (8, &0.into()));
    // A slide that is not over is not released.
    let now = jiff::Timestamp::now().as_second();
    let running = temporary("running.tsv", format!("{}\telm\n{now}\telm\n", now - 7 * 86_400).as_bytes());
    let options =
        ["watch", "--key", "2", "--time", "1", "--window", "14d", "--slide", "7d", running.to_str().unwrap()];
    assert_eq!(stdout(&frostpane(&options, b"")).lines().count(), 1);
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
    let output = frostpane(&options, &lines(&events));
    let release: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(release["window"]["missed"], 3);
    assert_eq!(release["promises"]["held"], false);
    assert_eq!(release["asked"]["promises"]["held"], false);
    let reason = release["promises"]["reason"].as_str().unwrap();
    assert_contains(reason, "3 events of the window came too late");
    let in_time: Value =
        serde_json::from_str(&stdout(&frostpane(&options, &lines(&events[..=last])))).unwrap();
    assert_eq!((&in_time["window"]["missed"], &in_time["promises"]["held"]), (&Value::Null, &true.into()));
}

#[test]
fn dead_input_replaces_no_page() {
    let folder = folder("dead");
    let page = folder.join("page.html");
    fs::write(&page, "yesterday").unwrap();
    let empty = temporary("dead.tsv", b"");
    let old = temporary("old.tsv", &lines(&events()));
    let columns = ["--key", "2", "--time", "1", "--window", "1d", "--report", page.to_str().unwrap()];
    for (command, more, file, says) in [
        ("list", &[][..], &empty, "there is no event: nothing was released, and no file was written"),
        ("watch", &["--slide", "1d"], &empty, "there is no event"),
        (
            "list",
            &["--until", "2026-01-01"],
            &old,
            "they are from 2025-03-01T00:00:00Z to 2025-03-10T23:59:24Z: --until TIME",
        ),
        ("list", &["--window", "today"], &old, "no event lies in the window"),
    ] {
        let columns = if more.contains(&"today") { &columns[..4] } else { &columns[..6] };
        let report = ["--report", page.to_str().unwrap(), file.to_str().unwrap()];
        let output = frostpane(&[&[command], columns, more, &report].concat(), b"");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        assert_eq!((fs::read_to_string(&page).unwrap().as_str(), names(&folder).len()), ("yesterday", 1));
    }
    // That no event has a key depends on keys, and must not show in what is published: the page is written.
    let options = ["list", "--key", "3", "--time", "1", "--window", "1d", "--report", page.to_str().unwrap()];
    let output = frostpane(&[&options[..], &[old.to_str().unwrap()]].concat(), b"");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("none of the events has a key that counts: is --key 3 right"));
    assert!(fs::read_to_string(&page).unwrap().contains("<html"));
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
            let options = [&["--key", "2", "--time", "1", "--window", window][..], &until].concat();
            let found = list(&options, &[&file]);
            let at = |edge: &Value| edge.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
            let days = if window == "7d" { 7 } else { 1 };
            assert_eq!(
                at(&found["window"]["to"]) - at(&found["window"]["from"]),
                days * 86_400,
                "{name} {window}"
            );
            if !end.is_empty() {
                assert!(found["window"]["to"].as_str().unwrap().starts_with(end), "{found}");
            }
            assert_eq!(found["asked"]["from"], found["window"]["from"]);
            assert!(!heavy(&found).is_empty(), "{name} {window} {end}");
        }
    }
}

/// A printed specification is read as the same, for files and for pipes; its hours are hours.
#[test]
fn a_specification_that_was_printed_asks_for_the_same() {
    let file = temporary("respecified.tsv", &lines(&shuffled()));
    let columns = ["--key", "2", "--time", "1", file.to_str().unwrap()];
    let options = ["--window", "3d", "--all", "--epsilon", "100000"];
    let printed = stdout(&frostpane(&[&["list"], &options[..], &["--print-spec"]].concat(), b""));
    let spec = temporary("respecified.toml", printed.as_bytes());
    let direct = json(&[&["list", "--json"], &options[..], &columns].concat(), b"");
    let again = ["list", "--json", "--spec", spec.to_str().unwrap()];
    assert_eq!(json(&[&again[..], &columns].concat(), b""), direct);
    assert_eq!(direct["policy"], "fixed");

    let spec = temporary("berlin.toml", b"window = \"24h\"\nall = true\n");
    let options = [
        "list",
        "--json",
        "--timezone",
        "Europe/Berlin",
        "--until",
        "2025-03-09",
        "--spec",
        spec.to_str().unwrap(),
    ];
    let hours = json(&[&options[..], &columns].concat(), b"");
    assert_eq!(hours["window"]["from"], "2025-03-07T23:00:00Z");
    // Yesterday, before the end that the specification has.
    let spec = temporary("until.toml", b"window = \"1d\"\nuntil = \"2025-03-05T12:00:00Z\"\nall = true\n");
    let options = ["list", "--json", "--window", "yesterday", "--spec", spec.to_str().unwrap()];
    let found = json(&[&options[..], &columns].concat(), b"");
    assert_eq!(
        (&found["window"]["from"], &found["window"]["to"]),
        (&"2025-03-04T00:00:00Z".into(), &"2025-03-05T00:00:00Z".into())
    );
}

/// Also where some were set aside, whose keys nobody has looked at.
#[test]
fn a_key_that_no_event_has_ends_with_a_code_of_its_own() {
    let mut some = lines(&events());
    some.extend(b"4102444800\tash\n");
    let some = temporary("no-keys.tsv", &some);
    let ahead = temporary("ahead.tsv", b"4102444800\tash\n4102444801\tash\n");
    for command in [&["list"][..], &["watch", "--slide", "1d"]] {
        for (key, file, code, is_silent, says) in [
            ("3", &some, 4, false, "none of the events has a key that counts: is --key 3 right"),
            ("2", &ahead, 1, true, "every event was set aside, because its time cannot be"),
        ] {
            let options = ["--key", key, "--time", "1", "--window", "3d", text(file)];
            let output = frostpane(&[command, &options].concat(), b"");
            let ended = (output.status.code(), output.stdout.is_empty());
            assert_eq!(ended, (Some(code), is_silent), "{command:?}: {}", stderr(&output));
            assert_told(&output, says);
        }
    }
}

#[test]
fn no_file_is_read_twice_or_written_over() {
    let folder = folder("apart");
    let input = folder.join("in.tsv");
    fs::write(&input, lines(&events())).unwrap();
    fs::create_dir_all(folder.join("below")).unwrap();
    let name = |file: &str| folder.join(file).to_str().unwrap().to_owned();
    let (file, detour, page) = (name("in.tsv"), name("below/../in.tsv"), name("page.html"));
    let columns = ["--key", "2", "--time", "1", "--window", "1d", "--slide", "1d"];
    for (options, says) in [
        (&["--report", &detour, &file][..], "would be written over"),
        (&["--guarantee", &file, &file], "would be written over"),
        (&["--report", &page, "--guarantee", &page, &file], "would be written over"),
        (&[file.as_str(), &detour], "in.tsv is named twice, and its events would count twice"),
    ] {
        for command in ["list", "watch"] {
            let output = frostpane(&[&[command], &columns[..], options].concat(), b"");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{options:?}");
            assert!(stderr(&output).contains(says), "{}", stderr(&output));
        }
    }
    assert_eq!(fs::read(&input).unwrap(), lines(&events()));
    let saved = frostpane(&["demo", "--save", &file], b"");
    assert!(!saved.status.success() && stderr(&saved).contains("is there already"), "{}", stderr(&saved));
    assert_eq!(fs::read(&input).unwrap(), lines(&events()));
}

/// The last day is over when the next begins.
#[test]
fn of_times_that_are_days_the_last_day_is_a_whole_one() {
    let days: String = (0..300).map(|i| format!("202503{:02}\telm\n", 1 + i % 10)).collect();
    let file = temporary("days.tsv", days.as_bytes());
    for (zone, from) in [("UTC", "2025-03-09T00:00:00Z"), ("Asia/Tokyo", "2025-03-08T15:00:00Z")] {
        let options = ["--key", "2", "--time", "1", "--window", "2d", "--timezone", zone];
        let found = list(&options, &[&file]);
        assert_eq!((&found["window"]["from"], &found["window"]["events"]), (&from.into(), &60.into()));
    }
}
