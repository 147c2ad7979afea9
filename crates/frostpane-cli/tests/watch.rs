//! `frostpane watch`, as it is run.

use std::io::{BufRead, BufReader, Write};

use crate::common::{
    assert_told, browser, command, frostpane, heavy, page_data, releases, stderr, stdout, words,
};
use serde_json::Value;

fn lines(events: u32) -> String {
    (0..events).map(|i| format!("{}\n", if i % 3 == 0 { "oak" } else { "elm" })).collect()
}

#[test]
fn there_is_one_release_for_each_slide_and_each_is_like_a_list() {
    let args = ["watch", "--norm", "l1", "--alpha", "0.2", "--window", "3200"];
    let out = stdout(&frostpane(&args, lines(10_050).as_bytes()));
    let releases = releases(&out);
    assert_eq!(releases.len(), 100);
    for (index, release) in releases.iter().enumerate() {
        let to = 100 * (index as u64 + 1);
        assert_eq!(release["window"]["to"], to);
        assert_eq!(release["window"]["from"], to.saturating_sub(3_200));
        assert_eq!(release["epsilon"], 1.0);
        assert_eq!(release["continual"]["panes"], 32);
        assert_eq!(release["continual"]["number"], index as u64 + 1);
        assert_eq!(release["continual"]["horizon"], 1_000_000);
        assert_eq!(release["continual"]["together"], 1_000);
        assert_eq!(release["continual"]["delta_past_horizon"], Value::Null);
    }
    let last = heavy(&releases[99]);
    assert_eq!(last.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["elm", "oak"]);
    assert!(last[0].1.abs_diff(2_133) < 200 && last[1].1.abs_diff(1_067) < 200, "{last:?}");
    assert_eq!(releases[99]["promises"]["held"], true);
}

/// In a real browser: the ranks and counts are those of the JSON, and a hostile key is text.
#[test]
fn a_browser_shows_what_was_released() {
    let file = crate::common::temporary("watched-hostile.html", b"");
    let options = ["watch", "--norm", "l1", "--alpha", "0.1", "--window", "6400"];
    let args = [&options[..], &["--report", file.to_str().unwrap()]].concat();
    let hostile = "<script>alert(1)</script>";
    // One rises while the other falls.
    let key = |i: u32| if i * 7 % 12_800 < i { hostile } else { "elm" };
    let events: String = (0..12_800).map(|i| format!("{}\n", key(i))).collect();
    let released = releases(&stdout(&frostpane(&args, events.as_bytes())));
    let page = std::fs::read_to_string(file).unwrap();
    let shown = page_data(&page);
    assert_eq!((released.len(), shown.len()), (64, 16));
    assert!(shown.iter().all(|release| released.contains(release)));
    assert_eq!(shown.last(), released.last());
    assert_eq!(browser::faults(&page, "watched"), Vec::<String>::new());
}

#[test]
fn by_time_a_slide_without_events_has_its_release() {
    let events = "1,ash\n12,ash\n13,elm\n95,oak\n";
    let args = words(
        "watch --format csv --key 2 --time 1 --window 30s --slide 10s --epsilon 100000 --norm l1 --alpha 0.1",
    );
    // Few keys, so much epsilon that there is no noise, and keys that are declared.
    let keys = crate::common::temporary("watched-keys.txt", b"ash\nelm\noak\n");
    let args = [&args[..], &["--keys", keys.to_str().unwrap()]].concat();
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
    let mut child = command(&["watch", "--window", "64", "--slide", "16"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for round in 1..=3 {
        // A buffer's worth, so that it does not wait for more.
        input.write_all(lines(16).as_bytes()).unwrap();
        input.flush().unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let release: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(release["window"]["to"], 16 * round);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// The page follows a stream that pauses, and is finished when it ends, also if nobody reads the releases.
#[test]
fn the_page_is_up_to_date_soon_and_at_the_end() {
    let file = crate::common::temporary("watched-live.html", b"");
    let shown = || {
        let page = std::fs::read_to_string(&file).unwrap();
        page.matches("\"boundaries_epsilon\"").count()
    };
    let path = file.to_str().unwrap();
    let mut child = command(&["watch", "--window", "64", "--slide", "16", "--report", path]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines(5 * 16).as_bytes()).unwrap();
    input.flush().unwrap();
    let patience = std::time::Instant::now();
    while shown() < 5 && patience.elapsed().as_secs() < 30 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(shown(), 5);
    drop(child.stdout.take());
    input.write_all(lines(16).as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(shown() >= 5);
}

/// A report that cannot be written any more is not the fault of a line.
#[test]
fn what_is_wrong_with_the_page_is_said_as_such() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched-gone");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("page.html");
    let mut child =
        command(&["watch", "--window", "64", "--report", file.to_str().unwrap()]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"oak\n").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    input.write_all(lines(4).as_bytes()).unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    input.write_all(lines(64).as_bytes()).unwrap();
    drop(input);
    let rest = output.lines().count();
    let ended = child.wait_with_output().unwrap();
    let told = stderr(&ended);
    assert!(told.contains("cannot write the report") && !told.contains("line "), "{told}");
    assert!(!ended.status.success() && rest > 30);
}

#[test]
fn what_the_operator_should_know_is_told() {
    let sorted: String = (0..4_000).map(|i| format!("{:04}\n", i / 100)).collect();
    let output = frostpane(&["watch", "--window", "3200", "--delta", "0.01"], sorted.as_bytes());
    let told = stderr(&output);
    assert!(told.matches("the events seem to be grouped by key").count() == 1, "{told}");
    assert!(told.matches("delta is 1e-2").count() == 1, "{told}");
    let policy = frostpane(&["watch", "--policy", "smooth"], b"");
    assert_told(&policy, "leave the policy out");
}

#[test]
fn what_cannot_be_watched_is_said() {
    let two = frostpane(&["watch", "--window", "10", "--window", "20"], b"");
    assert!(stderr(&two).contains("2 windows were given, but a list at every slide has one"));
    let none = frostpane(&["watch", "--window", "1000"], b"a\nb\n");
    assert!(none.status.success() && none.stdout.is_empty());
    assert_told(&none, "no slide has ended");
    let ended = frostpane(&words("watch --key 2 --time 1 --format tsv --window yesterday"), b"");
    assert_told(&ended, "the window yesterday has an end, but `frostpane watch` moves on");
    let many = frostpane(&["watch", "--keys", "0..1000000000"], b"");
    assert_told(&many, "declare fewer, or leave the keys open");
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
    let told = stderr(&ahead);
    assert!(
        told.contains("1 event lies more than 1 hour in the future") && !told.contains("too late"),
        "{told}"
    );
    // Unless it is said that such times may be.
    let args = [&args[..], &["--ahead", "2000w"]].concat();
    let far = frostpane(&args, format!("1,ash\n2000000000,ash\n{events}").as_bytes());
    assert_eq!(stdout(&far).lines().count(), 1 + 6);
    let told = stderr(&far);
    assert!(
        told.matches("1,000 events in a row came too late").count() == 1
            && told.contains("2,000 of 2,002 events came too late"),
        "{told}"
    );
    let gap = frostpane(&args, b"1,ash\n2000000000,ash\n2000000041,elm\n");
    assert_eq!(stdout(&gap).lines().count(), 1 + 6 + 4);
    assert!(!stderr(&gap).contains("too late"), "{}", stderr(&gap));
}

/// The horizon of delta is on the page and in words, and the first release past it says so.
#[test]
fn no_delta_is_said_to_hold_for_ever() {
    let file = crate::common::temporary("watched-horizon.html", b"");
    let options = words("watch --norm l1 --window 3200 --horizon 12 --together 5");
    let args = [&options[..], &["--report", file.to_str().unwrap()]].concat();
    let output = frostpane(&args, lines(2_000).as_bytes());
    let released = releases(&stdout(&output));
    let past: Vec<bool> =
        released.iter().map(|release| release["continual"]["delta_past_horizon"].is_number()).collect();
    assert_eq!(past, (1..=20).map(|number| number > 12).collect::<Vec<_>>());
    // 20 + 31 windows instead of 12 + 31.
    let grown = released[19]["continual"]["delta_past_horizon"].as_f64().unwrap();
    assert!((grown / (1e-9 * 51.0 / 43.0) - 1.0).abs() < 1e-9, "{grown}");
    assert_eq!(released[0]["continual"]["together"], 5);
    let told = stderr(&output);
    assert_eq!(told.matches("the horizon of 12 releases is past").count(), 1, "{told}");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("delta has grown to 1.2e-9") && page.contains("past the horizon of 12"));
    assert!(!page.contains("for ever"));
    let keys = crate::common::temporary("watched-horizon-keys.txt", b"elm\noak\n");
    let declared = [&args[..], &["--keys", keys.to_str().unwrap()]].concat();
    let output = frostpane(&declared, lines(2_000).as_bytes());
    assert!(!stderr(&output).contains("the horizon of"), "{}", stderr(&output));
    assert!(
        releases(&stdout(&output)).iter().all(|release| release["continual"]["delta_past_horizon"].is_null())
    );
}

#[test]
fn rows_of_values_begin_with_the_end_of_their_window() {
    let guarantee = crate::common::temporary("watched-guarantee.txt", b"before");
    let options = words("watch --csv --top 1 --window 3200 --slide 1600");
    let args = [&options[..], &["--guarantee", guarantee.to_str().unwrap()]].concat();
    let output = frostpane(&args, lines(4_800).as_bytes());
    let csv = stdout(&output);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["to", "key", "count", "low", "high"]);
    let firsts: Vec<[&str; 2]> = rows[1..].iter().map(|row| [row[0], row[1]]).collect();
    assert_eq!(firsts, [["1600", "elm"], ["3200", "elm"], ["4800", "elm"]]);
    let said = std::fs::read_to_string(guarantee).unwrap();
    assert!(
        said.starts_with("The top key of 3,200 events, number 1,600 up to 4,800\n")
            && said.contains("once for all lists"),
        "{said}"
    );
    assert_told(&output, "the guarantee is in ");
    let alone = frostpane(&options, lines(1_600).as_bytes());
    assert_told(&alone, "--guarantee FILE does");
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child, signal: &str) {
    let id = child.id().to_string();
    let sent = std::process::Command::new("kill").args([signal, &id]).status();
    assert!(sent.unwrap().success());
}

/// The input is still open, and more may come: all that was released is in the files.
#[test]
#[cfg(unix)]
fn an_interrupt_writes_the_last_page() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = crate::common::folder(&format!("interrupted{signal}"));
        let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (page, guarantee) = (place("page.html"), place("guarantee.txt"));
        let options = ["watch", "--window", "64", "--slide", "16"];
        let files = ["--report", &page, "--guarantee", &guarantee];
        let mut child = command(&[&options[..], &files].concat()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        input.write_all(lines(7 * 16).as_bytes()).unwrap();
        input.flush().unwrap();
        let mut line = String::new();
        for _ in 0..7 {
            line.clear();
            output.read_line(&mut line).unwrap();
        }
        interrupt(&child, signal);
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), Some(code));
        assert_eq!(output.lines().count(), 0, "nothing after the last line");
        let last: Value = serde_json::from_str(&line).unwrap();
        let page = std::fs::read_to_string(page).unwrap();
        let shown = page_data(&page);
        assert_eq!((shown.len(), shown.last()), (7, Some(&last)));
        let said = std::fs::read_to_string(guarantee).unwrap();
        assert!(said.contains("number 48 up to 112"), "{said}");
        assert_eq!(crate::common::names(&folder).len(), 2, "{:?}", crate::common::names(&folder));
    }
}

/// While releases keep coming: every line is whole, and the page has the last of them.
#[test]
#[cfg(unix)]
fn an_interrupt_comes_between_two_releases() {
    let page = crate::common::temporary("interrupted-midway.html", b"");
    let options = ["watch", "--window", "64", "--slide", "2", "--report"];
    let args = [&options[..], &[page.to_str().unwrap()]].concat();
    let mut child = command(&args).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let fed = std::thread::spawn(move || while input.write_all(lines(1_000).as_bytes()).is_ok() {});
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = String::new();
    for number in 0.. {
        let Some(line) = output.next() else { break };
        last = line.unwrap();
        if number == 50 {
            interrupt(&child, "-INT");
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    fed.join().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    let shown = page_data(&page);
    assert_eq!(shown.last(), Some(&last));
}

/// Nobody reads what it writes, so the first interrupt waits for the line to end; the second does not.
#[test]
#[cfg(unix)]
fn a_second_interrupt_ends_it_at_once() {
    let mut child = command(&["watch", "--window", "64", "--slide", "2"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let fed = std::thread::spawn(move || {
        // More releases than a pipe holds; it ends when nobody reads any more.
        let _ = input.write_all(lines(100_000).as_bytes());
        input
    });
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    interrupt(&child, "-INT");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "a line was cut");
    interrupt(&child, "-INT");
    let patience = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() && patience.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    drop(fed.join());
    assert_eq!(ended.and_then(|ended| ended.code()), Some(130));
}
