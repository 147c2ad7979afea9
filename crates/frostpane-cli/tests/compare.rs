//! `frostpane compare`, as it is run.

use std::process::Output;

use crate::common::{assert_told, frostpane, stdout, temporary, text, words};
use serde_json::Value;

/// 220,000 events: key `i` has about `35,000 / i` of them, in no order; at first there is another key on top.
fn stream() -> String {
    let mut state = 7_u64;
    (0..220_000)
        .map(|event: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let point = (state >> 40) as f64 / (1 << 24) as f64;
            match event % 5 {
                0 if event < 40_000 => "gone\n".to_owned(),
                _ => format!("key{}\n", 500_f64.powf(point) as u32),
            }
        })
        .collect()
}

fn compare(arguments: &[&str]) -> Output {
    frostpane(&[&["compare"], arguments].concat(), stream().as_bytes())
}

fn number(contender: &Value, field: &str) -> f64 {
    contender[field].as_f64().unwrap_or_else(|| panic!("{field} of {contender}"))
}

/// Frostpane is worse than the published algorithms in no column, and better in error. Speed is for the
/// benchmark. NoiseScale moves these figures by far less than they differ.
#[test]
fn frostpane_is_no_worse_in_any_column() {
    let declared: String = (1..=500).map(|key| format!("key{key}\n")).collect();
    let keys = temporary("compared-keys.txt", declared.as_bytes());
    for arguments in [
        ["--window", "100000", "--alpha", "0.02", "--json"].as_slice(),
        &["--window", "100000", "--alpha", "0.02", "--keys", text(&keys), "--json"],
    ] {
        let out = stdout(&compare(arguments));
        let report: Value = serde_json::from_str(&out).unwrap();
        assert!(report["note"].as_str().unwrap().contains("not private"));
        let contests = report["contests"].as_array().unwrap();
        assert_eq!(contests.len(), 2);
        for contest in contests {
            assert!(contest["heavy_keys"].as_u64().unwrap() > 2);
            assert!(!contest["changes"].as_array().unwrap().is_empty());
            let contenders = contest["contenders"].as_array().unwrap();
            let [exact, ours, published @ ..] = &contenders[..] else { panic!("{out}") };
            assert_eq!(number(exact, "f1"), 1.0);
            assert!(ours["private"]["proved"].as_bool().unwrap());
            assert_eq!(published.len(), 4);
            for other in published {
                assert!(!other["private"]["proved"].as_bool().unwrap());
                for field in ["memory", "missed", "wrong"] {
                    assert!(number(ours, field) <= number(other, field), "{field}: {out}");
                }
                assert!(number(ours, "f1") >= number(other, "f1"), "{out}");
                assert!(number(other, "events_per_second") > 0.0);
                // The continual algorithm prints so little noise that its counts are nearly exact.
                let shows_counts = number(other, "noise") < 0.01;
                assert!(!shows_counts || number(other, "needed_noise") > 1.0, "{out}");
                for field in ["mean_error", "largest_error"] {
                    // One that lists nothing has no error.
                    if other[field].is_number() && !shows_counts {
                        assert!(number(ours, field) < number(other, field), "{field}: {out}");
                    }
                }
                assert!(number(ours, "noise") <= number(other, "needed_noise"), "{out}");
            }
        }
    }
}

/// At an alpha of 0.02 advanced composition divides the budget better than basic composition does, at 0.9 worse. The JSON and
/// the text say which was taken.
#[test]
fn noise_by_its_proof_is_of_the_better_composition() {
    let choice = |alpha: &str| {
        let report: Value = serde_json::from_str(&stdout(&compare(&words(&format!(
            "--norm l2 --window 5000 --alpha {alpha} --json"
        )))))
        .unwrap();
        report["contests"][0].clone()
    };
    let many = choice("0.02");
    assert_eq!(many["composition"]["theorem"], "advanced");
    let gain = number(&many["composition"], "gain");
    let (k, m) = (10.0 / 0.02_f64.powi(2), 10_000_f64);
    let expected = k / (6.0 * k * m.ln()).sqrt();
    assert!((gain / expected - 1.0).abs() < 0.01, "{gain}, not {expected}");
    assert_eq!(choice("0.9")["composition"], serde_json::json!({"theorem": "basic", "gain": 1.0}));
    let text = stdout(&compare(&words("--norm l2 --window 5000 --alpha 0.02")));
    assert!(text.contains("by the paper's advanced composition, "), "{text}");
}

/// The continual algorithm names keys far below half of a heavy count where L2 is meant, and none where L1 is; with too
/// little memory it is left out, and the reason told.
#[test]
fn the_continual_algorithm_runs_beside_the_others_or_says_why_not() {
    let run = |arguments: &str| {
        let report: Value = serde_json::from_str(&stdout(&compare(&words(arguments)))).unwrap();
        report["contests"].as_array().unwrap().clone()
    };
    for contest in run("--window 100000 --alpha 0.05 --json") {
        let contenders = contest["contenders"].as_array().unwrap();
        let [.., printed, proof] = &contenders[..] else { panic!("{contest}") };
        assert_eq!(printed["name"], "paper, continual, as printed");
        assert_eq!(proof["name"], "paper, continual, by its proof");
        assert_eq!(number(printed, "missed"), 0.0, "{contest}");
        let is_l2 = contest["norm"] == "l2";
        assert_eq!(number(printed, "wrong") > 100.0, is_l2, "{contest}");
        assert_eq!(contest["continual_changes"].as_array().unwrap().len(), 3);
        assert!(number(proof, "memory") <= 64e6);
    }
    let little = "--norm l1 --window 100000 --alpha 0.5 --epsilon 0.0001 --memory 1MB";
    let text = stdout(&compare(&words(little)));
    assert!(
        text.contains("paper, continual: left out: at this epsilon its coarsest constants need 3.2 MB."),
        "{text}"
    );
}

#[test]
fn every_output_says_what_it_is() {
    let out = stdout(&compare(&words("--norm l1 --window 100000 --alpha 0.02")));
    assert!(out.starts_with("An evaluation: it looks at the true counts"), "{out}");
    assert!(out.contains("of the last 100,000 of 200,000 events"), "{out}");
    assert!(!out.contains("L2 heavy hitters"), "{out}");
}

#[test]
fn a_comparison_looks_at_one_window_that_has_events() {
    let two = compare(&["--window", "2000", "--window", "1000"]);
    assert_told(&two, "a comparison looks at one window: leave out --window 1000");
    let none = compare(&["--keys", "7..9"]);
    assert_told(&none, "there are 0 events with a key in the window");
}
