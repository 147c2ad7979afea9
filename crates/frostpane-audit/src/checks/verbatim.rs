//! Everything that is released or answered, verbatim: text that occurs in every run with a user, and never
//! without, is not hidden by noise.

use std::collections::{BTreeSet, HashMap};

use frostpane::testing::audit::{Audit, Mutant};
use frostpane::{Bounds, Release, Result as Answer};

use crate::check::Result;
use crate::checks::{user_lists, users};
use crate::exact::Loss;
use crate::setting::Setting;
use crate::user_events::{EPOCH, START, UserEvent, distinct_users, with_and_without};

/// The logarithm of the maximal chance that one text of a sound mechanism alarms: there are thousands.
const FALSE_ALARM: f64 = -32.0;
/// More runs take too long.
const MOST_RUNS: f64 = 2_000.0;
const SOME: u64 = 40;
const PANES: i64 = 2;
const SLIDE: i64 = EPOCH / PANES;

type Words = BTreeSet<String>;

/// Observes a mechanism on a stream.
type Tell = fn(&Audit<u64>, &[UserEvent]) -> Result<Words>;

/// Runs every scene with and without the target, often enough. A text that occurs in every run on one side
/// with probability `p` there has a probability of at least `exp(-epsilon) p` on the other. That it never
/// occurs there has a chance of at most `(1 - exp(-epsilon))` a run.
pub fn over_all_scenes(setting: &Setting, mutant: Option<Mutant>) -> Result<Loss> {
    let runs = (FALSE_ALARM / (-(-setting.epsilon).exp()).ln_1p()).ceil();
    if runs > MOST_RUNS {
        return Err(
            "at this epsilon there is so little noise that words differ anyway: give a smaller one".into()
        );
    }
    let single = users::audit(setting, mutant, Bounds::new(1))?;
    let lists = user_lists::audit(setting, mutant, Bounds::new(1), PANES as u32)?;
    let observed: [(Tell, Audit<u64>); 2] = [(tell_single, single), (tell_lists, lists)];
    for (name, events) in scenes() {
        let sides = with_and_without(events);
        for (tell, audit) in &observed {
            let mut told = [HashMap::new(), HashMap::new()];
            for _ in 0..runs as u32 {
                for (events, told) in sides.iter().zip(&mut told) {
                    for word in tell(audit, events)? {
                        *told.entry(word).or_insert(0_u32) += 1;
                    }
                }
            }
            if let Some(word) = giveaway(&told, runs as u32) {
                let streams = format!("{name}, with someone and without: {word}");
                return Ok(Loss { epsilon: f64::INFINITY, streams });
            }
        }
    }
    Ok(Loss::default())
}

/// A text that one side has in every run and the other never: of several the longest, which says the most.
fn giveaway(told: &[HashMap<String, u32>; 2], runs: u32) -> Option<&str> {
    let of = |side: usize| {
        let always = told[side].iter().filter(move |(_, times)| **times == runs);
        always.filter(move |(word, _)| !told[1 - side].contains_key(*word))
    };
    of(0).chain(of(1)).map(|(word, _)| word.as_str()).max_by_key(|word| (word.len(), *word))
}

/// The target alone, at odd times, or with more than counts; others come in every pane, if there are any.
fn scenes() -> [(&'static str, Vec<UserEvent>); 5] {
    let beside_others = |someone: Vec<UserEvent>| {
        let others = (0..2 * PANES).flat_map(|pane| distinct_users(pane * SLIDE, 1, SOME));
        someone.into_iter().chain(others).collect()
    };
    let from = |after| beside_others(vec![UserEvent::of_target(after, 0)]);
    let restless = (0..500).map(|event| UserEvent::of_target(event, event as u64));
    [
        ("alone", vec![UserEvent::of_target(0, 0)]),
        ("from the future", from(30 * EPOCH)),
        ("from the past", from(-30 * EPOCH)),
        ("from no time at all", from(i64::MAX - START)),
        ("restless", beside_others(restless.collect())),
    ]
}

/// A release, and the answer to a second request.
fn tell_single(audit: &Audit<u64>, events: &[UserEvent]) -> Result<Words> {
    let mut audited = audit.clone().build()?;
    let mut words = Words::new();
    for event in events {
        hear(&mut words, "an event", &event.give(|event| audited.push(event)));
    }
    for turn in ["first", "second"] {
        hear(&mut words, turn, &audited.release());
    }
    Ok(words)
}

/// All continual releases, what caused them, and their number.
fn tell_lists(audit: &Audit<u64>, events: &[UserEvent]) -> Result<Words> {
    let mut continual = audit.clone().continual()?;
    let mut words = Words::new();
    let mut told = 0;
    let mut due = |by: &str, lists: Answer<Vec<Release<u64>>>| {
        for list in lists.iter().flatten() {
            told += 1;
            hear(&mut words, &format!("list {told} {by}"), &Ok(list));
        }
        hear(&mut words, by, &lists.map(|_| ()));
    };
    due("by the clock", continual.advance_to(START));
    let mut events = events.iter().peekable();
    for end in (1..=2 * PANES).map(|pane| pane * SLIDE) {
        while let Some(event) = events.next_if(|event| arrival(event) < end) {
            due("by an event", event.give(|event| continual.push(event)));
        }
        due("by the clock", continual.advance_to(START + end));
    }
    words.insert(format!("{told} lists"));
    Ok(words)
}

/// The arrival after the start: events of the target come in the first pane, at any time of their own.
fn arrival(event: &UserEvent) -> i64 {
    if event.is_of_target() { 0 } else { event.time - START }
}

/// All parts of an answer as text.
fn hear<T: std::fmt::Debug>(words: &mut Words, when: &str, answer: &Answer<T>) {
    let said = match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(refusal) => format!("refused: {refusal}"),
    };
    let parts = said.split([',', '{', '}', '[', ']', '(', ')']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    words.extend(parts.map(|part| format!("{when}: {part}")));
}
