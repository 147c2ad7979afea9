//! The same calculation as [`exact`](crate::exact) where people are protected: all short streams of someone and of others, with and
//! without what that someone did.

use std::collections::HashMap;

use frostpane::audit::{Audit, Inside, Mutant, moment};
use frostpane::{Bounds, Window};

use crate::acts::{Act, DAY, EPOCH, START, crowd, with_and_without};
use crate::check::Result;
use crate::exact::{Loss, Moves};
use crate::setting::Setting;

const KEYS: u64 = 3;
const EVENTS: u32 = 3;
/// Someone's keys, keys of others, and nothing.
const SYMBOLS: u64 = 2 * KEYS + 1;

/// Keys of a user, and how often each: fewer than someone has in some streams, and as many as in any.
const BOUNDS: [(u32, u32); 4] = [(1, 1), (2, 1), (3, 1), (2, 3)];

/// How many others come to a key where no threshold is near.
const FEW: u64 = 6;

/// The largest loss over all short streams, with someone and without, both ways round.
pub fn over_all_users(setting: &Setting, mutant: Option<Mutant>) -> Result<Loss> {
    let mut worst = Loss::default();
    for (per_user, per_key) in BOUNDS {
        let builder = setting
            .builder_of_users(KEYS, Bounds::new(per_user).per_key(per_key).epoch(DAY))?
            .window(Window::clock(DAY))
            .until(moment(START + EPOCH));
        let audit = Audit::of(builder, mutant);
        let near = inside(&audit, &[])?.threshold.value().saturating_sub(2);
        for before in [0, if near > 0 { near } else { FEW }] {
            let loss = over_streams(setting, &audit, before)?;
            if loss.epsilon > worst.epsilon {
                worst = Loss {
                    streams: format!("{}, {per_user} keys {per_key} times", loss.streams),
                    ..loss
                };
            }
        }
    }
    Ok(worst)
}

/// The same after so many others have come to each of two keys.
fn over_streams(setting: &Setting, audit: &Audit<u64>, before: u64) -> Result<Loss> {
    let mut worst = Loss::default();
    let mut known = HashMap::new();
    for number in 0..SYMBOLS.pow(EVENTS) {
        let prefix = (0..2).flat_map(|key| crowd(1, key, before));
        let streams = with_and_without(prefix.chain(stream(number)).collect());
        if streams[0].len() == streams[1].len() {
            continue;
        }
        let [with, without] = [inside(audit, &streams[0])?, inside(audit, &streams[1])?];
        for (one, other) in [(&with, &without), (&without, &with)] {
            let moves = Moves::between(one, other);
            let known = known.entry(moves.key());
            let epsilon = *known.or_insert_with(|| moves.loss(setting, one));
            if epsilon > worst.epsilon {
                worst = Loss {
                    epsilon,
                    streams: format!("{} with and without A", spelled(number)),
                };
            }
        }
    }
    Ok(worst)
}

fn inside(audit: &Audit<u64>, acts: &[Act]) -> Result<Inside<u64>> {
    let mut audited = audit.clone().build()?;
    acts.iter()
        .try_for_each(|act| act.give(|event| audited.push(event)))?;
    Ok(audited.inside()?)
}

/// The events of a stream, which is a number whose digits they are. No two of others are of one user.
fn stream(number: u64) -> impl Iterator<Item = Act> {
    (0..EVENTS).filter_map(move |event| match digit(number, event) {
        symbol if symbol < KEYS => Some(Act::of_someone(i64::from(event), symbol)),
        symbol if symbol < 2 * KEYS => crowd(10 + i64::from(event), symbol - KEYS, 1).next(),
        _ => None,
    })
}

fn digit(number: u64, event: u32) -> u64 {
    number / SYMBOLS.pow(event) % SYMBOLS
}

/// A is someone, who came to a, b or c; the others have no name.
fn spelled(number: u64) -> String {
    let letter = |event| ["Aa", "Ab", "Ac", "a", "b", "c", "-"][digit(number, event) as usize];
    (0..EVENTS).map(letter).collect::<Vec<_>>().join(" ")
}
