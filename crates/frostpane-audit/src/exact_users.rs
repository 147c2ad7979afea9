//! Exact losses if users are protected: all short streams of a target user and of others, with and without
//! the events of the target.

use std::collections::HashMap;

use frostpane::testing::audit::{Audit, Mutant, moment};
use frostpane::{Bounds, Window};

use crate::check::Result;
use crate::exact::{Loss, Moves};
use crate::setting::Setting;
use crate::user_events::{DAY, EPOCH, START, UserEvent, distinct_users, inside, with_and_without};

const KEYS: u64 = 3;
const EVENTS: u32 = 3;
/// Keys of the target, keys of others, and nothing.
const SYMBOLS: u64 = 2 * KEYS + 1;

/// Bounds on the keys of a user and on the events of each: below and at what the target does.
const BOUNDS: [(u32, u32); 4] = [(1, 1), (2, 1), (3, 1), (2, 3)];

/// Other users of a key if no threshold is near.
const FEW: u64 = 6;

/// The largest loss over all short streams, with and without the target, in both directions.
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
                worst =
                    Loss { streams: format!("{}, {per_user} keys {per_key} times", loss.streams), ..loss };
            }
        }
    }
    Ok(worst)
}

/// The largest loss after so many others have used each of two keys.
fn over_streams(setting: &Setting, audit: &Audit<u64>, before: u64) -> Result<Loss> {
    let mut worst = Loss::default();
    let mut known = HashMap::new();
    for number in 0..SYMBOLS.pow(EVENTS) {
        let prefix = (0..2).flat_map(|key| distinct_users(1, key, before));
        let streams = with_and_without(prefix.chain(stream(number)).collect());
        if streams[0].len() == streams[1].len() {
            continue;
        }
        let [with, without] = [inside(audit, &streams[0])?, inside(audit, &streams[1])?];
        for (one, other) in [(&with, &without), (&without, &with)] {
            let moves = Moves::between(one, other);
            let epsilon = *known.entry(moves).or_insert_with_key(|moves| moves.loss(setting, one));
            if epsilon > worst.epsilon {
                worst = Loss { epsilon, streams: format!("{} with and without A", spelled(number)) };
            }
        }
    }
    Ok(worst)
}

/// The digits of a number are the events of a stream. No two events of others are of one user.
fn stream(number: u64) -> impl Iterator<Item = UserEvent> {
    (0..EVENTS).filter_map(move |event| match digit(number, event) {
        symbol if symbol < KEYS => Some(UserEvent::of_target(i64::from(event), symbol)),
        symbol if symbol < 2 * KEYS => distinct_users(10 + i64::from(event), symbol - KEYS, 1).next(),
        _ => None,
    })
}

fn digit(number: u64, event: u32) -> u64 {
    number / SYMBOLS.pow(event) % SYMBOLS
}

/// Spells a stream: A is the target; others have no name.
fn spelled(number: u64) -> String {
    let letter = |event| ["Aa", "Ab", "Ac", "a", "b", "c", "-"][digit(number, event) as usize];
    (0..EVENTS).map(letter).collect::<Vec<_>>().join(" ")
}
