//! What is protected, and how far it moves what is measured.

use serde::{Deserialize, Serialize};

/// What the privacy of a release protects. Every sensitivity follows from it, and stands nowhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Unit {
    /// The key of one event. Neighbouring streams differ in it: one count falls by 1, another rises by 1.
    #[default]
    Event,
}

impl Unit {
    /// How far the counts of a window move, added up over all keys.
    pub(crate) const fn counts(self) -> u32 {
        match self {
            Unit::Event => 2,
        }
    }

    /// How far the largest count moves.
    pub(crate) const fn largest_count(self) -> u32 {
        match self {
            Unit::Event => 1,
        }
    }

    /// How far the L2 norm of exact counts moves, rounded down ([the proof](crate::proofs::count_sketch)).
    pub(crate) const fn norm(self) -> u32 {
        match self {
            Unit::Event => 1,
        }
    }

    /// How far the L2 norm by a sketch moves (Lemma 4).
    pub(crate) const fn sketched_norm(self) -> u32 {
        match self {
            Unit::Event => 2,
        }
    }

    /// How far the cells of a sketch of so many rows move, added up.
    pub(crate) const fn sketch(self, rows: u32) -> u32 {
        self.counts() * rows
    }

    /// How far the counts of all nodes of a tree of so many levels move, added up.
    pub(crate) const fn tree(self, levels: u32) -> u32 {
        self.counts() * levels
    }
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
        for number in 1..=9 {
            assert_eq!(Unit::Event.sketch(number), 2 * number);
            assert_eq!(Unit::Event.tree(number), 2 * number);
        }
    }
}
