//! Single releases of what people did: streams with and without one user.

use frostpane::audit::{Audit, Inside, Mutant, moment};
use frostpane::{Bounds, Window};

use crate::acts::{Act, DAY, EPOCH, START, crowd, with_and_without};
use crate::check::{Result, Trial};
use crate::checks::look::Look;
use crate::outcome::Outcome;
use crate::setting::Setting;

const UNIVERSE: u64 = 12;
/// Counts that noise of the usual scale does not bring below a threshold of 1.
const SOME: u64 = 10;

/// A day, at the end of which there is one release.
pub fn audit(setting: &Setting, mutant: Option<Mutant>, bounds: Bounds) -> Result<Audit<u64>> {
    let builder = setting
        .builder_of_users(UNIVERSE, bounds.epoch(DAY))?
        .window(Window::clock(DAY))
        .until(moment(START + EPOCH));
    Ok(Audit::of(builder, mutant))
}

fn inside(audit: &Audit<u64>, acts: &[Act]) -> Result<Inside<u64>> {
    let mut audited = audit.clone().build()?;
    acts.iter()
        .try_for_each(|act| act.give(|event| audited.push(event)))?;
    Ok(audited.inside()?)
}

/// One release of a stream, or of what is left of it without someone.
fn at_the_end(audit: Audit<u64>, acts: impl IntoIterator<Item = Act>) -> Result<Trial> {
    let streams = with_and_without(acts.into_iter().collect());
    let look = Look::between(&inside(&audit, &streams[0])?, &inside(&audit, &streams[1])?);
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        let acts = &streams[side as usize];
        acts.iter()
            .try_for_each(|act| act.give(|event| audited.push(event)))?;
        let release = audited.release()?;
        Ok(Outcome {
            label: look.label(&release),
            shown: look.shown(&release),
        })
    }))
}

/// Someone's events, each of another key.
fn keys(keys: impl IntoIterator<Item = u64>) -> impl Iterator<Item = Act> {
    keys.into_iter().map(|key| Act::of_someone(0, key))
}

/// Someone whom nobody else is there with.
pub fn alone(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(1))?, keys([0]))
}

/// Someone with three keys: of many others, of some, and of nobody else.
pub fn three_keys(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let audit = audit(setting, mutant, Bounds::new(3))?;
    let floor = inside(&audit, &[])?.threshold.value();
    let others = crowd(0, 0, 3 * (floor + SOME)).chain(crowd(0, 1, floor + SOME));
    at_the_end(audit, others.chain(keys(0..3)))
}

/// Four keys as frequent as each other: the norm moves as far as it can.
pub fn norm(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = (0..4).flat_map(|key| crowd(0, key, 2 * SOME));
    at_the_end(audit(setting, mutant, Bounds::new(4))?, others.chain(keys(0..4)))
}

/// Three keys that nobody else has: all of delta is for them.
pub fn new_keys(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(3))?, keys(0..3))
}

/// Three times a key that nobody else has.
pub fn new_key_again(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(audit(setting, mutant, Bounds::new(1).per_key(3))?, keys([0; 3]))
}

/// Three times a key of many.
pub fn again(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = crowd(0, 0, 3 * SOME);
    at_the_end(
        audit(setting, mutant, Bounds::new(1).per_key(3))?,
        others.chain(keys([0; 3])),
    )
}

/// Someone who does a thousand times what counts, and nothing that others do.
pub fn restless(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let others = (2..6).flat_map(|key| crowd(0, key, 2 * SOME));
    let restless = keys((0..1_000).map(|event| event % 2));
    at_the_end(audit(setting, mutant, Bounds::new(2))?, others.chain(restless))
}
