#![doc = include_str!("exponential.md")]

use std::ops::Range;

use crate::error::Result;
use crate::noise::Secret;
use crate::timeline::norms::Norms;
use crate::timeline::schedule::{Outline, Outlines, Schedule};

/// How many panes are merged at a time.
pub(crate) const GROWTH: i64 = 4;

/// Panes that are merged, four at a time, as they age.
#[derive(Debug)]
pub struct Exponential {
    /// The length of the youngest panes.
    pub slide: i64,
    /// A pane is at most this part of its age.
    pub fineness: i64,
    /// The last cell of the first merged length that the latest position has passed: nothing grows old
    /// enough within one.
    passed: i64,
}

impl Exponential {
    /// Panes of at least this length, and at most this part of their age.
    pub fn new(slide: i64, fineness: i64) -> Self {
        Self {
            slide,
            fineness,
            passed: i64::MIN,
        }
    }
}

impl Schedule for Exponential {
    fn ends(&mut self, _: Outline, _: &dyn Fn() -> Secret<u64>) -> Result<bool> {
        Ok(true)
    }

    fn level(&mut self, _: &mut Norms) -> Result<u8> {
        Ok(0)
    }

    fn merges(&mut self, closed: &dyn Outlines, latest: i64) -> Vec<Range<usize>> {
        let passed = (latest + 1).div_euclid(GROWTH * self.slide);
        if passed == self.passed {
            return Vec::new();
        }
        self.passed = passed;
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut cell_end = i64::MIN;
        for index in 0..closed.count() {
            let pane = closed.outline(index);
            match runs.last_mut() {
                Some(run) if pane.end <= cell_end => run.end = index + 1,
                _ => {
                    cell_end = self.cell_end(pane, latest);
                    runs.push(index..index + 1);
                }
            }
        }
        runs.retain(|run| run.len() > 1);
        runs
    }
}

impl Exponential {
    /// The end of the longest cell around a pane that is old enough for its length.
    fn cell_end(&self, pane: Outline, latest: i64) -> i64 {
        let mut end = pane.end;
        let mut length = self.slide;
        loop {
            let next = pane.start.div_euclid(length) * length + length;
            if (latest + 1 - next) / self.fineness < length {
                return end;
            }
            end = next.max(end);
            length *= GROWTH;
        }
    }
}
