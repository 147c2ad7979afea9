//! People as the unit of privacy: the real executable on files with users, in any format and order, and what
//! it lets anybody see.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use parquet::data_type::ByteArrayType;
use serde_json::Value;

use crate::common::{
    assert_contains, assert_has, assert_refused, assert_told, command, folder, frostpane, gzip, heavy, json,
    names, one_line,
    parquet_file::{self, column},
    read, releases, run, stderr, stdout, text, words, written,
};

/// Somebody searched something: a time, a user and a key, as they are written.
type Search = [String; 3];

/// One search of each of so many users on the last day of November 2025, and five hundred of a program.
fn searches(people: usize) -> Vec<Search> {
    let by = |user: String, second: usize, key: &str| {
        [format!("2025-11-30T{:02}:{:02}:00Z", second / 60 % 24, second % 60), user, key.to_owned()]
    };
    let usual = (0..people).map(|user| by(format!("u{user}"), user, ["yoga", "visa", "rent"][user % 3]));
    let program = (0..500).map(|number| by("program".to_owned(), number, "news bonn"));
    usual.chain(program).collect()
}

fn shuffled(mut searches: Vec<Search>) -> Vec<Search> {
    let mut state = 1_u64;
    for place in (1..searches.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        searches.swap(place, (state >> 33) as usize % (place + 1));
    }
    searches
}

fn separated(searches: &[Search], by: &str) -> Vec<u8> {
    let lines = searches.iter().map(|search| search.join(by) + "\n");
    (["time", "user", "key"].join(by) + "\n" + &lines.collect::<String>()).into_bytes()
}

fn json_lines(searches: &[Search]) -> Vec<u8> {
    let line = |[time, user, key]: &Search| {
        format!("{}\n", serde_json::json!({ "time": time, "user": user, "key": key }))
    };
    searches.iter().map(line).collect::<String>().into_bytes()
}

fn parquet(searches: &[Search]) -> Vec<u8> {
    let schema = "message events { required binary time (STRING); required binary user (STRING); required binary key (STRING); }";
    let cells = |field: usize| {
        let cells = searches.iter().map(|search| search[field].as_bytes().to_vec().into());
        column::<ByteArrayType>(cells.collect())
    };
    parquet_file::new(schema, [(0..3).map(cells).collect()])
}

const COLUMNS: [&str; 6] = ["--time", "time", "--user", "user", "--key", "key"];
const WEEK: [&str; 4] = ["--window", "7d", "--until", "2025-12-01"];

fn list<'a>(files: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["list"], &COLUMNS[..], &WEEK[..], more, files].concat()
}

/// 900 people have one search each, and the program counts once. Noise is off by 40 once in 10^17 counts.
fn assert_counts_people(release: &Value, format: &str) {
    let listed = heavy(release);
    assert_eq!(listed.len(), 3, "{format}: {release}");
    for (key, count) in listed {
        assert!((260..=340).contains(&count), "{format}: {key} {count}");
    }
    let (window, bounds) = (&release["window"], &release["bounds"]);
    let week = (&"2025-11-24T00:00:00Z".into(), &"2025-12-01T00:00:00Z".into());
    assert_eq!((&window["from"], &window["to"]), week, "{format}");
    assert_eq!((&bounds["per_user"], &bounds["epoch"]), (&1.into(), &"1d".into()));
}

#[test]
fn people_are_counted_once_in_every_format_and_order() {
    let folder = folder("people-formats");
    let (ordered, mixed) = (searches(900), shuffled(searches(900)));
    let (one, other) = mixed.split_at(600);
    let (one, other) = (separated(one, ","), separated(other, ","));
    let tsv = separated(&mixed, "\t");
    for (format, files) in [
        ("ordered", vec![("a.csv", separated(&ordered, ","))]),
        ("two files", vec![("b.csv", one), ("c.csv", other)]),
        ("packed", vec![("d.tsv.gz", gzip(&tsv))]),
        ("lines", vec![("e.jsonl", json_lines(&mixed))]),
        ("parquet", vec![("f.parquet", parquet(&mixed))]),
    ] {
        let files: Vec<PathBuf> = files.iter().map(|(name, bytes)| written(&folder, name, bytes)).collect();
        let files: Vec<&str> = files.iter().map(|file| text(file)).collect();
        assert_counts_people(&json(&list(&files, &["--all", "--json"]), b""), format);
    }
    assert_counts_people(&json(&list(&[], &["--all", "--json", "--format", "tsv"]), &tsv), "pipe");
}

/// Everything that is not measured with noise, which alone may differ.
fn without_noisy(mut release: Value) -> Value {
    for field in words("heavy note norm_estimate threshold noise complete_above nothing_below") {
        release.as_object_mut().unwrap().remove(field);
    }
    let window = release["window"].as_object_mut().unwrap();
    window.remove("events");
    window.remove("between");
    release
}

/// One file has all that one person did on a day: a thousand events, first and last, of keys of their own.
#[test]
fn one_person_more_changes_only_noisy_numbers() {
    let folder = folder("people-neighbours");
    let others = searches(900);
    let theirs = (0..1_000).map(|number| {
        let minute = number % 1_440;
        let time = format!("2025-11-24T{:02}:{:02}:00Z", minute / 60, minute % 60);
        [time, "WHISTLEBLOWER".to_owned(), format!("SECRET-{number}")]
    });
    let with: Vec<Search> = theirs.chain(others.clone()).collect();
    let files = [("without.csv", others), ("with.csv", with)]
        .map(|(name, searches)| written(&folder, name, &separated(&searches, ",")));
    for more in [vec!["--all"], vec!["--top", "2"], vec!["--norm", "l1", "--alpha", "0.2"]] {
        let [without, with] = files.each_ref().map(|file| {
            let guarantee = file.with_extension("txt");
            let shown = [&more[..], &["--json", "--guarantee", text(&guarantee)]].concat();
            let published = stdout(&frostpane(&list(&[text(file)], &shown), b"")) + &read(&guarantee);
            assert!(!published.contains("SECRET") && !published.contains("WHISTLEBLOWER"));
            let release = published.lines().next().unwrap();
            let release = without_noisy(serde_json::from_str(release).unwrap());
            (release.to_string(), figures_hidden(&published))
        });
        assert_eq!(without, with, "{more:?}");
    }
}

/// The sentences of a guarantee, without their numbers.
fn figures_hidden(published: &str) -> String {
    let guarantee = published.split_once('\n').unwrap().1;
    let words = guarantee.split_whitespace().filter(|word| {
        let is_number = word.trim_matches(|c: char| !c.is_ascii_digit()).replace(',', "");
        is_number.is_empty() || word.contains("2025")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Exact numbers are told, but not where they could be published.
#[test]
fn the_operator_is_told_what_bounds_removed_and_nobody_else_is() {
    let folder = folder("people-told");
    let mut events = searches(900);
    events.extend((0..7).map(|_| ["2025-11-30T12:00:00Z", "", "yoga"].map(str::to_owned)));
    let file = written(&folder, "a.csv", &separated(&events, ","));
    let [guarantee, page] = ["g.txt", "p.html"].map(|name| folder.join(name));
    let more = ["--all", "--guarantee", text(&guarantee), "--report", text(&page)];
    let output = frostpane(&list(&[text(&file)], &more), b"");
    assert_told(&output, "499 of the 1,400 events of users in the window were beyond");
    assert_told(&output, "7 events have no user, and are not counted");
    let published = [stdout(&output), read(&guarantee), read(&page)].map(|said| one_line(&said));
    for published in &published {
        for number in ["499", "1,400", "1400", "1,407"] {
            let mut found = published.split(|c: char| !c.is_ascii_digit() && c != ',');
            assert!(!found.any(|found| found == number), "{number}: {published}");
        }
        let counted = "each counted once a day (person-days)";
        assert_has(published, [counted, "all statements are about what was counted"]);
    }
    let privacy = "for whether one person took part on one day, when, how often and in what. Of each person \
                   and day at most 1 key is counted, once. Not hidden: what someone does over several days \
                   (epsilon for each), people with several ids, how others react.";
    for published in &published[..2] {
        assert_contains(published, privacy);
    }
}

/// Events beyond the bounds are in no count, so no output claims to tell how often a key occurred.
#[test]
fn of_counts_within_bounds_it_is_said_what_was_counted() {
    let folder = folder("people-words");
    let file = written(&folder, "a.csv", &separated(&searches(900), ","));
    let [page, guarantee] = ["page.html", "guarantee.txt"].map(|name| folder.join(name));
    let days = ["--slide", "1d", "--from", "2025-11-24"];
    for (command, more) in [("list", &[][..]), ("list", &["--csv"]), ("watch", &days)] {
        let files = ["--report", text(&page), "--guarantee", text(&guarantee)];
        let args = [&[command, "--all"], &COLUMNS[..], &WEEK, &files, more, &[text(&file)]].concat();
        let shown = stdout(&frostpane(&args, b""));
        let [shown, page, guarantee] = [shown, read(&page), read(&guarantee)].map(|said| one_line(&said));
        for said in [&shown, &page, &guarantee] {
            for untrue in ["true count", "true one"] {
                assert!(!said.contains(untrue), "{command} {more:?}: {untrue}: {said}");
            }
        }
        let counted = "ow often each key was counted lies between the two numbers beside it";
        let is_table = command == "list" && more.is_empty();
        assert!(!is_table || shown.contains(counted), "{shown}");
        assert_contains(guarantee, counted);
        assert_has(page, [counted, "two numbers between which the number that was counted lies"]);
    }
}

#[test]
fn of_a_sample_of_users_it_is_said_what_to_multiply_by() {
    let folder = folder("people-sample");
    let file = written(&folder, "a.csv", &separated(&searches(4_000), ","));
    let guarantee = folder.join("g.txt");
    let more = ["--all", "--sample-users", "1/4", "--json", "--guarantee", text(&guarantee)];
    let release = json(&list(&[text(&file)], &more), b"");
    assert_eq!(release["bounds"]["sample_users"], "1/4");
    let counts: u64 = heavy(&release).iter().map(|(_, count)| count).sum();
    // 1,000 of 4,000 in the mean, with a deviation of 27: ten of them are never seen.
    assert!((700..1_300).contains(&counts), "{release}");
    let said = ["Only 1/4 of the users are counted", "multiply counts by 4."];
    assert_has(one_line(&read(&guarantee)), said);
}

#[test]
fn every_slide_of_files_has_a_list_with_events_or_without() {
    let folder = folder("people-watch");
    let file = written(&folder, "a.csv", &separated(&searches(900), ","));
    let when = words("--window 2d --slide 12h --from 2025-11-28 --until 2025-12-02");
    let watch = [&["watch", "--json", "--all"], &COLUMNS[..], &when, &[text(&file)]].concat();
    let lists: Vec<Value> = releases(&stdout(&frostpane(&watch, b"")));
    let ends: Vec<&str> = lists.iter().map(|list| list["window"]["to"].as_str().unwrap()).collect();
    assert_eq!(ends.len(), 8, "{ends:?}");
    assert_eq!((ends[0], ends[7]), ("2025-11-28T12:00:00Z", "2025-12-02T00:00:00Z"));
    assert!(heavy(&lists[0]).is_empty());
    assert_eq!(lists[0]["unit"], lists[7]["unit"]);
    let without_end = [&["watch"], &COLUMNS[..], &["--window", "2d", "--slide", "1d", text(&file)]].concat();
    assert_refused(&frostpane(&without_end, b""), "events do not say where the lists end: give --until");
}

/// A list of more people than the memory holds, and the folder for what does not fit into it.
fn crowded(folder: &Path) -> (std::process::Command, PathBuf) {
    let searches = (0..600_000).map(|user| {
        let (hour, minute) = (user / 60 % 24, user % 60);
        format!(
            "2025-11-{:02}T{hour:02}:{minute:02}:00Z,user-with-a-long-name-{user},{}\n",
            24 + user % 7,
            user % 3
        )
    });
    let crowd = "time,user,key\n".to_owned() + &searches.collect::<String>();
    let (file, scratch) = (written(folder, "crowd.csv", crowd.as_bytes()), folder.join("scratch"));
    fs::create_dir(&scratch).unwrap();
    let mut command = command(&list(&[text(&file)], &["--all", "--json", "--memory", "20MB"]));
    command.env("TMPDIR", &scratch);
    (command, scratch)
}

#[test]
fn many_users_go_through_the_disk_and_leave_nothing_there() {
    let folder = folder("people-disk");
    let (mut command, scratch) = crowded(&folder);
    let listed = heavy(&releases(&stdout(&run(&mut command, b"")))[0]);
    assert_eq!(listed.len(), 3);
    for (key, count) in listed {
        // Users who went to disk are counted too, and once.
        assert!((199_900..=200_100).contains(&count), "{key}: {count}");
    }
    assert!(names(&scratch).is_empty());
    // There was something to write.
    let refused = run(command.env("TMPDIR", folder.join("nowhere")), b"");
    assert_refused(&refused, "");
    assert!(!stderr(&refused).contains("user-with-a-long-name"), "{}", stderr(&refused));
}

/// True if a program has a file open in a folder, with a name or without.
#[cfg(target_os = "linux")]
fn has_open(pid: u32, folder: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    let mut links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.any(|link| link.starts_with(folder))
}

/// Scratch files have no names, so there is nothing to clean up however the program ends.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_killed_leaves_nothing_on_the_disk() {
    let (mut command, scratch) = crowded(&folder("people-killed"));
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    while !has_open(child.id(), &scratch) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before anything went to disk");
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(&scratch), Vec::<String>::new());
}

#[test]
fn what_is_printed_of_people_is_read_again_as_the_same() {
    let folder = folder("people-spec");
    let asked = words("--window 7d --per-user 4 --per-key 3 --epoch 12h --sample-users 1/4");
    for (name, print) in [("a.toml", "--print-spec"), ("a.json", "--print-spec=json")] {
        let printed = [&["list", "--timezone", "+01:00"], &asked[..], &[print]].concat();
        let printed = stdout(&frostpane(&printed, b""));
        let file = written(&folder, name, printed.as_bytes());
        assert_eq!(printed, stdout(&frostpane(&["list", "--spec", text(&file), print], b"")));
        assert_has(&printed, ["per_user", "12h", "1/4", "11h"]);
    }
    let by_column = json(&["list", "--user", "2", "--window", "7d", "--print-spec=json"], b"");
    assert_eq!(by_column["unit"]["user"]["per_user"], 1);
}

/// West of Greenwich too; and slides of several epochs begin at midnight there, on the same day as in UTC.
#[test]
fn days_and_slides_of_days_begin_at_midnight_of_the_zone() {
    for (asked, expected) in [
        ("--timezone -03:00", "3h"),
        ("--timezone=-03:00", "3h"),
        ("--timezone -0330", "210m"),
        ("--timezone +01:00", "23h"),
        ("--timezone -03:00 --epoch 1h --slide 1d", "3h"),
        ("--timezone +01:00 --epoch 1h --slide 1d", "23h"),
        ("--timezone +01:00 --slide 2d", "47h"),
        ("--timezone +01:00 --slide 7d", "167h"),
        ("--timezone +01:00 --slide 8h", "23h"),
    ] {
        let spec = words("watch --user 2 --window 14d --print-spec=json");
        let spec = json(&[&spec[..], &words(asked)].concat(), b"");
        assert_eq!(spec["unit"]["user"]["offset"], expected, "{asked}");
    }
    assert!(!frostpane(&["list", "--timezone", "--window", "7d"], b"").status.success());
}

#[test]
fn a_plan_compares_bounds_and_a_comparison_is_of_events() {
    let plan = words("plan --per-user 3 --window 7d --events 50000 --top 20");
    let whole = json(&[&plan[..], &["--json"]].concat(), b"");
    let compared = whole["per_user"].as_array().unwrap();
    let numbers =
        |field: &str| -> Vec<u64> { compared.iter().map(|keys| keys[field].as_u64().unwrap()).collect() };
    assert_eq!(numbers("per_user"), [1, 2, 3, 4, 8, 16, 32]);
    assert!(numbers("floor").is_sorted(), "{:?}", numbers("floor"));
    assert_eq!(compared[0]["noise_law"], "laplace");
    assert_eq!(compared[6]["noise_law"], "gaussian");
    assert_eq!(compared[2]["floor"], whole["forecast"]["floor"]);
    assert!(whole["plain"].is_null() && whole["published"].is_null());
    assert!(whole["plan"]["users_in_memory"].as_u64().unwrap() > 100_000);
    let shown = one_line(&stdout(&frostpane(&plan, b"")));
    let said = ["of 50,000 contributions", "3, as asked", "go to disk", "every key that is counted"];
    assert_has(&shown, said);
    assert!(!shown.contains("Plain counting") && !shown.contains("cut"), "{shown}");
    for slide in ["1h", "2d"] {
        let watch = "plan --watch --window 8d --per-user 2 --events 50000 --json --slide";
        let watch = json(&[&words(watch)[..], &[slide]].concat(), b"");
        assert_eq!(watch["per_user"].as_array().unwrap().len(), 6, "{slide}");
    }
    for (asked, told) in [
        ("plan --user u --window 7d", "say how many contributions to expect, with --events"),
        ("compare --key key --window 7d --user user", "a comparison is of single events"),
        ("compare --key key --window 7d --per-user 2", "a comparison is of single events"),
    ] {
        assert_refused(&frostpane(&words(asked), b""), told);
    }
}
