//! Several windows in one pass, policies, and what a window leaves out, on the real executable.

use crate::common::{
    EXACT, assert_contains, assert_has, assert_told, frostpane, heavy, one_line, planned, read, releases,
    stderr, stdout, temporary, text, words,
};
use serde_json::Value;

/// Keys that change along the stream: elm in the first half, oak in the second, yew in the last tenth of it.
fn trees(events: usize) -> Vec<u8> {
    let key = |i: usize| match 10 * i / events {
        0..5 => "elm",
        9.. if i.is_multiple_of(2) => "yew",
        _ => "oak",
    };
    let lines = (0..events).map(|i| format!("{}\n", key(i)));
    lines.collect::<String>().into_bytes()
}

/// An event a minute, with its time, from midnight on.
fn minutes(events: usize) -> Vec<u8> {
    let lines = (0..events).map(|i| format!("{}\telm\n", 1_772_409_600 + 60 * i));
    lines.collect::<String>().into_bytes()
}

fn list(args: &[&str], input: &[u8]) -> String {
    one_line(&stdout(&frostpane(&[&["list"], args].concat(), input)))
}

fn plan(args: &[&str]) -> String {
    one_line(&stdout(&frostpane(&[&["plan", "--pipe"], args].concat(), b"")))
}

const COLUMNS: [&str; 6] = ["--format", "tsv", "--key", "2", "--time", "1"];
const THREE: [&str; 6] = ["--window", "6400", "--window", "64000", "--window", "640"];

#[test]
fn several_windows_are_released_in_one_pass_in_the_order_given() {
    let output = frostpane(&[&EXACT[..], &THREE].concat(), &trees(64_000));
    let releases: Vec<Value> = releases(&stdout(&output));
    let lists: Vec<Vec<(String, u64)>> = releases.iter().map(heavy).collect();
    let key = |key: &str, count| (key.to_owned(), count);
    assert_eq!(lists[0], [key("oak", 3_200), key("yew", 3_200)]);
    assert_eq!(lists[1], [key("elm", 32_000), key("oak", 28_800)]);
    assert_eq!(lists[2], [key("oak", 320), key("yew", 320)]);
    for release in &releases {
        assert_eq!(release["policy"], "exponential");
        assert_eq!(release["asked"]["from"], release["window"]["from"]);
    }
    assert_told(&output, "frostpane: the 3 lists together cost epsilon 300000, delta 3e-9\n");
}

#[test]
fn tables_name_their_window_and_the_total_is_told_once() {
    let shown = stdout(&frostpane(&[&["list"], &THREE[..]].concat(), &trees(64_000)));
    let headings: Vec<&str> = shown.lines().filter(|line| line.starts_with("Window of ")).collect();
    assert_eq!(headings, ["Window of 6,400 events", "Window of 64,000 events", "Window of 640 events"]);
    let shown = one_line(&shown);
    assert_eq!(shown.matches("With 95 % confidence").count(), 3, "{shown}");
    for once in [
        "Panes: exponential, merged as they age.",
        "Privacy: epsilon 1, delta 1e-9 a list, for the key of one event; \
         the 3 lists together cost epsilon 3, delta 3e-9. Not hidden:",
    ] {
        assert_eq!(shown.matches(once).count(), 1, "{once}: {shown}");
    }
}

#[test]
fn rows_of_several_windows_begin_with_their_window() {
    let options = ["list", "--csv", "--epsilon", "100000", "--alpha", "0.1"];
    let windows = ["--window", "6_400", "--window", "640"];
    let guarantee = temporary("windows-guarantee.txt", b"");
    let file = ["--guarantee", text(&guarantee)];
    let output = frostpane(&[&options[..], &windows, &file].concat(), &trees(64_000));
    assert_eq!(
        stdout(&output),
        "window,key,count,low,high\n\
         6_400,oak,3200,3200,3200\n\
         6_400,yew,3200,3200,3200\n\
         640,oak,320,320,320\n\
         640,yew,320,320,320\n"
    );
    let heading = "Window of 640 events L2 heavy hitters at alpha 0.1 of 640 events";
    assert_has(one_line(&read(&guarantee)), [heading, "the 2 lists together cost epsilon 200000"]);
}

/// Without a slide, the panes of several windows end where a clock shows it.
#[test]
fn windows_by_time_share_a_pass_too_and_begin_at_round_times() {
    let list = |options: &str, events| {
        releases(&stdout(&frostpane(&[&EXACT[..], &COLUMNS, &words(options)].concat(), &minutes(events))))
    };
    let of_an_hour = list("--window 4h --window 1d --slide 1h", 3_000);
    let events: Vec<u64> =
        of_an_hour.iter().map(|release| release["window"]["events"].as_u64().unwrap()).collect();
    assert_eq!(events, [240, 1_440], "50 whole hours");
    let without_a_slide = list("--window 25h --window 49h", 3_001);
    assert_eq!(without_a_slide.len(), 2);
    for release in without_a_slide {
        let from = release["window"]["from"].as_str().unwrap();
        assert!(from.ends_with(":00Z"), "{from}");
    }
}

/// The ends of panes are paid for once, whatever the number of releases.
#[test]
fn private_boundaries_are_paid_for_once() {
    let options = words("--policy smooth --window 64000 --window 32000 --alpha 0.3");
    let told = [
        "Panes: smooth, ended where the norm had grown.",
        "Privacy: epsilon 1 (0.25 of it for where panes end), delta 1e-9 a list",
        "the 2 lists together cost epsilon 1.75, delta 2e-9.",
    ];
    assert_has(list(&options, &trees(64_000)), told);
    assert_eq!(planned(&[&["--pipe"], &options[..]].concat())["total_epsilon"], 1.75);
    let planned = "0.25 of epsilon 1 goes into where panes end; the 2 lists together cost epsilon 1.75";
    assert_contains(plan(&options), planned);
}

#[test]
fn a_window_says_what_it_leaves_out() {
    let by_count = |options: &str| list(&words(&format!("--epsilon 100000 {options}")), &trees(64_000));
    let by_time = |options: &str| {
        let options = format!("--epsilon 100000 --alpha 0.1 --slide 1h {options}");
        list(&[&COLUMNS[..], &words(&options)].concat(), &minutes(330))
    };
    // All of it, or a stream that is shorter than the window, by count or by time.
    let whole = ["--window 6400 --alpha 0.1", "--window 100000 --alpha 0.1"].map(by_count);
    for shown in whole.into_iter().chain([by_time("--window 30d")]) {
        assert!(!shown.contains("asked for"), "{shown}");
    }
    // The panes are of 1,000 events, all oak where the window begins.
    let left_out = "the window asked for begins at number 51,500: \
                    no key occurred more than 1,000 times in what is left out, and the promises ";
    for (alpha, promises) in
        [("0.3", "are not made for that window; at alpha "), ("0.6", "hold for that window too.")]
    {
        let coarse = by_count(&format!("--window 12500 --slide 1000 --alpha {alpha}"));
        assert_contains(coarse, left_out.to_owned() + promises);
    }
    let told = "the window asked for begins at 2026-03-02T03:59:00Z: no key occurred more than 60";
    assert_contains(by_time("--window 90m"), told);
}

#[test]
fn counts_from_the_sketch_are_told() {
    let flat: String = (0..1_000_000_u64).map(|i| format!("{}\n", i * 7_919 % 200_000)).collect();
    let options = words("--keys 0..200000 --alpha 0.2 --epsilon 100 --slide 500000 --memory 16MB");
    let told = "Counts were read from the sketch, which was more precise here than the counts kept.";
    assert_contains(list(&options, flat.as_bytes()), told);
    let kept = list(&["--alpha", "0.2"], &trees(64_000));
    assert!(!kept.contains("sketch") && !kept.contains("Panes:"), "{kept}");
}

#[test]
fn a_plan_says_which_policy_why_and_at_what_price() {
    let long = ["--window", "100000000", "--alpha", "0.8", "--memory", "1GB"];
    for (args, expected) in [
        (&[][..], "policy uniform: one window panes 1,000 of 1,000 events"),
        (&["--policy", "exponential"], "policy exponential, as given"),
        (&["--window", "1000", "--window", "2000"], "policy exponential: windows of several lengths"),
        (&long, "policy smooth: makes the promises for the whole window asked for, on most streams"),
        (&long, "0.25 of epsilon 1 goes into where panes end"),
        (&long, "whole window held for all of it, wherever it begins, from a norm of "),
        (&[], "whole window held for all of it, wherever it begins, from a norm of "),
        (&["--slide", "15625"], "whole window not foreseen: its start may be left out"),
    ] {
        assert_contains(plan(args), expected);
    }
    let policy =
        serde_json::json!({"policy": "smooth", "reason": "whole_window", "boundaries_epsilon": 0.25});
    assert_eq!(planned(&[&["--pipe"], &long[..]].concat())["policy"], policy);
    assert_eq!(planned(&["--pipe", "--policy", "smooth"])["policy"]["reason"], "given");
    let l1 = plan(&["--norm", "l1"]);
    assert!(!l1.contains("whole window"), "{l1}");
}

/// Each release is as its plan says, or better.
#[test]
fn every_window_keeps_to_the_plan() {
    let options = words("--norm l1 --alpha 0.1 --memory 15MB --window 320000 --window 32000");
    let planned = planned(&[&["--pipe"], &options[..]].concat());
    let output = frostpane(&[&["list", "--json"], &options[..]].concat(), &trees(320_000));
    for (index, release) in releases(&stdout(&output)).iter().enumerate() {
        let forecast = &planned["windows"][index]["forecast"];
        assert_eq!(forecast["events"], release["window"]["events"]);
        assert_eq!(forecast["held"], release["promises"]["held"]);
        for (field, predicted) in [("threshold", "threshold"), ("complete_above", "least_listed")] {
            let (said, foreseen) = (release[field].as_u64(), forecast[predicted].as_u64());
            assert!(said <= foreseen, "{field}: {release} {forecast}");
        }
    }
    assert_eq!(planned["windows"][1]["window"], "32000");
    let table = "window events noise cut surely listed promises 320000 320,000";
    assert_has(plan(&options), ["of 320,000 events, the longest of 2 windows", table]);
}

#[test]
fn warnings_name_the_window_that_they_are_about() {
    let windows = ["--window", "1000", "--window", "5000", "--epsilon", "6"];
    let output = frostpane(&[&["list"], &windows[..]].concat(), &trees(2_000));
    assert!(output.status.success());
    assert_eq!(
        stderr(&output),
        "frostpane: warning: the 2 lists together: epsilon is 12, but above 10 protects nobody; \
         take 1, or less where it matters\n\
         frostpane: warning: window of 5,000 events: the stream is shorter than the window of 5,000 events: \
         the release covers all of its 2,000 events; if there are more, give them too\n"
    );
}
