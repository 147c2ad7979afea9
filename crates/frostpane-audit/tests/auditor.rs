//! The auditor is silent if nothing is wrong.

use std::collections::HashSet;

use frostpane::testing::{Entropy, OsEntropy};
use frostpane_audit::check::{Result, Trial, sampled};
use frostpane_audit::run::tally;
use frostpane_audit::{Audit, Check, Method, Mutant, NeighbourSide, Setting, TrialOutcome, all};

/// The most alarms among `runs`, each of chance at most `chance`, exceeded with one below `false_alarm`.
fn most_alarms(runs: u64, chance: f64, false_alarm: f64) -> u64 {
    let mut mass = (1.0 - chance).powi(runs as i32);
    let mut tail = 1.0 - mass;
    let mut alarms = 0;
    while tail >= false_alarm {
        mass *= (runs - alarms) as f64 / (alarms + 1) as f64 * chance / (1.0 - chance);
        alarms += 1;
        tail -= mass;
    }
    alarms
}

/// Twenty random outcomes, independent of the stream.
fn blind(_: &Setting, _: Option<Mutant>) -> Result<Trial> {
    Ok(Box::new(|_| Ok(TrialOutcome::number(OsEntropy::new().below(20)? as i64))))
}

/// A bound above 0 has a chance below 5e-4 in each of 20 audits; one above 0.02, far less than 1e-6 in all.
#[test]
fn a_mechanism_that_ignores_its_input_loses_nothing() {
    let check = sampled("blind", "nothing", blind);
    for _ in 0..20 {
        let finding = Audit::new(true, None).run(&check, &|_| {}).unwrap();
        assert!(finding.at_least < 0.02, "{}", finding.at_least);
    }
}

/// Of a hundred outcomes, one half is e times as likely on one stream, and the other half on the other:
/// exactly what an epsilon of 1 allows.
fn randomised_response(_: &Setting, _: Option<Mutant>) -> Result<Trial> {
    const OUTCOMES: u64 = 100;
    let chance = 1.0 / (1.0 + (-1.0_f64).exp());
    Ok(Box::new(move |side| {
        let mut entropy = OsEntropy::new();
        let truly = (entropy.word()? as f64 / 2_f64.powi(64)) < chance;
        let half = u64::from((side == NeighbourSide::One) == truly);
        let outcome = half + 2 * entropy.below(OUTCOMES / 2)?;
        Ok(TrialOutcome::number(outcome as i64))
    }))
}

/// Alarms of 200 audits with fresh entropy at several confidences stay within these, but for a chance of
/// 1e-6.
fn assert_few_alarms(check: &Check, runs: u64) {
    const AUDITS: u64 = 200;
    let Method::Sampled(prepare) = check.method else {
        panic!("it is sampled");
    };
    let trial = prepare(&check.setting, None).unwrap();
    let levels = [0.99, 0.9, 0.5];
    let mut alarms = [0; 3];
    for _ in 0..AUDITS {
        let halves = [0, 1].map(|_| tally(&trial, runs, &|_| {}).unwrap());
        for (alarms, confidence) in alarms.iter_mut().zip(levels) {
            let event = halves[0].choose(0.0, 1.0 - confidence);
            *alarms += u64::from(halves[1].bound(&event, 0.0, 1.0 - confidence) > check.setting.epsilon);
        }
    }
    println!("{}: alarms of {AUDITS} audits at {levels:?}: {alarms:?}", check.name);
    for (alarms, confidence) in alarms.into_iter().zip(levels) {
        let limit = most_alarms(AUDITS, 1.0 - confidence, 1e-6);
        assert!(alarms <= limit, "{alarms} alarms at {confidence}, {limit} allowed");
    }
}

/// All outcomes are e times as likely on one of the streams: no pair is closer to an alarm.
#[test]
fn the_sound_mechanism_raises_no_more_alarms_than_stated() {
    assert_few_alarms(&all().into_iter().find(|check| check.name == "pane-edge").unwrap(), 75);
}

/// With so many rare outcomes, an event that is counted on the runs that it was chosen on would always alarm.
#[test]
fn choosing_the_event_raises_no_alarm() {
    assert_few_alarms(&sampled("randomised", "choosing", randomised_response), 500);
}

#[test]
fn names_are_all_different() {
    let names: HashSet<_> = all().iter().map(|check| check.name).collect();
    assert_eq!(names.len(), all().len());
}
