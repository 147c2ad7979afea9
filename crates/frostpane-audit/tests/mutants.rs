//! The auditor catches broken mechanisms. Needs the feature `mutants`.

use frostpane_audit::{Audit, Check, Mutant, Verdict, all, caught_by};

fn named(name: &str) -> Check {
    let check = all().into_iter().find(|check| check.name == name);
    check.unwrap_or_else(|| panic!("there is no check {name}"))
}

fn is_long() -> bool {
    std::env::var_os("FROSTPANE_LONG").is_some()
}

/// Runs the first mark of each mutant in the table of docs/audit.md, or every one, with the runs of a short
/// audit. The bounds of marked checks exceed their claims by more than three standard deviations.
#[test]
fn every_mutant_is_seen_by_the_checks_that_must_see_it() {
    for mutant in Mutant::ALL {
        assert!(!caught_by(mutant).is_empty(), "{mutant:?}");
        let marks = if is_long() { usize::MAX } else { 1 };
        for check in caught_by(mutant).into_iter().map(named).take(marks) {
            let finding = Audit::new(true, Some(mutant)).run(&check, &|_| {}).unwrap();
            let told = format!(
                "{}, {}: at least {:.3}, claimed {}",
                mutant.name(),
                check.name,
                finding.at_least,
                finding.epsilon
            );
            println!("{told}");
            assert_eq!(finding.verdict, Verdict::Violated, "{told}");
        }
    }
}

/// Calculated checks involve no chance: their marks are complete. A long run shows that other mutants pass.
#[test]
fn calculated_checks_see_nothing_else() {
    for check in all().into_iter().filter(|check| !check.is_sampled()) {
        let is_marked =
            |mutant: Option<Mutant>| mutant.is_some_and(|mutant| caught_by(mutant).contains(&check.name));
        let mutants = Mutant::ALL.into_iter().map(Some);
        for mutant in mutants.filter(|mutant| is_long() || is_marked(*mutant)).chain([None]) {
            let finding = Audit::new(true, mutant).run(&check, &|_| {}).unwrap();
            let marked = is_marked(mutant);
            assert_eq!(finding.verdict == Verdict::Violated, marked, "{mutant:?}: {}", check.name);
        }
    }
}

#[test]
fn only_checks_of_frostpane_must_see_a_mutant() {
    let mut marked = Mutant::ALL.into_iter().flat_map(caught_by);
    assert!(marked.all(|name| !named(name).is_published));
}
