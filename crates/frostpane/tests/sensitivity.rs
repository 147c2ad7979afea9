//! Lemmas 1 to 3 by exhaustion over all short streams and their neighbours, and mechanisms that violate them.

use std::cell::RefCell;
use std::collections::HashMap;

use frostpane::testing::{OpenPane, Pane, PaneShape};

const KEYS: usize = 6;
type KeyVector = [i64; KEYS];

/// Events are numbers below the size of the alphabet. `None` stands for an event without a key.
type KeyEvent = Option<u64>;

fn shape(capacity: usize, entries: u32) -> PaneShape {
    PaneShape::new(entries, capacity, None, 7).unwrap()
}

fn merge(panes: impl IntoIterator<Item = Pane<u64>>, shape: PaneShape) -> Pane<u64> {
    Pane::merge(panes, shape.parameters()).unwrap()
}

fn close(events: &[KeyEvent], shape: PaneShape) -> Pane<u64> {
    let mut open = OpenPane::new(shape);
    for event in events {
        open.update(*event);
    }
    open.close()
}

/// The counts of panes, added up.
fn counts_of(panes: impl IntoIterator<Item = Pane<u64>>) -> KeyVector {
    let mut counts = KeyVector::default();
    for pane in panes {
        for (key, count) in pane.counts().iter() {
            assert!(count >= 1, "an entry of zero is stored");
            counts[key as usize] += count as i64;
        }
    }
    counts
}

/// At most one key up by 1, at most one down by 1.
fn close_enough(a: &KeyVector, b: &KeyVector) -> bool {
    let (mut up, mut down) = (0, 0);
    for (x, y) in a.iter().zip(b) {
        match x - y {
            0 => {}
            1 => down += 1,
            -1 => up += 1,
            _ => return false,
        }
    }
    up <= 1 && down <= 1
}

/// All streams of `length` events over an alphabet, in the order of their digits.
fn streams(alphabet: &[KeyEvent], length: u32) -> impl Iterator<Item = Vec<KeyEvent>> {
    let size = alphabet.len();
    (0..size.pow(length))
        .map(move |number| (0..length).map(|digit| alphabet[number / size.pow(digit) % size]).collect())
}

/// The first pair of neighbours whose summaries differ by more than Lemma 2 allows.
fn violation(
    alphabet: &[KeyEvent],
    length: u32,
    summary: impl Fn(&[KeyEvent]) -> KeyVector,
) -> Option<(Vec<KeyEvent>, Vec<KeyEvent>)> {
    let size = alphabet.len();
    let summaries: Vec<KeyVector> = streams(alphabet, length).map(|stream| summary(&stream)).collect();
    for (number, counts) in summaries.iter().enumerate() {
        for place in (0..length).map(|digit| size.pow(digit)) {
            let digit = number / place % size;
            for other in digit + 1..size {
                let neighbour = number + (other - digit) * place;
                if !close_enough(counts, &summaries[neighbour]) {
                    let stream = |n| streams(alphabet, length).nth(n).unwrap();
                    return Some((stream(number), stream(neighbour)));
                }
            }
        }
    }
    None
}

fn keys(count: u64) -> Vec<KeyEvent> {
    (0..count).map(Some).collect()
}

const SHAPES: [(usize, u32); 7] = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 2)];

#[test]
fn one_pane_moves_at_one_key_up_and_one_down() {
    for (capacity, entries) in SHAPES {
        let pane = |events: &[KeyEvent]| counts_of([close(events, shape(capacity, entries))]);
        for length in 1..=9 {
            assert_eq!(violation(&keys(4), length, pane), None, "{capacity} {entries}");
        }
        for length in 1..=7 {
            assert_eq!(violation(&keys(6), length, pane), None, "{capacity} {entries}");
        }
        let mut with_missing = keys(4);
        with_missing.push(None);
        assert_eq!(violation(&with_missing, 7, pane), None, "{capacity} {entries}");
    }
}

/// The expected length of a block does not lower the number of counters, and a list counts exactly. So the
/// lemmas hold for blocks that become longer.
#[test]
fn what_was_expected_of_a_block_changes_nothing_of_its_pane() {
    let sorted = |pane: &Pane<u64>| {
        let mut counts: Vec<_> = pane.counts().iter().collect();
        counts.sort_unstable();
        (counts, pane.cut(), pane.events())
    };
    for entries in 1..=3 {
        for stream in streams(&keys(4), 6) {
            let plain = sorted(&close(&stream, shape(0, entries)));
            let exact = sorted(&close(&stream, shape(6, entries)));
            for expected in 0..=7 {
                let counted = shape(0, entries).for_blocks_of(expected);
                assert_eq!(sorted(&close(&stream, counted)), plain, "{stream:?} {expected}");
                let listed = shape(0, entries).listing(expected);
                assert_eq!(sorted(&close(&stream, listed)), exact, "{stream:?} {expected}");
            }
        }
    }
}

/// A hundred keys are kept and blocks of ten events expected: a thousand events have a cut of 9, and five
/// keys with 20 events each keep at least 11.
#[test]
fn a_block_that_becomes_longer_than_was_expected_keeps_its_heavy_keys() {
    let events: Vec<KeyEvent> =
        (0..1_000).map(|event| Some(if event % 10 == 0 { event / 10 % 5 } else { 1_000 + event })).collect();
    for shape in [
        shape(0, 100).for_blocks_of(10),
        shape(0, 100).listing(10),
        shape(0, 100).listing(10).for_blocks_of(u64::MAX),
    ] {
        let pane = close(&events, shape);
        assert_eq!(pane.cut(), 9);
        assert!(pane.counts().len() <= 100);
        for key in 0..5 {
            let kept = pane.counts().iter().find(|(held, _)| *held == key);
            assert!(kept.is_some_and(|(_, count)| (11..=20).contains(&count)), "{kept:?}");
        }
    }
}

/// Ends of panes. In most layouts the last pane is short or open.
const LAYOUTS: [&[usize]; 5] = [&[3, 6, 9], &[2, 6, 9], &[4, 9], &[1, 2, 9], &[5, 6, 7, 9]];

/// A cache of closed blocks, which many streams have in common.
struct ClosedPanes {
    shape: PaneShape,
    closed: RefCell<HashMap<Vec<KeyEvent>, Pane<u64>>>,
}

impl ClosedPanes {
    fn new(shape: PaneShape) -> Self {
        let closed = RefCell::default();
        Self { shape, closed }
    }

    fn of(&self, events: &[KeyEvent], ends: &[usize]) -> Vec<Pane<u64>> {
        let mut closed = self.closed.borrow_mut();
        let mut start = 0;
        let mut pane = |&end: &usize| {
            let block = &events[start..end];
            start = end;
            if !closed.contains_key(block) {
                closed.insert(block.to_vec(), close(block, self.shape));
            }
            closed[block].clone()
        };
        ends.iter().map(&mut pane).collect()
    }
}

#[test]
fn sums_and_merges_of_panes_move_no_more() {
    for (capacity, entries) in [(1, 1), (2, 1), (3, 2)] {
        let shape = shape(capacity, entries);
        let panes = ClosedPanes::new(shape);
        for ends in LAYOUTS {
            let sum = |events: &[KeyEvent]| counts_of(panes.of(events, ends));
            let merged = |events: &[KeyEvent]| counts_of([merge(panes.of(events, ends), shape)]);
            let merged_in_turn = |events: &[KeyEvent]| {
                let all = panes.of(events, ends).into_iter();
                counts_of(all.reduce(|a, b| merge([a, b], shape)))
            };
            let message = format!("{capacity} {entries} {ends:?}");
            assert_eq!(violation(&keys(4), 9, sum), None, "{message}");
            assert_eq!(violation(&keys(4), 9, merged), None, "{message}");
            assert_eq!(violation(&keys(4), 9, merged_in_turn), None, "{message}");
        }
    }
}

#[test]
fn counts_are_below_the_truth_by_no_more_than_the_cut_and_no_more_than_k_are_kept() {
    for (capacity, entries) in SHAPES {
        let shape = shape(capacity, entries);
        let panes = ClosedPanes::new(shape);
        for stream in streams(&keys(4), 8) {
            for pane in [close(&stream, shape), merge(panes.of(&stream, &[3, 5, 8]), shape)] {
                assert!(pane.counts().len() <= entries as usize);
                let cut = pane.cut() as i64;
                for (key, count) in counts_of([pane]).iter().enumerate() {
                    let truth = stream.iter().filter(|event| **event == Some(key as u64)).count() as i64;
                    assert!(*count <= truth && *count >= truth - cut);
                }
            }
        }
    }
}

/// Unsound mechanisms, each with one change to the sound one.
mod mutants {
    use super::*;

    /// Misra-Gries in the plainest form: counters and decrements.
    pub fn misra_gries(events: impl IntoIterator<Item = u64>, capacity: usize) -> (KeyVector, i64) {
        let (mut counters, mut decrements) = (KeyVector::default(), 0);
        for key in events {
            let used = counters.iter().filter(|&&c| c > 0).count();
            if counters[key as usize] > 0 || used < capacity {
                counters[key as usize] += 1;
            } else {
                decrements += 1;
                counters.iter_mut().for_each(|c| *c = (*c - 1).max(0));
            }
        }
        (counters, decrements)
    }

    pub fn cut(counters: KeyVector, decrements: i64, cut: i64) -> KeyVector {
        counters.map(|c| if c > 0 { (c + decrements - cut).max(0) } else { 0 })
    }

    /// The cut follows the number of counters in use.
    pub fn cut_by_used_counters(events: &[KeyEvent], capacity: usize) -> KeyVector {
        let (counters, decrements) = misra_gries(events.iter().flatten().copied(), capacity);
        let used = counters.iter().filter(|&&c| c > 0).count();
        cut(counters, decrements, (events.len() / (used + 1)) as i64)
    }

    /// Events are split by key into shards; each shard's cut follows its own number of events.
    pub fn cut_by_shard_size(events: &[KeyEvent], capacity: usize) -> KeyVector {
        let mut counts = KeyVector::default();
        for parity in 0..2 {
            let shard: Vec<u64> = events.iter().flatten().copied().filter(|key| key % 2 == parity).collect();
            let size = shard.len();
            let (counters, decrements) = misra_gries(shard, capacity);
            let part = cut(counters, decrements, (size / (capacity + 1)) as i64);
            counts.iter_mut().zip(part).for_each(|(sum, c)| *sum += c);
        }
        counts
    }

    /// Counters at zero keep their slots.
    pub fn zeros_keep_their_slot(events: &[KeyEvent], capacity: usize) -> KeyVector {
        let mut slots: Vec<(u64, i64)> = Vec::new();
        let mut decrements = 0;
        for key in events.iter().flatten() {
            if let Some((_, count)) = slots.iter_mut().find(|(held, _)| held == key) {
                *count += 1;
            } else if slots.len() < capacity {
                slots.push((*key, 1));
            } else {
                decrements += 1;
                slots.iter_mut().for_each(|(_, count)| *count = (*count - 1).max(0));
            }
        }
        let cut = (events.len() / (capacity + 1)) as i64;
        let mut counts = KeyVector::default();
        for (key, count) in slots {
            counts[key as usize] = (count + decrements - cut).max(0);
        }
        counts
    }
}

#[test]
fn unsound_mechanisms_are_caught() {
    type Mechanism = fn(&[KeyEvent]) -> KeyVector;
    let mechanisms: [(&str, Mechanism); 3] = [
        ("the cut follows the counters in use", |events| mutants::cut_by_used_counters(events, 3)),
        ("the cut follows the sizes of shards", |events| mutants::cut_by_shard_size(events, 2)),
        ("entries of zero keep their slots", |events| mutants::zeros_keep_their_slot(events, 2)),
    ];
    for (name, mechanism) in mechanisms {
        assert!(violation(&keys(4), 9, mechanism).is_some(), "{name}");
    }
}
