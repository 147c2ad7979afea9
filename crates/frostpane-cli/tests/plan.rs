//! `frostpane plan` on the real executable.

use crate::common::{
    assert_contains, assert_has, assert_refused, frostpane, json, one_line, planned, releases, stdout,
    temporary, text, words,
};
use serde_json::Value;

fn plan(args: &[&str]) -> String {
    stdout(&frostpane(&[&["plan"], args].concat(), b""))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn a_plan_answers_before_any_data_in_words_and_as_json() {
    let told = [
        "64 of 15,625 events, all counted exactly",
        "scale 2.22, standard deviation 3.1; with 95 % confidence no count is off by more than 23",
        "never below 46, for privacy",
        "held from an L2 norm of 1,994 on",
        "a window 4 times as long",
        "at least 1.2e16 events",
    ];
    assert_has(one_line(&plan(&[])), told);
    let whole = planned(&["--norm", "l1", "--alpha", "0.001", "--target-count", "500"]);
    for (field, value) in [
        ("/forecast/threshold", 750),
        ("/forecast/least_listed", 771),
        ("/plan/entries", 15_625),
        ("/target/count", 500),
    ] {
        assert_eq!(number(whole.pointer(field).unwrap()), value, "{field}");
    }
    assert_eq!(whole["forecast"]["held"], true);
    assert!(number(&whole["memory"]) < 64_000_000);
    assert!(whole["published"]["window"].as_f64().unwrap() > 1e20);
}

/// Compares a release with its plan, which assumes even panes: these have the most keys, cut and noise.
fn assert_foreseen(release: &Value, whole: &Value, evenly: bool, case: &str) {
    let forecast = &whole["forecast"];
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
    planned(&args)
}

const LISTS: [&[&str]; 4] = [
    &["--norm", "l1", "--alpha", "0.002"],
    &["--norm", "l2", "--alpha", "0.1"],
    &["--top", "1000"],
    &["--all"],
];
const BUDGETS: [&[&str]; 2] = [&[], &["--epsilon", "0.3", "--memory", "14MB"]];

/// The options of every list with every budget, over two windows, with open keys and with declared ones.
fn cases(windows: [&'static str; 2], declared: &'static str) -> Vec<Vec<&'static str>> {
    let mut cases = Vec::new();
    for window in windows.map(words) {
        for (list, budget) in LISTS.iter().flat_map(|list| BUDGETS.map(|budget| (list, budget))) {
            for keys in [vec![], words(declared)] {
                cases.push([&window[..], list, budget, &keys].concat());
            }
        }
    }
    cases
}

/// Options that read the events of these tests.
const READ: [&str; 7] = ["--json", "--format", "tsv", "--key", "2", "--time", "1"];

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
    let mut cuts = 0;
    for options in cases(["--window 50000", "--window 10d --slide 1d"], "--keys 0..300") {
        let release = json(&[&["list"], &READ[..], &options].concat(), &events);
        assert_eq!(release["window"]["events"], 50_000);
        assert_foreseen(&release, &plan_of(&release, &options), true, &options.join(" "));
        cuts += u32::from(release["cut"] != 0);
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
    let options = words("--all --window 10d --slide 1d --memory 16MB");
    let release = json(&[&["list"], &READ[..], &options].concat(), lines.concat().as_bytes());
    let whole = plan_of(&release, &options);
    assert_foreseen(&release, &whole, false, "uneven");
    let [cut, foreseen] = [&release["cut"], &whole["forecast"]["cut"]].map(number);
    assert!(cut > foreseen, "{cut} is no more than {foreseen}");
}

/// The last of the lists, whose window is full.
#[test]
fn a_list_at_every_slide_says_of_itself_what_its_plan_said() {
    let events = even_stream();
    for options in cases(["--window 32000", "--window 8d --slide 1d"], "--keys 0..300 --together 10") {
        let output = stdout(&frostpane(&[&["watch"], &READ[..], &options].concat(), &events));
        let release = releases(&output).pop().unwrap();
        let whole = plan_of(&release, &[&["--watch"], &options[..]].concat());
        let case = options.join(" ");
        assert_foreseen(&release, &whole, true, &case);
        assert_eq!(release["continual"]["memory"], whole["memory"], "{case}");
        for field in words("panes nodes scale deviation together memory") {
            let planned = &whole["forecast"]["continual"][field];
            assert_eq!(&release["continual"][field], planned, "{case}: {field}");
        }
    }
}

#[test]
fn plain_counting_shows_what_bounded_memory_costs() {
    let bounded = words("--all --memory 14MB --distinct 2000");
    let [exact, cut] = [&["--all"][..], &bounded].map(planned);
    let least = &exact["forecast"]["least_listed"];
    assert_eq!((&exact["plain"]["least_listed"], &cut["plain"]["least_listed"]), (least, least));
    let costs = number(&cut["forecast"]["least_listed"]) - number(least);
    let missing = number(&cut["forecast"]["cut"]);
    // With a higher threshold fewer keys can be frequent, so noise reaches a little less far.
    assert!(missing > 0 && costs <= missing && costs + 10 > missing, "{costs} {missing}");
    // 4,096 slots of 25 bytes, and blocks of 32 bytes for the keys.
    assert_eq!(cut["plain"]["memory"], 4_096 * 25 + 2_000 * 32);
    let told = "about 0.2 MB for 2,000 counts: so here bounded memory costs";
    assert_contains(one_line(&plan(&bounded)), told);
}

#[test]
fn the_top_keys_and_all_keys_are_planned_without_a_norm() {
    for (list, heading, surely) in [
        (&["--top", "20"][..], "The top 20 keys at epsilon 1 of 1,000,000 events", 71),
        (&["--all"], "All keys that may be listed at epsilon 1 of 1,000,000 events", 67),
    ] {
        let text = plan(list);
        assert!(text.starts_with(heading), "{text}");
        let surely = format!("surely listed  every key that occurs {surely} times");
        let threshold = "threshold      42, for privacy: what is listed has a count, noise included";
        assert_has(&text, [threshold, &surely]);
        for word in ["norm", "promises", "alpha", "paper"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn the_target_tells_an_epsilon_that_does_it() {
    let plan_for = |options: &str| planned(&words(&format!("--norm l1 {options}")));
    let least = |plan: Value| number(&plan["forecast"]["least_listed"]);
    let target = &plan_for("--alpha 0.0001 --target-count 300")["target"];
    let (epsilon, alpha) = (&target["epsilon"], &target["alpha"]);
    assert!(least(plan_for(&format!("--alpha 0.0001 --epsilon {epsilon}"))) <= 300);
    assert!(least(plan_for(&format!("--alpha {alpha} --epsilon {epsilon}"))) <= 300);
    assert!(least(plan_for(&format!("--alpha 0.9 --epsilon {epsilon}"))) > 300);
    assert_contains(
        plan(&["--target-count", "1"]),
        "No epsilon up to 100 surely lists a key that occurs so rarely (1): ask for a",
    );
}

#[test]
fn a_specification_of_a_list_at_every_slide_is_planned_as_one() {
    let spec = b"continual = true\nall = true\nwindow = 3200\ntogether = 1000\n";
    let spec = temporary("watched.toml", spec);
    let of_options = words("--watch --all --window 3200 --together 1000");
    assert_eq!(planned(&["--watch", "--spec", text(&spec)]), planned(&of_options));
    let told = [
        "Continual release. All keys that may be listed at epsilon 1 of 3,200 events",
        "all lists together cost epsilon 1, however many there are",
        "up to 32 values of scale 2.00 add up",
    ];
    assert_has(plan(&of_options), told);
    for (options, why) in [
        (&["--spec", text(&spec)][..], "or to `frostpane plan` with --watch"),
        (
            &["--watch", "--window", "100", "--window", "200"],
            "2 windows were given, but continual release has one",
        ),
        (&["--together", "1000"], "is about continual release: plan it with --watch"),
    ] {
        assert_refused(&frostpane(&[&["plan"], options].concat(), b""), why);
    }
}
