//! The unit of privacy, and the sensitivities that follow from it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::numbers::spoken;
use crate::quantity::Ratio;
use crate::quantity::span::time;

/// The unit of privacy: what a release protects. Every sensitivity is computed here and nowhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Unit {
    /// The key of one event. Neighbouring streams differ in it: one count falls by 1, another rises by 1.
    #[default]
    Event,
    /// All events of one user in one epoch. One of two neighbouring streams lacks them: counts of at
    /// most [`per_user`](Bounds::per_user) keys fall, none by more than [`per_key`](Bounds::per_key).
    User(Bounds),
}

/// Bounds on what one user contributes to the counts of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Bounds {
    /// The most different keys.
    pub per_user: u32,
    /// The most events of each key. With 1, a count is a number of users, in each epoch anew.
    pub per_key: u32,
    /// The length of an epoch. Epochs begin at its multiples since 1970, in UTC.
    #[serde(with = "time")]
    pub epoch: Duration,
    /// How much later than in UTC an epoch, or a slide of several epochs, begins: 5 hours at UTC-5, 23
    /// hours at UTC+1. Shorter than an epoch, or than a slide if that is longer.
    #[serde(with = "time", skip_serializing_if = "Duration::is_zero")]
    pub offset: Duration,
    /// The share of users whose events are counted, chosen by a secret hash; all by default. Counts are
    /// of those users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_users: Option<Ratio>,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Default for Bounds {
    fn default() -> Self {
        Self { per_user: 1, per_key: 1, epoch: DAY, offset: Duration::ZERO, sample_users: None }
    }
}

impl Bounds {
    /// At most this many keys of a user in an epoch of a day, each counted once.
    pub fn new(per_user: u32) -> Self {
        Self { per_user, ..Self::default() }
    }

    /// Counts each key at most this often.
    pub fn per_key(self, times: u32) -> Self {
        Self { per_key: times, ..self }
    }

    /// Sets the length of an epoch.
    pub fn epoch(self, epoch: Duration) -> Self {
        Self { epoch, ..self }
    }

    /// The name of an epoch, such as `day` or `epoch of 12 hours`.
    pub fn epoch_name(&self) -> String {
        match self.epoch.as_secs_f64() {
            60.0 => "minute".to_owned(),
            3_600.0 => "hour".to_owned(),
            86_400.0 => "day".to_owned(),
            604_800.0 => "week".to_owned(),
            _ => format!("epoch of {}", spoken(self.epoch)),
        }
    }
}

impl Unit {
    /// The bounds on a user's contribution, for user-level privacy.
    pub fn bounds(self) -> Option<Bounds> {
        match self {
            Unit::Event => None,
            Unit::User(bounds) => Some(bounds),
        }
    }

    /// Returns true for user-level privacy, which also hides how many events there were, and when.
    pub fn is_user(self) -> bool {
        self.bounds().is_some()
    }

    /// L1 sensitivity of the counts of a window.
    pub(crate) const fn counts(self) -> u32 {
        match self {
            Unit::Event => 2,
            Unit::User(Bounds { per_user, per_key, .. }) => per_user.saturating_mul(per_key),
        }
    }

    /// The number of keys whose counts move in one direction.
    pub(crate) const fn keys(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(Bounds { per_user, .. }) => per_user,
        }
    }

    /// Sensitivity of the largest count, and of any other.
    pub(crate) const fn largest_count(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(Bounds { per_key, .. }) => per_key,
        }
    }

    pub(crate) const fn total(self) -> u32 {
        match self {
            Unit::Event => 0,
            Unit::User(_) => self.counts(),
        }
    }

    /// Sensitivity of the L2 norm of exact counts, rounded down ([the proof](crate::proofs::count_sketch)).
    pub(crate) fn norm(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(bounds) => ceil_sqrt(bounds.squares()),
        }
    }

    /// Sensitivity of the L2 norm estimated by a sketch (Lemma 4).
    pub(crate) const fn sketched_norm(self) -> u32 {
        self.counts()
    }

    /// The square of the L2 sensitivity of the counts of a window.
    pub(crate) const fn squares(self) -> u64 {
        match self {
            Unit::Event => 2,
            Unit::User(bounds) => bounds.squares(),
        }
    }

    /// L1 sensitivity of the cells of a sketch.
    pub(crate) const fn sketch(self, rows: u32) -> u32 {
        self.counts().saturating_mul(rows)
    }

    /// L1 sensitivity of the counts of all nodes of a tree of this many levels.
    pub(crate) const fn tree(self, levels: u32) -> u32 {
        self.counts().saturating_mul(levels)
    }
}

impl Bounds {
    /// A bound on the sum of the squares of the changes of counts.
    pub(crate) const fn squares(self) -> u64 {
        let Self { per_user, per_key, .. } = self;
        (per_user as u64).saturating_mul((per_key as u64).saturating_mul(per_key as u64))
    }
}

fn ceil_sqrt(square: u64) -> u32 {
    let root = square.isqrt();
    u32::try_from(root + u64::from(root * root < square)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of two keys, before and after the key of one event is replaced: all of up to twenty events.
    fn neighbours() -> impl Iterator<Item = [[i64; 2]; 2]> {
        let all = (1..=20).flat_map(|one| (0..=20 - one).map(move |other| [one, other]));
        all.map(|[one, other]| [[one, other], [one - 1, other + 1]])
    }

    fn furthest(of: impl Fn([i64; 2]) -> i64) -> u32 {
        let distances = neighbours().map(|[counts, moved]| (of(counts) - of(moved)).unsigned_abs());
        distances.max().unwrap() as u32
    }

    #[test]
    fn every_sensitivity_is_how_far_some_neighbours_lie_apart_and_none_lie_further() {
        let unit = Unit::Event;
        let counts: u32 = (0..2).map(|key| furthest(|counts| counts[key])).sum();
        assert_eq!(unit.counts(), counts);
        assert_eq!(unit.largest_count(), furthest(|counts| counts[0].max(counts[1])));
        let length = |cells: [i64; 2]| (cells[0] * cells[0] + cells[1] * cells[1]).isqrt();
        assert_eq!(unit.norm(), furthest(length));
        // One row of a sketch: two keys of opposite signs in one cell, or in separate cells.
        let together = furthest(|counts| length([counts[0] - counts[1], 0]));
        assert_eq!(unit.sketched_norm(), together.max(furthest(length)));
    }

    #[test]
    fn rows_and_levels_add_up() {
        let user = Unit::User(Bounds::new(3).per_key(5));
        for number in 1..=9 {
            assert_eq!(Unit::Event.sketch(number), 2 * number);
            assert_eq!(Unit::Event.tree(number), 2 * number);
            assert_eq!((user.sketch(number), user.tree(number)), (15 * number, 15 * number));
        }
    }

    /// Counts of three keys of others, and with a user who adds up to `most` to each of `keys` of them.
    fn with_and_without(keys: usize, most: i64) -> impl Iterator<Item = [[i64; 3]; 2]> {
        let all = |most: i64| {
            (0..(most + 1).pow(3))
                .map(move |n| [n, n / (most + 1), n / (most + 1).pow(2)].map(|n| n % (most + 1)))
        };
        let users =
            move || all(most).filter(move |user| user.iter().filter(|times| **times > 0).count() <= keys);
        all(6).flat_map(move |others| {
            users().map(move |user| [others, std::array::from_fn(|key| others[key] + user[key])])
        })
    }

    /// Signs of the three keys in one cell of a sketch; 0 for a key in another cell.
    const CELLS: [[i64; 3]; 4] = [[1, 1, 1], [1, 1, -1], [1, -1, 0], [1, 0, 0]];

    #[test]
    fn what_a_user_moves_is_how_far_some_neighbours_lie_apart_and_none_lie_further() {
        for (keys, most) in [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2), (3, 3)] {
            let unit = Unit::User(Bounds::new(keys as u32).per_key(most as u32));
            let furthest = |of: &dyn Fn([i64; 3]) -> i64| {
                let pairs = with_and_without(keys, most);
                pairs.map(|[without, with]| (of(with) - of(without)).unsigned_abs() as u32).max().unwrap()
            };
            let each = (0..3).map(|key| furthest(&|counts| counts[key])).max().unwrap();
            let distance =
                |[without, with]: [[i64; 3]; 2]| (0..3).map(|key| with[key] - without[key]).sum::<i64>();
            let added_up = with_and_without(keys, most).map(distance).max().unwrap() as u32;
            assert_eq!((unit.counts(), unit.largest_count()), (added_up, each));
            assert_eq!(furthest(&|counts| counts.into_iter().max().unwrap()), unit.largest_count());
            assert_eq!(unit.total(), furthest(&|counts| counts.iter().sum()));
            let squares = |counts: [i64; 3]| counts.iter().map(|count| count * count).sum::<i64>();
            assert_eq!(unit.norm(), furthest(&|counts| squares(counts).isqrt()), "{keys} {most}");
            let of_cell = |signs: [i64; 3]| {
                furthest(&|counts| (0..3).map(|key| signs[key] * counts[key]).sum::<i64>().abs())
            };
            assert_eq!(unit.sketched_norm(), CELLS.into_iter().map(of_cell).max().unwrap());
        }
    }
}
