//! Whatever is said, word for word: what comes up every time that someone was there, and never otherwise, is not hidden by noise.

use std::collections::{BTreeSet, HashMap};

use frostpane::audit::{Audit, Mutant};
use frostpane::{Bounds, Release, Result as Answer};

use crate::acts::{Act, EPOCH, START, crowd, with_and_without};
use crate::check::Result;
use crate::checks::{user_lists, users};
use crate::exact::Loss;
use crate::setting::Setting;

/// The logarithm of the chance that a word of a sound mechanism alarms, at the most: there are thousands of words.
const FALSE_ALARM: f64 = -32.0;
/// More runs take too long.
const MOST_RUNS: f64 = 2_000.0;
const SOME: u64 = 40;
/// Panes of an epoch.
const PANES: i64 = 2;
const SLIDE: i64 = EPOCH / PANES;

/// The words of a run.
type Words = BTreeSet<String>;

/// What happens, what is done, and how it is called.
struct Scene {
    name: &'static str,
    acts: Vec<Act>,
    tell: fn(&Stage, &[Act]) -> Result<Words>,
}

/// What is audited.
struct Stage {
    single: Audit<u64>,
    lists: Audit<u64>,
}

/// Plays every scene with someone and without, often enough. A word that is said every time on one side has there a chance `p`, and
/// on the other one of at least `exp(-epsilon) p`: that it never comes up there either has a chance of at most `(1 - exp(-epsilon))` a
/// run.
pub fn word_for_word(setting: &Setting, mutant: Option<Mutant>) -> Result<Loss> {
    let runs = (FALSE_ALARM / (-(-setting.epsilon).exp()).ln_1p()).ceil();
    if runs > MOST_RUNS {
        return Err(
            "at this epsilon there is so little noise that words differ anyway: give a smaller one".into(),
        );
    }
    let stage = Stage {
        single: users::audit(setting, mutant, Bounds::new(1))?,
        lists: user_lists::audit(setting, mutant, Bounds::new(1), PANES as u32)?,
    };
    for scene in scenes() {
        let sides = with_and_without(scene.acts);
        let mut told = [HashMap::new(), HashMap::new()];
        for _ in 0..runs as u32 {
            for (acts, told) in sides.iter().zip(&mut told) {
                for word in (scene.tell)(&stage, acts)? {
                    *told.entry(word).or_insert(0_u32) += 1;
                }
            }
        }
        if let Some(word) = giveaway(&told, runs as u32) {
            return Ok(Loss {
                epsilon: f64::INFINITY,
                streams: format!("{}, with someone and without: {word}", scene.name),
            });
        }
    }
    Ok(Loss::default())
}

/// A word that one side says every time, and the other never: of several the longest, which says the most.
fn giveaway(told: &[HashMap<String, u32>; 2], runs: u32) -> Option<&str> {
    let of = |side: usize| {
        let always = told[side].iter().filter(move |(_, times)| **times == runs);
        always.filter(move |(word, _)| !told[1 - side].contains_key(*word))
    };
    let all = of(0).chain(of(1)).map(|(word, _)| word.as_str());
    all.max_by_key(|word| (word.len(), *word))
}

/// Someone alone, from another time, or with more than counts; others come in every pane, where there are any.
fn scenes() -> Vec<Scene> {
    let beside_others = |someone: Vec<Act>| {
        let others = (0..2 * PANES).flat_map(|pane| crowd(pane * SLIDE, 1, SOME));
        someone.into_iter().chain(others).collect()
    };
    let from = |after| beside_others(vec![Act::of_someone(after, 0)]);
    let restless = (0..500).map(|event| Act::of_someone(event, event as u64));
    let scenes = [
        ("alone", vec![Act::of_someone(0, 0)]),
        ("from the future", from(30 * EPOCH)),
        ("from the past", from(-30 * EPOCH)),
        ("from no time at all", from(i64::MAX - START)),
        ("restless", beside_others(restless.collect())),
    ];
    let both = |(name, acts): (&'static str, Vec<Act>)| {
        let of = |tell| Scene {
            name,
            acts: acts.clone(),
            tell,
        };
        [of(tell_single), of(tell_lists)]
    };
    scenes.into_iter().flat_map(both).collect()
}

/// A release, and what is said when another is asked for.
fn tell_single(stage: &Stage, acts: &[Act]) -> Result<Words> {
    let mut audited = stage.single.clone().build()?;
    let mut words = Words::new();
    for act in acts {
        hear(&mut words, "an event", &act.give(|event| audited.push(event)));
    }
    for turn in ["first", "second"] {
        hear(&mut words, turn, &audited.release());
    }
    Ok(words)
}

/// All lists, what brought them about, and how many.
fn tell_lists(stage: &Stage, acts: &[Act]) -> Result<Words> {
    let mut continual = stage.lists.clone().continual()?;
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
    let mut acts = acts.iter().peekable();
    for end in (1..=2 * PANES).map(|pane| pane * SLIDE) {
        while let Some(act) = acts.next_if(|act| arrival(act) < end) {
            due("by an event", act.give(|event| continual.push(event)));
        }
        due("by the clock", continual.advance_to(START + end));
    }
    words.insert(format!("{told} lists"));
    Ok(words)
}

/// When it comes in, after the start: someone's in the first pane, whatever their times.
fn arrival(act: &Act) -> i64 {
    match act.is_of_someone() {
        true => 0,
        false => act.after_start(),
    }
}

/// Everything that an answer says, in words.
fn hear<T: std::fmt::Debug>(words: &mut Words, when: &str, answer: &Answer<T>) {
    let said = match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(refusal) => format!("refused: {refusal}"),
    };
    let parts = said.split([',', '{', '}', '[', ']', '(', ')']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    words.extend(parts.map(|part| format!("{when}: {part}")));
}
