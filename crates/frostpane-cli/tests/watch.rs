//! `frostpane watch`, as it is run.

mod common;

use std::io::{BufRead, BufReader, Write};

use common::{browser, command, frostpane, heavy, stderr, stdout};
use serde_json::Value;

fn lines(events: u32) -> String {
    (0..events)
        .map(|i| format!("{}\n", if i % 3 == 0 { "oak" } else { "elm" }))
        .collect()
}

fn releases(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
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
        assert_eq!(release["continual"]["horizon"], 1_000);
    }
    let last = heavy(&releases[99]);
    assert_eq!(
        last.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
        ["elm", "oak"]
    );
    assert!(
        last[0].1.abs_diff(2_133) < 200 && last[1].1.abs_diff(1_067) < 200,
        "{last:?}"
    );
    assert_eq!(releases[99]["promises"]["held"], true);
}

#[test]
fn a_page_shows_how_ranks_went() {
    let page = common::temporary("watched.html", b"");
    let options = ["watch", "--norm", "l1", "--alpha", "0.1", "--window", "3200"];
    let args = [&options[..], &["--report", page.to_str().unwrap()]].concat();
    let output = frostpane(&args, lines(5_000).as_bytes());
    assert!(
        stderr(&output).contains("the report is in"),
        "{}",
        stderr(&output)
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("elm") && page.contains("oak"));
    let last = stdout(&output).lines().last().unwrap().to_owned();
    let count = heavy(&serde_json::from_str(&last).unwrap())[0].1;
    assert!(
        page.contains(&count.to_string()) || page.contains(&format!("{},{:03}", count / 1000, count % 1000))
    );
}

/// In a real browser: the ranks and counts are those of the JSON, and a hostile key is text.
#[test]
fn a_browser_shows_what_was_released() {
    let file = common::temporary("watched-hostile.html", b"");
    let options = ["watch", "--norm", "l1", "--alpha", "0.1", "--window", "6400"];
    let args = [&options[..], &["--report", file.to_str().unwrap()]].concat();
    let hostile = "<script>alert(1)</script>";
    // One rises while the other falls.
    let key = |i: u32| if i * 7 % 12_800 < i { hostile } else { "elm" };
    let events: String = (0..12_800).map(|i| format!("{}\n", key(i))).collect();
    let released = releases(&stdout(&frostpane(&args, events.as_bytes())));
    let page = std::fs::read_to_string(file).unwrap();
    let (_, data) = page.split_once("id=\"frostpane-releases\">").unwrap();
    let shown: Vec<Value> = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!((released.len(), shown.len()), (64, 16));
    assert!(shown.iter().all(|release| released.contains(release)));
    assert_eq!(shown.last(), released.last());
    assert_eq!(browser::faults(&page, "watched"), Vec::<String>::new());
}

#[test]
fn by_time_a_slide_without_events_has_its_release() {
    let events = "1,ash\n12,ash\n13,elm\n95,oak\n";
    let args = [
        "watch",
        "--format",
        "csv",
        "--key",
        "2",
        "--time",
        "1",
        "--window",
        "30s",
        "--slide",
        "10s",
        "--epsilon",
        "100000",
        "--norm",
        "l1",
        "--alpha",
        "0.1",
    ];
    // Few keys, so much epsilon that there is no noise, and keys that are declared.
    let keys = common::temporary("watched-keys.txt", b"ash\nelm\noak\n");
    let args = [&args[..], &["--keys", keys.to_str().unwrap()]].concat();
    let releases = releases(&stdout(&frostpane(&args, events.as_bytes())));
    let counts: Vec<Vec<(String, u64)>> = releases.iter().map(heavy).collect();
    let pair = |key: &str, count| (key.to_owned(), count);
    assert_eq!(counts.len(), 9);
    assert_eq!(counts[0], [pair("ash", 1)]);
    assert_eq!(counts[1], [pair("ash", 2), pair("elm", 1)]);
    assert_eq!(counts[3], [pair("ash", 1), pair("elm", 1)]);
    assert_eq!(counts[8], []);
    assert_eq!(releases[8]["note"], "the window has no events");
    assert_eq!(releases[1]["window"]["to"], "1970-01-01T00:00:20Z");
}

/// The release is there before the input ends.
#[test]
fn standard_input_is_followed_live() {
    let mut child = command(&["watch", "--window", "64", "--slide", "16"])
        .spawn()
        .unwrap();
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
    let file = common::temporary("watched-live.html", b"");
    let shown = || {
        let page = std::fs::read_to_string(&file).unwrap();
        page.matches("\"boundaries_epsilon\"").count()
    };
    let path = file.to_str().unwrap();
    let mut child = command(&["watch", "--window", "64", "--slide", "16", "--report", path])
        .spawn()
        .unwrap();
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
    let mut child = command(&["watch", "--window", "64", "--report", file.to_str().unwrap()])
        .spawn()
        .unwrap();
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
    assert!(
        told.contains("cannot write the report") && !told.contains("line "),
        "{told}"
    );
    assert!(!ended.status.success() && rest > 30);
}

#[test]
fn what_the_operator_should_know_is_told() {
    let sorted: String = (0..4_000).map(|i| format!("{:04}\n", i / 100)).collect();
    let output = frostpane(
        &["watch", "--window", "3200", "--delta", "0.01"],
        sorted.as_bytes(),
    );
    let told = stderr(&output);
    assert!(
        told.matches("the events seem to be sorted by key").count() == 1,
        "{told}"
    );
    assert!(told.matches("delta is 1e-2").count() == 1, "{told}");
    let policy = frostpane(&["watch", "--policy", "smooth"], b"");
    assert!(
        stderr(&policy).contains("leave --policy out"),
        "{}",
        stderr(&policy)
    );
}

#[test]
fn what_cannot_be_watched_is_said() {
    let two = frostpane(&["watch", "--window", "10", "--window", "20"], b"");
    assert!(stderr(&two).contains("2 windows were given, but a list at every slide has one"));
    let none = frostpane(&["watch", "--window", "1000"], b"a\nb\n");
    assert!(none.status.success() && none.stdout.is_empty());
    assert!(stderr(&none).contains("no slide has ended"), "{}", stderr(&none));
    let many = frostpane(&["watch", "--keys", "0..1000000000"], b"");
    assert!(
        stderr(&many).contains("declare fewer, or leave the keys open"),
        "{}",
        stderr(&many)
    );
}
