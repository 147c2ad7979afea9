//! Outcomes of runs on two neighbouring streams, their frequencies, and the choice of an event.

use std::collections::BTreeMap;

use crate::bound;

/// One of two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighbourSide {
    /// The stream.
    One,
    /// The neighbour: another key in one event, or without the events of one user in one epoch.
    Other,
}

impl NeighbourSide {
    /// Both neighbours.
    pub const BOTH: [Self; 2] = [Self::One, Self::Other];
}

/// The observed output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialOutcome {
    /// Runs with equal labels are counted together.
    pub label: i64,
    /// A number for plots.
    pub shown: i64,
}

impl TrialOutcome {
    /// The same number for both.
    pub fn number(value: i64) -> Self {
        Self { label: value, shown: value }
    }
}

/// Counted runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeTally {
    labels: BTreeMap<i64, [u64; 2]>,
    shown: BTreeMap<i64, [u64; 2]>,
    runs: [u64; 2],
}

/// An event: a set of outcomes, and the stream on which they are likelier.
#[derive(Clone, Debug, PartialEq)]
pub struct OutcomeSet {
    labels: Vec<i64>,
    likelier: NeighbourSide,
}

impl OutcomeTally {
    /// Adds a run.
    pub fn add(&mut self, side: NeighbourSide, outcome: TrialOutcome) {
        self.labels.entry(outcome.label).or_default()[side as usize] += 1;
        self.shown.entry(outcome.shown).or_default()[side as usize] += 1;
        self.runs[side as usize] += 1;
    }

    /// Adds the runs of another tally.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in [(&mut self.labels, other.labels), (&mut self.shown, other.shown)] {
            for (value, counts) in theirs {
                let sum = mine.entry(value).or_default();
                (0..2).for_each(|side| sum[side] += counts[side]);
            }
        }
        (0..2).for_each(|side| self.runs[side] += other.runs[side]);
    }

    /// The frequencies of the numbers for plots, on each stream.
    pub fn shown(&self) -> &BTreeMap<i64, [u64; 2]> {
        &self.shown
    }

    /// The number of runs on each stream, at least.
    pub fn runs(&self) -> u64 {
        self.runs[0].min(self.runs[1])
    }

    /// The event with the best bound on these runs, to be counted on others.
    pub fn choose(&self, delta: f64, failure: f64) -> OutcomeSet {
        let mut best = (0.0, OutcomeSet { labels: Vec::new(), likelier: NeighbourSide::One });
        for order in self.orders() {
            for likelier in NeighbourSide::BOTH {
                let (first, second) = (likelier as usize, 1 - likelier as usize);
                let mut hits = [0, 0];
                for (taken, label) in order.iter().enumerate() {
                    let counts = self.labels[label];
                    hits = [hits[0] + counts[first], hits[1] + counts[second]];
                    if bound::optimistic(hits, self.runs(), delta) <= best.0 {
                        continue;
                    }
                    let epsilon = bound::epsilon(hits, self.runs(), delta, failure);
                    if epsilon > best.0 {
                        let labels = order[..=taken].to_vec();
                        best = (epsilon, OutcomeSet { labels, likelier });
                    }
                }
            }
        }
        best.1
    }

    /// All labels, in orders whose prefixes are candidates.
    fn orders(&self) -> [Vec<i64>; 4] {
        let rising: Vec<i64> = self.labels.keys().copied().collect();
        let falling = rising.iter().rev().copied().collect();
        let odds = |label: &i64| {
            let [one, other] = self.labels[label].map(|count| count as f64 + 0.5);
            one / other
        };
        let mut by_odds = rising.clone();
        by_odds.sort_by(|a, b| odds(b).total_cmp(&odds(a)));
        let against = by_odds.iter().rev().copied().collect();
        [by_odds, against, rising, falling]
    }

    /// The least epsilon compatible with an event that was chosen on other runs.
    pub fn bound(&self, event: &OutcomeSet, delta: f64, failure: f64) -> f64 {
        let hits = |label, side: usize| self.labels.get(label).map_or(0, |counts| counts[side]);
        let sum = |side| event.labels.iter().map(|label| hits(label, side)).sum();
        let (first, second) = (event.likelier as usize, 1 - event.likelier as usize);
        bound::epsilon([sum(first), sum(second)], self.runs(), delta, failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(counts: &[(i64, [u64; 2])]) -> OutcomeTally {
        let mut tally = OutcomeTally::default();
        for (label, counts) in counts {
            for side in NeighbourSide::BOTH {
                (0..counts[side as usize]).for_each(|_| tally.add(side, TrialOutcome::number(*label)));
            }
        }
        tally
    }

    #[test]
    fn the_event_is_where_the_streams_differ_most() {
        let counts = [(1, [500, 480]), (2, [300, 20]), (3, [200, 500])];
        let event = tally(&counts).choose(0.0, 0.01);
        assert_eq!(event.labels, [2]);
        assert_eq!(event.likelier, NeighbourSide::One);
        let turned = counts.map(|(label, [one, other])| (label, [other, one]));
        assert_eq!(tally(&turned).choose(0.0, 0.01).likelier, NeighbourSide::Other);
    }

    #[test]
    fn equal_streams_have_no_loss() {
        let same = tally(&[(1, [500, 500]), (2, [500, 500])]);
        assert_eq!(same.bound(&same.choose(0.0, 0.01), 0.0, 0.01), 0.0);
    }
}
