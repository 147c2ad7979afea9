//! Appendix A, Algorithm 7: continual release, estimates after every event. The page prints no threshold
//! for a list of them.
//!
//! 1. `L = ceil(log((100 eps/alpha) sqrt(W)) + log log W) + 2` levels, `phi = min(eps, 1)`. Logarithms are
//!    base 2, since levels double.
//! 2. For each level `l`,
//! 3. the stream is cut into blocks of `S_l = 2^{l-2} alpha sqrt(W)/(100 log W)` events,
//! 4. with Misra-Gries on each, of threshold `phi alpha sqrt(W)/(16 S_l log^3 W)`.
//! 5. At each time,
//! 6. all are updated,
//! 7. and a binary tree of blocks covers the window from the first block that starts inside it.
//! 8. For each of these blocks `B_r`,
//! 9. `g_i` is the estimate of key `i` in it, and
//! 10. noise from `Lap(alpha sqrt(W)/(16 log^2 W))` is added.
//! 11. The sum over the blocks is returned.

use crate::answer::NoiseScale;
use crate::claims;
use crate::hashes::KeyMap;
use crate::laplace::laplace;
use crate::misra_gries::PublishedMisraGries;
use crate::preset::{PresetRefusal, check, check_memory};
use frostpane::testing::Entropy;
use std::collections::VecDeque;

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

    /// The most bytes of a run, without stored noise.
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

/// The times at which noise is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// As printed: anew for each block and key at every output. A block is in as many outputs as there are
    /// events while it is active, and each of them tells more about the same counts.
    EveryOutput,
    /// As intended, and as the binary tree mechanism has it: once for each block and key, when the block is
    /// complete. A block that still grows is left out, since with noise that stays its counts would show.
    OncePerBlock,
}

/// The state of Algorithm 7 in a stream.
#[derive(Clone, Debug)]
pub struct PublishedContinual {
    constants: ContinualConstants,
    noise: NoiseScale,
    draw: Draw,
    levels: Vec<BlockLevel>,
    time: u64,
}

impl PublishedContinual {
    /// Algorithm 7 with these constants, the noise of the algorithm or of its proof, and these draws.
    pub fn new(constants: ContinualConstants, noise: NoiseScale, draw: Draw) -> Self {
        let levels = (1..=constants.levels).map(|level| BlockLevel::new(&constants, level)).collect();
        Self { constants, noise, draw, levels, time: 0 }
    }

    /// The printed constants, noise and draws. Refuses blocks shorter than one event, as they are unless `W` is some billions, and
    /// a run that could need more than `memory` bytes.
    pub fn published(alpha: f64, epsilon: f64, window: u64, memory: u64) -> Result<Self, PresetRefusal> {
        let constants = ContinualConstants::published(alpha, epsilon, window)?;
        check_memory(constants.bytes(), memory)?;
        Ok(Self::new(constants, NoiseScale::Printed, Draw::EveryOutput))
    }

    /// Counts one event.
    pub fn update(&mut self, key: u64) {
        self.time += 1;
        let expired = self.time.saturating_sub(self.constants.window);
        for level in &mut self.levels {
            level.update(key);
            level.forget(expired);
        }
    }

    /// Lines 8 to 11 for one key: the sum of its noisy estimates in the active blocks.
    pub fn estimate(&mut self, key: u64, entropy: &mut impl Entropy) -> frostpane::Result<f64> {
        let draw = self.draw;
        let scale = self.noise.choose(self.constants.printed_noise(), self.constants.proof_noise());
        let mut sum = 0.0;
        for (level, block) in self.active() {
            let block = self.levels[level].block(block);
            sum += block.misra_gries.estimate(key) as f64 + block.noise(key, draw, scale, entropy)?;
        }
        Ok(sum)
    }

    /// The number of blocks that cover the window.
    pub fn active_blocks(&self) -> usize {
        self.active().len()
    }

    /// Line 7: the blocks that cover the window, each by its level and the time before its first event. The
    /// longest complete block is taken each time; as printed, the shortest may be incomplete.
    fn active(&self) -> Vec<(usize, u64)> {
        let shortest = self.constants.shortest;
        let mut before = self.time.saturating_sub(self.constants.window).next_multiple_of(shortest);
        let mut active = Vec::new();
        while before < self.time {
            let complete = |level: &BlockLevel| {
                before.is_multiple_of(level.length) && before + level.length <= self.time
            };
            match self.levels.iter().rposition(complete) {
                Some(level) => {
                    active.push((level, before));
                    before += self.levels[level].length;
                }
                None => {
                    if self.draw == Draw::EveryOutput {
                        active.push((0, before));
                    }
                    break;
                }
            }
        }
        active
    }
}

/// The blocks of one length.
#[derive(Clone, Debug)]
struct BlockLevel {
    /// `S_l`.
    length: u64,
    counters: usize,
    complete: VecDeque<StreamBlock>,
    open: StreamBlock,
}

impl BlockLevel {
    fn new(constants: &ContinualConstants, level: u32) -> Self {
        let counters = constants.counters(level);
        Self {
            length: constants.length(level),
            counters,
            complete: VecDeque::new(),
            open: StreamBlock::new(0, counters),
        }
    }

    fn update(&mut self, key: u64) {
        self.open.misra_gries.update(key);
        if self.open.misra_gries.events() == self.length {
            let next = StreamBlock::new(self.open.before + self.length, self.counters);
            self.complete.push_back(std::mem::replace(&mut self.open, next));
        }
    }

    /// Drops blocks that the window no longer covers whole.
    fn forget(&mut self, expired: u64) {
        while self.complete.front().is_some_and(|block| block.before < expired) {
            self.complete.pop_front();
        }
    }

    fn block(&mut self, before: u64) -> &mut StreamBlock {
        match self.complete.binary_search_by_key(&before, |block| block.before) {
            Ok(index) => &mut self.complete[index],
            Err(_) => &mut self.open,
        }
    }
}

#[derive(Clone, Debug)]
struct StreamBlock {
    /// The time before its first event.
    before: u64,
    misra_gries: PublishedMisraGries,
    /// The noise of each requested key, for [`Draw::OncePerBlock`].
    drawn: KeyMap<f64>,
}

impl StreamBlock {
    fn new(before: u64, counters: usize) -> Self {
        Self { before, misra_gries: PublishedMisraGries::new(counters), drawn: KeyMap::default() }
    }

    fn noise(
        &mut self,
        key: u64,
        draw: Draw,
        scale: f64,
        entropy: &mut impl Entropy,
    ) -> frostpane::Result<f64> {
        if draw == Draw::OncePerBlock
            && let Some(drawn) = self.drawn.get(&key)
        {
            return Ok(*drawn);
        }
        let drawn = laplace(scale, entropy)?;
        if draw == Draw::OncePerBlock {
            self.drawn.insert(key, drawn);
        }
        Ok(drawn)
    }
}
