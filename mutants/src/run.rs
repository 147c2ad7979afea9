//! Runs the tests that reach a mutant until one fails.

use std::collections::HashMap;

use crate::Fallible;
use crate::baseline::Test;
use crate::mutant::SourceMutant;
use crate::parallel::share;
use crate::process::{End, SwitchSetting, run};
use crate::results::{MutantFate, MutantOutcome};

/// The tests that reach each mutant, the quickest first.
pub struct TestsByMutant<'a> {
    tests: HashMap<u32, Vec<&'a Test>>,
}

impl<'a> TestsByMutant<'a> {
    pub fn new(tests: &[&'a Test]) -> Self {
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

    fn of(&self, mutant: u32) -> &[&'a Test] {
        self.tests.get(&mutant).map_or(&[], Vec::as_slice)
    }
}

pub fn fates(mutants: &[SourceMutant], tests: &TestsByMutant, jobs: usize) -> Fallible<Vec<MutantFate>> {
    let fates = share(jobs, mutants, |mutant| {
        let fate = fate(mutant, tests)?;
        if fate.outcome.is_survival() {
            eprintln!("{:?} line {} of {}", fate.outcome, fate.line, fate.name);
        }
        Ok(fate)
    });
    fates.into_iter().collect()
}

fn fate(mutant: &SourceMutant, tests: &TestsByMutant) -> Fallible<MutantFate> {
    let tests = tests.of(mutant.id);
    for test in tests {
        let (end, _) = run(&test.binary, &test.name, time_limit(test), SwitchSetting::Mutant(mutant.id))?;
        let outcome = match end {
            End::Passed => continue,
            End::Failed => MutantOutcome::Killed,
            End::OutOfTime => MutantOutcome::Timeout,
        };
        return Ok(MutantFate::new(mutant, outcome, format!("{} {}", test.binary.name, test.name)));
    }
    let outcome = if tests.is_empty() { MutantOutcome::Unreached } else { MutantOutcome::Survived };
    Ok(MutantFate::new(mutant, outcome, String::new()))
}

/// The processor time in seconds that a test may take: five times its usual time, and 2 s.
fn time_limit(test: &Test) -> u64 {
    2 + (5.0 * test.trial.seconds).ceil() as u64
}
