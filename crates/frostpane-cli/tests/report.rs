//! The page that the real executable writes, as a file and in a real browser.

use std::fs;

use crate::common::{
    assert_contains, assert_has, browser, folder, frostpane, names, page_data, read, releases, stderr,
    stdout, text, written,
};
use serde_json::Value;

const HOSTILE: &str = "<script>alert(1)</script>";

/// 4,000 events of five keys, with times a minute apart.
fn events() -> Vec<u8> {
    let keys = ["elm", "elm", "elm", "elm", "oak", "oak", "oak", HOSTILE, HOSTILE, "a & b"];
    let lines = (0..4_000).map(|i| format!("{}\t{}\n", 1_772_409_600 + 60 * i, keys[i % 10]));
    lines.collect::<String>().into_bytes()
}

const COLUMNS: [&str; 7] = ["list", "--key", "2", "--time", "1", "--format", "tsv"];

/// Runs `list` with a report, and returns the page, what was written and what was told.
fn report(name: &str, options: &[&str], input: &[u8]) -> (String, String, String) {
    let file = folder(&format!("report-{name}")).join("r.html");
    let output = frostpane(&[&COLUMNS[..], options, &["--report", text(&file)]].concat(), input);
    let shown = stdout(&output);
    assert_eq!(names(file.parent().unwrap()), ["r.html"]);
    (read(&file), shown, stderr(&output))
}

#[test]
fn the_page_has_the_release_that_is_written() {
    let (page, json, told) = report("json", &["--window", "4000", "--json"], &events());
    let release: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(page_data(&page), std::slice::from_ref(&release));
    assert_has(told, ["frostpane: the report is in ", "r.html"]);
    let heavy = release["heavy"].as_array().unwrap();
    assert_eq!(heavy.len(), 4);
    for heavy in heavy {
        let count = heavy["count"].as_u64().unwrap();
        let count = format!("{},{:03}", count / 1_000, count % 1_000);
        let count = count.strip_prefix("0,").unwrap_or(&count);
        assert!(page.contains(&format!("class=\"count\">{count}</td>")), "{count}: {page}");
    }
}

#[test]
fn the_page_comes_beside_a_table_or_csv() {
    let (page, table, _) = report("table", &["--window", "4000"], &events());
    assert_has(table, ["heavy hitters at alpha 0.05 of 4,000 events", "elm"]);
    assert_contains(&page, "<p class=\"subtitle\">4,000 events, number 0 up to 4,000</p>");
    let (page, csv, told) = report("csv", &["--window", "4000", "--csv"], &events());
    assert!(csv.starts_with("key,count,low,high\n"), "{csv}");
    assert!(!told.contains("guarantee"), "{told}");
    let said = [
        "With 95 % confidence, all of this holds at once:",
        "Every true count lies between the two numbers beside it",
        "<b>Protected</b> is the key of one event",
        "at most 2.8 times as likely or unlikely",
        "but for a chance of 1 in 1,000,000,000 (delta)",
    ];
    assert_has(page, said);
}

#[test]
fn a_page_does_not_praise_an_epsilon_that_protects_nobody() {
    for (epsilon, praised, warned) in [("1", true, false), ("3", false, false), ("11", false, true)] {
        let (page, _, _) = report("praise", &["--window", "4000", "--epsilon", epsilon], &events());
        assert_eq!(page.contains("learns next to nothing"), praised, "{page}");
        assert_eq!(page.contains("hardly anything is protected"), warned, "{page}");
    }
}

#[test]
fn the_top_and_all_keys_have_their_pages() {
    let (page, json, _) = report("top", &["--window", "4000", "--top", "2", "--json"], &events());
    let release: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&release["top"], &release["alpha"]), (&Value::from(2), &Value::Null));
    assert_eq!(release["heavy"].as_array().unwrap().len(), 2);
    let listed = "Listed are the keys with the highest counts, noise included: 2 at the most.";
    assert_has(&page, ["<h1>The 2 most frequent keys</h1>", listed]);
    assert!(!page.contains("promises hold"), "{page}");
    let (page, csv, _) = report("all", &["--window", "4000", "--all", "--csv"], &events());
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert_contains(&page, "Listed is every key whose count, noise included, was high enough");
}

/// And a hostile key is text, also in a browser.
#[test]
fn several_windows_have_a_section_each_and_one_price() {
    let (page, json, _) = report("windows", &["--window", "1d", "--window", "2d", "--json"], &events());
    assert_eq!(page_data(&page), releases(&json));
    assert!(json.lines().all(|list| list.contains(HOSTILE)), "{json}");
    let said = [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<p class=\"subtitle\">2 lists, of windows of 1d, 2d up to 4 March 2026, ",
        "<h2>Window of 1d</h2>",
        "<h2>Window of 2d</h2>",
        "<dt>The 2 lists together</dt><dd>epsilon 2, delta 2e-9</dd>",
    ];
    assert_has(&page, said);
    assert!(!page.contains("Rank over time"), "{page}");
    assert_eq!(browser::faults(&page, "windows"), Vec::<String>::new());
}

#[test]
fn integers_and_an_empty_stream_have_a_page() {
    let numbers: String = (0..2_000).map(|i| format!("{i}\t{}\n", i % 3)).collect();
    let (page, json, _) = report("integers", &["--keys", "0..3", "--json"], numbers.as_bytes());
    assert_eq!(page_data(&page)[0], serde_json::from_str::<Value>(&json).unwrap());
    assert!(page.contains("0: the privacy is pure"), "{page}");
    let (page, _, _) = report("empty", &[], b"0\telm\n");
    assert!(page.contains("<p class=\"empty\">Nothing is listed"), "{page}");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let folder = folder("report-link");
    let (file, link) = (written(&folder, "r.html", b"old"), folder.join("latest.html"));
    std::os::unix::fs::symlink("r.html", &link).unwrap();
    stdout(&frostpane(&["list", "--report", text(&link)], b"elm\n"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(read(&file).starts_with("<!doctype html>"));
}

#[test]
fn a_file_that_cannot_be_is_refused_before_any_event_is_read() {
    let folder = folder("report-refused");
    let within = folder.join("nowhere").join("r.html");
    for (file, why) in [
        (text(&within), "there is no such directory: make it, or give another name"),
        (text(&folder), "it is there and no file: give another name"),
        ("/dev/null", "it is there and no file: give another name"),
        ("..", "it is there and no file: give another name"),
    ] {
        for what in ["report", "guarantee"] {
            let output = frostpane(&["list", &format!("--{what}"), file], b"elm\n");
            assert_eq!(output.status.code(), Some(1));
            assert_eq!(stderr(&output), format!("frostpane: cannot write the {what} {file}: {why}\n"));
            assert!(output.stdout.is_empty());
        }
    }
}

#[test]
fn the_browser_finds_what_is_wrong_with_a_page() {
    if browser::find().is_none() {
        return;
    }
    let (page, _, _) = report("wrong", &["--window", "4000"], &events());
    let bar = page.split_once("class=\"fill\" x=\"0.000%\" y=\"2\" width=\"").unwrap().1;
    let width = bar.split_once('"').unwrap().0;
    for (right, wrong, fault) in [
        ("\"heavy\":[{\"key\":\"elm\"", "\"heavy\":[{\"key\":\"ash\"", "key: elm and not ash"),
        (width, "50%", "bar: "),
        ("&lt;script&gt;alert(1)&lt;/script&gt;", HOSTILE, "scripts: "),
        ("--quiet: #52626e", "--quiet: #999", "contrast "),
        ("max-width: 52rem) {", "max-width: 1px) {", "pixels"),
        ("scope=\"row\" ", "", "a heading without a scope"),
        ("screen and (max-width", "(max-width", "on paper a row is: grid, avoid"),
        ("screen and (prefers-color-scheme: dark)", "(prefers-color-scheme: dark)", "paper: rgb(18, 24, 29)"),
    ] {
        assert!(page.contains(right), "{right}");
        let found = browser::faults(&page.replacen(right, wrong, 1), "wrong");
        assert!(found.iter().any(|found| found.contains(fault)), "{fault}: {found:?}");
    }
}
