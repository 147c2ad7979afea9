#![doc = include_str!("smooth.md")]

use std::ops::Range;

use serde::Serialize;

use crate::error::Result;
use crate::noise::{AboveThreshold, Answer, DiscreteLaplace, Draws, Epsilon, Secret};
use crate::timeline::norms::Norms;
use crate::timeline::schedule::{Outline, Outlines, Schedule};

/// How far one event moves the exact norm of an open block, and the norm by a sketch.
const EXACT: u32 = 1;
const SKETCHED: u32 = 2;
/// The budget of a level is `epsilon / 2^(level + 1)`; more levels than this would overflow the scale.
pub(crate) const MOST_LEVELS: usize = 24;

/// How far noise and sketches together may put the end of a block off its threshold, as foreseen.
const FORESEEN: f64 = 0.4;

/// The public numbers of a private smooth histogram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// What all boundaries together may spend.
    pub epsilon: Epsilon,
    /// The threshold of level 0: that of level `j` is `2^j` times as much.
    pub first_norm: u64,
    /// A window's start cuts through at most about `2^-fineness` of its norm.
    pub fineness: u32,
    /// Levels, level 0 included.
    pub levels: usize,
    /// How often level 0 is asked, in events.
    pub tick: u64,
    /// A block of level 0 ends with so many events at the latest.
    pub longest_block: u64,
    /// The most closed panes.
    pub panes: usize,
}

/// The private smooth histogram.
pub(crate) struct Smooth {
    histogram: Histogram,
    /// The question of each level; none while a level ends.
    questions: Vec<Option<AboveThreshold>>,
    draws: Box<dyn Draws + Send>,
}

impl Smooth {
    pub fn new(histogram: Histogram, draws: Box<dyn Draws + Send>) -> Self {
        Self {
            questions: (0..histogram.levels).map(|_| None).collect(),
            histogram,
            draws,
        }
    }

    /// Asks the question of a level; after a yes, and at first, with a fresh threshold.
    fn ask(&mut self, level: usize, norm: Secret<u64>) -> Result<bool> {
        let question = match self.questions[level].take() {
            Some(question) => question,
            None => self.histogram.question(level, &mut *self.draws)?,
        };
        match question.ask(norm, &mut *self.draws)? {
            Answer::Above => Ok(true),
            Answer::Below(question) => {
                self.questions[level] = Some(question);
                Ok(false)
            }
        }
    }
}

impl Histogram {
    /// How far the noise of threshold and question together reach at level 1, but for this chance. At level
    /// `j` it is `2^(j-1)` times as much, and less at level 0.
    pub fn noise_of_level_one(epsilon: Epsilon, failure: f64) -> f64 {
        let reach = |scale: u32| DiscreteLaplace::new(4 * SKETCHED * scale, epsilon).reach(failure / 2.0);
        (reach(2) + reach(4)) as f64
    }

    /// The largest norm of a pane that a window of this norm may begin within, as foreseen: `2^-fineness` of
    /// it, but for the noise and the error of the sketches, or a block of level 0.
    pub fn slack(&self, norm: f64) -> f64 {
        let block = (1.0 + FORESEEN) * self.first_norm as f64 + self.tick as f64;
        let share = 0.5_f64.powi(self.fineness as i32) * (1.0 + FORESEEN) / (1.0 - FORESEEN);
        (share * norm).max(block)
    }

    /// How many merges a pane within a window of this norm may have seen.
    pub fn merges(&self, norm: f64) -> f64 {
        let highest = (norm / ((1.0 - FORESEEN) * self.first_norm as f64))
            .max(1.0)
            .log2();
        (highest + 1.0 - self.rise() as f64).max(0.0)
    }

    fn question(&self, level: usize, draws: &mut (impl Draws + ?Sized)) -> Result<AboveThreshold> {
        let sensitivity = if level == 0 { EXACT } else { SKETCHED };
        AboveThreshold::new(
            self.first_norm << level,
            sensitivity << (level + 1),
            self.epsilon,
            draws,
        )
    }

    /// From how many levels up a complete block dissolves a boundary that lies before it.
    fn rise(&self) -> usize {
        self.fineness as usize + 2
    }

    /// Which ends of panes, from the oldest to the newest, go: all that have a complete block of a level by
    /// [`rise`](Self::rise) higher after them.
    fn dissolved(&self, panes: &[Outline]) -> Vec<bool> {
        let mut at_least = vec![0; self.levels + self.rise() + 1];
        let mut dissolved = vec![false; panes.len()];
        for (pane, gone) in panes.iter().zip(&mut dissolved).rev() {
            let level = usize::from(pane.level);
            *gone = at_least[level + self.rise()] >= 2;
            at_least[..=level].iter_mut().for_each(|count| *count += 1);
        }
        dissolved
    }

    /// Takes boundaries until no more than `panes` panes are left: of the lowest level first, then between the
    /// fewest events, then the oldest.
    fn make_room(&self, panes: &[Outline], dissolved: &mut [bool]) {
        let mut left = panes.len() - dissolved.iter().filter(|gone| **gone).count();
        while left > self.panes {
            let Some(index) = lowest(panes, dissolved) else {
                return;
            };
            dissolved[index] = true;
            left -= 1;
        }
    }
}

/// The boundary that can best be spared. Panes whose boundary is gone already count as one.
fn lowest(panes: &[Outline], dissolved: &[bool]) -> Option<usize> {
    let mut groups: Vec<(usize, u64)> = Vec::new();
    let mut events = 0;
    for (index, pane) in panes.iter().enumerate() {
        events += pane.events;
        if !dissolved.get(index).is_some_and(|gone| *gone) {
            groups.push((index, events));
            events = 0;
        }
    }
    let pairs = groups.windows(2).map(|pair| {
        let (end, together) = (pair[0].0, pair[0].1 + pair[1].1);
        (panes[end].level, together, end)
    });
    pairs.min().map(|(_, _, end)| end)
}

impl Schedule for Smooth {
    fn ends(&mut self, block: Outline, norm: Secret<u64>) -> Result<bool> {
        if block.events < self.histogram.longest_block {
            return self.ask(0, norm);
        }
        self.questions[0] = None;
        Ok(true)
    }

    fn level(&mut self, norms: &mut Norms) -> Result<u8> {
        let mut level = 0;
        while level < norms.levels() && self.ask(level + 1, norms.since(level + 1))? {
            level += 1;
            norms.end(level);
        }
        Ok(level as u8)
    }

    fn merges(&mut self, closed: &dyn Outlines, _: i64) -> Vec<Range<usize>> {
        let panes: Vec<Outline> = (0..closed.count()).map(|index| closed.outline(index)).collect();
        let mut dissolved = self.histogram.dissolved(&panes);
        // The newest pane's end stays: there is nothing after it yet to merge with.
        dissolved.pop();
        self.histogram.make_room(&panes, &mut dissolved);
        runs(&dissolved)
    }
}

/// The runs of panes whose boundaries are gone.
fn runs(dissolved: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for index in (0..dissolved.len()).filter(|index| dissolved[*index]) {
        match runs.last_mut() {
            Some(run) if run.end == index + 1 => run.end += 1,
            _ => runs.push(index..index + 2),
        }
    }
    runs
}
