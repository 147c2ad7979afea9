//! Scores lists against the true counts.

use std::collections::{HashMap, HashSet};

use frostpane::Norm;
use serde::Serialize;

pub struct TrueCounts {
    pub counts: HashMap<u64, u64>,
    /// The norm times alpha: the least count of a heavy key.
    pub heavy_from: f64,
    pub heavy: HashSet<u64>,
}

pub type KeyCounts = Vec<(u64, f64)>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Heavy keys that were not listed.
    pub missed: f64,
    /// Keys listed with at most half of a heavy count.
    pub wrong: f64,
    /// The harmonic mean of precision and recall; keys between light and heavy count for neither.
    pub f1: f64,
    /// Errors of listed counts, as parts of a heavy count.
    pub mean_error: Option<f64>,
    pub largest_error: Option<f64>,
}

impl TrueCounts {
    pub fn new(window: impl Iterator<Item = u64>, norm: Norm, alpha: f64) -> Self {
        let mut counts = HashMap::new();
        window.for_each(|key| *counts.entry(key).or_insert(0) += 1);
        let norm = match norm {
            Norm::L1 => counts.values().sum::<u64>() as f64,
            Norm::L2 => counts.values().map(|count| (*count as f64).powi(2)).sum::<f64>().sqrt(),
        };
        let heavy_from = alpha * norm;
        let is_heavy = |(_, count): &(&u64, &u64)| **count as f64 >= heavy_from;
        Self { heavy: counts.iter().filter(is_heavy).map(|(key, _)| *key).collect(), counts, heavy_from }
    }

    pub fn list(&self) -> KeyCounts {
        self.heavy.iter().map(|key| (*key, self.count(*key))).collect()
    }

    pub fn score(&self, lists: &[KeyCounts]) -> Score {
        let mean = |value: &dyn Fn(&KeyCounts) -> f64| {
            lists.iter().map(value).sum::<f64>() / lists.len().max(1) as f64
        };
        let errors: Vec<f64> = lists
            .iter()
            .flatten()
            .map(|(key, count)| (count - self.count(*key)).abs() / self.heavy_from)
            .collect();
        let mean_error = errors.iter().sum::<f64>() / errors.len() as f64;
        Score {
            missed: mean(&|list| self.missed(list) as f64),
            wrong: mean(&|list| self.wrong(list) as f64),
            f1: mean(&|list| self.f1(list)),
            mean_error: (!errors.is_empty()).then_some(mean_error),
            largest_error: errors.into_iter().reduce(f64::max),
        }
    }

    fn count(&self, key: u64) -> f64 {
        self.counts.get(&key).copied().unwrap_or(0) as f64
    }

    fn missed(&self, list: &[(u64, f64)]) -> usize {
        let found = list.iter().filter(|(key, _)| self.heavy.contains(key)).count();
        self.heavy.len() - found
    }

    fn wrong(&self, list: &[(u64, f64)]) -> usize {
        list.iter().filter(|(key, _): &&(u64, f64)| self.count(*key) <= self.heavy_from / 2.0).count()
    }

    fn f1(&self, list: &[(u64, f64)]) -> f64 {
        let faults = self.missed(list) + self.wrong(list);
        let found = self.heavy.len() - self.missed(list);
        match (found, faults) {
            (0, 0) => 1.0,
            _ => 2.0 * found as f64 / (2 * found + faults) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_between_light_and_heavy_count_for_neither_side() {
        // 40, 30, 20, 10: heavy from 25.
        let window = [(1, 40), (2, 30), (3, 20), (4, 10)];
        let events = window.into_iter().flat_map(|(key, count)| vec![key; count]);
        let truth = TrueCounts::new(events, Norm::L1, 0.25);
        assert_eq!((truth.heavy.len(), truth.counts.len(), truth.heavy_from), (2, 4, 25.0));
        let score = truth.score(&[vec![(1, 45.0), (3, 20.0), (4, 20.0)]]);
        assert_eq!((score.missed, score.wrong, score.f1), (1.0, 1.0, 0.5));
        assert!((score.mean_error.unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(score.largest_error, Some(0.4));
        let perfect = truth.score(&[truth.list()]);
        assert_eq!((perfect.missed, perfect.wrong, perfect.f1), (0.0, 0.0, 1.0));
        let empty = truth.score(&[vec![]]);
        assert_eq!((empty.missed, empty.f1, empty.mean_error), (2.0, 0.0, None));
    }
}
