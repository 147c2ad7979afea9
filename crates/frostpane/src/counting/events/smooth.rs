#![doc = include_str!("smooth.md")]

use std::ops::Range;

use serde::Serialize;

use crate::codec::{Reader, Writer, check};
use crate::counting::events::levels::LevelSketches;
use crate::counting::events::schedule::Outline;
use crate::error::Result;
use crate::mechanism::{AboveThreshold, Answer, Bounded, Draws};
use crate::noise::DiscreteLaplace;
use crate::privacy::Epsilon;
use crate::spec::Unit;

/// The budget of a level is `epsilon / 2^(level + 1)`; more levels than this would overflow the scale.
pub(crate) const MOST_LEVELS: usize = 24;

/// How far noise and sketches together may put the end of a block off its threshold, as foreseen.
const FORESEEN: f64 = 0.35;

/// The public numbers of a private smooth histogram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Histogram {
    #[serde(skip)]
    pub unit: Unit,
    pub epsilon: Epsilon,
    /// The threshold of level 0: that of level `j` is `2^j` times as much.
    pub first_norm: u64,
    /// A window's start cuts through at most about `2^-fineness` of its norm.
    pub fineness: u32,
    pub levels: usize,
    pub window: u64,
    pub tick: u64,
    pub longest_block: u64,
    pub panes: usize,
}

#[derive(Debug)]
pub struct Smooth {
    histogram: Histogram,
    /// The question of each level; none while a level ends.
    questions: Vec<Option<AboveThreshold>>,
}

impl Smooth {
    pub fn new(histogram: Histogram) -> Self {
        Self { questions: (0..histogram.levels).map(|_| None).collect(), histogram }
    }

    fn ask(&mut self, level: usize, norm: impl Bounded, draws: &mut dyn Draws) -> Result<bool> {
        let question = match self.questions[level].take() {
            Some(question) => question,
            None => self.histogram.question(level, draws)?,
        };
        let (question, answer) = match question.ask(norm, draws) {
            Answer::Above => (None, Ok(true)),
            Answer::Below(question) => (Some(question), Ok(false)),
            // A fresh threshold within a block would cost its budget twice.
            Answer::Unanswered(question, cause) => (Some(question), Err(cause)),
        };
        self.questions[level] = question;
        answer
    }

    pub fn ends(&mut self, block: Outline, norm: impl Bounded, draws: &mut dyn Draws) -> Result<bool> {
        if block.events < self.histogram.longest_block {
            return self.ask(0, norm, draws);
        }
        self.questions[0] = None;
        Ok(true)
    }

    pub fn level(&mut self, levels: &mut LevelSketches, draws: &mut dyn Draws) -> Result<u8> {
        let mut level = 0;
        while level < levels.levels() && self.ask(level + 1, levels.since(level + 1), draws)? {
            level += 1;
            levels.end(level)?;
        }
        Ok(level as u8)
    }

    pub fn merges(&self, closed: impl Iterator<Item = Outline>, latest: i64) -> Vec<Range<usize>> {
        // A pane that is leaving the longest window stays as it is: merged again and again with what follows, it
        // would never leave, and grow longer than the window.
        let since = latest + 1 - self.histogram.window as i64;
        let panes: Vec<Outline> = closed.collect();
        let leaving = usize::from(panes.first().is_some_and(|oldest| oldest.start < since));
        let histogram = Histogram { panes: self.histogram.panes - leaving, ..self.histogram };
        let runs = runs(&histogram.dissolved(&panes[leaving..])).into_iter();
        runs.map(|run| run.start + leaving..run.end + leaving).collect()
    }

    /// What was drawn and not yet used up goes on: to draw it again within a block would cost its budget twice.
    pub(super) fn save(&self, to: &mut Writer) {
        to.each(self.questions.iter(), |to, question| {
            to.maybe(question.as_ref(), |to, question| question.save(to));
        });
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let (histogram, levels) = (self.histogram, from.length()?);
        check(levels <= histogram.levels, "there are more levels")?;
        check(levels == histogram.levels, "there are fewer levels")?;
        for (level, question) in self.questions.iter_mut().enumerate() {
            let sensitivity = histogram.sensitivity(level);
            *question = from.maybe(|from| AboveThreshold::load(from, sensitivity, histogram.epsilon))?;
        }
        Ok(())
    }
}

impl Histogram {
    /// How far the noise of threshold and question together reach at level 1, but for this chance. At level
    /// `j` it is `2^(j-1)` times as much, and less at level 0.
    pub fn noise_of_level_one(unit: Unit, epsilon: Epsilon, failure: f64) -> f64 {
        let norm = unit.sketched_norm();
        let reach = |scale: u32| DiscreteLaplace::new(4 * norm * scale, epsilon).reach(failure / 2.0);
        (reach(2) + reach(4)) as f64
    }

    /// The largest norm of a pane that a window of this norm may begin within, as foreseen: `2^-fineness` of it, but for noise and sketches,
    /// or a block of level 0; or, where panes had to make room, as many events as two of them have on average.
    pub fn slack(&self, norm: f64) -> f64 {
        let block = (1.0 + FORESEEN) * self.first_norm as f64 + self.tick as f64;
        let share = 0.5_f64.powi(self.fineness as i32) * (1.0 + FORESEEN) / (1.0 - FORESEEN);
        let crowded =
            if self.crowd() > 1.0 { 2.0 * self.window as f64 / (self.panes - 2) as f64 } else { 0.0 };
        (share * norm).max(block).max(crowded)
    }

    /// Number of merges that a pane within a window of this norm may have seen: as levels end after it, and to make room.
    pub fn merges(&self, norm: f64) -> f64 {
        let highest = (norm / ((1.0 - FORESEEN) * self.first_norm as f64)).max(1.0).log2();
        let by_level = (highest + 1.0 - f64::from(self.rise())).max(0.0);
        let crowd = self.crowd();
        let by_room = if crowd > 1.0 { crowd.log2().ceil() + 1.0 } else { 0.0 };
        by_level + by_room
    }

    pub fn most_blocks(&self) -> u64 {
        let by_norm = self.window as f64 / ((1.0 - FORESEEN) * self.first_norm as f64);
        by_norm as u64 + self.window / self.longest_block + 2
    }

    fn crowd(&self) -> f64 {
        self.most_blocks() as f64 / self.panes as f64
    }

    fn question(&self, level: usize, draws: &mut (impl Draws + ?Sized)) -> Result<AboveThreshold> {
        AboveThreshold::new(self.first_norm << level, self.sensitivity(level), self.epsilon, draws)
    }

    fn sensitivity(&self, level: usize) -> u32 {
        let norm = match level {
            0 => self.unit.norm(),
            _ => self.unit.sketched_norm(),
        };
        norm << (level + 1)
    }

    /// From how many levels up a complete block dissolves a boundary that lies before it.
    fn rise(&self) -> i32 {
        self.fineness as i32 + 2
    }

    /// Which ends of panes, from the oldest to the newest, go: all with a complete block after them that is
    /// high enough, and as many more as there are too many panes.
    fn dissolved(&self, panes: &[Outline]) -> Vec<bool> {
        let mut ends_of = vec![0; self.levels + self.rise() as usize + 1];
        let mut dissolved = vec![false; panes.len()];
        for (pane, gone) in panes.iter().zip(&mut dissolved).rev() {
            let level = usize::from(pane.level);
            *gone = ends_of[level + self.rise() as usize] >= 2;
            ends_of[..=level].iter_mut().for_each(|ends| *ends += 1);
        }
        // The newest pane's end stays: there is nothing after it yet to merge with.
        dissolved.pop();
        let mut left = panes.len() - dissolved.iter().filter(|gone| **gone).count();
        while left > self.panes
            && let Some(index) = best_spared(panes, &dissolved)
        {
            dissolved[index] = true;
            left -= 1;
        }
        dissolved
    }
}

/// The end between the fewest events, and the oldest of several. Panes that go together count as one.
fn best_spared(panes: &[Outline], dissolved: &[bool]) -> Option<usize> {
    let mut groups: Vec<(usize, u64)> = Vec::new();
    let mut events = 0;
    for (index, pane) in panes.iter().enumerate() {
        events += pane.events;
        if !dissolved.get(index).is_some_and(|gone| *gone) {
            groups.push((index, events));
            events = 0;
        }
    }
    groups.windows(2).map(|pair| (pair[0].1 + pair[1].1, pair[0].0)).min().map(|(_, end)| end)
}

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

/// Exact probabilities of what the boundaries say: the real code makes every choice in turn.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::slice;
    use std::sync::{Arc, Mutex, MutexGuard};

    use super::*;
    use crate::counting::events::Timeline;
    use crate::counting::events::schedule::Schedule;
    use crate::error::{Error, ErrorKind};
    use crate::mechanism::Secret;
    use crate::noise::InsecureSeededEntropy;
    use crate::pane::{OpenPane, PaneShape};
    use crate::sketch::count_sketch::Dimensions;
    use crate::spec::window::Grid;

    /// Thresholds are drawn within this many times their scale: the rest has a chance below 2e-6.
    const REACH: f64 = 14.0;

    /// Makes every choice in turn, with the chance of the choices made so far.
    #[derive(Default)]
    struct Choices {
        taken: Vec<(usize, usize)>,
        next: usize,
        chance: f64,
        answers: Option<Vec<bool>>,
    }

    impl Choices {
        fn choose(&mut self, of: usize) -> usize {
            if self.next == self.taken.len() {
                self.taken.push((0, of));
            }
            self.next += 1;
            self.taken[self.next - 1].0
        }

        fn advance(&mut self) -> bool {
            while let Some((choice, of)) = self.taken.pop() {
                if choice + 1 < of {
                    self.taken.push((choice + 1, of));
                    return true;
                }
            }
            false
        }
    }

    /// `Pr[X >= m]`, from the formula.
    fn tail(laplace: &DiscreteLaplace, m: i64) -> f64 {
        let q = (-1.0 / laplace.scale()).exp();
        if m > 0 { q.powi(m as i32) / (1.0 + q) } else { 1.0 - q.powi((1 - m) as i32) / (1.0 + q) }
    }

    struct Enumerated(Arc<Mutex<Choices>>);

    impl Draws for Enumerated {
        fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
            let mut choices = self.0.lock().unwrap();
            let reach = (REACH * laplace.scale()).ceil() as i64;
            let value = choices.choose(2 * reach as usize + 1) as i64 - reach;
            choices.chance *= tail(laplace, value) - tail(laplace, value + 1);
            Ok(value)
        }

        fn reaches(
            &mut self,
            laplace: &DiscreteLaplace,
            _: i64,
            least: &mut dyn FnMut() -> i64,
        ) -> Result<bool> {
            let mut choices = self.0.lock().unwrap();
            let answer = match &mut choices.answers {
                Some(answers) => answers.remove(0),
                None => choices.choose(2) == 1,
            };
            let chance = tail(laplace, least());
            choices.chance *= if answer { chance } else { 1.0 - chance };
            Ok(answer)
        }
    }

    fn enumerate(answers: Option<&[bool]>, mut run: impl FnMut(Drawing), of: Histogram) -> Vec<f64> {
        let choices = Arc::new(Mutex::new(Choices::default()));
        let mut chances = Vec::new();
        loop {
            {
                let mut choices = choices.lock().unwrap();
                choices.next = 0;
                choices.chance = 1.0;
                choices.answers = answers.map(<[bool]>::to_vec);
            }
            run(Drawing::new(of, Box::new(Enumerated(choices.clone()))));
            let mut choices = choices.lock().unwrap();
            chances.push(choices.chance);
            if !choices.advance() {
                return chances;
            }
        }
    }

    struct Drawing {
        smooth: Smooth,
        draws: Box<dyn Draws + Send>,
    }

    impl Drawing {
        fn new(histogram: Histogram, draws: Box<dyn Draws + Send>) -> Self {
            Self { smooth: Smooth::new(histogram), draws }
        }

        fn timeline(self, shape: PaneShape) -> Timeline<u64> {
            let Histogram { window, tick, levels, .. } = self.smooth.histogram;
            let grid = Grid { length: window as i64, slide: tick as i64, lateness: 0 };
            let levels = LevelSketches::new(levels - 1, Dimensions { rows: 3, width: 64 }, 7);
            let schedule = Schedule::Smooth(self.smooth);
            Timeline { draws: self.draws, ..Timeline::new(grid, shape, schedule, Some(levels)) }
        }
    }

    fn shape(entries: u32) -> PaneShape {
        PaneShape::new(entries, 100, None, 7).unwrap()
    }

    fn histogram(epsilon: f64, levels: usize) -> Histogram {
        Histogram {
            unit: Unit::Event,
            epsilon: Epsilon::new(epsilon).unwrap(),
            first_norm: 2,
            fineness: 9,
            levels,
            window: 100,
            tick: 1,
            longest_block: 100,
            panes: 100,
        }
    }

    /// The chance that a level answers "no" to each of some values and "yes" to the last of each block.
    fn chance(histogram: Histogram, level: usize, blocks: &[Vec<u64>]) -> f64 {
        let answers: Vec<bool> =
            blocks.iter().flat_map(|block| (1..=block.len()).map(|i| i == block.len())).collect();
        let run = |Drawing { mut smooth, mut draws }: Drawing| {
            for value in blocks.iter().flatten() {
                smooth.ask(level, Secret::new(*value), &mut *draws).unwrap();
            }
        };
        enumerate(Some(&answers), run, histogram).iter().sum()
    }

    /// The worst case of the proof: all refused values of a block lie higher in one neighbour and the passing one lower, then blocks
    /// without the event. With half the noise the loss would be twice, and with one threshold for all blocks one and a half times, the budget.
    #[test]
    fn a_level_loses_its_budget_and_no_more() {
        for (level, epsilon, sensitivity) in [(0, 4.0, 1), (1, 16.0, 2), (2, 32.0, 2)] {
            let histogram = histogram(epsilon, 3);
            let budget = epsilon / 2_f64.powi(level as i32 + 1);
            let threshold = histogram.first_norm << level;
            let later = vec![threshold.saturating_sub(1)];
            let worst = (0..=threshold)
                .map(|passing| {
                    let block = |refused: u64, passing: u64| {
                        let mut values = vec![refused; 20];
                        values.push(passing);
                        vec![values, later.clone(), later.clone()]
                    };
                    let one = chance(histogram, level, &block(threshold, passing + sensitivity));
                    let other = chance(histogram, level, &block(threshold + sensitivity, passing));
                    (one / other).ln().abs()
                })
                .fold(0.0, f64::max);
            assert!(worst <= budget + 1e-4, "level {level} loses {worst}, more than {budget}");
            assert!(worst > 0.9 * budget, "level {level} loses only {worst}: the test has no power");
        }
    }

    /// All boundaries and levels of all streams of two events of two keys or none, and all their neighbours.
    #[test]
    fn all_boundaries_of_neighbours_are_as_likely_up_to_the_budget() {
        let (epsilon, levels) = (24.0, 2);
        let boundaries = |stream: [Option<u64>; 2]| {
            let mut outcomes = BTreeMap::<Vec<(i64, u8)>, f64>::new();
            let mut seen = Vec::new();
            let run = |smooth: Drawing| {
                let mut timeline = smooth.timeline(shape(100));
                for (position, key) in stream.into_iter().chain([None]).enumerate() {
                    timeline.update(position as i64, key).unwrap();
                }
                seen.push(timeline.state.closed.iter().map(|block| (block.end, block.level)).collect());
            };
            let chances = enumerate(None, run, histogram(epsilon, levels));
            for (outcome, chance) in seen.into_iter().zip(chances) {
                *outcomes.entry(outcome).or_default() += chance;
            }
            outcomes
        };
        let keys = [None, Some(1), Some(2)];
        let streams: Vec<[Option<u64>; 2]> = keys.iter().flat_map(|a| keys.map(|b| [*a, b])).collect();
        let all: Vec<_> = streams.iter().map(|stream| boundaries(*stream)).collect();
        assert!(
            all.iter()
                .all(|outcomes| outcomes.len() == 9 && (outcomes.values().sum::<f64>() - 1.0).abs() < 1e-5)
        );
        let mut worst: f64 = 0.0;
        for (a, one) in streams.iter().zip(&all) {
            for (b, other) in streams.iter().zip(&all) {
                if a.iter().zip(b).filter(|(x, y)| x != y).count() == 1 {
                    let losses = one.iter().map(|(outcome, chance)| (chance / other[outcome]).ln());
                    worst = losses.fold(worst, f64::max);
                }
            }
        }
        assert!(worst <= 0.75 * epsilon, "{worst}");
        assert!(worst > 0.1 * epsilon, "{worst}: the test has no power");
    }

    /// No noise: what was drawn for thresholds, and what for questions, with the least noise that would have been a yes.
    #[derive(Default)]
    struct Recorded {
        thresholds: Vec<f64>,
        questions: Vec<(f64, i64)>,
        /// Entropy fails at this draw from here on, if it is not 0.
        fails_at: usize,
    }

    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Recorded>>);

    impl Recorder {
        fn failing(fails_at: usize) -> Self {
            Self(Arc::new(Mutex::new(Recorded { fails_at, ..Recorded::default() })))
        }

        fn draw(&self) -> Result<MutexGuard<'_, Recorded>> {
            let mut recorded = self.recorded();
            recorded.fails_at = recorded.fails_at.wrapping_sub(1);
            match recorded.fails_at {
                0 => Err(Error::new(ErrorKind::Entropy, "no entropy".to_owned())),
                _ => Ok(recorded),
            }
        }

        fn recorded(&self) -> MutexGuard<'_, Recorded> {
            self.0.lock().unwrap()
        }

        fn thresholds(&self) -> usize {
            self.recorded().thresholds.len()
        }
    }

    impl Draws for Recorder {
        fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
            self.draw()?.thresholds.push(laplace.scale());
            Ok(0)
        }

        fn reaches(
            &mut self,
            laplace: &DiscreteLaplace,
            _: i64,
            least: &mut dyn FnMut() -> i64,
        ) -> Result<bool> {
            let mut recorded = self.draw()?;
            let least = least();
            recorded.questions.push((laplace.scale(), least));
            Ok(least <= 0)
        }
    }

    /// Wherever entropy fails, and whether or not the event is given again: no event is lost or counted twice,
    /// and no block gets a second threshold, which would cost its budget twice.
    #[test]
    fn a_failure_of_entropy_loses_no_block_and_draws_no_threshold_twice() {
        let run = |failing: usize| {
            let draws = Recorder::failing(failing);
            let mut timeline = Drawing::new(histogram(1.0, 3), Box::new(draws.clone())).timeline(shape(100));
            let mut failures = 0;
            for position in 0..20 {
                while timeline.update(position, Some(5)).is_err() {
                    failures += 1;
                    let covered = timeline.window(100, true).expect("there were events");
                    let events: u64 = covered.panes.iter().map(|pane| pane.events()).sum();
                    assert_eq!(events, position as u64, "draw {failing} failed");
                }
            }
            let covered = timeline.window(100, true).unwrap();
            let events: u64 = covered.panes.iter().map(|pane| pane.events()).sum();
            assert_eq!(events, 20, "draw {failing} failed");
            (failures, draws.thresholds())
        };
        let (_, usual) = run(0);
        let runs: Vec<_> = (1..).map(run).take_while(|(failures, _)| *failures > 0).collect();
        assert!(runs.len() > 20 && runs.iter().all(|(failures, _)| *failures == 1));
        assert!(runs.iter().all(|(_, thresholds)| *thresholds <= usual), "{usual}: {runs:?}");
    }

    /// Quiet, a little, quiet, a lot: what was merged before the little would be merged again with what lies between. No pane may
    /// have more events than the longest window, or a plan whose panes keep as many keys as that would not be exact.
    #[test]
    fn no_pane_grows_longer_than_the_longest_window() {
        let window = 10_000;
        let histogram =
            Histogram { fineness: 1, window, longest_block: 10, panes: 1_000_000, ..histogram(1.0, 10) };
        let mut timeline = quiet(histogram).timeline(shape(window as u32));
        for position in 0..18_700 {
            let quiet = position < 9_000 || (9_032..18_000).contains(&position);
            timeline.update(position, (!quiet).then_some(5)).unwrap();
            let longest = timeline.state.closed.iter().map(|block| block.pane.events()).max();
            assert!(longest <= Some(window), "{longest:?} at {position}");
        }
    }

    /// Of every number that the plan foresees where it comes from: blocks end within 35 % of their thresholds, as foreseen.
    #[test]
    fn what_is_foreseen_follows_from_the_thresholds_and_the_panes() {
        let crowded = Histogram {
            first_norm: 1_000,
            fineness: 3,
            window: 100_000,
            tick: 100,
            longest_block: 2_000,
            panes: 64,
            ..histogram(1.0, 8)
        };
        let roomy = Histogram { panes: 206, ..crowded };
        // 100,000 / 650, 100,000 / 2,000, and one at each end.
        assert_eq!(crowded.most_blocks(), 153 + 50 + 2);
        let close = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-12;
        // A block of level 0 and a tick; an eighth of the norm, 35 % more over 35 % less; two of the 62 panes on average.
        assert!(close(roomy.slack(10.0), 1_350.0 + 100.0));
        assert!(close(roomy.slack(1e5), 1e5 / 8.0 * 1.35 / 0.65));
        assert!(close(crowded.slack(10.0), 2.0 * 100_000.0 / 62.0));
        assert!(close(crowded.slack(1e5), 1e5 / 8.0 * 1.35 / 0.65));
        // Level 6 ends in a norm of 64 blocks, and dissolves what lies five levels below; 205 blocks for 64 panes.
        assert!(close(roomy.merges(64.0 * 650.0), 6.0 + 1.0 - 5.0));
        assert_eq!(roomy.merges(8.0 * 650.0), 0.0);
        assert_eq!(roomy.merges(0.0), 0.0);
        assert!(close(crowded.merges(64.0 * 650.0), 2.0 + 3.0));
        let full = Histogram { panes: 205, ..crowded };
        assert_eq!((full.merges(0.0), full.slack(0.0)), (0.0, 1_450.0));
        // Three blocks at the most and three panes: none had to make room.
        let few = Histogram { window: 1_000, panes: 3, ..crowded };
        assert_eq!((few.most_blocks(), few.slack(0.0)), (3, 1_450.0));
    }

    /// Level 1 has a quarter of the budget and a sensitivity of 2: noise of scale 16/epsilon for its threshold, 32/epsilon for
    /// a question, each with half of the chance.
    #[test]
    fn the_noise_of_level_one_is_that_of_its_question() {
        let reach = |scale: f64, chance: f64| {
            let q = (-1.0 / scale).exp();
            (0..).find(|m| q.powi(*m) / (1.0 + q) <= chance).unwrap()
        };
        for (epsilon, failure) in [(1.0, 1e-6), (0.25, 1e-9)] {
            let expected = reach(16.0 / epsilon, failure / 2.0) + reach(32.0 / epsilon, failure / 2.0);
            let noise = Histogram::noise_of_level_one(Unit::Event, Epsilon::new(epsilon).unwrap(), failure);
            assert_eq!(noise, f64::from(expected));
        }
    }

    /// The budget of level `j` is `epsilon / 2^(j+1)`, its threshold `2^j` times the first, and its norm moves by 1, or by 2
    /// where it is a sketch's: noise of twice that for the threshold and four times that for the question.
    #[test]
    fn every_level_asks_with_its_own_threshold_and_budget() {
        let histogram = Histogram { first_norm: 100, ..histogram(0.5, 5) };
        for level in 0..5 {
            let mut draws = Recorder::default();
            assert!(!Smooth::new(histogram).ask(level, Secret::new(30), &mut draws).unwrap());
            let budget = 0.5 / 2_f64.powi(level as i32 + 1);
            let sensitivity = if level > 0 { 2.0 } else { 1.0 };
            let least = 100 * 2_i64.pow(level as u32) - 30;
            let recorded = draws.recorded();
            assert_eq!(recorded.thresholds, [2.0 * sensitivity / budget]);
            assert_eq!(recorded.questions, [(4.0 * sensitivity / budget, least)]);
        }
    }

    /// Flat at first and skewed later, with the same noise.
    #[test]
    fn blocks_that_list_their_keys_end_where_others_do() {
        let histogram = Histogram {
            first_norm: 60,
            window: 3_000,
            tick: 16,
            longest_block: 512,
            panes: 20,
            ..histogram(0.5, 5)
        };
        let key = |event: u64| match event * event % 11 {
            0 | 1 => event,
            _ => event % (1 + 400 * 1_500_u64.saturating_sub(event / 4)),
        };
        let run = |shape: PaneShape, seed: u64| {
            let draws = Box::new(InsecureSeededEntropy::new(seed));
            let mut timeline = Drawing::new(histogram, draws).timeline(shape);
            (0..8_000).for_each(|event| assert!(timeline.update(event as i64, Some(key(event))).unwrap()));
            let panes = timeline.state.closed.iter().map(|block| {
                let counts: BTreeMap<u64, u64> = block.pane.counts().iter().collect();
                (block.outline(block.pane.events()), counts)
            });
            panes.collect::<Vec<_>>()
        };
        for (seed, entries) in (0..10).flat_map(|seed| [40, 3_000].map(|entries| (seed, entries))) {
            let shape = PaneShape::new(entries, 512, None, 7).unwrap();
            let panes = run(shape, seed);
            assert!(panes.iter().any(|(pane, _)| pane.level > 0) && panes.len() > 5);
            assert!(run(shape.listing(512), seed) == panes, "seed {seed}, {entries} entries");
        }
    }

    fn quiet(histogram: Histogram) -> Drawing {
        Drawing::new(histogram, Box::new(Recorder::default()))
    }

    /// One key, whose count is the norm: of 4 at level 1, 8 at level 2, 16 at level 3.
    #[test]
    fn an_end_has_the_level_that_the_norm_since_the_last_has_reached() {
        let mut smooth = Smooth::new(histogram(1.0, 4));
        let mut norms = LevelSketches::new(3, Dimensions { rows: 3, width: 64 }, 7);
        let mut level = |events: u64| {
            let mut block = OpenPane::<u64>::new(shape(100));
            (0..events).for_each(|_| block.update(Some(5)));
            norms.add(&block, &block.close()).unwrap();
            smooth.level(&mut norms, &mut Recorder::default()).unwrap()
        };
        assert_eq!([3, 1, 4, 3, 5, 15, 1, 16].map(&mut level), [0, 1, 2, 0, 3, 2, 0, 3]);
    }

    /// One key and ticks of an event: blocks end with two events each, their level follows from all before.
    #[test]
    fn blocks_of_a_timeline_end_where_they_have_the_norm_and_have_their_level() {
        let mut timeline = quiet(histogram(1.0, 3)).timeline(shape(100));
        for position in 0..14 {
            timeline.update(position, Some(5)).unwrap();
            let covered = timeline.window(100, true).unwrap();
            assert_eq!((covered.from, covered.latest), (0, position));
        }
        let ends: Vec<_> = timeline
            .state
            .closed
            .iter()
            .map(|block| (block.start, block.end, block.level, block.pane.events()))
            .collect();
        let levels = [0, 1, 0, 2, 0, 1];
        let expected = (0..).zip(levels).map(|(number, level)| (2 * number, 2 * number + 2, level, 2));
        assert!(ends.iter().copied().eq(expected), "{ends:?}");
    }

    /// Panes of ten positions, a window of 100: at 99 all are within, at 100 the first is leaving and left alone, but counts.
    #[test]
    fn a_pane_that_is_leaving_is_not_merged() {
        let panes = (0..).zip([1, 1, 5, 5, 5]).map(|(number, events)| Outline {
            start: 10 * number,
            end: 10 * number + 10,
            events,
            level: 0,
        });
        let smooth = Smooth::new(Histogram { panes: 3, ..histogram(1.0, 3) });
        assert_eq!(smooth.merges(panes.clone(), 99), slice::from_ref(&(0..3)));
        assert_eq!(smooth.merges(panes, 100), [1..3, 3..5]);
        assert_eq!(smooth.merges(std::iter::empty(), 100), []);
    }

    /// By the sum of events on both sides, and of equal sums the oldest.
    #[test]
    fn the_end_between_the_fewest_events_is_spared_first() {
        let spared = |events: &[u64], dissolved: &[bool]| {
            let outline = |events: &u64| Outline { start: 0, end: 0, events: *events, level: 0 };
            let panes: Vec<_> = events.iter().map(outline).collect();
            best_spared(&panes, dissolved)
        };
        assert_eq!(spared(&[1, 3, 2, 2], &[false; 3]), Some(0));
        assert_eq!(spared(&[2, 2, 1], &[false; 2]), Some(1));
        assert_eq!(spared(&[1, 4, 2, 2], &[false; 3]), Some(2));
        // Five and two are one pane of seven.
        assert_eq!(spared(&[5, 2, 3, 4], &[true, false, false]), Some(2));
        assert_eq!(spared(&[5, 2], &[true]), None);
    }

    /// A block of level 0 is asked about as long as it has room, and ends by force where it has not; then it asks anew.
    #[test]
    fn a_full_block_ends_without_a_question() {
        let draws = Recorder::default();
        let mut smooth = Smooth::new(histogram(1.0, 2));
        let block = |events| Outline { start: 0, end: events as i64, events, level: 0 };
        let mut ends =
            |events, norm| smooth.ends(block(events), Secret::new(norm), &mut draws.clone()).unwrap();
        assert!(!ends(98, 1) && !ends(99, 1) && draws.thresholds() == 1);
        assert!(ends(100, 0) && draws.thresholds() == 1);
        assert!(!ends(1, 1) && draws.thresholds() == 2);
        assert!(ends(2, 2) && draws.thresholds() == 2);
        assert!(!ends(1, 1) && draws.thresholds() == 3);
    }

    #[test]
    fn panes_go_where_what_follows_outweighs_them_or_where_the_fewest_events_are() {
        let outline = |level, events| Outline { start: 0, end: 0, events, level };
        let histogram = Histogram { fineness: 1, ..histogram(1.0, 8) };
        // A complete block of level 3 dissolves the ends of level 0 before it, and those alone.
        let levels = [0, 1, 0, 3, 0, 0, 3, 0];
        let panes: Vec<Outline> = levels.iter().map(|level| outline(*level, 1)).collect();
        assert_eq!(histogram.dissolved(&panes), [true, false, true, false, false, false, false]);
        // Three panes too many: the two oldest of the smallest pairs, then the next.
        let tight = Histogram { panes: 3, ..histogram };
        let mut panes = panes;
        panes[5].events = 9;
        assert_eq!(tight.dissolved(&panes), [true, true, true, true, false, false, true]);
        assert_eq!(runs(&[true, true, false, true]), [0..3, 3..5]);
    }
}
