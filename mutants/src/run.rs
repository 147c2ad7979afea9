//! Lets mutants live, one at a time, until a test notices.

use std::collections::HashMap;

use crate::Fallible;
use crate::baseline::Test;
use crate::crew::share;
use crate::mutant::Mutant;
use crate::process::{End, Told, run};
use crate::results::{Fate, Outcome};

/// The tests that reach each mutant, the quickest first.
pub struct Reach<'a> {
    tests: HashMap<u32, Vec<&'a Test>>,
}

impl<'a> Reach<'a> {
    pub fn of(tests: &[&'a Test]) -> Self {
        let mut quickest = tests.to_vec();
        quickest.sort_by(|a, b| a.trial.seconds.total_cmp(&b.trial.seconds));
        let mut reach: HashMap<u32, Vec<&Test>> = HashMap::new();
        for test in quickest {
            for mutant in &test.trial.reached {
                reach.entry(*mutant).or_default().push(test);
            }
        }
        Self { tests: reach }
    }

    fn tests(&self, mutant: u32) -> &[&'a Test] {
        self.tests.get(&mutant).map_or(&[], Vec::as_slice)
    }
}

/// The fates of these mutants.
pub fn fates(mutants: &[Mutant], reach: &Reach, jobs: usize) -> Fallible<Vec<Fate>> {
    let fates = share(jobs, mutants, |mutant| {
        let fate = fate(mutant, reach)?;
        if fate.outcome.is_survival() {
            eprintln!("{:?} line {} of {}", fate.outcome, fate.line, fate.name);
        }
        Ok(fate)
    });
    fates.into_iter().collect()
}

fn fate(mutant: &Mutant, reach: &Reach) -> Fallible<Fate> {
    let tests = reach.tests(mutant.id);
    for test in tests {
        let (end, _) = run(&test.binary, &test.name, patience(test), Told::Mutant(mutant.id))?;
        let outcome = match end {
            End::Passed => continue,
            End::Failed => Outcome::Killed,
            End::OutOfTime => Outcome::Timeout,
        };
        return Ok(Fate::new(
            mutant,
            outcome,
            format!("{} {}", test.binary.name, test.name),
        ));
    }
    let outcome = if tests.is_empty() {
        Outcome::Unreached
    } else {
        Outcome::Survived
    };
    Ok(Fate::new(mutant, outcome, String::new()))
}

/// How long a test may take: much longer than it does.
fn patience(test: &Test) -> u64 {
    5 + (5.0 * test.trial.seconds) as u64
}
