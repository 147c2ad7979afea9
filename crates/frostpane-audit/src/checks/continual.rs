//! Continual releases: all of them together cost epsilon once.

use frostpane::Norm::L1;
use frostpane::testing::audit::{Audit, AuditedContinual, Mutant};
use frostpane::{Builder, Policy, Release, Window};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::DECLARED_L2;
use crate::checks::distinguisher::{Distinguisher, noisy};
use crate::setting::{Setting, declared, open};
use crate::tally::TrialOutcome;

pub const CHECKS: [Check; 7] = [
    sampled("boundaries", "when a block of the smooth policy ends", first_end)
        .under(declared(L1, 16.0))
        .costing(BOUNDARIES),
    sampled("continual", "all lists of a sequence together", sequence).with_effort(0.5),
    sampled("continual-norm", "the same, with norms", sequence).under(DECLARED_L2).with_effort(0.5),
    sampled("readings", "each list of a sequence, read sixteen times", readings).with_effort(0.125),
    sampled("continual-absent", "a declared key that occurs once in a sequence, or never", singleton)
        .with_effort(0.25),
    sampled("continual-singleton", "a key that occurs once, in all lists of a sequence", singleton)
        .under(open(L1, 2.0, 0.2))
        .with_effort(0.25),
    sampled("continual-reaction", "an event put where the lists showed high noise", reaction)
        .under(open(L1, 2.0, 0.2))
        .with_effort(0.0625),
];

/// The share of epsilon that boundaries may cost.
const BOUNDARIES: f64 = 0.25;

const UNIVERSE: u64 = 3;
/// Events of each of two keys in a pane, besides the one that differs.
const SOME: u64 = 12;
const PANE: u64 = 2 * SOME + 1;
const READINGS: u32 = 16;

/// A block of one key, or with another key first, so that its norm is one less throughout. It grows to a
/// little below its threshold and stays there. The outcome is the end of the block.
pub fn first_end(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const WINDOW: u64 = 1 << 16;
    const TICK: u64 = 16;
    /// The distance of the norm to the threshold, in units of the noise of a query.
    const DISTANCE: f64 = 2.0;
    /// The number of queries after the norm has reached this distance.
    const QUESTIONS: u64 = 12;
    let builder =
        setting.builder(4)?.alpha(0.1).window(Window::events(WINDOW).slide(TICK)).policy(Policy::Smooth);
    let audit = Audit::of(builder, mutant);
    let histogram = audit.plan()?.layout.histogram.ok_or("there is no histogram")?;
    let noise = 4.0 / (histogram.epsilon.as_f64() / 2.0);
    let grown = histogram.first_norm.saturating_sub((DISTANCE * noise).ceil() as u64);
    let events = grown + QUESTIONS * TICK;
    if events > histogram.longest_block {
        return Err("at this epsilon blocks end before their norm can tell: give a larger one".into());
    }
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        let mut event = 0;
        while audited.panes() == 0 && event < events {
            let key = if event == 0 { side as u64 } else { 0 };
            audited.update((event < grown).then_some(key))?;
            event += 1;
        }
        Ok(TrialOutcome::number((event / TICK) as i64))
    }))
}

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
    let audit = Audit::of(builder(setting, pane)?.alpha(0.01), mutant);
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
