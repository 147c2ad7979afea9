use super::*;
use crate::counting::events::smooth::{Histogram, Smooth};
use crate::counting::window::{BoundaryPane, WindowView};
use crate::mechanism::Secret;
use crate::privacy::Epsilon;
use crate::privacy::ledger::{Account, Amount, Cap, Charge, Ledger, Price, Quote};
use crate::spec::Unit;

const CHARGE: Amount = Amount { epsilon: 1, delta: 0, rho: 0 };

fn charge(timeline: &mut Timeline<u64>, ledger: &mut Ledger, length: i64, most: u32) -> Option<bool> {
    timeline.prepare_release().unwrap();
    let charge = Charge::from_amount(CHARGE);
    let cap = Cap::for_releases(&Account::default(), &charge, most.into());
    let numbers = timeline.positions_of_window(length);
    let grant = Quote { length, numbers }.charge(ledger, &Price { charge, cap });
    grant.ok().map(|grant| grant.boundary_paid())
}

fn releases<P>(ledger: &Ledger, block: &PlacedPane<P>) -> u64 {
    ledger.account(block.start..block.end).amount().epsilon
}

fn cover(timeline: &mut Timeline<u64>, length: i64) -> Option<WindowView<'_, u64>> {
    timeline.prepare_release().unwrap();
    timeline.window(length, true)
}

/// The answers of two histograms to 400 questions, with the noise of their timelines, that are answered with yes about half
/// of the time: they are the same with a chance below 1e-50.
#[test]
fn no_two_histograms_answer_alike() {
    let answers = || -> Vec<bool> {
        let mut schedule = smooth(0.25, 1_000);
        let block = PlacedPane::new(0, 1, ()).outline(1);
        let mut draws = timeline(10, 0).draws;
        let mut ends = || schedule.ends(block, Secret::new(1_000), &mut *draws).unwrap();
        (0..400).map(|_| ends()).collect()
    };
    let (one, other) = (answers(), answers());
    let yes = one.iter().filter(|answer| **answer).count();
    assert!((1..400).contains(&yes), "{yes}: the test has no power");
    assert_ne!(one, other);
}

/// Ends of level 0 that stay where higher ones had to make room would all go at once later.
#[test]
fn an_end_that_goes_leaves_its_level_to_the_next() {
    let shape = PaneShape::new(4, 8, None, 1).unwrap();
    let block = |start: i64, level| PlacedPane {
        level,
        ..PlacedPane::new(start, start + 10, OpenPane::<u64>::new(shape).close())
    };
    let merged =
        PlacedPane::merge(vec![block(0, 3), block(10, 5), block(20, 0)], shape.parameters()).unwrap();
    assert_eq!((merged.start, merged.end, merged.level), (0, 30, 5));
}

/// Panes that others are closing are merged as they age like any others.
#[test]
fn panes_lie_the_same_whoever_closes_them() {
    let shape = PaneShape::new(5_000, 0, None, 1).unwrap();
    let grid = Grid { length: 5_000, slide: 10, lateness: 0 };
    let lie = |threads| {
        let schedule = Schedule::Exponential(exponential::Exponential::new(10, 2));
        let mut timeline = Timeline::<u64>::new(grid, shape, schedule, None).with_threads(threads);
        assert_eq!(timeline.workers.is_some(), threads > 1);
        let mut counts = Vec::new();
        for position in 0..5_000 {
            timeline.update(position, Some(position as u64)).unwrap();
            counts.push(timeline.panes());
        }
        timeline.finish();
        let lies = timeline.state.closed.iter().map(|block| {
            let mut keys: Vec<u64> = block.pane.counts().iter().map(|(key, _)| key).collect();
            keys.sort_unstable();
            (block.start, block.end, keys)
        });
        (lies.collect::<Vec<_>>(), counts)
    };
    let alone = lie(1);
    assert!(alone.0.len() < 60);
    for (start, end, keys) in &alone.0 {
        assert!(keys.iter().copied().eq(*start as u64..*end as u64));
    }
    (2..=4).for_each(|threads| assert_eq!(lie(threads), alone));
}

/// A refusal charges nothing; a release charges what it covers once, and the pane that its window begins within
/// once if that can pay, and says so.
#[test]
fn a_release_charges_each_pane_once_and_the_one_it_begins_within_if_that_can_pay() {
    let mut timeline = timeline(10, 20);
    fill(&mut timeline, 0..65);
    let mut ledger = Ledger::new(Account::default());
    let charges = |timeline: &Timeline<u64>, ledger: &Ledger| -> Vec<u64> {
        let closed = timeline.state.closed.iter().map(|block| releases(ledger, block));
        let waiting = timeline.state.waiting.iter().map(|block| releases(ledger, block));
        let head = timeline.state.head.iter().map(|(_, block)| releases(ledger, block));
        closed.chain(waiting).chain(head).collect()
    };
    // Closed panes up to 40, two that wait, and the head.
    assert_eq!((timeline.state.closed.len(), timeline.state.waiting.len()), (4, 2));
    assert_eq!(charge(&mut timeline, &mut ledger, 25, 2), Some(false), "the window begins where a pane does");
    assert_eq!(charges(&timeline, &ledger), [0, 0, 0, 0, 1, 1, 1]);
    assert_eq!(charge(&mut timeline, &mut ledger, 32, 2), Some(true), "the pane from 30 is measured");
    assert_eq!(charges(&timeline, &ledger), [0, 0, 0, 1, 2, 2, 2]);
    assert_eq!(charge(&mut timeline, &mut ledger, 5, 2), None);
    assert_eq!(charge(&mut timeline, &mut ledger, 100, 2), None);
    assert_eq!(charges(&timeline, &ledger), [0, 0, 0, 1, 2, 2, 2]);
    assert_eq!(charge(&mut timeline, &mut ledger, 5, 3), Some(false));
    assert_eq!(charge(&mut timeline, &mut ledger, 7, 4), Some(true));
    assert_eq!(charges(&timeline, &ledger), [0, 0, 0, 1, 2, 3, 4]);
    fill(&mut timeline, 65..75);
    assert_eq!(charge(&mut timeline, &mut ledger, 7, 4), Some(false), "the pane from 60 cannot pay");
    assert_eq!(charges(&timeline, &ledger), [0, 0, 0, 1, 2, 3, 4, 1]);
}

/// Ten positions a pane, and 15 for late events. Panes without events are not there, and a window begins with the first
/// pane that lies within, but not before the first event's.
#[test]
fn a_window_covers_the_panes_within_and_leaves_out_the_one_it_begins_within() {
    let mut timeline = timeline(10, 15);
    assert!(cover(&mut timeline, 10).is_none(), "there was no event");
    // The pane from 20 has ended and waits, up to 45; the one from 0 waits no longer than 25.
    for (position, taken) in
        [(7, true), (23, true), (12, true), (41, true), (29, true), (9, false), (33, true)]
    {
        assert_eq!(timeline.update(position, Some(position as u64)).unwrap(), taken, "{position}");
    }
    let covered = |timeline: &mut Timeline<u64>, length| {
        let covered = cover(timeline, length).unwrap();
        let events = |pane: &Cow<'_, Pane<u64>>| pane.events();
        (
            [covered.since, covered.from, covered.latest],
            covered.panes.iter().map(events).collect::<Vec<_>>(),
            covered.boundary.as_ref().map(|_| covered.left_out),
        )
    };
    assert_eq!((timeline.state.closed.len(), timeline.state.waiting.len()), (2, 2));
    assert_eq!(covered(&mut timeline, 2), ([40, 40, 41], vec![1], None));
    assert_eq!(covered(&mut timeline, 3), ([39, 40, 41], vec![1], Some(1)));
    assert_eq!(covered(&mut timeline, 12), ([30, 30, 41], vec![1, 1], None));
    assert_eq!(covered(&mut timeline, 15), ([27, 30, 41], vec![1, 1], Some(2)));
    assert_eq!(covered(&mut timeline, 32), ([10, 10, 41], vec![1, 2, 1, 1], None));
    assert_eq!(covered(&mut timeline, 33), ([9, 10, 41], vec![1, 2, 1, 1], Some(1)));
    assert_eq!(covered(&mut timeline, 100), ([-58, 0, 41], vec![1, 1, 2, 1, 1], None));
    // After a gap only the head is left, and what no window can reach is forgotten.
    assert!(timeline.update(151, None).unwrap());
    assert_eq!(covered(&mut timeline, 100), ([52, 60, 151], vec![1], None));
    assert_eq!((timeline.state.closed.len(), timeline.state.waiting.len()), (0, 0));
    assert_eq!(timeline.panes(), 0);
}

fn timeline(slide: i64, lateness: i64) -> Timeline<u64> {
    let shape = PaneShape::new(100, 0, None, 1).unwrap();
    let grid = Grid { length: 100, slide, lateness };
    Timeline::new(grid, shape.listing(10_000), Schedule::Uniform, None)
}

/// Events without a key at these positions.
fn fill(timeline: &mut Timeline<u64>, positions: impl IntoIterator<Item = i64>) {
    for position in positions {
        assert!(timeline.update(position, None).unwrap(), "{position}");
    }
}

#[test]
fn a_window_begins_no_earlier_than_the_first_event_that_came_late_or_not() {
    let mut timeline = timeline(10, 30);
    for (position, origin) in [(23, 20), (35, 20), (7, 0), (16, 0)] {
        fill(&mut timeline, [position]);
        assert_eq!(cover(&mut timeline, 100).unwrap().from, origin, "after {position}");
    }
}

/// A pane that ends where the window begins is forgotten, also where another thread is closing it: its many events take
/// longer than it takes to look.
#[test]
fn a_pane_is_forgotten_when_its_last_position_has_left_the_longest_window() {
    for threads in [1, 2] {
        for (position, left) in [(108, 1), (109, 0), (250, 0)] {
            let mut timeline = timeline(10, 0).with_threads(threads);
            (0..100_000).for_each(|key| {
                timeline.update(9, Some(key)).unwrap();
            });
            timeline.update(position, None).unwrap();
            assert_eq!(timeline.panes(), left, "{threads} threads, at {position}");
        }
    }
}

/// Until all late events have come the head goes on; then it is a closed pane, whatever closes it.
#[test]
fn a_head_is_settled_when_nothing_can_come_any_more() {
    for threads in [1, 2] {
        let mut timeline = timeline(10, 5).with_threads(threads);
        (0..50_000).for_each(|key| {
            timeline.update(12, Some(key)).unwrap();
        });
        timeline.settle(24).unwrap();
        timeline.update(17, None).unwrap();
        assert_eq!((timeline.panes(), timeline.state.waiting.len()), (0, 0));
        timeline.settle(25).unwrap();
        assert!(timeline.state.head.is_none() && timeline.closing.is_empty());
        assert_eq!(timeline.state.closed.len(), 1);
        assert_eq!(timeline.state.closed[0].pane.events(), 50_001);
    }
}

/// Panes that end when their norm reaches this, but for the noise.
fn smooth(epsilon: f64, first_norm: u64) -> Schedule {
    Schedule::Smooth(Smooth::new(Histogram {
        unit: Unit::Event,
        epsilon: Epsilon::new(epsilon).unwrap(),
        first_norm,
        fineness: 1,
        levels: 1,
        window: 100,
        tick: 10,
        longest_block: 1 << 40,
        panes: 9,
    }))
}

#[test]
fn a_window_within_a_head_that_goes_on_covers_nothing_and_ends_with_the_latest_event() {
    let mut timeline = timeline(10, 0);
    timeline.state.schedule = smooth(1e5, 1 << 40);
    fill(&mut timeline, [3, 12, 38, 55]);
    let covered = cover(&mut timeline, 10).unwrap();
    assert_eq!((covered.since, covered.from, covered.latest), (46, 56, 55));
    assert_eq!(covered.panes.len(), 0);
    assert!(covered.boundary.is_some() && covered.left_out == 4);
    let (_, head) = timeline.state.head.as_ref().unwrap();
    assert_eq!((head.start, head.end, timeline.panes()), (0, 60, 0));
}

/// Their memory is used again, and does not add up.
#[test]
fn panes_come_back_from_other_threads_unasked() {
    let mut timeline = timeline(1, 0).with_threads(2);
    let came_back = (0..99).any(|position| {
        timeline.update(position, None).unwrap();
        if timeline.state.closed.is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        !timeline.state.closed.is_empty()
    });
    assert!(came_back);
}

#[test]
fn memory_is_that_of_all_blocks_and_of_what_is_kept_for_the_next() {
    let dimensions = crate::sketch::count_sketch::Dimensions { rows: 3, width: 64 };
    let mut timeline = timeline(10, 20);
    timeline.state.levels = Some(LevelSketches::new(2, dimensions, 1));
    (0..75).for_each(|position| {
        timeline.update(position, Some(position as u64)).unwrap();
    });
    // Five closed, two that wait, and the head, which has the memory of one that closed.
    assert_eq!((timeline.state.closed.len(), timeline.state.waiting.len()), (5, 2));
    timeline.spares.push(OpenPane::new(timeline.state.shape));
    let closed: u64 = timeline.state.closed.iter().map(|block| block.pane.bytes()).sum();
    let waiting: u64 = timeline.state.waiting.iter().map(|block| block.pane.bytes()).sum();
    let spare: u64 = timeline.spares.iter().map(OpenPane::bytes).sum();
    let head = timeline.state.head.as_ref().map_or(0, |(_, block)| block.pane.bytes());
    let parts = [closed, waiting, spare, head, timeline.closer.bytes(), 2 * dimensions.bytes()];
    assert!(parts.iter().all(|bytes| *bytes > 1), "{parts:?}");
    assert_eq!(timeline.bytes(), parts.iter().sum::<u64>());
    timeline.state.levels = None;
    assert_eq!(timeline.bytes(), parts[..5].iter().sum::<u64>());
}

#[test]
fn memory_is_bounded_by_panes_and_entries_whatever_comes() {
    let shape = PaneShape::new(4, 8, None, 1).unwrap();
    for (length, slide, lateness) in [(100, 10, 0), (1_000, 10, 35), (95, 7, 95)] {
        let grid = Grid { length, slide, lateness };
        let mut timeline = Timeline::<u64>::new(grid, shape, Schedule::Uniform, None);
        for i in 0..20_000 {
            // Forwards with stragglers, and now and then a jump.
            timeline.update(i - (i * i) % 50 + 500 * (i / 4_000), Some(i as u64 % 1_000)).unwrap();
            assert!(timeline.state.closed.len() as i64 <= length / slide + 1);
            assert!(timeline.state.waiting.len() as i64 <= lateness / slide + 2);
            assert!(timeline.state.closed.iter().all(|block| block.pane.counts().len() <= 4));
        }
    }
}

/// Every event has a key of its own and panes are exact, so what a release reads can be told event by event: no more often than allowed,
/// each once, all of the window covered, and what is asked for and not covered in the pane that is measured. Streams with gaps and late
/// events, windows of all lengths; under `FROSTPANE_LONG`, ten times as many.
#[test]
fn each_event_is_read_in_as_many_releases_as_its_pane_pays_for() {
    let shape = PaneShape::new(100_000, 8, None, 1).unwrap();
    let mut random = 1_u64;
    let mut below = |bound: i64| {
        random = crate::key::mix::mix(random.wrapping_add(0x9E37_79B9_7F4A_7C15));
        (random % bound as u64) as i64
    };
    let (mut refused, mut unmeasured, mut measured) = (0, 0, 0);
    let trials = if std::env::var_os("FROSTPANE_LONG").is_some() { 400 } else { 40 };
    for trial in 0..trials {
        let grid = Grid { length: 200 + below(800), slide: 1 + below(20), lateness: below(4) * below(60) };
        let schedule = match trial % 2 {
            0 => Schedule::Uniform,
            _ => Schedule::Exponential(exponential::Exponential::new(grid.slide, 2 + below(4))),
        };
        let mut timeline = Timeline::<u64>::new(grid, shape, schedule, None);
        let most = 1 + below(3) as u32;
        let mut ledger = Ledger::new(Account::default());
        let mut events: Vec<(i64, u32)> = Vec::new();
        let mut clock = -500;
        for _ in 0..1_500 {
            clock += below(3) + if below(200) == 0 { below(700) } else { 0 };
            let position = clock - below(2) * below(grid.lateness + 30);
            if timeline.update(position, Some(events.len() as u64)).unwrap() {
                events.push((position, 0));
            }
            if below(40) > 0 {
                continue;
            }
            let length = grid.slide + below(grid.length - grid.slide + 1);
            let Some(boundary_paid) = charge(&mut timeline, &mut ledger, length, most) else {
                refused += 1;
                continue;
            };
            let covered = timeline.window(length, boundary_paid).unwrap();
            let keys = |pane: &Pane<u64>| pane.counts().iter().map(|(key, _)| key).collect::<Vec<_>>();
            let mut inside: Vec<u64> = covered.panes.iter().flat_map(|pane| keys(pane)).collect();
            inside.sort_unstable();
            let expected: Vec<u64> =
                (0..events.len() as u64).filter(|event| events[*event as usize].0 >= covered.from).collect();
            assert_eq!(inside, expected);
            let is_left_out = |position: &i64| (covered.since..covered.from).contains(position);
            let left_out = match &covered.boundary {
                Some(BoundaryPane::Paid(pane)) => {
                    measured += 1;
                    keys(pane)
                }
                Some(BoundaryPane::Spent) => {
                    unmeasured += 1;
                    Vec::new()
                }
                None => {
                    assert!(!events.iter().any(|(position, _)| is_left_out(position)));
                    Vec::new()
                }
            };
            for (event, (position, _)) in events.iter().enumerate() {
                let measured = !left_out.is_empty() && is_left_out(position);
                assert!(!measured || left_out.contains(&(event as u64)));
            }
            for event in inside.iter().chain(&left_out) {
                events[*event as usize].1 += 1;
            }
            assert!(events.iter().all(|(_, releases)| *releases <= most));
        }
    }
    assert!(
        refused > trials && unmeasured > trials / 10 && measured > trials,
        "{refused} {unmeasured} {measured}"
    );
}
