//! Continual releases if users are protected, in panes that are parts of an epoch.

use frostpane::Norm::{L1, L2};
use frostpane::testing::audit::{Audit, AuditedContinual, Mutant, moment};
use frostpane::{Bounds, Release, Window};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::distinguisher::noisy;
use crate::setting::{Setting, declared, open};
use crate::tally::{NeighbourSide, TrialOutcome};
use crate::user_events::{DAY, EPOCH, START, UserEvent, distinct_users, with_and_without};

pub const CHECKS: [Check; 5] = [
    sampled("user-lists", "a user spread over the panes of an epoch, and all lists", spread).with_effort(2.0),
    sampled("user-lists-past", "the same, of a time that is over", spread_in_the_past).with_effort(0.5),
    sampled("user-lists-norms", "the norms of all windows that a user's epoch is in", norms)
        .under(declared(L2, 20.0))
        .with_effort(1.5)
        .costing(NORMS),
    sampled("user-lists-again", "three times a key of one user alone, in all lists", new_key_again)
        .under(open(L1, 2.0, 0.2))
        .with_effort(0.25),
    sampled("user-lists-reaction", "a user who goes where the lists showed high noise", reaction)
        .under(open(L1, 2.0, 0.2))
        .with_effort(0.0625),
];

const UNIVERSE: u64 = 4;
/// Other users of each key in a pane.
const SOME: u64 = 12;

/// So large that the search for the least feasible one is short.
const ALPHA: f64 = 0.9;

/// The share of epsilon that norms may cost.
const NORMS: f64 = 0.1;

/// Windows of an epoch, in so many panes.
pub fn audit(setting: &Setting, mutant: Option<Mutant>, bounds: Bounds, panes: u32) -> Result<Audit<u64>> {
    let builder = setting
        .builder_of_users(UNIVERSE, bounds.epoch(DAY))?
        .alpha(ALPHA)
        .window(Window::clock(DAY).slide(DAY / panes));
    Ok(Audit::of(builder, mutant))
}

type EventsByPane = Vec<Vec<UserEvent>>;

fn streams(panes: EventsByPane) -> [EventsByPane; 2] {
    let pairs = panes.into_iter().map(with_and_without);
    let (with, without) = pairs.map(|[with, without]| (with, without)).unzip();
    [with, without]
}

/// Ends a pane after its events.
fn pass(continual: &mut AuditedContinual<u64>, events: &[UserEvent], end: i64) -> Result<Release<u64>> {
    for event in events {
        event.give(|event| continual.push(event))?;
    }
    continual.advance_to(START + end)?.pop().ok_or_else(|| "a pane ended without a release".into())
}

/// All releases, with panes of this length.
fn lists(audit: &Audit<u64>, panes: &EventsByPane, slide: i64) -> Result<Vec<Release<u64>>> {
    let mut continual = audit.clone().continual()?;
    continual.advance_to(START)?;
    let ends = (1..).map(|pane| pane * slide);
    let pass = |(events, end): (&Vec<UserEvent>, i64)| pass(&mut continual, events, end);
    panes.iter().zip(ends).map(pass).collect()
}

/// All releases of a past period.
fn lists_of_the_past(audit: &Audit<u64>, panes: &EventsByPane, slide: i64) -> Result<Vec<Release<u64>>> {
    let end = START + panes.len() as i64 * slide;
    let mut history = audit.clone().history(moment(START), moment(end))?;
    // In reverse, because the order of arrival must not matter.
    for event in panes.iter().rev().flatten() {
        event.give(|event| history.push(event))?;
    }
    Ok(history.finish()?)
}

type Lists = fn(&Audit<u64>, &EventsByPane, i64) -> Result<Vec<Release<u64>>>;

/// A target with another key in each third of an epoch, of which one counts in all.
fn thirds(setting: &Setting, mutant: Option<Mutant>, lists: Lists) -> Result<Trial> {
    const PANES: u32 = 3;
    let slide = EPOCH / i64::from(PANES);
    let audit = audit(setting, mutant, Bounds::new(1), PANES)?;
    let pane = |number: u64| {
        let time = number as i64 * slide;
        let others = (0..u64::from(PANES)).flat_map(move |key| distinct_users(time, key, SOME));
        others.chain([UserEvent::of_target(time, number)]).collect()
    };
    let streams = streams((0..u64::from(PANES)).map(pane).collect());
    Ok(Box::new(move |side| {
        Ok(TrialOutcome::number(come_to(&lists(&audit, &streams[side as usize], slide)?)))
    }))
}

/// The number of panes in which the key with the number of the pane seems to have one event more: the
/// difference of consecutive releases is a pane.
fn come_to(lists: &[Release<u64>]) -> i64 {
    let one_more = |pane: usize| {
        let in_pane = noisy(&lists[pane], pane as u64)?;
        let before = match pane.checked_sub(1) {
            None => 0,
            Some(before) => noisy(&lists[before], pane as u64)?,
        };
        Some(i64::from(in_pane > before + SOME))
    };
    (0..lists.len()).filter_map(one_more).sum()
}

pub fn spread(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    thirds(setting, mutant, lists)
}

pub fn spread_in_the_past(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    thirds(setting, mutant, lists_of_the_past)
}

/// Two keys in one half of an epoch and two others in the other half: three windows cover some of it, and
/// each of their norms moves by 2, the most possible. Others make all of it show after rounding.
pub fn norms(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const FEW: u64 = 2;
    const HIGHER: [u64; 3] = [4, 6, 4];
    let slide = EPOCH / 2;
    let audit = audit(setting, mutant, Bounds::new(4), 2)?;
    let pane = |time: i64, keys: [u64; 2]| {
        let events = move |key| distinct_users(time, key, FEW).chain([UserEvent::of_target(time, key)]);
        keys.into_iter().flat_map(events).collect::<Vec<_>>()
    };
    let streams = streams(vec![pane(0, [0, 1]), pane(slide, [2, 3]), Vec::new()]);
    Ok(Box::new(move |side| {
        let lists = lists(&audit, &streams[side as usize], slide)?;
        let high = lists.iter().zip(HIGHER);
        let high = high.filter(|(list, higher)| list.norm_estimate >= *higher);
        Ok(TrialOutcome::number(high.count() as i64))
    }))
}

/// Three times a key that no other user has, in both halves of an epoch.
pub fn new_key_again(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let slide = EPOCH / 2;
    let audit = audit(setting, mutant, Bounds::new(1).per_key(3), 2)?;
    let someone = |time| UserEvent::of_target(time, 0);
    let streams = streams(vec![vec![someone(0); 2], vec![someone(slide)], Vec::new(), Vec::new()]);
    Ok(Box::new(move |side| {
        let lists = lists(&audit, &streams[side as usize], slide)?;
        Ok(TrialOutcome::number(lists.iter().filter(|list| noisy(list, 0).is_some()).count() as i64))
    }))
}

/// An adaptive target: in the second half of an epoch it uses the key with the highest released count, when
/// only the noise of that half is left of it.
pub fn reaction(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const LIVE: u64 = 20;
    let slide = EPOCH / 2;
    let audit = audit(setting, mutant, Bounds::new(2), 2)?;
    let floor = lists(&audit, &vec![Vec::new()], slide)?[0].threshold;
    // In the second half of an epoch: the window that ends with the next one is without them.
    let others: Vec<UserEvent> = (0..LIVE).flat_map(|key| distinct_users(slide, key, 2 * floor)).collect();
    Ok(Box::new(move |side| {
        let is_there = side == NeighbourSide::One;
        let mut continual = audit.clone().continual()?;
        continual.advance_to(START)?;
        pass(&mut continual, &[], slide)?;
        pass(&mut continual, &others, 2 * slide)?;
        let first = is_there.then(|| UserEvent::of_target(2 * slide, LIVE));
        let shown = pass(&mut continual, first.as_slice(), 3 * slide)?;
        let target = shown.heavy.first().ok_or("no key was named")?.key;
        let second = is_there.then(|| UserEvent::of_target(3 * slide, target));
        let last = pass(&mut continual, second.as_slice(), 4 * slide)?;
        let bit = |key| i64::from(noisy(&last, key).is_some());
        Ok(TrialOutcome::number(bit(target) + 2 * bit(LIVE)))
    }))
}
