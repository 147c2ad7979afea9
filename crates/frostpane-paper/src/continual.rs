//! Appendix A, Algorithm 7: continual release, estimates after every event.
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
//!
//! # Errors in the paper
//!
//! The page prints no threshold for a list. Its theorem promises every key with `alpha sqrt(W)` events, and takes that for
//! the continual `L_2`-heavy hitters because `sqrt(W) <= L_2`. Nothing leaves out keys with less than `(alpha/2) L_2`, as
//! its definition of the problem asks: where `L_2` is far above `sqrt(W)`, light keys are listed
//! ([`ContinualConstants::bar`]). The noise is stated in three ways (`docs/paper.md`).

use crate::answer::{NoiseScale, PublishedAnswer};
use crate::claims;
use crate::hashes::KeyMap;
use crate::laplace::laplace;
use crate::misra_gries::PublishedMisraGries;
use crate::preset::{ConstantChange, PresetRefusal, changes, check, check_memory, finest_grain};
use frostpane::testing::Entropy;
use std::collections::{BTreeSet, VecDeque};

/// Bytes of an entry of Misra-Gries and of a block beside its entries.
const ENTRY: usize = 16;
const BLOCK: usize = size_of::<StreamBlock>();

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

    /// One grain `g` for blocks and losses of `g` times the printed size, the smallest whose worst case fits
    /// into `memory` bytes and whose shortest block has an event; the printed constants if they fit. The
    /// longest block is at most `min(eps, 1) W`.
    pub fn scaled(alpha: f64, epsilon: f64, window: u64, memory: u64) -> Result<Self, PresetRefusal> {
        check(alpha, epsilon, window)?;
        if let Ok(published) = Self::published(alpha, epsilon, window)
            && published.bytes() <= memory as f64
        {
            return Ok(published);
        }
        let w = window as f64;
        let (block, loss) = (claims::shortest_block(alpha, w), claims::block_sensitivity(alpha, epsilon, w));
        let with = |grain: f64| {
            let shortest = ((grain * block) as u64).max(1);
            let levels = (epsilon.min(1.0) * w / shortest as f64).log2().floor().max(0.0) as u32 + 1;
            Self { alpha, epsilon, window, shortest, levels, loss: grain * loss }
        };
        let grain = finest_grain((1.0 / block).max(1.0), w / block, memory, |grain| with(grain).bytes())?;
        Ok(with(grain))
    }

    /// The constants that differ from the printed ones.
    pub fn changes(&self) -> Vec<ConstantChange> {
        let w = self.window as f64;
        changes([
            (
                "shortest block, alpha sqrt(W)/(200 log W)",
                claims::shortest_block(self.alpha, w),
                self.shortest as f64,
            ),
            ("levels", claims::levels(self.alpha, self.epsilon, w), f64::from(self.levels)),
            (
                "loss of Misra-Gries in a block, phi alpha sqrt(W)/(16 log^3 W)",
                claims::block_sensitivity(self.alpha, self.epsilon, w),
                self.loss,
            ),
        ])
    }

    /// The largest threshold that lists every key with `alpha sqrt(W)` events at the error of `alpha sqrt(W)/2`
    /// that the theorem states.
    pub fn bar(&self) -> f64 {
        self.alpha * (self.window as f64).sqrt() / 2.0
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

    /// The most bytes of a run, without stored noise and what a table takes beside its entries.
    pub fn bytes(&self) -> f64 {
        let level = |level: u32| {
            let blocks = (self.window / self.length(level) + 1) as f64;
            blocks * (BLOCK + ENTRY * self.counters(level)) as f64
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

    /// Chooses the noise of the algorithm or of its proof.
    pub fn with_noise(mut self, noise: NoiseScale) -> Self {
        self.noise = noise;
        self
    }

    /// The constants in force.
    pub fn constants(&self) -> &ContinualConstants {
        &self.constants
    }

    /// Lines 8 to 11 for all keys that an active block reports: those with an estimate of at least `bar`. The
    /// scales of the answer are those of one draw with the variance of the sum.
    pub fn query(&mut self, bar: f64, entropy: &mut impl Entropy) -> frostpane::Result<PublishedAnswer> {
        let active = self.active();
        let mut keys = BTreeSet::new();
        for &(level, before) in &active {
            keys.extend(self.levels[level].block(before).misra_gries.iter().map(|(key, _)| key));
        }
        let mut listed = Vec::new();
        for key in keys {
            let noisy = self.estimate(key, entropy)?;
            if noisy >= bar {
                listed.push((key, noisy));
            }
        }
        let (printed, needed) = (self.constants.printed_noise(), self.constants.proof_noise());
        let root = (active.len() as f64).sqrt();
        let norm = (self.constants.window as f64).sqrt();
        Ok(PublishedAnswer::new(listed, root * self.noise.choose(printed, needed), root * needed, norm))
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let blocks = self.levels.iter().flat_map(|level| level.complete.iter().chain([&level.open]));
        blocks.map(|block| (BLOCK + ENTRY * block.misra_gries.iter().len()) as u64).sum()
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
