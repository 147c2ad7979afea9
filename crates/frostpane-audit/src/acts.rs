//! What users do, in streams that differ in what one of them did in one epoch.

use std::time::Duration;

use frostpane::Event;

/// How long an epoch is.
pub const DAY: Duration = Duration::from_secs(86_400);
/// The same in microseconds.
pub const EPOCH: i64 = 86_400_000_000;
/// Where the first epoch begins.
pub const START: i64 = 20_000 * EPOCH;

/// The user whom only one of two neighbours has.
const SOMEONE: u128 = u128::MAX;

/// One event of a user.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    user: u128,
    time: i64,
    key: u64,
}

impl Act {
    /// Of the user whom only one of two neighbours has, so long after the start.
    pub fn of_someone(after: i64, key: u64) -> Self {
        Self {
            user: SOMEONE,
            time: START + after,
            key,
        }
    }

    /// Whether it is theirs.
    pub fn is_of_someone(&self) -> bool {
        self.user == SOMEONE
    }

    /// How long after the start it took place.
    pub fn after_start(&self) -> i64 {
        self.time - START
    }

    /// Hands it over as an event.
    pub fn give<T>(&self, take: impl FnOnce(Event<'_, u64>) -> T) -> T {
        take(Event::by(&self.user.to_be_bytes(), self.time, self.key))
    }
}

/// So many people, all others than at other times or keys, who come to a key once each.
pub fn crowd(after: i64, key: u64, people: u64) -> impl Iterator<Item = Act> {
    let first = u128::from(after as u64) << 64 | u128::from(key) << 32;
    (0..people).map(move |one| Act {
        user: first | u128::from(one),
        time: START + after,
        key,
    })
}

/// A stream, and what is left of it without them.
pub fn with_and_without(acts: Vec<Act>) -> [Vec<Act>; 2] {
    let others = acts.iter().filter(|act| !act.is_of_someone()).copied().collect();
    [acts, others]
}
