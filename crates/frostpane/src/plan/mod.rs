#![doc = include_str!("plan.md")]

mod forecast;
mod layout;
mod listing;
mod memory;

pub use forecast::Forecast;
pub use layout::Layout;
use listing::Listing;
pub use memory::Memory;
use memory::MemoryInputs;

use serde::Serialize;

use crate::counting::users::bytes_of_one;
use crate::error::Result;
use crate::key::Footprint;
use crate::mechanism::Threshold;
use crate::pane::{LONGEST_LIST, PaneShape};
use crate::privacy::Epsilon;
use crate::release::by_sketch::LARGEST_UNIVERSE;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::{Norm, Policy, ValidSpec};

/// More entries in a pane are of no use.
const MOST_ENTRIES: u64 = 1 << 26;
/// With fewer entries nothing worth releasing is left.
const FEWEST_ENTRIES: u64 = 64;
/// A small alpha asks for more, but where panes have few events these are exact.
const ENOUGH_ENTRIES: u64 = 1_024;
const ROWS: usize = 5;
const WIDTHS: [usize; 5] = [4_096, 2_048, 1_024, 512, 256];
/// One in this many bytes may go to sketches, and the same where panes end by their norm.
const SKETCH_SHARE: u64 = 8;
const SMOOTH_SKETCH_SHARE: u64 = 3;
/// The same where declared keys can be estimated from sketches.
const POINTS_SHARE: u64 = 2;

/// One in this many bytes may go to the list of an open pane's keys.
const LIST_SHARE: u64 = 8;
/// One in this many bytes may go to the released keys.
const RELEASE_SHARE: u64 = 4;

/// With user-level privacy: the longest list planned for, the keys added up at a time, and the least memory.
const MOST_LISTED: u64 = 1 << 20;
const KEYS_OF_USERS: u64 = 1 << 20;
const LEAST_FOR_USERS: u64 = 4_000_000;

/// The panes of a window and their contents. It depends on public numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The layout of the panes.
    #[serde(flatten)]
    pub layout: Layout,
    /// The most keys that a pane keeps. A pane of no more events is exact.
    pub entries: u32,
    /// True if every pane is exact, whatever the events.
    pub always_exact: bool,
    /// The sketch for the L2 norm, where panes may be inexact.
    pub sketch: Option<Dimensions>,
    /// True if an open pane lists its keys and is counted, exactly, when it ends.
    #[serde(skip)]
    pub(crate) listed: bool,
    /// The most memory that this takes.
    pub memory: Memory,
    /// The longest list that memory is planned for; most lists are shorter.
    pub longest_list: u64,
    /// With user-level privacy: about how many pairs of a user and an epoch are held in memory. With
    /// files, the others go to disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_in_memory: Option<u64>,
}

pub(crate) struct Planner<'a> {
    pub spec: &'a ValidSpec,
    pub boundaries: Option<Epsilon>,
    pub footprint: Footprint,
    pub floor: Threshold,
    pub keys: u64,
    pub program: u64,
    pub threads: u64,
}

/// The memory is too small for a plan, which would take this much; with more another may be made, which takes more.
pub(crate) struct TooSmall {
    pub needed: u64,
}

impl Plan {
    pub(crate) fn new(planner: &Planner<'_>, layout: Layout) -> std::result::Result<Self, TooSmall> {
        if planner.spec.unit.is_user() {
            return planner.plan_for_users(layout);
        }
        let sketch = planner.spec.sketch.or_else(|| planner.widest_sketch(&layout));
        let with = |entries: u64| planner.plan(layout, entries, sketch);
        if let Some(entries) = planner.spec.entries {
            return Ok(with(u64::from(entries)));
        }
        let fits = |entries: u64| with(entries).memory.total() <= planner.spec.memory.0;
        let (mut low, most) = (planner.fewest_entries(&layout), most_entries(&layout));
        if fits(most) {
            return Ok(with(most));
        }
        if !fits(low) {
            return Err(TooSmall { needed: with(low).memory.total().min(with(most).memory.total()) });
        }
        let mut high = most;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        Ok(with(low))
    }

    pub(crate) fn shape(&self, seed: u64) -> Result<PaneShape> {
        let block = self.layout.longest_block();
        // The blocks of a histogram are counted exactly, however many entries are kept.
        let capacity = self.layout.histogram.and(block).unwrap_or(0);
        let shape = PaneShape::new(self.entries, capacity as usize, self.sketch, seed)?;
        let block = block.unwrap_or(u64::MAX);
        Ok(if self.listed { shape.listing(block) } else { shape.for_blocks_of(block) })
    }
}

impl Planner<'_> {
    fn measures_norm(&self) -> bool {
        self.spec.norm == Norm::L2
    }

    pub fn layouts(&self) -> Vec<Layout> {
        let layout = Layout::new(self.spec, self.boundaries);
        layout.choices_of_panes().into_iter().map(|panes| layout.with_panes(panes)).collect()
    }

    fn plan(&self, layout: Layout, entries: u64, sketch: Option<Dimensions>) -> Plan {
        let always_exact = layout.longest_pane().is_some_and(|longest| longest <= entries);
        let sketch = sketch.filter(|_| self.measures_norm() && !always_exact);
        Plan {
            layout,
            entries: u32::try_from(entries).unwrap_or(u32::MAX),
            always_exact,
            sketch,
            listed: self.list(&layout).is_some(),
            memory: self.memory_of(&layout, entries, sketch),
            longest_list: self.listing(&layout, entries).keys,
            users_in_memory: None,
        }
    }

    /// Users and their keys, which nothing bounds, get the remaining memory, and the rest of them goes to disk.
    fn plan_for_users(&self, layout: Layout) -> std::result::Result<Plan, TooSmall> {
        let listing = Listing::new(&self.floor, MOST_LISTED, MOST_LISTED, self.spec.declared());
        let room = self.spec.memory.0.saturating_sub(self.program).saturating_sub(self.keys);
        let listing = listing.up_to(room / RELEASE_SHARE / self.footprint.in_list());
        let release = listing.keys.saturating_mul(self.footprint.in_list());
        let users = room.saturating_sub(release);
        if users < LEAST_FOR_USERS {
            return Err(TooSmall {
                needed: (self.program + self.keys + LEAST_FOR_USERS) / (RELEASE_SHARE - 1) * RELEASE_SHARE,
            });
        }
        Ok(Plan {
            layout,
            entries: u32::MAX,
            always_exact: true,
            sketch: None,
            listed: false,
            memory: Memory {
                keys: self.keys,
                program: self.program,
                release,
                users,
                keys_at_a_time: KEYS_OF_USERS,
                ..Memory::default()
            },
            longest_list: listing.keys,
            users_in_memory: Some(users / bytes_of_one(self.spec.unit.keys())),
        })
    }

    /// Assumes as many events as entries if nothing bounds them. Does not plan for lists that would
    /// take more than a share of the memory left by the program and its declared keys.
    fn listing(&self, layout: &Layout, entries: u64) -> Listing {
        let keys = layout.entries(entries);
        let events = layout.most_events(layout.window).unwrap_or(keys);
        let room = self.spec.memory.0.saturating_sub(self.program).saturating_sub(self.keys);
        let most = room / RELEASE_SHARE / self.footprint.in_list();
        Listing::new(&self.floor, events, keys, self.spec.declared()).up_to(most)
    }

    /// The most events of an open pane, if it lists their keys: not where that would take much of the memory.
    fn list(&self, layout: &Layout) -> Option<u64> {
        let longest = (self.spec.memory.0 / LIST_SHARE / size_of::<u64>() as u64).min(LONGEST_LIST as u64);
        let may = self.footprint.listed;
        layout.longest_block().filter(|events| may && *events <= longest)
    }

    fn memory_of(&self, layout: &Layout, entries: u64, sketch: Option<Dimensions>) -> Memory {
        let grid = self.spec.grid();
        let fixed = layout.policy == Policy::Fixed;
        let open = match layout.most_events(layout.slide) {
            Some(_) => 1,
            None if fixed => layout.panes.min(2),
            None => 2 + grid.lateness as u64 / grid.slide as u64,
        };
        let (capacity, universe) = (layout.longest_block(), self.spec.declared());
        let others = match layout.histogram {
            None if !fixed => self.threads.saturating_sub(1),
            _ => 0,
        };
        let own = Memory::new(
            &MemoryInputs {
                panes: layout.panes,
                open,
                others,
                list: self.list(layout),
                capacity: if layout.histogram.is_some() {
                    capacity.unwrap_or(entries)
                } else {
                    capacity.map_or(entries, |longest| longest.min(entries))
                },
                entries: layout.entries(universe.map_or(entries, |size| size.min(entries))),
                exact: capacity.is_some_and(|longest| longest <= entries || layout.histogram.is_some()),
                sketch,
                levels: layout.histogram.map_or(0, |histogram| histogram.levels as u64),
                universe,
                rank: if self.spec.continual { 16 } else { 8 },
                // In continual release the last one, the one before it and, of open keys, one that is kept and the keys of two windows.
                lists: match universe {
                    None if self.spec.continual => 5,
                    Some(_) if self.spec.continual => 2,
                    _ => self.spec.windows.len() as u64,
                },
                listing: self.listing(layout, entries),
            },
            &self.footprint,
        );
        Memory { keys: self.keys, program: self.program, ..own }
    }

    /// Keeps the cut below an eighth of alpha times the number of events, within limits.
    fn fewest_entries(&self, layout: &Layout) -> u64 {
        let wanted = (8.0 / self.spec.alpha).ceil() as u64;
        wanted.clamp(FEWEST_ENTRIES, ENOUGH_ENTRIES).min(most_entries(layout))
    }

    fn widest_sketch(&self, layout: &Layout) -> Option<Dimensions> {
        let sketch = |width| Dimensions { rows: ROWS, width };
        let panes = layout.panes.saturating_add(1);
        let share = match layout.policy {
            Policy::Smooth => SMOOTH_SKETCH_SHARE,
            _ => SKETCH_SHARE,
        };
        let fits =
            |sketch: Dimensions, share| panes.saturating_mul(sketch.bytes()) <= self.spec.memory.0 / share;
        if let Some(wide) = self.sketch_for_points().filter(|wide| fits(*wide, POINTS_SHARE)) {
            return Some(wide);
        }
        let narrow = WIDTHS.into_iter().find(|width| fits(sketch(*width), share));
        self.measures_norm().then(|| sketch(narrow.unwrap_or(WIDTHS[WIDTHS.len() - 1])))
    }

    /// The sketch from which every declared key can be estimated well enough for the promises.
    fn sketch_for_points(&self) -> Option<Dimensions> {
        let size = self.spec.declared().filter(|size| self.measures_norm() && *size <= LARGEST_UNIVERSE)?;
        let chance = (1.0 - self.spec.confidence) / 8.0 / size as f64;
        Some(Dimensions::for_points(self.spec.alpha / 5.0, chance))
    }
}

fn most_entries(layout: &Layout) -> u64 {
    layout.longest_pane().unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::noise::DiscreteLaplace;
    use crate::pane::list_count::ListCounter;
    use crate::spec::window::Grid;
    use crate::spec::{Size, Spec, Window};

    struct Case {
        grid: Grid,
        by_count: bool,
        policy: Policy,
        boundaries: Option<Epsilon>,
        alpha: f64,
        l2: bool,
        universe: Option<u64>,
        footprint: Footprint,
        memory: u64,
        threads: u64,
    }

    impl Case {
        /// What a planner makes of the first of its layouts.
        fn planned<T>(&self, plan: impl FnOnce(&Planner<'_>, &Layout) -> T) -> T {
            let [length, slide, lateness] =
                [self.grid.length, self.grid.slide, self.grid.lateness].map(|n| n as u64);
            let micros = Duration::from_micros;
            let mut spec = Spec {
                alpha: self.alpha,
                norm: if self.l2 { Norm::L2 } else { Norm::L1 },
                memory: Size(self.memory),
                ..Spec::default()
            };
            spec.set_window(if self.by_count {
                Window::events(length).slide(slide)
            } else {
                Window::clock(micros(length)).slide(micros(slide)).lateness(micros(lateness))
            });
            let spec = ValidSpec::new(spec, self.policy, self.universe).unwrap();
            let planner = Planner {
                spec: &spec,
                boundaries: self.boundaries,
                footprint: self.footprint,
                floor: Threshold::for_open_keys(DiscreteLaplace::new(2, Epsilon::new(1.0).unwrap()), 1e-9),
                keys: 0,
                program: 5_000,
                threads: self.threads,
            };
            plan(&planner, &planner.layouts()[0])
        }
    }

    /// Panes of 100 events by count, and keys of 64 bits.
    fn case(policy: Policy) -> Case {
        Case {
            grid: Grid { length: 100_000, slide: 100, lateness: 0 },
            by_count: true,
            policy,
            boundaries: (policy == Policy::Smooth).then(|| Epsilon::new(0.25).unwrap()),
            alpha: 0.1,
            l2: true,
            universe: None,
            footprint: Footprint { held: 0, listed: true, packed: 8, reference: 8, block: 0 },
            memory: 1 << 40,
            threads: 1,
        }
    }

    #[test]
    fn a_list_takes_at_most_an_eighth_of_the_memory() {
        let uniform = || case(Policy::Uniform);
        let sliding_by = |slide| Case { grid: Grid { length: 1 << 30, slide, lateness: 0 }, ..uniform() };
        let unlisted = Footprint { listed: false, ..uniform().footprint };
        for (case, list) in [
            (Case { memory: 6_399, ..uniform() }, None),
            (Case { memory: 6_400, ..uniform() }, Some(100)),
            (sliding_by(1 << 19), Some(1 << 19)),
            (sliding_by((1 << 19) + 1), None),
            (Case { footprint: unlisted, ..uniform() }, None),
            (case(Policy::Smooth), Some(1_600)),
        ] {
            assert_eq!(case.planned(|planner, layout| planner.list(layout)), list);
        }
    }

    #[test]
    fn the_fewest_entries_keep_the_cut_below_an_eighth_of_alpha_within_reason() {
        for (alpha, slide, fewest) in
            [(0.1, 2_000, 80), (0.9, 2_000, 64), (1e-4, 2_000, 1_024), (1e-4, 50, 50)]
        {
            let grid = Grid { slide, ..case(Policy::Uniform).grid };
            let case = Case { alpha, grid, ..case(Policy::Uniform) };
            assert_eq!(case.planned(|planner, layout| planner.fewest_entries(layout)), fewest);
        }
        let clock = Case { by_count: false, ..case(Policy::Uniform) };
        assert_eq!(clock.planned(|_, layout| most_entries(layout)), 1 << 26);
    }

    /// An eighth of the memory, a third where panes end by their norm, a half where it estimates declared keys.
    #[test]
    fn a_sketch_is_as_wide_as_its_share_of_the_memory_allows() {
        let widest = |case: Case| case.planned(|planner, layout| planner.widest_sketch(layout));
        for (policy, share) in [(Policy::Uniform, 8), (Policy::Exponential, 8), (Policy::Smooth, 3)] {
            let width = |memory| widest(Case { memory, ..case(policy) }).unwrap().width;
            let panes = case(policy).planned(|_, layout| layout.panes) + 1;
            for wide in [4_096_usize, 2_048, 1_024, 512] {
                let just = share * panes * 5 * wide as u64 * 8;
                assert_eq!([just, just - 1].map(width), [wide, wide / 2], "{policy:?}");
            }
            assert_eq!(width(0), 256);
        }
        assert_eq!(widest(Case { l2: false, ..case(Policy::Uniform) }), None);
        let declared = |universe| Case { universe: Some(universe), ..case(Policy::Uniform) };
        let for_points = |universe| declared(universe).planned(|planner, _| planner.sketch_for_points());
        let points = Dimensions::for_points(0.1 / 5.0, 0.05 / 8.0 / 1e6);
        assert_eq!(for_points(1_000_000), Some(points));
        assert!(for_points(1 << 26).is_some() && for_points((1 << 26) + 1).is_none());
        let just = 2 * 1_001 * points.bytes();
        for (memory, wide) in [(just, true), (just - 1, false)] {
            assert_eq!(widest(Case { memory, ..declared(1_000_000) }) == Some(points), wide);
        }
    }

    /// A block of a histogram is counted exactly, in a list or in one table of as many keys as it has events, by one thread. A list is
    /// counted beside it, into a pane that may not be final, and has a bound of its norm.
    #[test]
    fn open_blocks_of_a_histogram_are_planned_for_all_their_keys() {
        let planned = |case: Case| case.planned(|planner, layout| planner.plan(*layout, 70, None));
        let plan = planned(Case { threads: 3, ..case(Policy::Smooth) });
        let block = plan.layout.longest_block().unwrap();
        assert_eq!(block, 1_600, "a 64th of the window, in whole ticks");
        let counted = ListCounter::most_bytes(block) + block * 9;
        assert_eq!(plan.memory.open, block * 8 + counted + block * 9 + 4_096 * 4);
        let without_list = planned(Case { memory: 8 * 8 * block - 1, ..case(Policy::Smooth) });
        assert_eq!(without_list.memory.open, 4_096 * 16 + block * 4 + block * 9);
        assert!(plan.listed && !without_list.listed && !plan.always_exact);
        assert_eq!(plan.memory.closed, plan.layout.panes * (256 + 70 * 9));
        assert_eq!(plan.memory.program, 5_000);
        let levels = plan.layout.histogram.unwrap().levels as u64;
        assert_eq!(plan.memory.sketches, levels * 5 * 512 * 8);
    }

    /// By the clock as many panes wait as begin within the lateness, one more, and the newest.
    #[test]
    fn panes_that_wait_are_planned_for() {
        for (lateness, open) in [(0, 2), (99, 2), (100, 3), (250, 4)] {
            let grid = Grid { lateness, ..case(Policy::Uniform).grid };
            let clock = Case { by_count: false, grid, ..case(Policy::Uniform) };
            let plan = clock.planned(|planner, layout| planner.plan(*layout, 70, None));
            let block = 2 * (256 * 16 + 70 * 4);
            assert_eq!(plan.memory.open, open * block + 70 * 9, "{lateness}");
        }
    }
}
