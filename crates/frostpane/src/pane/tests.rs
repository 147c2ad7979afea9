use std::collections::BTreeMap;

use super::list_count::ListCounter;
use super::*;
use crate::key::{Bytes, Key};
use crate::mechanism::{AboveThreshold, Answer, Bounded};
use crate::noise::InsecureSeededEntropy;
use crate::privacy::Epsilon;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;

const SEED: u64 = 7;
const SKETCH: Dimensions = Dimensions { rows: 3, width: 32 };

type Event = Option<u64>;

/// Twelve keys, rare ones among frequent ones, and some events without a key.
fn events(length: u64) -> Vec<Event> {
    let mixed = |event: u64| crate::key::mix::mix(event + 1);
    (0..length)
        .map(|event| (mixed(event) % 7 > 0).then(|| mixed(event) % (1 + mixed(event) / 1_000 % 12)))
        .collect()
}

/// Misra-Gries in its plainest form: counters, and the number of decrements.
fn misra_gries(events: &[Event], capacity: usize) -> (BTreeMap<u64, u64>, u64) {
    let (mut counters, mut decrements) = (BTreeMap::new(), 0);
    for key in events.iter().flatten() {
        if counters.contains_key(key) || counters.len() < capacity {
            *counters.entry(*key).or_insert(0) += 1;
        } else {
            decrements += 1;
            counters.values_mut().for_each(|count| *count -= 1);
            counters.retain(|_, count| *count > 0);
        }
    }
    (counters, decrements)
}

fn sketch_of(events: &[Event]) -> CountSketch {
    let mut sketch = CountSketch::new(SKETCH, SEED);
    events.iter().flatten().for_each(|key| sketch.add(u64::hash(*key, SEED), 1));
    sketch
}

fn open(events: &[Event], shape: PaneShape) -> OpenPane<u64> {
    let mut open = OpenPane::new(shape);
    events.iter().for_each(|event| open.update(*event));
    open
}

/// All of a pane, its counts sorted.
pub(super) fn sorted<K: Key>(pane: &Pane<K>) -> (u64, u64, BTreeMap<K, u64>, Option<CountSketch>) {
    let counts = pane.counts().iter().map(|(key, count)| (K::owned(key), count));
    (pane.events(), pane.cut(), counts.collect(), pane.sketch().cloned())
}

fn kept(pane: &Pane<u64>) -> BTreeMap<u64, u64> {
    pane.counts().iter().collect()
}

fn cut_by(counts: impl IntoIterator<Item = (u64, u64)>, cut: u64) -> BTreeMap<u64, u64> {
    counts.into_iter().filter(|(_, count)| *count > cut).map(|(key, count)| (key, count - cut)).collect()
}

fn shape(entries: u32, capacity: usize) -> PaneShape {
    PaneShape::new(entries, capacity, Some(SKETCH), SEED).unwrap()
}

/// `v(x) = C(x) + D - floor(n / (k+1))` where positive, and the sketch of all events where there is a cut.
#[test]
fn a_pane_is_misra_gries_raised_and_cut() {
    for length in [0, 1, 7, 40, 300] {
        let events = events(length);
        for (entries, capacity) in [(1, 0), (3, 0), (3, 5), (8, 20), (400, 0)] {
            let shape = shape(entries, capacity);
            let pane = open(&events, shape).close();
            let cut = length / (u64::from(entries) + 1);
            let (counters, decrements) = misra_gries(&events, capacity.max(entries as usize));
            let raised = counters.into_iter().map(|(key, count)| (key, count + decrements));
            assert_eq!((pane.events(), pane.cut(), pane.mass), (length, cut, length - cut));
            assert_eq!(kept(&pane), cut_by(raised, cut), "{entries} {capacity} {length}");
            assert_eq!(pane.sketch().is_some(), cut > 0);
            let exact = misra_gries(&events, 99).0;
            let listed = open(&events, shape.listing(length)).close();
            assert_eq!(kept(&listed), cut_by(exact, cut));
            assert_eq!((listed.events(), listed.cut(), listed.mass), (length, cut, length - cut));
            for pane in [pane, listed] {
                assert!(pane.sketch().is_none_or(|sketch| *sketch == sketch_of(&events)));
                let mut sum = sketch_of(&[Some(3)]);
                pane.add_to(&mut sum).unwrap();
                let all = [&events[..], &[Some(3)]].concat();
                assert_eq!(sum, sketch_of(&all), "a sketch of all events, with a cut or without");
            }
            assert_eq!(shape.most_entries(length), length.min(u64::from(entries)));
        }
    }
    assert!(open(&events(300), PaneShape::new(3, 0, None, SEED).unwrap()).close().sketch().is_none());
    assert!(PaneShape::new(0, 5, None, SEED).is_err());
}

/// Counts are added and cut by `floor(M / (k+1))`, which is subtracted from `M`; cuts are added; so are
/// sketches, where there is a cut: in the last two rows one of 1, in merging and before.
#[test]
fn merged_panes_are_added_up_and_cut_again() {
    let events = events(400);
    for (entries, ends) in [
        (2, [100, 150, 400]),
        (9, [3, 5, 400]),
        (500, [1, 200, 400]),
        (250, [100, 200, 400]),
        (399, [400, 400, 400]),
    ] {
        let shape = shape(entries, 40);
        let parts = [&events[..ends[0]], &events[ends[0]..ends[1]], &events[ends[1]..ends[2]]];
        let panes = parts.map(|part| open(part, shape).close());
        let mass: u64 = panes.iter().map(|pane| pane.events() - pane.cut()).sum();
        let cut = mass / (u64::from(entries) + 1);
        let cut_before: u64 = panes.iter().map(|pane| pane.cut()).sum();
        let mut sums = BTreeMap::new();
        for (key, count) in panes.iter().flat_map(kept) {
            *sums.entry(key).or_insert(0) += count;
        }
        let merged = Pane::merge(panes, shape.parameters()).unwrap();
        assert_eq!(merged.events(), 400);
        assert_eq!((merged.cut(), merged.mass), (cut + cut_before, mass - cut));
        assert_eq!(kept(&merged), cut_by(sums, cut));
        assert_eq!(merged.sketch().is_some(), cut + cut_before > 0);
        assert!(merged.sketch().is_none_or(|sketch| *sketch == sketch_of(&events)));
        let twice = Pane::merge([merged.clone()], shape.parameters()).unwrap();
        let again = (mass - cut) / (u64::from(entries) + 1);
        assert_eq!((twice.cut(), twice.mass), (merged.cut() + again, mass - cut - again));
    }
}

/// Three panes of 9, 5 and 6 events and 6, 3 and 4 keys, whose 20 events are cut by 2: of each key, in
/// one pane or in several, as many as the cut, one more and one less.
#[test]
fn merged_panes_keep_what_is_more_than_the_cut_wherever_it_was() {
    let shape = shape(9, 0);
    let panes = [&[1, 2, 2, 3, 3, 3, 4, 5, 6][..], &[4, 5, 7, 7, 7], &[5, 7, 8, 8, 9, 9]];
    let pane = |keys: &[u64]| {
        let events: Vec<Event> = keys.iter().map(|key| Some(*key)).collect();
        open(&events, shape).close()
    };
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let merged = Pane::merge(order.map(|number| pane(panes[number])), shape.parameters()).unwrap();
        assert_eq!(merged.cut(), 2);
        assert_eq!(kept(&merged), BTreeMap::from([(3, 1), (5, 1), (7, 2)]));
    }
}

#[test]
fn many_events_at_once_are_the_same_one_by_one() {
    for length in [0, 1, 31, 32, 33, 64, 300] {
        let events = events(length);
        for shape in [shape(4, 0), shape(4, 0).listing(10)] {
            let single = open(&events, shape);
            let mut many = OpenPane::<u64>::new(shape);
            let without_key = many.extend(events.iter().copied());
            assert_eq!(without_key, events.iter().filter(|event| event.is_none()).count() as u64);
            assert_eq!(many.events(), length);
            assert_eq!(sorted(&single.close()), sorted(&many.close()));
        }
    }
}

/// Keys of bytes are compared whole.
#[test]
fn keys_of_bytes_are_counted_like_integers() {
    let events = events(300);
    let text = |event: &Event| event.map(|key| "fig".repeat(key as usize));
    for (entries, capacity) in [(3, 0), (3, 5), (400, 0)] {
        let shape = PaneShape::new(entries, capacity, None, SEED).unwrap();
        let mut texts = OpenPane::<Bytes>::new(shape.listing(300));
        assert!(texts.list.is_none(), "their hashes cannot be undone");
        for event in &events {
            texts.update(text(event).as_deref().map(str::as_bytes));
        }
        let texts = texts.close();
        let found = texts.counts().iter().map(|(key, count)| (key.len() as u64 / 3, count));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), kept(&open(&events, shape).close()));
    }
}

/// A list takes its own memory and next to nothing for counters; up to half a million events that is
/// less than counters would take.
#[test]
fn short_blocks_are_listed_and_memory_is_told_as_it_is() {
    let shape = shape(5_000, 0);
    let listed = |events| shape.listing(events).listed;
    assert!(listed(1 << 19) && !listed((1 << 19) + 1));

    let list = OpenPane::<u64>::new(shape.listing(1_000));
    let (words, slots) = (8 * list.list.as_ref().unwrap().capacity() as u64, 16 * 16);
    assert!(words >= 8_000);
    assert_eq!(list.bytes(), words + slots);

    let counted = open(&events(20_000), shape.for_blocks_of(0));
    assert!(counted.sketch.is_none());
    let bytes = counted.bytes();
    assert_eq!(bytes, counted.counts.bytes());
    let sketched = OpenPane { sketch: Some(sketch_of(&[])), ..counted };
    assert_eq!(sketched.bytes(), bytes + SKETCH.bytes());

    let block = open(&[Some(3); 300], self::shape(3, 0));
    let mut closer = Closer::default();
    let before = closer.bytes();
    assert_eq!(before, ListCounter::default().bytes());
    let pane = block.close_with(&mut closer);
    assert_eq!(closer.bytes(), before + closer.packer.bytes());
    assert!(closer.packer.bytes() > 0);
    let of_counts = size_of::<Pane<u64>>() as u64 + pane.counts().bytes();
    assert_eq!(pane.bytes(), of_counts + SKETCH.bytes());
    let exact = open(&events(3), self::shape(3, 0)).close();
    assert_eq!(exact.bytes(), size_of::<Pane<u64>>() as u64 + exact.counts().bytes());
}

/// A norm can only be compared: here without noise, with this number and the next.
fn assert_norm(block: &mut OpenPane<u64>, norm: u64) {
    let mut reaches = |least: u64| {
        let (epsilon, entropy) = (Epsilon::new(1e5).unwrap(), &mut InsecureSeededEntropy::new(1));
        let question = AboveThreshold::new(least, 1, epsilon, entropy).unwrap();
        let closer = &mut Closer::default();
        let norm = OpenNorm { block, closer };
        matches!(question.ask(norm, entropy), Answer::Above)
    };
    assert!(reaches(norm) && !reaches(norm + 1), "{norm}");
}

/// No event, one without a key or several follow the count of the norm; also after the block is cleared.
#[test]
fn a_block_whose_norm_was_counted_ends_like_any_other() {
    let events = events(200);
    let mut closer = Closer::default();
    let shape = shape(3, 0).listing(10);
    let mut block = OpenPane::new(shape);
    for (asked, ends) in [(200, 200), (150, 151), (150, 200), (7, 7)] {
        events[..asked].iter().for_each(|event| block.update(*event));
        let empty = block.bytes();
        let norm = OpenNorm { block: &mut block, closer: &mut closer }.exactly();
        std::hint::black_box(norm);
        assert!(block.bytes() > empty);
        events[asked..ends].iter().for_each(|event| block.update(*event));
        assert_eq!(sorted(&block.end(&mut closer)), sorted(&open(&events[..ends], shape).close()));
        block.clear();
    }
}

/// A cleared block is a new one.
#[test]
fn the_norm_of_an_open_block_is_that_of_its_counts() {
    let events = events(200);
    let squares: u64 = misra_gries(&events, 99).0.values().map(|count| count * count).sum();
    for shape in [shape(300, 0), shape(300, 0).listing(10)] {
        let mut block = open(&events, shape);
        assert_norm(&mut block, squares.isqrt());
        let mut sum = sketch_of(&events[..50]);
        block.add_to(&mut sum);
        assert_eq!(sum, sketch_of(&[&events[..], &events[..50]].concat()));
        block.clear();
        assert_eq!(block.events(), 0);
        assert_norm(&mut block, 0);
        assert!(block.close().counts().is_empty());
        events.iter().for_each(|event| block.update(*event));
        assert_eq!(kept(&block.close()), misra_gries(&events, 99).0);
        block.clear();
        (0..100).for_each(|key| block.update(Some(key)));
        assert_norm(&mut block, 10);
    }
    let mut crowded = open(&events, shape(3, 0));
    assert!(crowded.sketch.is_some());
    crowded.clear();
    events[..50].iter().for_each(|event| crowded.update(*event));
    assert_eq!(crowded.close().sketch(), Some(&sketch_of(&events[..50])));
}
