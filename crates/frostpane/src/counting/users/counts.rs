//! Bounded counts of some panes.

use super::key_interner::KeyInterner;
use crate::fault::{Fault, Mutant};
use crate::key::Key;
use crate::pane::{PackedCounts, Pane, Parameters};

/// Counts of keys, pane by pane. They are exact: nothing is cut.
#[derive(Debug)]
pub struct Counts {
    panes: Vec<Vec<u64>>,
}

impl Counts {
    pub fn new(panes: usize) -> Self {
        Self { panes: vec![Vec::new(); panes] }
    }

    #[inline]
    pub fn add(&mut self, pane: usize, key: u32, times: u32) {
        let counts = &mut self.panes[pane];
        let key = key as usize;
        if counts.len() <= key {
            counts.resize(key + 1, 0);
        }
        counts[key] += u64::from(times);
    }

    pub fn merge(&mut self, other: &Self) {
        for (counts, more) in self.panes.iter_mut().zip(&other.panes) {
            counts.resize(counts.len().max(more.len()), 0);
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
    }

    pub fn bytes(panes: usize, keys: usize) -> u64 {
        (panes as u64).saturating_mul(keys as u64).saturating_mul(size_of::<u64>() as u64)
    }

    pub fn total(&self) -> u64 {
        self.panes.iter().flatten().sum()
    }

    pub fn close<K: Key>(
        self,
        names: &KeyInterner<K>,
        made_with: Parameters,
        (offered, fault): (u64, Fault),
    ) -> Vec<Pane<K>> {
        let close = |counts: Vec<u64>| {
            let is_cut = fault.is(Mutant::DataDependentCut);
            let cut = if is_cut { offered / (counts.len() as u64 + 1) } else { 0 };
            let counts = counts.into_iter().map(|count| count.saturating_sub(cut));
            let counts = (0..).zip(counts).filter(|(_, count)| *count > 0);
            let named = counts.filter_map(|(key, count)| Some((names.key(key)?, count)));
            Pane::exact(made_with, PackedCounts::collect(named))
        };
        self.panes.into_iter().map(close).collect()
    }
}
