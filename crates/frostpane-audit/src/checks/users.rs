//! Single releases if users are protected: streams with and without one user.

use frostpane::Norm::L1;
use frostpane::testing::audit::{Audit, Mutant, moment};
use frostpane::{Bounds, Window};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::DECLARED_L2;
use crate::checks::distinguisher;
use crate::setting::{Setting, open};
use crate::user_events::{DAY, EPOCH, START, UserEvent, distinct_users, inside, push_all, with_and_without};

pub const CHECKS: [Check; 8] = [
    sampled("user-alone", "the only user, with one declared key", alone),
    sampled("user-keys", "a user's three declared keys, of many, of some, of nobody else", three_keys)
        .with_effort(2.0),
    sampled("user-keys-norm", "a user's four declared keys, and the norm", norm)
        .under(DECLARED_L2)
        .with_effort(0.5),
    sampled("user-keys-open", "a user's three keys, of many, of some, of nobody else", three_keys)
        .under(open(L1, 1.0, 1e-6))
        .with_effort(0.5),
    sampled("user-new-keys", "three keys of one user alone are named with delta at most", new_keys)
        .under(open(L1, 3.0, 0.33))
        .with_effort(0.5),
    sampled("user-new-key-again", "three times a key of one user alone", new_key_again)
        .under(open(L1, 3.0, 0.11)),
    sampled("user-again", "three times a declared key of many", again),
    sampled("user-restless", "a user with a thousand events, and everybody else's counts", restless)
        .with_effort(0.25),
];

const UNIVERSE: u64 = 12;
/// Counts that noise of the usual scale does not bring below a threshold of 1.
const SOME: u64 = 10;

/// A day with one release at its end.
pub fn audit(setting: &Setting, mutant: Option<Mutant>, bounds: Bounds) -> Result<Audit<u64>> {
    let builder = setting
        .builder_of_users(UNIVERSE, bounds.epoch(DAY))?
        .window(Window::clock(DAY))
        .until(moment(START + EPOCH));
    Ok(Audit::of(builder, mutant))
}

/// One release of a stream, with or without the target.
fn at_the_end(audit: Audit<u64>, events: impl IntoIterator<Item = UserEvent>) -> Result<Trial> {
    let streams = with_and_without(events.into_iter().collect());
    distinguisher::at_the_end(audit, streams, |audited, events| push_all(audited, events))
}

/// Events of the target, each of another key.
fn keys(keys: impl IntoIterator<Item = u64>) -> impl Iterator<Item = UserEvent> {
    keys.into_iter().map(|key| UserEvent::of_target(0, key))
}

pub fn alone(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(1))?, keys([0]))
}

pub fn three_keys(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let audit = audit(setting, mutant, Bounds::new(3))?;
    let floor = inside(&audit, &[])?.threshold.value();
    let others = distinct_users(0, 0, 3 * (floor + SOME)).chain(distinct_users(0, 1, floor + SOME));
    at_the_end(audit, others.chain(keys(0..3)))
}

/// Four equally frequent keys: the norm moves as far as it can.
pub fn norm(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = (0..4).flat_map(|key| distinct_users(0, key, 2 * SOME));
    at_the_end(audit(setting, mutant, Bounds::new(4))?, others.chain(keys(0..4)))
}

/// Three keys that no other user has: all of delta is for them.
pub fn new_keys(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(3))?, keys(0..3))
}

pub fn new_key_again(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(1).per_key(3))?, keys([0; 3]))
}

pub fn again(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = distinct_users(0, 0, 3 * SOME);
    at_the_end(audit(setting, mutant, Bounds::new(1).per_key(3))?, others.chain(keys([0; 3])))
}

/// A target with a thousand times the events that count, on keys of its own.
pub fn restless(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = (2..6).flat_map(|key| distinct_users(0, key, 2 * SOME));
    let restless = keys((0..1_000).map(|event| event % 2));
    at_the_end(audit(setting, mutant, Bounds::new(2))?, others.chain(restless))
}
