//! The published algorithms, as printed, on streams that refute their claims.

use frostpane::Norm;
use frostpane::testing::OsEntropy;
use frostpane::testing::audit::Mutant;
use frostpane_paper::continual::{self, Draw};
use frostpane_paper::{L1, NoiseScale, PublishedContinual};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::DECLARED;
use crate::outcome::{NeighbourSide, TrialOutcome};
use crate::setting::{Setting, declared};

pub const CHECKS: [Check; 4] = [
    sampled(
        "published-l1-named",
        "32 times a key, then one of two others: which is named?",
        declared(Norm::L1, 0.05),
        1.0,
        named,
    )
    .published(),
    sampled(
        "published-l1-count",
        "20,000 times a key, or another first, which has left the window",
        DECLARED,
        0.25,
        count,
    )
    .published(),
    sampled(
        "published-continual-scale",
        "30 or 31 times a key in a block: one output, noise as printed",
        DECLARED,
        1.0,
        scale,
    )
    .published(),
    sampled(
        "published-continual-redrawn",
        "the same: the mean of 16,383 outputs, noise as proved",
        DECLARED,
        0.25,
        outputs,
    )
    .published(),
];

const MEMORY: u64 = 1 << 30;

/// 32 times key 1, then key 7 or key 8: the one that occurs is listed with positive probability, the other
/// never.
pub fn named(setting: &Setting, _: Option<Mutant>) -> Result<Trial> {
    let epsilon = setting.epsilon;
    let after = move |last: u64| -> Result<L1> {
        let mut l1 = L1::published(0.5, epsilon, 40, MEMORY)?.with_noise(NoiseScale::Proof);
        (0..32).map(|_| 1).chain([last]).for_each(|key| l1.update(key));
        Ok(l1)
    };
    let streams = [after(7)?, after(8)?];
    Ok(Box::new(move |side| {
        let listed = streams[side as usize].query(33, &mut OsEntropy::new())?.listed;
        let bit = |key: u64| i64::from(listed.iter().any(|(listed, _)| *listed == key));
        Ok(TrialOutcome::number(bit(7) + 2 * bit(8)))
    }))
}

/// 20,000 times one key, or another key first, which the window has left: the streams are equal in the
/// window, yet the estimates of Counter lie hundreds apart.
pub fn count(setting: &Setting, _: Option<Mutant>) -> Result<Trial> {
    const WINDOW: u64 = 19_999;
    let epsilon = setting.epsilon;
    let after = move |first: u64| -> Result<L1> {
        let mut l1 = L1::published(0.5, epsilon, WINDOW + 1, MEMORY)?.with_noise(NoiseScale::Proof);
        l1.update(first);
        (0..WINDOW).for_each(|_| l1.update(1));
        Ok(l1)
    };
    let streams = [after(1)?, after(2)?];
    Ok(Box::new(move |side| {
        let listed = streams[side as usize].query(WINDOW, &mut OsEntropy::new())?.listed;
        let noisy = listed.iter().find(|(key, _)| *key == 1).map_or(0.0, |(_, noisy)| *noisy);
        Ok(TrialOutcome::number(noisy.round() as i64 / 10))
    }))
}

/// A window of two blocks.
fn blocks_of(events: u64, setting: &Setting) -> continual::ContinualConstants {
    continual::ContinualConstants {
        alpha: 0.5,
        epsilon: setting.epsilon,
        window: 2 * events,
        shortest: events,
        levels: 1,
        loss: 1.0,
    }
}

/// A block with one event of a key more or less, and sixteen thousand outputs after it with fresh noise each:
/// their mean distinguishes the streams, although each output has the noise that the proof requires.
pub fn outputs(setting: &Setting, _: Option<Mutant>) -> Result<Trial> {
    const BLOCK: u64 = 16_384;
    let constants = blocks_of(BLOCK, setting);
    let start = move |side: NeighbourSide| {
        let mut run = PublishedContinual::new(constants.clone())
            .with_draw(Draw::EveryOutput)
            .with_noise(NoiseScale::Proof);
        (0..BLOCK).for_each(|event| run.update(u64::from(event < 30 + side as u64)));
        run
    };
    let starts = NeighbourSide::BOTH.map(start);
    Ok(Box::new(move |side| {
        let mut run = starts[side as usize].clone();
        let mut entropy = OsEntropy::new();
        let mut sum = 0.0;
        for _ in 0..BLOCK - 1 {
            run.update(2);
            sum += run.estimate(1, &mut entropy)?;
        }
        Ok(TrialOutcome::number((2.0 * sum / BLOCK as f64).round() as i64))
    }))
}

/// The same block and a single output, with the noise that the algorithm prints.
pub fn scale(setting: &Setting, _: Option<Mutant>) -> Result<Trial> {
    const BLOCK: u64 = 64;
    let constants = blocks_of(BLOCK, setting);
    let start = move |side: NeighbourSide| {
        let mut run = PublishedContinual::new(constants.clone());
        (0..BLOCK).for_each(|event| run.update(u64::from(event < 30 + side as u64)));
        run
    };
    let starts = NeighbourSide::BOTH.map(start);
    Ok(Box::new(move |side| {
        let noisy = starts[side as usize].clone().estimate(1, &mut OsEntropy::new())?;
        Ok(TrialOutcome::number((2.0 * noisy).round() as i64))
    }))
}
