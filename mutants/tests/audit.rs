//! `frostpane audit` with broken mechanisms.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_audit-mutants"));
    program.args(arguments).output().unwrap()
}

fn audit(arguments: &[&str]) -> Output {
    run(&[&["audit"], arguments].concat())
}

/// A sampled check and a calculated one; the auditor's own tests run a check of each mutant.
#[test]
fn a_mutant_is_caught_and_the_exit_code_says_so() {
    for (mutant, check) in [("half-noise", "pair"), ("other-threshold", "all-short-open")] {
        let output = audit(&["--short", "--mutant", mutant, "--check", check]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{mutant}: {text}");
        assert!(text.contains("VIOLATED") && text.contains("broken on purpose"), "{text}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "frostpane: 1 of 1 checks found that a claim of this mutant does not hold\n"
        );
    }
}

#[test]
fn no_other_command_takes_a_mutant() {
    for command in ["list", "watch", "plan", "compare", "demo"] {
        assert_eq!(run(&[command, "--mutant", "half-noise"]).status.code(), Some(2), "{command}");
    }
}

#[test]
fn the_table_of_mutants_in_the_docs_is_fresh() {
    let table = String::from_utf8(audit(&["--mutants"]).stdout).unwrap();
    let docs = include_str!("../../docs/audit.md");
    assert!(
        docs.contains(&table),
        "docs/audit.md has another table: put this in its place, from audit-mutants audit --mutants\n{table}"
    );
}
