//! The real executable, as people run it.

use crate::common::{assert_contains, exact, frostpane, heavy, stderr, stdout, temporary, words};

/// Four thousand events of two keys, a second apart, as `time<TAB>key`.
fn events() -> Vec<u8> {
    (0..4_000)
        .flat_map(|i| {
            format!("{}\t{}\n", 1_700_000_000 + i, if i % 4 == 0 { "oak" } else { "elm" }).into_bytes()
        })
        .collect()
}

#[test]
fn the_demo_ends_with_a_list_and_its_guarantee() {
    let text = stdout(&frostpane(&["demo"], b""));
    assert!(text.contains("pancakes") && text.contains("snow tomorrow"), "{text}");
    assert!(text.contains("the three promises at alpha 0.05"), "{text}");
    assert_contains(&text, "Privacy: epsilon 1, delta 1e-9, for the key of one event.");
    assert!(!text.contains("where is parcel"), "a single search is shown: {text}");
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

#[test]
fn every_wrong_use_ends_with_one_sentence_that_says_what_to_do() {
    let cases: [(&[&str], i32, &str); 11] = [
        (&["list", "no/such/file"], 1, "frostpane: cannot read no/such/file: there is no such file"),
        (&["list", "--window", "30d"], 1, "say which column holds them, with --time"),
        (&["list", "--time", "1"], 1, "say which one holds the key, with --key"),
        (&["list", "--key", "0"], 1, "columns are counted from 1"),
        (
            &["list", "--key", "2"],
            1,
            "standard input: nothing tells how its columns are written: say so with --format",
        ),
        (
            &words("list --format tsv --key 1 --time 2 --window 1h"),
            1,
            "no event has a time: is --time 2 right? The first is in standard input, line 1",
        ),
        (
            &["list", "--window", "1000", "--slide", "1h"],
            1,
            "must both be numbers of events or both be times",
        ),
        (
            &["list", "--window", "soon"],
            2,
            "give a number of events such as 1000000, 10k or 1M, or a time such as 90s",
        ),
        (&["list", "--tpo", "20"], 2, "a similar argument exists: '--top'"),
        (&["list", "--json", "--csv"], 2, "'--json' cannot be used with '--csv'\n\nUsage:"),
        (&["list", "--keys", "5..5"], 1, "the range of keys 5..5 is empty"),
    ];
    for (args, code, expected) in cases {
        let output = frostpane(args, b"1\telm\n");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains(expected), "{args:?}: {message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_empty_stream_is_explained() {
    let output = frostpane(&["list"], b"");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let told = String::from_utf8_lossy(&output.stderr);
    assert_contains(&told, "there is no event: nothing was released, and no file was written");
}

#[test]
fn keys_that_are_missing_too_long_or_undeclared_are_events_without_a_key() {
    let long = [vec![b'x'; 70_000], b"\n".to_vec()].concat();
    let lines = [b"elm\n".repeat(700), b"\n".repeat(200), long.repeat(2), b"ash\n".repeat(98)].concat();
    let trees = temporary("declared.txt", b"elm\nyew\n");
    let options = ["--keys", trees.to_str().unwrap()];
    let output = frostpane(&[&crate::common::EXACT[..], &options].concat(), &lines);
    let told = stderr(&output);
    assert_contains(&told, "300 of 1,000 events had no key that counts");
    let release: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(release["window"]["events"], 1_000);
    assert_eq!(heavy(&release), [("elm".to_owned(), 700)]);
    assert!(!stdout(&output).contains("300"), "the number must not be published");
}
