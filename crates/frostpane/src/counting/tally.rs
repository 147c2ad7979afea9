//! Numbers of events by their outcome.

use std::ops::{AddAssign, Sub};

use crate::codec::{Reader, Writer};
use crate::error::Result;

/// Numbers of events by their outcome. For the operator, who holds the events: **it must not be published**.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events of users that may count, before bounds.
    pub offered: u64,
    /// Those of them beyond the bounds of their users; known when an epoch has ended or a release has been paid for.
    pub beyond_bounds: u64,
    /// Events without a user, where users are protected: they are not counted.
    pub without_user: u64,
    /// Events without a key that is counted: none, an undeclared one, or one that is too long.
    pub without_key: u64,
    /// Events that came after their pane, or epoch, had ended.
    pub late: u64,
    /// Events later than the clock allows.
    pub ahead: u64,
    /// Events before or after windows whose end is known.
    pub outside: u64,
    /// Events of users that are not in the sample.
    pub not_sampled: u64,
}

impl Tally {
    /// The number of events that are counted for no key: every one is in one of these numbers. Bounds of users are not looked at.
    pub fn not_counted(&self) -> u64 {
        let Self { without_user, without_key, late, ahead, outside, not_sampled, .. } = *self;
        without_user + without_key + late + ahead + outside + not_sampled
    }

    pub(super) fn save(&self, to: &mut Writer) {
        let Self { offered, beyond_bounds, without_user, without_key, not_sampled, .. } = *self;
        let not_in_time = self.late + self.ahead + self.outside;
        let all = [offered, beyond_bounds, without_user, without_key, not_in_time, not_sampled];
        all.into_iter().for_each(|number| to.number(number));
    }

    pub(super) fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            offered: from.count()?,
            beyond_bounds: from.count()?,
            without_user: from.count()?,
            without_key: from.count()?,
            late: from.count()?,
            not_sampled: from.count()?,
            ..Self::default()
        })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.beyond_bounds += other.beyond_bounds;
        self.without_user += other.without_user;
        self.without_key += other.without_key;
        self.late += other.late;
        self.ahead += other.ahead;
        self.outside += other.outside;
        self.not_sampled += other.not_sampled;
    }
}

impl Sub for Tally {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            offered: self.offered - earlier.offered,
            beyond_bounds: self.beyond_bounds - earlier.beyond_bounds,
            without_user: self.without_user - earlier.without_user,
            without_key: self.without_key - earlier.without_key,
            late: self.late - earlier.late,
            ahead: self.ahead - earlier.ahead,
            outside: self.outside - earlier.outside,
            not_sampled: self.not_sampled - earlier.not_sampled,
        }
    }
}
