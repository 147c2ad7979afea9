//! The constants of Algorithm 6.

use crate::preset::{ConstantChange, PresetRefusal, changes, check, finest_grain};

const RATIO: f64 = 0.01;
const MISRA_GRIES: f64 = 1.0 / 16.0;
const COUNTER: f64 = 1.0 / 32.0;

/// The constants of Algorithm 6 and the parameters that they follow from.
#[derive(Clone, Debug, PartialEq)]
pub struct L1Constants {
    /// `alpha`.
    pub alpha: f64,
    /// `eps`.
    pub epsilon: f64,
    /// `m`, an upper bound on the length of the stream.
    pub m: u64,
    /// The ratio of line 1 less 1: `1/100`.
    pub ratio: f64,
    /// The threshold of Misra-Gries: `alpha/16`.
    pub misra_gries: f64,
    /// Counter's additive error over `t - t_a + 1`: `alpha/32`.
    pub counter: f64,
}

impl L1Constants {
    /// The printed constants.
    pub fn published(alpha: f64, epsilon: f64, m: u64) -> Result<Self, PresetRefusal> {
        check(alpha, epsilon, m)?;
        Ok(Self {
            alpha,
            epsilon,
            m,
            ratio: RATIO,
            misra_gries: MISRA_GRIES * alpha,
            counter: COUNTER * alpha,
        })
    }

    /// The printed constants if they fit into `memory` bytes, otherwise one grain `g` in their place: a ratio
    /// of `1 + g`, Misra-Gries with `alpha g`, Counter with `alpha g/2`, and `g` the smallest number from
    /// 1/16 to 1/2 whose worst case fits.
    ///
    /// 1/16 is the printed value for Misra-Gries and Counter. At 1/2, a key with `alpha W` events is just
    /// above the loss of Misra-Gries in a window and a half.
    pub fn scaled(alpha: f64, epsilon: f64, m: u64, memory: u64) -> Result<Self, PresetRefusal> {
        let published = Self::published(alpha, epsilon, m)?;
        if published.bytes() <= memory as f64 {
            return Ok(published);
        }
        let with = |grain: f64| Self {
            ratio: grain,
            misra_gries: alpha * grain,
            counter: alpha * grain / 2.0,
            ..published
        };
        Ok(with(finest_grain(MISRA_GRIES, 0.5, memory, |grain| with(grain).bytes())?))
    }

    /// The constants that differ from the printed ones.
    pub fn changes(&self) -> Vec<ConstantChange> {
        changes([
            ("ratio of the timestamps less 1, 1/100", RATIO, self.ratio),
            ("threshold of Misra-Gries, alpha/16", MISRA_GRIES * self.alpha, self.misra_gries),
            ("error of Counter, alpha/32", COUNTER * self.alpha, self.counter),
        ])
    }

    /// The most timestamps at time `m`: every second one is shorter by the ratio, down to where
    /// lengths differ by 1.
    pub fn timestamps(&self) -> f64 {
        let m = self.m as f64;
        (2.0 + 2.0 * m.ln() / self.ratio.ln_1p()).min(m)
    }

    /// The most bytes, as [`super::L1::bytes`] counts them.
    ///
    /// With `c` counters in Misra-Gries an instance of length `l` has at most `c` Counters. One with `n`
    /// occurrences has at most `2 + 2n/M` times, where `M` is at least half of `(alpha/32) l`; and the
    /// occurrences add up to at most `l`.
    pub fn bytes(&self) -> f64 {
        const MISRA_GRIES: f64 = 16.0;
        const INDEX: f64 = 16.0;
        const COUNTER: f64 = 40.0;
        const TIME: f64 = 16.0;
        const INSTANCE: f64 = 160.0;
        let keys = self.keys() as f64;
        let times = 2.0 * keys + 4.0 / self.counter;
        let instance = INSTANCE + keys * (MISRA_GRIES + INDEX + COUNTER) + times * TIME;
        self.timestamps() * instance
    }

    /// The scale of line 7: `1/(eps alpha log m)`.
    pub fn printed_noise(&self) -> f64 {
        1.0 / (self.epsilon * self.alpha * (self.m as f64).ln())
    }

    /// The scale that the proof requires: `2/eps`.
    pub fn proof_noise(&self) -> f64 {
        2.0 / self.epsilon
    }

    /// The number of counters of Misra-Gries: one over its threshold.
    pub fn keys(&self) -> usize {
        (1.0 / self.misra_gries).ceil() as usize
    }

    /// `beta` of a smooth histogram that deletes where line 1 does: `1 - beta/2 = 1/(1 + 1/100)`.
    pub(crate) fn beta(&self) -> f64 {
        2.0 * self.ratio / (1.0 + self.ratio)
    }
}
