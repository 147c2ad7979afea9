//! Panes of equal length: each ends at the next tick, and none are merged.

use std::ops::Range;

use crate::error::Result;
use crate::noise::Secret;
use crate::timeline::norms::Norms;
use crate::timeline::schedule::{Outline, Outlines, Schedule};

/// Panes of equal length, by count or by the clock.
#[derive(Debug)]
pub struct Uniform;

impl Schedule for Uniform {
    fn ends(&mut self, _: Outline, _: &dyn Fn() -> Secret<u64>) -> Result<bool> {
        Ok(true)
    }

    fn level(&mut self, _: &mut Norms) -> Result<u8> {
        Ok(0)
    }

    fn merges(&mut self, _: &dyn Outlines, _: i64) -> Vec<Range<usize>> {
        Vec::new()
    }
}
