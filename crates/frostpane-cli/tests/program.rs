//! The real executable, as people run it.

use crate::common::{assert_told, exact, frostpane, heavy, stdout, temporary, text, words};

/// Four thousand events of two keys, a second apart, as `time<TAB>key`.
fn events() -> Vec<u8> {
    (0..4_000)
        .flat_map(|i| {
            format!("{}\t{}\n", 1_700_000_000 + i, if i % 4 == 0 { "oak" } else { "elm" }).into_bytes()
        })
        .collect()
}

#[test]
fn declared_keys_are_released_purely() {
    let trees = temporary("trees.txt", b"elm\noak\nyew\n");
    let release = exact(&["--format", "tsv", "--key", "2", "--keys", text(&trees)], &events());
    assert_eq!(release["delta"], 0.0);
    assert_eq!(heavy(&release), [("elm".to_owned(), 3_000), ("oak".to_owned(), 1_000)]);

    let release = exact(&["--keys", "0..2"], &b"0\n1\n2\n".repeat(1_000));
    assert_eq!(release["window"]["events"], 3_000, "an undeclared key is an event all the same");
    let keys = release["heavy"].as_array().unwrap().iter().map(|heavy| &heavy["key"]);
    assert_eq!(keys.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn late_events_are_reported_to_the_operator_and_not_in_the_release() {
    let late = [events(), b"1600000000\tash\n".to_vec()].concat();
    let output = frostpane(&words("list --window 1h --json --format tsv --key 2 --time 1"), &late);
    assert_told(&output, "1 of 4,001 events came too late");
    assert_told(&output, "--lateness");
    assert!(!stdout(&output).contains("late"));
}

#[test]
fn keys_that_would_harm_a_terminal_or_json_are_escaped() {
    let hostile = b"\x1b[2Jgone \"quoted\" \xff\n".repeat(1_000);
    let table = stdout(&frostpane(&["list"], &hostile));
    assert!(table.contains("\\u{1b}[2Jgone \"quoted\" \\xff") && !table.contains('\x1b'), "{table}");
    assert_eq!(heavy(&exact(&[], &hostile))[0].0, "\u{1b}[2Jgone \"quoted\" \\xff");
}
