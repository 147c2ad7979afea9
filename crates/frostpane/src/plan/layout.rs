//! The layout of the panes of the longest window, under each policy.

use serde::Serialize;

use crate::counting::events::exponential::{Exponential, GROWTH};
use crate::counting::events::levels::LevelSketches;
use crate::counting::events::schedule::Schedule;
use crate::counting::events::smooth::{Histogram, MOST_LEVELS, Smooth};
use crate::privacy::Epsilon;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::{Policy, Unit, ValidSpec};

/// A merged pane is at most this part of its age.
const FINENESS: u64 = 64;
/// The sketches of a histogram's levels, if panes have none.
pub(crate) const LEVEL_SKETCH: Dimensions = Dimensions { rows: 5, width: 512 };
/// A block of level 0 is counted exactly, in a table that stays in cache.
const LONGEST_BLOCK: u64 = 1 << 16;
/// The fewest and the most panes of a histogram.
const FEWEST_PANES: u64 = 64;
const MOST_PANES: u64 = 4_096;
/// The noise of a question stays below this part of its threshold, except with probability [`NOISE_FAILURE`].
const NOISE_PART: f64 = 0.25;
/// The probability that some noise of the boundaries of a window is larger.
const NOISE_FAILURE: f64 = 1e-3;

/// The layout of the panes of the longest window. It depends on public numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// The policy of the panes.
    pub policy: Policy,
    /// The most closed panes.
    pub panes: u64,
    /// The length of the longest window, in events or in microseconds.
    pub window: u64,
    /// The length of the youngest panes, in events or in microseconds; for the smooth policy, the
    /// distance between questions to a block.
    pub slide: u64,
    #[serde(skip)]
    pub(crate) windows: u64,
    /// True if lengths are numbers of events.
    pub by_count: bool,
    /// The histogram of the smooth policy.
    pub histogram: Option<Histogram>,
}

impl Layout {
    pub(crate) fn new(spec: &ValidSpec, boundaries: Option<Epsilon>) -> Self {
        let grid = spec.grid();
        let window = grid.length as u64;
        let fixed = spec.policy() == Policy::Fixed;
        let slide = if fixed { spec.step() } else { grid.slide as u64 };
        let histogram = boundaries.map(|epsilon| histogram(window, slide, spec.alpha, spec.unit, epsilon));
        let layout = Self {
            policy: spec.policy(),
            panes: histogram.map_or(0, |histogram| histogram.panes as u64),
            window,
            slide,
            windows: spec.windows.len() as u64,
            by_count: spec.window().is_by_count(),
            histogram,
        };
        layout.over(window)
    }

    pub(crate) fn over(self, window: u64) -> Self {
        let shorter = Self { window, ..self };
        let panes = match self.policy {
            Policy::Uniform => window.div_ceil(self.slide),
            Policy::Exponential => shorter.lengths().map(|length| shorter.panes_of(length)).sum(),
            // Each window but the longest begins with a pane of its own.
            Policy::Fixed => window.div_ceil(self.slide) + self.windows - 1,
            Policy::Smooth => self.panes,
        };
        Self { panes, ..shorter }
    }

    /// The number of panes of one length, where they are merged with age: too old to be shorter and too young to be longer.
    fn panes_of(&self, length: u64) -> u64 {
        let oldest = self.window.min(length.saturating_mul((FINENESS + 1) * GROWTH as u64));
        let youngest = if length > self.slide { length.saturating_mul(FINENESS) } else { 0 };
        oldest.saturating_sub(youngest).div_ceil(length) + 1
    }

    pub(crate) fn choices_of_panes(&self) -> Vec<u64> {
        let Some(histogram) = self.histogram else {
            return vec![self.panes];
        };
        let enough = histogram.most_blocks().clamp(FEWEST_PANES, MOST_PANES);
        let fewer = (0..).map(|i| FEWEST_PANES << i);
        fewer.take_while(|panes| *panes < enough).chain([enough]).collect()
    }

    pub(crate) fn with_panes(self, panes: u64) -> Self {
        match self.histogram {
            Some(histogram) => {
                Self { panes, histogram: Some(Histogram { panes: panes as usize, ..histogram }), ..self }
            }
            None => self,
        }
    }

    /// The most events of a pane of this length: by the clock there is no most.
    pub(crate) fn most_events(&self, length: u64) -> Option<u64> {
        self.by_count.then_some(length)
    }

    pub(crate) fn longest_block(&self) -> Option<u64> {
        match self.histogram {
            Some(histogram) => Some(histogram.longest_block),
            None => self.most_events(self.slide),
        }
    }

    pub(crate) fn longest_pane(&self) -> Option<u64> {
        match self.policy {
            Policy::Uniform | Policy::Fixed => self.longest_block(),
            Policy::Exponential => self.lengths().last().and_then(|longest| self.most_events(longest)),
            Policy::Smooth => Some(self.window),
        }
    }

    pub(crate) fn entries(&self, each: u64) -> u64 {
        match self.policy {
            Policy::Exponential => {
                let most = |length| self.most_events(length).map_or(each, |events| events.min(each));
                let of_length = |length| self.panes_of(length).saturating_mul(most(length));
                self.lengths().map(of_length).fold(0, u64::saturating_add)
            }
            _ => self.panes.saturating_mul(self.longest_pane().unwrap_or(u64::MAX).min(each)),
        }
    }

    fn lengths(&self) -> impl Iterator<Item = u64> {
        let growths = growths(self.window, self.slide) as u32;
        (0..=growths).map(|i| self.slide * (GROWTH as u64).pow(i))
    }

    /// Returns true if all panes of the window have the same length, because none is old enough to be merged.
    pub(crate) fn is_even(&self) -> bool {
        match self.policy {
            Policy::Uniform | Policy::Fixed => true,
            Policy::Exponential => growths(self.window, self.slide) == 0,
            Policy::Smooth => false,
        }
    }

    /// The expected division of a window's events: two pairs of a number of panes and the events of each.
    pub(crate) fn loads(&self, events: u64) -> [(u64, u64); 2] {
        if let Some(full) = self.most_events(self.slide).filter(|_| self.is_even()) {
            return [(events / full, full), (1, events % full)];
        }
        let panes = self.panes;
        let (each, more) = (events / panes, events % panes);
        [(more, each + 1), (panes - more, each)]
    }

    /// The most often that a count of a window with this norm is cut, if panes keep `each` entries.
    pub(crate) fn times_cut(&self, each: u64, norm: f64) -> f64 {
        match self.policy {
            Policy::Uniform | Policy::Fixed => 1.0,
            Policy::Exponential => {
                let is_cut = |length: &u64| self.most_events(*length).is_none_or(|events| events > each);
                self.lengths().filter(is_cut).count() as f64
            }
            Policy::Smooth => self.histogram.map_or(1.0, |histogram| 1.0 + histogram.merges(norm)),
        }
    }

    /// The largest expected norm of the pane that a window begins within, if the whole window has so many events and this norm.
    pub(crate) fn slack(&self, events: u64, norm: f64) -> f64 {
        let slide = match self.most_events(self.slide) {
            Some(slide) => slide.min(events) as f64,
            None => events as f64 * (self.slide as f64 / self.window as f64),
        };
        match (self.policy, self.histogram) {
            (Policy::Smooth, Some(histogram)) => histogram.slack(norm),
            (Policy::Fixed, _) => 0.0,
            (Policy::Exponential, _) => slide.max(events as f64 / FINENESS as f64),
            _ => slide,
        }
    }

    /// The schedule that decides where panes end, and the sketches it needs.
    pub(crate) fn schedule(
        &self,
        sketch: Option<Dimensions>,
        seed: u64,
    ) -> (Schedule, Option<LevelSketches>) {
        match (self.policy, self.histogram) {
            (Policy::Smooth, Some(histogram)) => {
                let dimensions = sketch.unwrap_or(LEVEL_SKETCH);
                let levels = LevelSketches::new(histogram.levels - 1, dimensions, seed);
                (Schedule::Smooth(Smooth::new(histogram)), Some(levels))
            }
            (Policy::Exponential, _) => {
                let exponential = Exponential::new(self.slide as i64, FINENESS as i64);
                (Schedule::Exponential(exponential), None)
            }
            (Policy::Uniform | Policy::Fixed | Policy::Smooth, _) => (Schedule::Uniform, None),
        }
    }
}

fn growths(window: u64, slide: u64) -> u64 {
    u64::from((window / FINENESS / slide).max(1).ilog(GROWTH as u64))
}

/// The histogram for a window by count. Its noise is a fixed part of each level's threshold.
fn histogram(window: u64, tick: u64, alpha: f64, unit: Unit, epsilon: Epsilon) -> Histogram {
    let longest_block = LONGEST_BLOCK.min(window.div_ceil(FEWEST_PANES)).next_multiple_of(tick);
    // A question to each level at every tick: more than are ever asked.
    let questions = (window / tick + 1) as f64 * MOST_LEVELS as f64;
    let reach = Histogram::noise_of_level_one(unit, epsilon, NOISE_FAILURE / questions);
    let first_norm = (reach / 2.0 / NOISE_PART).ceil() as u64;
    let levels = 2 + (window / first_norm).max(1).ilog2() as usize;
    let fineness = (16.0 / alpha).log2().ceil().max(1.0) as u32;
    Histogram {
        unit,
        epsilon,
        first_norm,
        fineness,
        levels: levels.min(MOST_LEVELS),
        window,
        tick,
        longest_block,
        panes: MOST_PANES as usize,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::spec::{Spec, Window};

    fn checked(window: Window, policy: Policy) -> ValidSpec {
        let mut spec = Spec { alpha: 0.1, ..Spec::default() };
        spec.set_window(window);
        ValidSpec::new(spec, policy, None).unwrap()
    }

    fn smooth(window: u64, slide: u64) -> Layout {
        let spec = checked(Window::events(window).slide(slide), Policy::Smooth);
        Layout::new(&spec, Some(Epsilon::new(0.25).unwrap()))
    }

    fn layout(window: u64, slide: u64, by_count: bool, policy: Policy) -> Layout {
        let window = if by_count {
            Window::events(window).slide(slide)
        } else {
            Window::clock(Duration::from_micros(window)).slide(Duration::from_micros(slide))
        };
        Layout::new(&checked(window, policy), None)
    }

    /// Panes of 100 up to an age of 26,000: a pane of 400 is at most a 64th of its age from 25,600 on, and four of 100 may not have
    /// been merged yet. Then four times as long up to four times the age, and one more of each length.
    #[test]
    fn panes_that_grow_are_as_many_of_each_length_as_find_room() {
        let [short, middle, long, longest] = [
            26_000 / 100 + 1,
            (104_000 - 25_600) / 400 + 1,
            (416_000 - 102_400) / 1_600 + 1,
            590_400_u64.div_ceil(6_400) + 1,
        ];
        let [count, clock] = [true, false].map(|by| layout(1_000_000, 100, by, Policy::Exponential));
        let all = short + middle + long + longest;
        assert_eq!([count.panes, clock.panes], [all; 2]);
        assert_eq!(count.longest_pane(), Some(6_400));
        assert_eq!([count.longest_block(), clock.longest_block()], [Some(100), None]);
        assert_eq!(clock.longest_pane(), None);
        let entries = short * 100 + middle * 400 + (long + longest) * 1_000;
        assert_eq!([count.entries(1_000), clock.entries(1_000)], [entries, all * 1_000]);
        // Panes of 100, 400, 1,600 and 6,400 events: those that keep fewer keys than they may have.
        assert_eq!(
            [99, 399, 400, 1_600, 6_400].map(|each| count.times_cut(each, 0.0)),
            [4.0, 3.0, 2.0, 1.0, 0.0]
        );
        assert_eq!(clock.times_cut(6_400, 0.0), 4.0);
        assert!(!count.is_even() && !clock.is_even());
        // Panes of 100 are merged in a window of 25,600 and in no shorter one.
        assert!(count.over(25_599).is_even() && !count.over(25_600).is_even());
        assert_eq!(count.over(20_000).panes, 201);
        let uniform = layout(1_000, 64, true, Policy::Uniform);
        assert_eq!([uniform.panes, uniform.over(128).panes], [16, 2]);
        assert_eq!((uniform.entries(10), uniform.entries(100)), (160, 16 * 64));
        assert!(uniform.times_cut(1, 0.0) == 1.0 && uniform.longest_pane() == Some(64));
    }

    /// By count even panes are full but for one; otherwise events are spread evenly.
    #[test]
    fn all_events_have_their_panes() {
        assert_eq!(layout(1_000, 64, true, Policy::Uniform).loads(1_000), [(15, 64), (1, 40)]);
        assert_eq!(layout(1_000, 64, false, Policy::Uniform).loads(1_000), [(8, 63), (8, 62)]);
        let growing = layout(1_000_000, 100, true, Policy::Exponential);
        assert_eq!(growing.panes, 749);
        assert_eq!(growing.loads(10_000), [(263, 14), (486, 13)]);
    }

    #[test]
    fn a_window_begins_within_a_slide_or_within_a_64th_of_its_age() {
        let uniform = layout(1_000, 64, true, Policy::Uniform);
        assert_eq!([40, 64, 640].map(|events| uniform.slack(events, 7.0)), [40.0, 64.0, 64.0]);
        assert_eq!(layout(1_000, 50, false, Policy::Uniform).slack(30_000, 7.0), 30_000.0 * 0.05);
        let growing = layout(1_000_000, 100, true, Policy::Exponential);
        assert_eq!(
            [6_400, 12_800, 1_000_000].map(|events| growing.slack(events, 7.0)),
            [100.0, 200.0, 15_625.0]
        );
        let smooth = smooth(1 << 20, 16);
        let histogram = smooth.histogram.unwrap();
        assert_eq!(smooth.slack(1 << 20, 1e5), histogram.slack(1e5));
        assert_eq!(smooth.times_cut(1, 1e5), 1.0 + histogram.merges(1e5));
        assert_eq!((smooth.longest_pane(), smooth.is_even()), (Some(1 << 20), false));
    }

    /// At level 1, whose threshold is twice that of level 0, noise is within a quarter of it, except with probability 1/1000 over all
    /// ticks and 24 levels. The highest level, of at most 24, is the first above the window.
    #[test]
    fn a_histogram_follows_from_the_window_and_its_noise() {
        let epsilon = Epsilon::new(0.25).unwrap();
        for (window, tick) in [(1_000, 1), (1 << 20, 16), (10_000_019, 1_000), (1 << 30, 1_024)] {
            let layout = smooth(window, tick);
            let histogram = layout.histogram.unwrap();
            let chance = 1e-3 / ((window / tick + 1) * 24) as f64;
            let noise = Histogram::noise_of_level_one(Unit::Event, epsilon, chance);
            assert_eq!(histogram.first_norm as f64, 2.0 * noise, "{window} {tick}");
            let highest = histogram.first_norm << (histogram.levels - 1);
            assert!(highest > window && (highest / 2 <= window || histogram.levels == 2));
            // 2^-8 is below a sixteenth of 0.1.
            assert_eq!((histogram.fineness, histogram.tick), (8, tick));
            let (_, norms) = layout.schedule(None, 1);
            assert_eq!(norms.unwrap().levels(), histogram.levels - 1);
        }
        assert_eq!(smooth(1 << 50, 1).histogram.unwrap().levels, 24);
    }

    #[test]
    fn panes_are_chosen_from_64_doubled_up_to_as_many_as_there_can_be() {
        assert_eq!(smooth(1 << 40, 1).choices_of_panes(), [64, 128, 256, 512, 1_024, 2_048, 4_096]);
        let few = smooth(1_000_000, 1);
        let blocks = few.histogram.unwrap().most_blocks();
        assert!((129..256).contains(&blocks), "{blocks}");
        assert_eq!(few.choices_of_panes(), [64, 128, blocks]);
        let chosen = few.with_panes(128);
        assert_eq!((chosen.panes, chosen.histogram.unwrap().panes), (128, 128));
        assert_eq!(smooth(64, 1).choices_of_panes(), [64, 66]);
        let uniform = layout(1_000, 64, true, Policy::Uniform);
        assert_eq!(uniform.choices_of_panes(), [16]);
        assert_eq!(uniform.with_panes(3), uniform);
    }

    /// A block ends at a tick, so its length is a number of ticks: a longer one would not fit its exact table.
    #[test]
    fn the_longest_block_is_a_whole_number_of_ticks() {
        for window in [64, 1_000, 12_345, 100_000, 1 << 20, 10_000_019, 1 << 40] {
            for tick in [1, 7, 16, 1_000, 1_024].into_iter().filter(|tick| *tick <= window) {
                let histogram = smooth(window, tick).histogram.unwrap();
                let least = LONGEST_BLOCK.min(window.div_ceil(FEWEST_PANES));
                let longest = histogram.longest_block;
                assert_eq!(longest % tick, 0, "{window} {tick}");
                assert!((least..least + tick).contains(&longest), "{window} {tick}: {longest}");
            }
        }
    }
}
