//! The real executable, as people run it.

use crate::common::{exact, frostpane, heavy, stdout, temporary};

/// Four thousand events of two keys, a second apart, as `time<TAB>key`.
fn events() -> Vec<u8> {
    (0..4_000)
        .flat_map(|i| {
            format!("{}\t{}\n", 1_700_000_000 + i, if i % 4 == 0 { "oak" } else { "elm" }).into_bytes()
        })
        .collect()
}

#[test]
fn a_list_for_people_has_counts_and_a_guarantee() {
    let text = stdout(&frostpane(&["list", "--format", "tsv", "--key", "2"], &events()));
    assert!(
        text.starts_with("L2 heavy hitters at alpha 0.05 of 4,000 events, number 0 up to 4,000"),
        "{text}"
    );
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('█')).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows[0].ends_with("elm") && rows[1].ends_with("oak"), "{text}");
    assert!(text.contains("With 95 % confidence"), "{text}");
}

#[test]
fn the_whole_line_is_the_key_unless_told_and_files_follow_each_other() {
    let (first, second) =
        (temporary("first.txt", &b"a b\r\n".repeat(500)), temporary("second.txt", &b"c\n".repeat(400)));
    let release =
        exact(&["--window", "700", "--slide", "100", first.to_str().unwrap(), second.to_str().unwrap()], b"");
    assert_eq!(release["window"], serde_json::json!({"events": 700, "from": 200, "to": 900}));
    assert_eq!(heavy(&release), [("c".to_owned(), 400), ("a b".to_owned(), 300)]);
}

#[test]
fn declared_keys_are_released_purely() {
    let trees = temporary("trees.txt", b"elm\noak\nyew\n");
    let options = ["--format", "tsv", "--key", "2", "--keys", trees.to_str().unwrap()];
    let release = exact(&options, &events());
    assert_eq!(release["delta"], 0.0);
    assert_eq!(heavy(&release), [("elm".to_owned(), 3_000), ("oak".to_owned(), 1_000)]);

    let numbers: Vec<u8> = (0..3_000).flat_map(|i| format!("{}\n", i % 3).into_bytes()).collect();
    let release = exact(&["--keys", "0..2"], &numbers);
    assert_eq!(release["window"]["events"], 3_000, "an undeclared key is an event all the same");
    let keys: Vec<u64> =
        release["heavy"].as_array().unwrap().iter().map(|heavy| heavy["key"].as_u64().unwrap()).collect();
    assert_eq!(keys, [0, 1]);
}

#[test]
fn late_events_are_reported_to_the_operator_and_not_in_the_release() {
    let late = [events(), b"1600000000\tash\n".to_vec()].concat();
    let columns = ["--format", "tsv", "--key", "2", "--time", "1"];
    let options = [&["list", "--window", "1h", "--json"], &columns[..]].concat();
    let output = frostpane(&options, &late);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("1 of 4,001 events came too late") && message.contains("--lateness"),
        "{message}"
    );
    assert!(!stdout(&output).contains("late"));
}

#[test]
fn keys_that_would_harm_a_terminal_or_json_are_escaped() {
    let hostile = b"\x1b[2Jgone \"quoted\" \xff\n".repeat(1_000);
    let text = stdout(&frostpane(&["list"], &hostile));
    assert!(text.contains("\\u{1b}[2Jgone \"quoted\" \\xff") && !text.contains('\x1b'), "{text}");
    let release = exact(&[], &hostile);
    assert_eq!(heavy(&release)[0].0, "\u{1b}[2Jgone \"quoted\" \\xff");
}
