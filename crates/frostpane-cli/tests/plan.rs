//! `frostpane plan` on the real executable.

mod common;

use common::{frostpane, stderr, stdout};
use serde_json::Value;

fn plan(args: &[&str]) -> String {
    stdout(&frostpane(&[&["plan"], args].concat(), b""))
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&plan(&[&["--json"], args].concat())).unwrap()
}

#[test]
fn a_plan_answers_before_any_data() {
    let text = plan(&[]);
    for expected in [
        "64 of 15,625 events, all counted exactly",
        "scale 2.22; with 95 % confidence no count is off by more than 40",
        "never below 46, for privacy",
        "held from an L2 norm of 3,330 on",
        "a window 4 times as long",
        "at least 1.2e16 events",
    ] {
        assert!(
            text.lines().any(|line| line.contains(expected)) || text.replace('\n', " ").contains(expected),
            "{expected}: {text}"
        );
    }
}

#[test]
fn a_plan_as_json_has_its_parts() {
    let whole = json(&["--norm", "l1", "--alpha", "0.001", "--target-count", "500"]);
    assert_eq!(whole["forecast"]["threshold"], 750);
    assert_eq!(whole["forecast"]["least_listed"], 771);
    assert_eq!(whole["forecast"]["held"], true);
    assert_eq!(whole["plan"]["entries"], 15_625);
    assert_eq!(whole["target"]["count"], 500);
    assert!(whole["memory"].as_u64().unwrap() < 64_000_000);
    assert!(whole["published"]["window"].as_f64().unwrap() > 1e20);
}

/// What `plan` says of L1, `list` says too.
#[test]
fn list_keeps_to_the_plan() {
    let options = [
        "--norm",
        "l1",
        "--alpha",
        "0.01",
        "--window",
        "50000",
        "--epsilon",
        "0.7",
    ];
    let forecast = &json(&options)["forecast"];
    let events: Vec<u8> = (0..50_000)
        .flat_map(|i| format!("{}\n", i % 300).into_bytes())
        .collect();
    let release: Value = serde_json::from_str(&stdout(&frostpane(
        &[&["list", "--json"], &options[..]].concat(),
        &events,
    )))
    .unwrap();
    for (field, predicted) in [
        ("threshold", "threshold"),
        ("noise", "noise"),
        ("cut", "cut"),
        ("complete_above", "least_listed"),
    ] {
        assert_eq!(release[field], forecast[predicted], "{field}");
    }
    assert_eq!(release["promises"]["held"], forecast["held"]);
}

#[test]
fn the_target_tells_an_epsilon_that_does_it() {
    let options = ["--norm", "l1", "--alpha", "0.0001"];
    let epsilon = json(&[&options[..], &["--target-count", "300"]].concat())["target"]["epsilon"].to_string();
    let reached = json(&[&options[..], &["--epsilon", &epsilon]].concat());
    assert!(
        reached["forecast"]["least_listed"].as_u64().unwrap() <= 300,
        "{reached}"
    );
    let rare = plan(&["--target-count", "1"]);
    assert!(
        rare.contains("No epsilon up to 100 surely lists a key that occurs so rarely (1): ask for a"),
        "{rare}"
    );
}

#[test]
fn every_wrong_request_ends_with_one_sentence_that_says_what_to_do() {
    for (args, code, expected) in [
        (
            &["--window", "30d"][..],
            1,
            "say how many to expect, with --events",
        ),
        (
            &["--memory", "6MB"],
            1,
            "a memory of 6.0 MB is too small for this window and alpha: give at least ",
        ),
        (
            &["--memory", "much"],
            2,
            "give a size such as 64MB, 1.5GB or 64MiB",
        ),
        (&["--epsilon", "-1"], 1, "epsilon is -1, but must be above 0"),
        (&["--epsilon", "NaN"], 1, "epsilon is NaN, but must be above 0"),
        (&["--epsilon", "2000000"], 1, "can be at most 1000000"),
        (
            &["--alpha", "0"],
            1,
            "alpha is 0, but must be above 0 and below 1",
        ),
        (&["--delta", "0"], 1, "declare the keys, or allow a small delta"),
        (
            &["--slide", "2000000"],
            1,
            "the slide is 2000000 events, but must be above 0 and at most the window's 1000000 events",
        ),
    ] {
        for command in ["plan", "list"] {
            let output = frostpane(&[&[command], args].concat(), b"1\n");
            if command == "list" && expected.contains("--events") {
                continue;
            }
            assert_eq!(
                output.status.code(),
                Some(code),
                "{command} {args:?}: {}",
                stderr(&output)
            );
            assert!(
                stderr(&output).contains(expected),
                "{command} {args:?}: {}",
                stderr(&output)
            );
            assert!(output.stdout.is_empty());
        }
    }
}
