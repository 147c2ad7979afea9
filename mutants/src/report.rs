//! `docs/mutants.md`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::accepted::AcceptedSurvivors;
use crate::config::Config;
use crate::named::{NamedMutants, NamedResults};
use crate::results::{MutantFate, MutantOutcome, Results};

pub struct MutantReport<'a> {
    pub config: &'a Config,
    pub results: &'a Results,
    pub accepted: &'a AcceptedSurvivors,
    pub named: &'a NamedMutants,
    pub named_results: &'a NamedResults,
}

/// Numbers of mutants by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReportRow {
    unviable: usize,
    killed: usize,
    timeouts: usize,
    equivalent: usize,
    unexplained: usize,
}

impl ReportRow {
    fn count(&mut self, outcome: MutantOutcome, is_accepted: bool) {
        match outcome {
            MutantOutcome::Unviable => self.unviable += 1,
            MutantOutcome::Killed => self.killed += 1,
            MutantOutcome::Timeout => self.timeouts += 1,
            MutantOutcome::Survived | MutantOutcome::Unreached if is_accepted => self.equivalent += 1,
            MutantOutcome::Survived | MutantOutcome::Unreached => self.unexplained += 1,
        }
    }

    fn viable(&self) -> usize {
        self.killed + self.timeouts + self.equivalent + self.unexplained
    }

    fn line(self, title: &str) -> String {
        let (viable, dead) = (self.viable(), [self.killed, self.timeouts]);
        let left = [self.equivalent, self.unexplained, self.unviable];
        let numbers = [viable].into_iter().chain(dead).chain(left);
        let cells: String = numbers.map(|number| format!(" {number} |")).collect();
        format!("| {title} |{cells}\n")
    }
}

const HEAD: &str = "| file | mutants | killed by a failing test | by a test that never ends | cannot matter | unexplained | do not compile |
|---|--:|--:|--:|--:|--:|--:|
";

impl MutantReport<'_> {
    pub fn page(&self) -> String {
        let fates = |private: bool| {
            let of_run = self.results.mutants.iter().filter(|fate| self.config.has(&fate.file, &fate.name));
            of_run.filter(move |fate| self.config.is_private(&fate.file) == private)
        };
        let (private, rest): (Vec<&MutantFate>, Vec<&MutantFate>) =
            (fates(true).collect(), fates(false).collect());
        let all = [&private[..], &rest].concat();
        let mut page = self.opening(self.sum(&all));
        let _ = write!(page, "\n## What decides privacy: every mutant\n\n{}", self.table(&private));
        let _ = write!(
            page,
            "\n## The rest: a fixed random one in {}\n\n{}",
            self.config.one_in,
            self.table(&rest)
        );
        page.push_str(&self.unexplained(&all));
        page.push_str(&self.equivalents(&all));
        page.push_str(&self.named_mutants());
        page
    }

    fn opening(&self, sum: ReportRow) -> String {
        format!(
            "# Mutants

A test that cannot fail defends nothing. So the library is broken on purpose, in every small way that a
program can think of: a `+` becomes a `-`, a `<` a `<=`, a condition always true, a statement or an arm goes
missing, a number is one less, a function returns at once. Each of these mutants must make a test fail, or
stand below with the reason why it cannot matter. Each is named by file, function and change: `a + b: -` has a
`-` where the `+` was, `1 in f(1): 0` a 0 where the 1 was.

This page is made by `cargo run --release -p frostpane-mutants -- report` from the last run, on {day}:
**{viable} mutants, {dead} killed, {equivalent} that cannot matter, {unexplained} unexplained.** {tests} tests were asked, each
alone; {slow} others take {slowest} s or longer and were not. Another {unviable} mutants do not compile.
`mutants/mutants.toml` says which files are looked at, `mutants/results.json` what became of each mutant and
which test killed it. All mutants are compiled into one copy of the library, each behind a switch, and only
those tests are run that reach it: `cargo run --release -p frostpane-mutants -- run`.
",
            day = self.results.day,
            viable = sum.viable(),
            dead = sum.killed + sum.timeouts,
            equivalent = sum.equivalent,
            unexplained = sum.unexplained,
            tests = self.results.tests - self.results.slow_tests,
            slow = self.results.slow_tests,
            slowest = self.results.slowest,
            unviable = sum.unviable,
        )
    }

    fn row(&self, row: &mut ReportRow, fate: &MutantFate) {
        row.count(fate.outcome, self.accepted.reason(&fate.name).is_some());
    }

    fn sum(&self, fates: &[&MutantFate]) -> ReportRow {
        let mut sum = ReportRow::default();
        fates.iter().for_each(|fate| self.row(&mut sum, fate));
        sum
    }

    fn table(&self, fates: &[&MutantFate]) -> String {
        let mut rows: BTreeMap<&str, ReportRow> = BTreeMap::new();
        for fate in fates {
            self.row(rows.entry(&fate.file).or_default(), fate);
        }
        let lines: String = rows.iter().map(|(file, row)| row.line(&format!("`{file}`"))).collect();
        format!("{HEAD}{lines}{}", self.sum(fates).line("**all**"))
    }

    fn unexplained(&self, fates: &[&MutantFate]) -> String {
        let is_open =
            |fate: &&MutantFate| fate.outcome.is_survival() && self.accepted.reason(&fate.name).is_none();
        let lines: String = fates
            .iter()
            .filter(|fate| is_open(fate))
            .map(|fate| format!("- {}\n", code(&fate.name)))
            .collect();
        if lines.is_empty() {
            return lines;
        }
        format!("\n## Unexplained\n\n{lines}")
    }

    fn equivalents(&self, fates: &[&MutantFate]) -> String {
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for fate in fates.iter().filter(|fate| fate.outcome.is_survival()) {
            if let Some(reason) = self.accepted.reason(&fate.name) {
                by_reason.entry(reason).or_default().push(&fate.name);
            }
        }
        if by_reason.is_empty() {
            return String::new();
        }
        let mut section = "\n## Mutants that cannot matter\n".to_owned();
        for (reason, names) in by_reason {
            let _ = write!(section, "\n{}\n\n", reason.trim());
            for name in names {
                let _ = writeln!(section, "- {}", code(name));
            }
        }
        section
    }

    fn named_mutants(&self) -> String {
        let killed: HashSet<&str> = self.named_results.killed.iter().map(String::as_str).collect();
        let mut section = format!(
            "\n## Claims, each with a mutant that breaks it

Written by hand in `mutants/named.toml`; `-- named` applies each and expects its test to fail. Last run on {}.

| claim | broken by | noticed by | |\n|---|---|---|---|\n",
            self.named_results.day
        );
        for mutant in &self.named.mutant {
            let fate = if killed.contains(&*mutant.name) { "killed" } else { "**not killed**" };
            let (claim, name) = (mutant.claim.trim(), &mutant.name);
            let _ = writeln!(section, "| {claim} | {name} | `{}` | {fate} |", mutant.test);
        }
        section
    }
}

/// Formats as Markdown code, also if the text contains a backtick.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutant::Genre;

    fn fate(file: &str, change: &str, outcome: MutantOutcome) -> MutantFate {
        let name = format!("{file} f: {change}");
        MutantFate { name, file: file.into(), line: 1, genre: Genre::Literal, outcome, killer: String::new() }
    }

    #[test]
    fn every_mutant_is_counted_once_and_a_survivor_is_explained_or_named() {
        let config: Config = toml::from_str(
            "privacy = ['a.rs']\none_in = 1\nskip = []\npackages = ['frostpane']\nslowest_test = 1.0",
        )
        .unwrap();
        let accepted: AcceptedSurvivors =
            toml::from_str("[[equivalent]]\nfile = 'a.rs'\ntext = 'x < 0'\nreason = 'x has no sign'")
                .unwrap();
        let fates = [
            fate("a.rs", "x < 0: <=", MutantOutcome::Survived),
            fate("a.rs", "x + 1: -", MutantOutcome::Unreached),
            fate("a.rs", "x * 2: /", MutantOutcome::Killed),
            fate("a.rs", "returns ()", MutantOutcome::Unviable),
            fate("b.rs", "x * 2: /", MutantOutcome::Timeout),
        ];
        let results = Results { mutants: fates.to_vec(), ..Results::default() };
        let report = MutantReport {
            config: &config,
            results: &results,
            accepted: &accepted,
            named: &NamedMutants::default(),
            named_results: &NamedResults::default(),
        };
        let page = report.page();
        assert!(page.contains("| `a.rs` | 3 | 1 | 0 | 1 | 1 | 1 |"), "{page}");
        assert!(page.contains("| `b.rs` | 1 | 0 | 1 | 0 | 0 | 0 |"), "{page}");
        assert!(page.contains("## Unexplained\n\n- `a.rs f: x + 1: -`\n"), "{page}");
        assert!(page.contains("x has no sign\n\n- `a.rs f: x < 0: <=`\n"), "{page}");
        assert_eq!(accepted.stale(&results).count(), 0);
    }
}
