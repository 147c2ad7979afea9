//! `frostpane plan` on the real executable.

use crate::common::{assert_contains, frostpane, stderr, stdout, words};
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
        "scale 2.22, standard deviation 3.1; with 95 % confidence no count is off by more",
        "than 23",
        "never below 46, for privacy",
        "held from an L2 norm of 1,994 on",
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

/// Compares a release with its plan. A plan assumes even panes: these have the most keys, so the least cut and
/// the most noise.
fn assert_foreseen(release: &Value, whole: &Value, evenly: bool, case: &str) {
    let forecast = &whole["forecast"];
    let number = |value: &Value| value.as_u64().unwrap();
    let [cut, noise] = ["cut", "noise"].map(|field| number(&release[field]));
    let [foreseen, most, reach] = ["cut", "most_cut", "noise"].map(|field| number(&forecast[field]));
    if evenly {
        assert_eq!(cut, foreseen, "{case}");
    }
    assert!(cut <= most && noise <= reach, "{case}: {cut} of {most}, {noise} of {reach}");
    // The cut is in the threshold where that is the least that privacy allows.
    let [least, planned] = [&release["threshold"], &forecast["threshold"]].map(number);
    assert!(least == planned || !evenly && least <= planned + most - foreseen, "{case}: {least}, {planned}");
    let [came, planned] = [&release["complete_above"], &forecast["least_listed"]].map(number);
    assert!(came <= planned + most - foreseen, "{case}: {came}, {planned}");
    if forecast["held"] == true {
        assert!(release["promises"]["held"] == true || !evenly, "{case}");
    }
}

/// The plan of a release that is there, which tells how many events it has and, for L2, the norm.
fn plan_of(release: &Value, options: &[&str]) -> Value {
    let (events, norm) = (release["window"]["events"].to_string(), release["norm_estimate"].to_string());
    let mut args = [options, &["--events", &events]].concat();
    if release["policy"] != "fixed" && release["continual"].is_null() {
        args.push("--pipe");
    }
    if release["norm"] == "l2" {
        args.extend(["--at-norm", &norm]);
    }
    json(&args)
}

const LISTS: [&[&str]; 4] = [
    &["--norm", "l1", "--alpha", "0.002"],
    &["--norm", "l2", "--alpha", "0.1"],
    &["--top", "1000"],
    &["--all"],
];
const BUDGETS: [&[&str]; 2] = [&[], &["--epsilon", "0.3", "--memory", "14MB"]];

/// 300 keys, one event in 17.28 seconds for ten days, so that panes are even by time as well.
fn even_stream() -> Vec<u8> {
    let event = |i: u64| {
        let time = 1_700_006_400_000_000 + i * 17_280_000;
        format!("{time}\t{}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (i % 300 + 1))
    };
    (0..50_000).map(event).collect::<String>().into_bytes()
}

/// Numbers that follow from public ones are as planned, to the digit.
#[test]
fn a_list_says_of_itself_what_its_plan_said() {
    let events = even_stream();
    let read = ["list", "--json", "--format", "tsv", "--key", "2", "--time", "1"];
    let mut cuts = 0;
    for window in [&["--window", "50000"][..], &["--window", "10d", "--slide", "1d"]] {
        for (list, budget) in LISTS.iter().flat_map(|list| BUDGETS.map(|budget| (list, budget))) {
            for keys in [&[][..], &["--keys", "0..300"]] {
                let options = [window, list, budget, keys].concat();
                let release = crate::common::json(&[&read, &options[..]].concat(), &events);
                assert_eq!(release["window"]["events"], 50_000);
                assert_foreseen(&release, &plan_of(&release, &options), true, &options.join(" "));
                cuts += u32::from(release["cut"] != 0);
            }
        }
    }
    assert!(cuts >= 4, "only {cuts} lists were cut");
}

/// Most events in the first of ten days: more is cut than from even days, and no more than the plan says.
#[test]
fn a_list_by_time_stays_within_its_plan_however_events_spread() {
    let event = |i: u64| {
        let day = if i < 40_000 { 0 } else { i % 10 };
        format!("{}\t{}\n", 1_700_006_400 + 86_400 * day + i % 86_400, i % 7_000)
    };
    let mut lines: Vec<String> = (0..50_000).map(event).collect();
    lines.sort();
    let options = ["--all", "--window", "10d", "--slide", "1d", "--memory", "16MB"];
    let read = ["list", "--json", "--format", "tsv", "--key", "2", "--time", "1"];
    let release = crate::common::json(&[&read, &options[..]].concat(), lines.concat().as_bytes());
    let whole = plan_of(&release, &options);
    assert_foreseen(&release, &whole, false, "uneven");
    let [cut, foreseen] = [&release["cut"], &whole["forecast"]["cut"]].map(|cut| cut.as_u64().unwrap());
    assert!(cut > foreseen, "{cut} is no more than {foreseen}");
}

/// The last of the lists, whose window is full.
#[test]
fn a_list_at_every_slide_says_of_itself_what_its_plan_said() {
    let events = even_stream();
    let read = ["watch", "--json", "--format", "tsv", "--key", "2", "--time", "1"];
    for window in [&["--window", "32000"][..], &["--window", "8d", "--slide", "1d"]] {
        for (list, budget) in LISTS.iter().flat_map(|list| BUDGETS.map(|budget| (list, budget))) {
            for keys in [&[][..], &["--keys", "0..300", "--together", "10"]] {
                let options = [window, list, budget, keys].concat();
                let output = stdout(&frostpane(&[&read, &options[..]].concat(), &events));
                let release: Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
                let whole = plan_of(&release, &[&["--watch"], &options[..]].concat());
                let case = options.join(" ");
                assert_foreseen(&release, &whole, true, &case);
                assert_eq!(release["continual"]["memory"], whole["memory"], "{case}");
                for field in words("panes nodes scale deviation horizon together memory") {
                    let planned = &whole["forecast"]["continual"][field];
                    assert_eq!(&release["continual"][field], planned, "{case}: {field}");
                }
            }
        }
    }
}

#[test]
fn plain_counting_shows_what_bounded_memory_costs() {
    let exact = json(&["--all"]);
    assert_eq!(exact["plain"]["least_listed"], exact["forecast"]["least_listed"]);
    let cut = json(&["--all", "--memory", "14MB", "--distinct", "2000"]);
    assert_eq!(cut["plain"]["least_listed"], exact["forecast"]["least_listed"]);
    let [costs, missing] = [
        cut["forecast"]["least_listed"].as_u64().unwrap()
            - exact["forecast"]["least_listed"].as_u64().unwrap(),
        cut["forecast"]["cut"].as_u64().unwrap(),
    ];
    // With a higher threshold fewer keys can be frequent, so noise reaches a little less far.
    assert!(missing > 0 && costs <= missing && costs + 10 > missing, "{costs} {missing}");
    // 4,096 slots of 25 bytes, and blocks of 32 bytes for the keys.
    assert_eq!(cut["plain"]["memory"], 4_096 * 25 + 2_000 * 32);
    let text = plan(&["--all", "--memory", "14MB", "--distinct", "2000"]).replace('\n', " ");
    assert_contains(&text, "about 0.2 MB for 2,000 counts: so here bounded memory costs");
}

#[test]
fn the_top_keys_and_all_keys_are_planned_without_a_norm() {
    for (list, heading, surely) in [
        (&["--top", "20"][..], "The top 20 keys at epsilon 1 of 1,000,000 events", 71),
        (&["--all"], "All keys that may be listed at epsilon 1 of 1,000,000 events", 67),
    ] {
        let text = plan(list);
        assert!(text.starts_with(heading), "{text}");
        assert!(text.contains("threshold      42, for privacy: what is listed has a count, noise included"));
        assert!(text.contains(&format!("surely listed  every key that occurs {surely} times")), "{text}");
        for word in ["norm", "promises", "alpha", "paper"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn the_target_tells_an_epsilon_that_does_it() {
    let options = ["--norm", "l1", "--alpha", "0.0001"];
    let epsilon = json(&[&options[..], &["--target-count", "300"]].concat())["target"]["epsilon"].to_string();
    let reached = json(&[&options[..], &["--epsilon", &epsilon]].concat());
    assert!(reached["forecast"]["least_listed"].as_u64().unwrap() <= 300, "{reached}");
    let alpha = json(&[&options[..], &["--target-count", "300"]].concat())["target"]["alpha"].to_string();
    for (alpha, listed) in [(alpha, true), ("0.9".to_owned(), false)] {
        let reached = json(&["--norm", "l1", "--alpha", &alpha, "--epsilon", &epsilon]);
        let least = reached["forecast"]["least_listed"].as_u64().unwrap();
        assert_eq!(least <= 300, listed, "alpha {alpha}: {least}");
    }
    let rare = plan(&["--target-count", "1"]);
    assert_contains(&rare, "No epsilon up to 100 surely lists a key that occurs so rarely (1): ask for a");
}

#[test]
fn a_specification_of_a_list_at_every_slide_is_planned_as_one() {
    let spec = crate::common::temporary(
        "watched.toml",
        b"continual = true\nall = true\nwindow = 3200\nhorizon = 1000\n",
    );
    let spec = ["--spec", spec.to_str().unwrap()];
    let refused = frostpane(&[&["plan"], &spec[..]].concat(), b"");
    assert!(stderr(&refused).contains("or to `frostpane plan` with --watch"));
    let of_options = ["--watch", "--all", "--window", "3200", "--horizon", "1000"];
    assert_eq!(json(&[&["--watch"], &spec[..]].concat()), json(&of_options));
    let text = plan(&of_options);
    for expected in [
        "A list at every slide. All keys that may be listed at epsilon 1 of 3,200 events",
        "all lists together cost epsilon 1, however many there are",
        "up to 32 values of scale 2.00 add up",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let several = frostpane(&["plan", "--watch", "--window", "100", "--window", "200"], b"");
    assert!(stderr(&several).contains("2 windows were given, but a list at every slide has one"));
    let alone = frostpane(&["plan", "--horizon", "1000"], b"");
    assert!(stderr(&alone).contains("are about a list at every slide: plan it with --watch"));
}
