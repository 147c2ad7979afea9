//! Continual releases: all of them together cost epsilon once.

use frostpane::Norm::L1;
use frostpane::testing::audit::{Audit, AuditedContinual, Mutant};
use frostpane::{Builder, Release, Window};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::distinguisher::{Distinguisher, noisy};
use crate::checks::{DECLARED, DECLARED_L2, boundaries};
use crate::outcome::TrialOutcome;
use crate::setting::{Setting, declared, open};

pub const CHECKS: [Check; 7] = [
    sampled(
        "boundaries",
        "when a block of the smooth policy ends",
        declared(L1, 16.0),
        1.0,
        boundaries::first_end,
    )
    .costing(boundaries::SHARE),
    sampled("continual", "all lists of a sequence together", DECLARED, 0.5, sequence),
    sampled("continual-norm", "the same, with norms", DECLARED_L2, 0.5, sequence),
    sampled("readings", "each list of a sequence, read sixteen times", DECLARED, 0.125, readings),
    sampled(
        "continual-absent",
        "a declared key that occurs once in a sequence, or never",
        DECLARED,
        0.25,
        singleton,
    ),
    sampled(
        "continual-singleton",
        "a key that occurs once, in all lists of a sequence",
        open(L1, 2.0, 0.2),
        0.25,
        singleton,
    ),
    sampled(
        "continual-reaction",
        "an event put where the lists showed high noise",
        open(L1, 2.0, 0.2),
        0.0625,
        reaction,
    ),
];

const UNIVERSE: u64 = 3;
/// Events of each of two keys in a pane, besides the one that differs.
const SOME: u64 = 12;
const PANE: u64 = 2 * SOME + 1;
/// Readings of each release.
const READINGS: u32 = 16;

/// Windows of two panes, of so many events each.
fn builder(setting: &Setting, pane: u64) -> Result<Builder<u64>> {
    let window = Window::events(2 * pane).slide(pane);
    Ok(setting.builder(UNIVERSE)?.window(window).entries(pane as u32))
}

fn audit(setting: &Setting, mutant: Option<Mutant>, pane: u64) -> Result<Audit<u64>> {
    Ok(Audit::of(builder(setting, pane)?, mutant))
}

/// A pane of both keys, with one event of the key given.
fn pane(continual: &mut AuditedContinual<u64>, key: u64) -> Result<Release<u64>> {
    let mut due = continual.update(Some(key))?;
    for event in 0..2 * SOME {
        due.extend(continual.update(Some(event % 2))?);
    }
    due.pop().ok_or_else(|| "a pane ended without a release".into())
}

/// Two frequent keys and one event of either, in the first of three panes; observes all releases.
pub fn sequence(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let audit = audit(setting, mutant, PANE)?;
    let distinguisher = |panes: u64| {
        let (most, least) = (panes * SOME + 1, panes * SOME);
        // The panes after the first have key 2 in the place of the event.
        Distinguisher::at(&[(0, most, least), (1, least, most)])
    };
    let (alone, both) = (distinguisher(1), distinguisher(2));
    Ok(Box::new(move |side| {
        let mut continual = audit.clone().continual()?;
        let first = pane(&mut continual, side as u64)?;
        let second = pane(&mut continual, 2)?;
        Ok(TrialOutcome {
            label: 100 * alone.label(&first) + both.score(&second),
            shown: alone.shown(&first),
        })
    }))
}

/// As above, with each release read several times: the mean must reveal no more than one reading.
pub fn readings(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let audit = audit(setting, mutant, PANE)?;
    let difference = |release: &Release<u64>| {
        let count = |key| noisy(release, key).map_or(0, |noisy| noisy as i64);
        count(0) - count(1)
    };
    Ok(Box::new(move |side| {
        let mut continual = audit.clone().continual()?;
        let mut sum = 0;
        for key in [side as u64, 2] {
            pane(&mut continual, key)?;
            for _ in 0..READINGS {
                sum += difference(&continual.release()?);
            }
        }
        Ok(TrialOutcome::number(sum.div_euclid(i64::from(READINGS) / 2)))
    }))
}

/// A key that occurs once, and not at all in the neighbour.
pub fn singleton(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let audit = audit(setting, mutant, 2)?;
    Ok(Box::new(move |side| {
        let mut continual = audit.clone().continual()?;
        let mut named = 0;
        for event in 0..6 {
            let key = (event == 1).then_some(side as u64);
            for release in continual.update(key)? {
                let bit = |key| i64::from(noisy(&release, key).is_some()) << key;
                named |= bit(0) | bit(1);
            }
        }
        Ok(TrialOutcome::number(named))
    }))
}

/// An adaptive stream: of many keys in one pane, the event goes to the key with the highest released count,
/// when only the noise of the second pane is left of it.
pub fn reaction(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const LIVE: u64 = 20;
    let floor = {
        let mut probe = audit(setting, mutant, 1)?.continual()?;
        probe.update(None)?.pop().ok_or("a pane ended without a release")?.threshold
    };
    let often = 2 * floor;
    let pane = LIVE * often;
    let builder = builder(setting, pane)?.alpha(0.01);
    let audit = Audit::of(builder, mutant);
    Ok(Box::new(move |side| {
        let mut continual = audit.clone().continual()?;
        for event in 0..pane {
            continual.update(Some(event % LIVE))?;
        }
        let mut shown = Vec::new();
        for _ in 0..pane {
            shown.extend(continual.update(None)?);
        }
        let highest = shown.first().and_then(|release| release.heavy.first());
        let target = highest.ok_or("no key was named")?.key;
        // The neighbour has a key that was never released.
        let mut last = continual.update(Some(target + side as u64 * LIVE))?;
        for _ in 1..pane {
            last.extend(continual.update(None)?);
        }
        let release = last.pop().ok_or("a pane ended without a release")?;
        let bit = |key| i64::from(noisy(&release, key).is_some());
        Ok(TrialOutcome::number(bit(target) + 2 * bit(target + LIVE)))
    }))
}
