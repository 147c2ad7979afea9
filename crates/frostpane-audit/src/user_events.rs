//! Events of users, in neighbouring streams that differ in the events of one user in one epoch.

use std::time::Duration;

use frostpane::Event;
use frostpane::testing::audit::{Audit, Audited, Unnoised};

use crate::check::Result;

/// The length of an epoch.
pub const DAY: Duration = Duration::from_secs(86_400);
/// The length of an epoch in microseconds.
pub const EPOCH: i64 = 86_400_000_000;
/// The begin of the first epoch.
pub const START: i64 = 20_000 * EPOCH;

/// The user that only one of two neighbours has.
const TARGET: u128 = u128::MAX;

#[derive(Clone, Copy, Debug)]
pub struct UserEvent {
    user: u128,
    pub time: i64,
    key: u64,
}

impl UserEvent {
    /// An event of the user that only one of two neighbours has, at a time after the start.
    pub fn of_target(after: i64, key: u64) -> Self {
        Self { user: TARGET, time: START + after, key }
    }

    pub fn is_of_target(&self) -> bool {
        self.user == TARGET
    }

    /// Converts it for the library.
    pub fn give<T>(&self, take: impl FnOnce(Event<'_, u64>) -> T) -> T {
        take(Event::by(&self.user.to_be_bytes(), self.time, self.key))
    }
}

/// One event each of so many users, which occur at no other time or key.
pub fn distinct_users(after: i64, key: u64, users: u64) -> impl Iterator<Item = UserEvent> {
    let first = u128::from(after as u64) << 64 | u128::from(key) << 32;
    (0..users).map(move |one| UserEvent { user: first | u128::from(one), time: START + after, key })
}

/// The input of the noise of a release of these events.
pub fn inside(audit: &Audit<u64>, events: &[UserEvent]) -> Result<Unnoised<u64>> {
    let mut audited = audit.clone().build()?;
    push_all(&mut audited, events)?;
    Ok(audited.inside()?)
}

pub fn push_all(audited: &mut Audited<u64>, events: &[UserEvent]) -> Result<()> {
    for event in events {
        event.give(|event| audited.push(event))?;
    }
    Ok(())
}

/// A stream with and without the target user.
pub fn with_and_without(events: Vec<UserEvent>) -> [Vec<UserEvent>; 2] {
    let others = events.iter().filter(|event| !event.is_of_target()).copied().collect();
    [events, others]
}
