//! Algorithm 4: Counter, for the frequency of one key in a window.
//!
//! `H` holds times `t_s` at which the key occurred, with the number `c_s` of its occurrences from then on. A
//! time between two others is deleted if `c_{s-1} - c_{s+1} < M`.
//!
//! # Accuracy
//!
//! As intended, `0 <= f - estimate <= M`; even `f - estimate < M - 1` wherever it is not exact. Let
//! `t_{s-1} < m-W+1 <= t_s`: the occurrences between the two times are missed. Those of an adjacent pair were
//! deleted, the last of them when `c_{s-1} - c_s < M`, and this difference never changes.
//!
//! Since a time that stays has `c_{s-1} - c_{s+1} >= M`, there are at most `2 + 2 (c_1 - 1)/M` times. `c_1`
//! is the count since the first occurrence and not that in the window: the page deletes nothing that left the
//! window.

use crate::answer::AlgorithmForm;

/// `H` of Algorithm 4, for one key.
#[derive(Clone, Debug)]
pub struct PublishedCounter {
    /// `M`.
    error: f64,
    total: u64,
    stamps: Vec<CounterStamp>,
}

/// A time `t_s` and the number of occurrences before it: `c_s` is the total less that number.
#[derive(Clone, Copy, Debug)]
struct CounterStamp {
    time: u64,
    before: u64,
}

impl PublishedCounter {
    /// An empty counter with additive error `M`.
    pub fn new(error: f64) -> Self {
        Self { error, total: 0, stamps: Vec::new() }
    }

    /// Counts an occurrence of the key at time `t`.
    ///
    /// `c_{s-1} - c_{s+1}` depends on what came between the two times and on nothing later. So of the times
    /// in `H` only the last but one can have become deletable, and other keys' events change nothing.
    pub fn update(&mut self, t: u64) {
        debug_assert!(self.stamps.last().is_none_or(|last| last.time < t), "times must rise");
        self.stamps.push(CounterStamp { time: t, before: self.total });
        self.total += 1;
        if let Some(s) = self.stamps.len().checked_sub(2)
            && self.deletes(s)
        {
            self.stamps.remove(s);
        }
    }

    /// Counts an occurrence at time `t`. `M` follows a growing error in steps of an eighth.
    pub(crate) fn update_within(&mut self, t: u64, error: f64) {
        self.update(t);
        if error > 1.125 * self.error {
            self.set_error(error);
        }
    }

    /// Changes `M` and deletes the times that may now be deleted. Earlier errors remain: the bound is the
    /// largest `M` so far.
    pub fn set_error(&mut self, error: f64) {
        let grows = error > self.error;
        self.error = error;
        let mut s = 1;
        while grows && s < self.stamps.len() {
            if self.deletes(s) {
                self.stamps.remove(s);
            } else {
                s += 1;
            }
        }
    }

    /// The estimated frequency in the window that starts at `start = m-W+1`.
    pub fn estimate(&self, start: u64, form: AlgorithmForm) -> u64 {
        let answer = match form {
            AlgorithmForm::Printed => self.stamps.last().filter(|last| last.time > start),
            AlgorithmForm::Intended => {
                self.stamps.get(self.stamps.partition_point(|stamp| stamp.time < start))
            }
        };
        answer.map_or(0, |stamp| self.total - stamp.before)
    }

    /// `M`.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// `c_1`: the number of occurrences.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The times `t_1 < t_2 < ...` of `H`.
    pub fn timestamps(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.stamps.iter().map(|stamp| stamp.time)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.stamps.len() * size_of::<CounterStamp>()) as u64
    }

    /// Returns true if `t_s` is to be deleted. The first and the last lack a neighbour and stay.
    fn deletes(&self, s: usize) -> bool {
        let (Some(previous), Some(next)) = (s.checked_sub(1), self.stamps.get(s + 1)) else {
            return false;
        };
        ((next.before - self.stamps[previous].before) as f64) < self.error
    }
}
