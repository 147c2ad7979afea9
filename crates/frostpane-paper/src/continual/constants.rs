//! The constants of Algorithm 7.

use crate::claims;
use crate::preset::{PresetRefusal, check};

/// The constants of Algorithm 7 and the parameters that they follow from.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinualConstants {
    /// `alpha`.
    pub alpha: f64,
    /// `eps`.
    pub epsilon: f64,
    /// `W`.
    pub window: u64,
    /// `S_1` in whole events: `alpha sqrt(W)/(200 log W)`, rounded down.
    pub shortest: u64,
    /// `L`.
    pub levels: u32,
    /// The most events of a key that Misra-Gries loses in a block: `phi alpha sqrt(W)/(16 log^3 W)`, which is
    /// its threshold times `S_l` and the same at all levels.
    pub loss: f64,
}

impl ContinualConstants {
    /// The printed constants. Refuses a window whose shortest blocks have less than one event.
    pub fn published(alpha: f64, epsilon: f64, window: u64) -> Result<Self, PresetRefusal> {
        check(alpha, epsilon, window)?;
        let w = window as f64;
        let shortest = claims::shortest_block(alpha, w);
        if shortest < 1.0 {
            return Err(PresetRefusal::Window {
                given: window,
                least: claims::least_window_of_blocks(alpha),
            });
        }
        Ok(Self {
            alpha,
            epsilon,
            window,
            shortest: shortest as u64,
            levels: claims::levels(alpha, epsilon, w) as u32,
            loss: claims::block_sensitivity(alpha, epsilon, w),
        })
    }

    /// `S_l`, for `l` from 1.
    pub fn length(&self, level: u32) -> u64 {
        self.shortest.saturating_mul(1_u64.checked_shl(level - 1).unwrap_or(u64::MAX))
    }

    /// The number of counters of Misra-Gries on a block of level `l`: one over its threshold, at most the
    /// events of the block.
    pub fn counters(&self, level: u32) -> usize {
        let length = self.length(level);
        ((length as f64 / self.loss).ceil() as u64).clamp(1, length) as usize
    }

    /// The most bytes, as [`super::PublishedContinual::bytes`] counts them, without stored noise.
    pub fn bytes(&self) -> f64 {
        const ENTRY: f64 = 16.0;
        const BLOCK: f64 = 96.0;
        let level = |level: u32| {
            let blocks = (self.window / self.length(level) + 1) as f64;
            blocks * (BLOCK + ENTRY * self.counters(level) as f64)
        };
        (1..=self.levels).map(level).sum()
    }

    /// The scale of line 10: `alpha sqrt(W)/(16 log^2 W)`.
    pub fn printed_noise(&self) -> f64 {
        claims::block_noise(self.alpha, self.window as f64)
    }

    /// The scale that the proof requires: the sensitivity that it states for a block, which is the loss of
    /// Misra-Gries in it, over `eps/(2 log W)`.
    pub fn proof_noise(&self) -> f64 {
        2.0 * (self.window as f64).log2() * self.loss / self.epsilon
    }
}
