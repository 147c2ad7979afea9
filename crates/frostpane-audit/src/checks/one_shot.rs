//! Single releases.

use frostpane::Norm::{L1, L2};
use frostpane::testing::audit::{Audit, Audited, Mutant};
use frostpane::{Estimator, Policy, Release, Window};

use crate::check::{Check, Result, Trial, sampled};
use crate::checks::DECLARED_L2;
use crate::checks::distinguisher::{self, Distinguisher};
use crate::setting::{Setting, declared, open};
use crate::tally::TrialOutcome;

pub const CHECKS: [Check; 13] = [
    sampled("singleton", "a key that occurs once is named with delta at most", singleton)
        .under(open(L1, 1.5, 0.24)),
    sampled("new-key", "a key that occurs once, beside a frequent one", new_key).under(open(L1, 1.0, 0.1)),
    sampled("threshold", "two keys at the threshold, and their order", threshold).under(open(L1, 1.0, 0.1)),
    sampled("pair-open", "one event of either of two frequent keys", pair).under(open(L1, 1.0, 1e-6)),
    sampled("pair", "one event of either of two declared keys", pair),
    sampled("absent", "a declared key that occurs once, or never", absent),
    sampled("full-table", "an event that finds a full Misra-Gries table", full_table),
    sampled("merged-panes", "an event in panes that were merged", merged).with_effort(0.5),
    sampled("norm", "two keys, and the exact norm", norm).under(DECLARED_L2),
    sampled("norm-sketch", "two keys, and the norm of a sketch", norm_of_sketch).under(open(L2, 1.0, 1e-6)),
    sampled("sketch", "two declared keys, estimated from the sketch", from_sketch)
        .under(declared(L2, 2.0))
        .with_effort(0.25),
    sampled("pane-edge", "the last event of a pane that the window leaves out", pane_edge),
    sampled("reaction", "a stream that reacts, and a window past the event", reaction).with_effort(0.5),
];

type KeyStream = Vec<Option<u64>>;

/// Counts that noise of the usual scale does not bring below a threshold of 1.
const SOME: usize = 10;
const UNIVERSE: u64 = 12;
/// So small that it requires a lower threshold than privacy does, or one that matters to no key.
const ALPHA: f64 = 0.1;

/// A window of events, and the number of keys that its panes keep.
#[derive(Clone, Copy)]
struct Shape {
    window: u64,
    slide: u64,
    entries: u32,
    policy: Policy,
    alpha: f64,
}

impl Shape {
    /// One pane that counts exactly.
    fn exact(events: usize) -> Self {
        Self::cut(events, events as u32)
    }

    /// One pane that keeps so many keys.
    fn cut(events: usize, entries: u32) -> Self {
        Self { window: events as u64, slide: events as u64, entries, policy: Policy::Uniform, alpha: ALPHA }
    }

    fn audit(&self, setting: &Setting, mutant: Option<Mutant>) -> Result<Audit<u64>> {
        let builder = setting
            .builder(UNIVERSE)?
            .window(Window::events(self.window).slide(self.slide))
            .entries(self.entries)
            .policy(self.policy)
            .alpha(self.alpha);
        Ok(Audit::of(builder, mutant))
    }
}

fn times(key: u64, count: usize) -> KeyStream {
    vec![Some(key); count]
}

fn feed(audited: &mut Audited<u64>, stream: &[Option<u64>]) -> Result<()> {
    audited.update_all(stream.iter().copied())?;
    Ok(())
}

fn at_the_end(
    setting: &Setting,
    mutant: Option<Mutant>,
    shape: Shape,
    streams: [KeyStream; 2],
) -> Result<Trial> {
    distinguisher::at_the_end(shape.audit(setting, mutant)?, streams, |audited, stream| feed(audited, stream))
}

/// A key that occurs once, and not at all in the neighbour.
pub fn singleton(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(setting, mutant, Shape::exact(1), [times(1, 1), times(2, 1)])
}

/// A key that occurs once in one stream, where the other has one more of a frequent key.
pub fn new_key(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let often = setting.threshold(UNIVERSE, mutant)? as usize + 1;
    let one = [times(0, often), times(1, 1)].concat();
    at_the_end(setting, mutant, Shape::exact(often + 1), [one, times(0, often + 1)])
}

/// Two keys, one at the threshold and the other one below.
pub fn threshold(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let least = setting.threshold(UNIVERSE, mutant)? as usize;
    let below = [times(0, least - 1), times(1, least - 1)].concat();
    let streams = [0, 1].map(|last| [&below[..], &[Some(last)]].concat());
    at_the_end(setting, mutant, Shape::exact(2 * least - 1), streams)
}

pub fn pair(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let often = SOME + setting.threshold(UNIVERSE, mutant)? as usize;
    let streams = [0, 1].map(|last| [times(0, often), times(1, often), times(last, 1)].concat());
    at_the_end(setting, mutant, Shape::exact(2 * often + 1), streams)
}

/// One key far more frequent than the other, so that the norm moves too.
pub fn norm(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let streams = [0, 1].map(|last| [times(0, 4 * SOME), times(1, SOME), times(last, 1)].concat());
    at_the_end(setting, mutant, Shape::exact(5 * SOME + 1), streams)
}

/// As above, in a pane that is cut, where the norm comes from a sketch.
pub fn norm_of_sketch(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let floor = setting.threshold(UNIVERSE, mutant)? as usize;
    let (many, few) = (4 * SOME + 2 * floor, 2 * SOME + 2 * floor);
    let streams = [0, 1].map(|last| [times(0, many), times(1, few), times(last, 1)].concat());
    at_the_end(setting, mutant, Shape::cut(many + few + 1, 3), streams)
}

/// A key that occurs once, and an event without a key in the neighbour.
pub fn absent(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    at_the_end(setting, mutant, Shape::exact(1), [times(0, 1), vec![None]])
}

/// A full Misra-Gries table, and an event that finds its counter in it or does not.
pub fn full_table(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const COUNTERS: u64 = 8;
    let often = SOME + setting.threshold(UNIVERSE, mutant)? as usize;
    let full: KeyStream = (0..COUNTERS).flat_map(|key| times(key, often)).collect();
    let streams = [0, COUNTERS].map(|last| [&full[..], &[Some(last)]].concat());
    // The cut leaves little of many events: the threshold must not grow with their number.
    let shape = Shape { alpha: ALPHA / 10.0, ..Shape::cut(full.len() + 1, COUNTERS as u32) };
    at_the_end(setting, mutant, shape, streams)
}

pub fn merged(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const EVENTS: u64 = 300;
    let shape = Shape { slide: 1, policy: Policy::Exponential, ..Shape::cut(EVENTS as usize, 1) };
    let streams = [0, 1].map(|first| (0..EVENTS).map(|i| Some(if i == 0 { first } else { 0 })).collect());
    at_the_end(setting, mutant, shape, streams)
}

/// Two keys that the sketch can distinguish, among so many events that counts would be cut to nothing.
pub fn from_sketch(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const EVENTS: u64 = 4_000;
    /// Above the threshold that the noise of the cells requires.
    const COUNT: u64 = 300;
    let builder =
        setting.builder(4)?.window(Window::events(EVENTS).slide(EVENTS)).entries(1).sketch(1, 1_024);
    let audit = Audit::of(builder, mutant);
    let distinguisher = Distinguisher::at(&[(0, COUNT + 1, COUNT), (1, COUNT, COUNT + 1)]);
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        for event in 0..EVENTS {
            audited.update(match event {
                event if event < 2 * COUNT => Some(event % 2),
                event if event == 2 * COUNT => Some(side as u64),
                _ => None,
            })?;
        }
        let release = audited.release()?;
        if release.estimator != Estimator::Sketch {
            return Err("the release did not come from the sketch".into());
        }
        Ok(TrialOutcome {
            label: distinguisher.label(&release),
            shown: distinguisher.shown(&release).clamp(COUNT as i64 - 40, COUNT as i64 + 40),
        })
    }))
}

/// The last event of the pane in which the window begins: only the part that is left out can reveal it.
pub fn pane_edge(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    const PANE: u64 = 60;
    let audit = Shape { window: 2 * PANE, ..Shape::exact(PANE as usize) }.audit(setting, mutant)?;
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        for event in 0..2 * PANE + PANE / 2 {
            audited.update(match event {
                event if event < PANE / 3 => Some(0),
                event if event == PANE - 1 => Some(side as u64),
                _ => None,
            })?;
        }
        let release = audited.release()?;
        Ok(TrialOutcome::number(release.asked.slack.ok_or("the pane was not measured")? as i64))
    }))
}

/// A release that covers the event, an adaptive stream, and one whose window begins in the event's pane.
pub fn reaction(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let pane = 2 * SOME + 1;
    let audit = Shape { window: 2 * pane as u64 - 5, ..Shape::exact(pane) }.audit(setting, mutant)?;
    let (most, least) = (SOME as u64 + 1, SOME as u64);
    let distinguisher = Distinguisher::at(&[(0, most, least), (1, least, most)]);
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        feed(&mut audited, &[times(0, SOME), times(1, SOME), times(side as u64, 1)].concat())?;
        let first = audited.release()?;
        let reaction = u64::from(distinguisher.score(&first) < 0);
        feed(&mut audited, &times(reaction, pane))?;
        let second = audited.release()?;
        Ok(TrialOutcome {
            label: 1_000 * distinguisher.label(&first) + left_out(&second),
            shown: distinguisher.shown(&first),
        })
    }))
}

/// The part of a release about the pane in which its window begins.
fn left_out(release: &Release<u64>) -> i64 {
    release.asked.slack.map_or(-1, |slack| slack.min(400) as i64)
}
