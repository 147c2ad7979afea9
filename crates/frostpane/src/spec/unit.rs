//! What is protected, and how far it moves what is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ratio::Ratio;
use super::span::time;

/// What the privacy of a release protects. Every sensitivity follows from it, and stands nowhere else.
///
/// ```
/// use frostpane::{Spec, Unit};
///
/// let events: Spec = serde_json::from_str(r#"{ "unit": "event" }"#)?;
/// assert_eq!(events.unit, Unit::Event);
/// let people: Spec = serde_json::from_str(r#"{ "unit": { "user": { "per_user": 4, "epoch": "1d" } } }"#)?;
/// assert_eq!(people.unit.bounds().unwrap().per_user, 4);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Unit {
    /// The key of one event. Neighbouring streams differ in it: one count falls by 1, another rises by 1.
    #[default]
    Event,
    /// All that one user did in one epoch. Of neighbouring streams one has no event of that user in that epoch: counts of at most
    /// [`per_user`](Bounds::per_user) keys fall, none by more than [`per_key`](Bounds::per_key).
    User(Bounds),
}

/// What one user may contribute in one epoch, however much they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Bounds {
    /// At most so many different keys.
    pub per_user: u32,
    /// Each of them at most so often. With 1, a count is a number of users, in each epoch anew.
    pub per_key: u32,
    /// How long an epoch is. Epochs are fixed by the clock: they begin at its multiples since 1970, in UTC.
    #[serde(with = "time")]
    pub epoch: Duration,
    /// By how much later epochs begin than that, and slides of several epochs: what a clock is behind UTC, or a day (a slide of days) less
    /// what it is ahead. Below an epoch, or a slide if that is longer.
    #[serde(with = "time", skip_serializing_if = "Duration::is_zero")]
    pub offset: Duration,
    /// The share of users whose events are counted, chosen by a secret hash; all unless told. Counts are of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_users: Option<Ratio>,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Default for Bounds {
    fn default() -> Self {
        Self {
            per_user: 1,
            per_key: 1,
            epoch: DAY,
            offset: Duration::ZERO,
            sample_users: None,
        }
    }
}

impl Bounds {
    /// At most so many keys of a user in an epoch, a day unless told, each once.
    pub fn new(per_user: u32) -> Self {
        Self {
            per_user,
            ..Self::default()
        }
    }

    /// Each key at most so often.
    pub fn per_key(self, times: u32) -> Self {
        Self {
            per_key: times,
            ..self
        }
    }

    /// In epochs of this length.
    pub fn epoch(self, epoch: Duration) -> Self {
        Self { epoch, ..self }
    }
}

impl Unit {
    /// What a user may contribute, where that is bounded.
    pub fn bounds(self) -> Option<Bounds> {
        match self {
            Unit::Event => None,
            Unit::User(bounds) => Some(bounds),
        }
    }

    /// Whether what one user did is protected, and with it how many events there were, and when.
    pub fn is_user(self) -> bool {
        self.bounds().is_some()
    }

    /// How far the counts of a window move, added up over all keys.
    pub(crate) const fn counts(self) -> u32 {
        match self {
            Unit::Event => 2,
            Unit::User(Bounds {
                per_user, per_key, ..
            }) => per_user.saturating_mul(per_key),
        }
    }

    /// At how many keys counts move in one direction.
    pub(crate) const fn keys(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(Bounds { per_user, .. }) => per_user,
        }
    }

    /// How far the largest count moves, and any other.
    pub(crate) const fn largest_count(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(Bounds { per_key, .. }) => per_key,
        }
    }

    /// How far the sum of all counts moves.
    pub(crate) const fn total(self) -> u32 {
        match self {
            Unit::Event => 0,
            Unit::User(_) => self.counts(),
        }
    }

    /// How far the L2 norm of exact counts moves, rounded down ([the proof](crate::proofs::count_sketch)).
    pub(crate) fn norm(self) -> u32 {
        match self {
            Unit::Event => 1,
            Unit::User(bounds) => ceil_sqrt(bounds.squares()),
        }
    }

    /// How far the L2 norm by a sketch moves (Lemma 4).
    pub(crate) const fn sketched_norm(self) -> u32 {
        self.counts()
    }

    /// How far the cells of a sketch of so many rows move, added up.
    pub(crate) const fn sketch(self, rows: u32) -> u32 {
        self.counts().saturating_mul(rows)
    }

    /// How far the counts of all nodes of a tree of so many levels move, added up.
    pub(crate) const fn tree(self, levels: u32) -> u32 {
        self.counts().saturating_mul(levels)
    }
}

impl Bounds {
    /// The most that the squares of what counts move by add up to.
    pub(crate) const fn squares(self) -> u64 {
        let Self {
            per_user, per_key, ..
        } = self;
        (per_user as u64).saturating_mul((per_key as u64).saturating_mul(per_key as u64))
    }
}

/// The least number whose square is no less.
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
        let counts = (0..2).map(|key| furthest(|counts| counts[key])).sum();
        assert_eq!(unit.counts(), counts);
        assert_eq!(unit.largest_count(), furthest(|counts| counts[0].max(counts[1])));
        let length = |cells: [i64; 2]| (cells[0] * cells[0] + cells[1] * cells[1]).isqrt();
        assert_eq!(unit.norm(), furthest(length));
        // One row of a sketch: two keys of opposite signs in one cell, or in a cell each.
        let together = furthest(|counts| length([counts[0] - counts[1], 0]));
        assert_eq!(unit.sketched_norm(), together.max(furthest(length)));
    }

    /// Every row counts every event once, and so does every level of a tree.
    #[test]
    fn rows_and_levels_add_up() {
        let user = Unit::User(Bounds::new(3).per_key(5));
        for number in 1..=9 {
            assert_eq!(Unit::Event.sketch(number), 2 * number);
            assert_eq!(Unit::Event.tree(number), 2 * number);
            assert_eq!(
                (user.sketch(number), user.tree(number)),
                (15 * number, 15 * number)
            );
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

    /// Signs of the three keys in one cell of a sketch, or none for a key that is in another.
    const CELLS: [[i64; 3]; 4] = [[1, 1, 1], [1, 1, -1], [1, -1, 0], [1, 0, 0]];

    #[test]
    fn what_a_user_moves_is_how_far_some_neighbours_lie_apart_and_none_lie_further() {
        for (keys, most) in [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2), (3, 3)] {
            let unit = Unit::User(Bounds::new(keys as u32).per_key(most as u32));
            let furthest = |of: &dyn Fn([i64; 3]) -> i64| {
                let pairs = with_and_without(keys, most);
                pairs
                    .map(|[without, with]| (of(with) - of(without)).unsigned_abs() as u32)
                    .max()
                    .unwrap()
            };
            let each = (0..3).map(|key| furthest(&|counts| counts[key])).max().unwrap();
            let distance =
                |[without, with]: [[i64; 3]; 2]| (0..3).map(|key| with[key] - without[key]).sum::<i64>();
            let added_up = with_and_without(keys, most).map(distance).max().unwrap() as u32;
            assert_eq!((unit.counts(), unit.largest_count()), (added_up, each));
            assert_eq!(
                furthest(&|counts| counts.into_iter().max().unwrap()),
                unit.largest_count()
            );
            assert_eq!(unit.total(), furthest(&|counts| counts.iter().sum()));
            let squares = |counts: [i64; 3]| counts.iter().map(|count| count * count).sum::<i64>();
            assert_eq!(
                unit.norm(),
                furthest(&|counts| squares(counts).isqrt()),
                "{keys} {most}"
            );
            let of_cell = |signs: [i64; 3]| {
                furthest(&|counts| (0..3).map(|key| signs[key] * counts[key]).sum::<i64>().abs())
            };
            assert_eq!(
                unit.sketched_norm(),
                CELLS.into_iter().map(of_cell).max().unwrap()
            );
        }
    }
}
