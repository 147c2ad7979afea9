//! All short streams of three users, three keys and two epochs, and all their neighbours: what is counted is bounded, and follows
//! from each user alone.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor};
use std::time::Duration;

use super::spill::File;
use super::*;
use crate::counting::Tally;
use crate::fault::Fault;
use crate::key::Keys;
use crate::pane::{Pane, PaneShape, Parameters};
use crate::spec::Bounds;

const KEYS: usize = 3;
const EPOCH: i64 = 4;
const HALF: i64 = EPOCH / 2;
const PANES: usize = 4;
const SEED: u64 = 11;
const USERS: [&[u8]; 3] = [b"ada", b"grace", b"mary"];

type Event = (i64, usize, u64);
type Counts = [[i64; KEYS]; PANES];

#[derive(Clone, Copy, Debug)]
enum Way {
    /// A window of both epochs, and one of the latter.
    OneShot,
    /// As time goes by, in panes of this length.
    StreamingBounder(i64),
    BatchBounder(i64),
}

const WAYS: [Way; 7] = [
    Way::OneShot,
    Way::StreamingBounder(HALF),
    Way::StreamingBounder(EPOCH),
    Way::StreamingBounder(2 * EPOCH),
    Way::BatchBounder(HALF),
    Way::BatchBounder(EPOCH),
    Way::BatchBounder(2 * EPOCH),
];

fn bounds(per_user: u32, per_key: u32) -> Bounds {
    Bounds::new(per_user).per_key(per_key).epoch(Duration::from_micros(EPOCH as u64))
}

fn all_bounds() -> impl Iterator<Item = (u32, u32)> {
    (1..=3).flat_map(|per_user| (1..=3).map(move |per_key| (per_user, per_key)))
}

fn made_with() -> Parameters {
    PaneShape::new(u32::MAX, 0, None, SEED).unwrap().parameters()
}

fn counts_of<'a>(panes: impl IntoIterator<Item = &'a Pane<u64>>) -> Counts {
    let mut counts = Counts::default();
    for (counts, pane) in counts.iter_mut().zip(panes) {
        for (key, count) in pane.counts().iter() {
            assert!(count >= 1, "a count of zero is kept");
            counts[key as usize] = count as i64;
        }
        assert_eq!(pane.events() as i64, counts.iter().sum::<i64>());
    }
    counts
}

impl Way {
    fn counts(self, bounds: Bounds, events: &[Event]) -> Counts {
        match self {
            Way::OneShot => one_shot(bounds, events),
            Way::StreamingBounder(pane) => live(bounds, pane, events),
            Way::BatchBounder(pane) => bounder(bounds, pane, events),
        }
    }
}

fn one_shot(bounds: Bounds, events: &[Event]) -> Counts {
    let asked = AskedEpochs { epochs: 0..2, starts: vec![0, 1] };
    let memory = (u64::MAX, None);
    let mut epochs = FixedWindow::new(Keys::Open, bounds, asked, made_with(), memory, Fault::default());
    let offered = events.iter().map(|(time, user, key)| (*time, Some(USERS[*user]), Some(*key)));
    epochs.extend(offered).unwrap();
    epochs.seal().unwrap();
    let window = epochs.window(2 * EPOCH).unwrap();
    assert_eq!((window.from, window.known_end, window.panes.len()), (0, Some(2 * EPOCH), 2));
    counts_of(window.panes.iter().map(AsRef::as_ref))
}

fn live(bounds: Bounds, pane: i64, events: &[Event]) -> Counts {
    let calendar = Calendar::new(&bounds, pane);
    let mut live = StreamingBounder::new(Keys::Open, bounds, calendar, SEED, u64::MAX, Fault::default());
    for (time, user, key) in events {
        live.push(*time, Some(USERS[*user]), Some(*key)).unwrap();
    }
    let closed: Vec<Pane<u64>> =
        (0..2 * EPOCH / pane).map(|pane| live.close(pane, made_with()).unwrap()).collect();
    assert_eq!(live.bytes(), 0, "nobody is remembered when their epoch is over");
    counts_of(&closed)
}

type Memory = (u64, Option<SpillFactory>);

/// Panes of events that come in any order, with what became of them.
fn bounded<'a>(
    bounds: Bounds,
    pane: i64,
    memory: Memory,
    events: impl Iterator<Item = (i64, &'a [u8], u64)>,
) -> crate::Result<(Vec<Pane<u64>>, Tally)> {
    let calendar = Calendar::new(&bounds, pane);
    let panes = 2 * EPOCH / pane;
    let periods = 0..calendar.periods_of(panes).start;
    let mut bounder =
        BatchBounder::new(Keys::Open, bounds, calendar, periods, SEED, memory, Fault::default());
    for (time, user, key) in events {
        bounder.push(time, Some(user), Some(key))?;
    }
    bounder.close(panes as usize, |period| calendar.pane_of(period) as usize, made_with())
}

fn bounder(bounds: Bounds, pane: i64, events: &[Event]) -> Counts {
    let given = events.iter().map(|(time, user, key)| (*time, USERS[*user], *key));
    let (closed, tally) = bounded(bounds, pane, (u64::MAX, None), given).unwrap();
    let counts = counts_of(&closed);
    let counted: i64 = counts.iter().flatten().sum();
    assert_eq!(counted as u64 + tally.beyond_bounds, events.len() as u64);
    counts
}

/// Events of so many users, in both halves of both epochs.
fn letters(users: usize) -> Vec<Event> {
    let times = [0, HALF, EPOCH, EPOCH + HALF];
    let of = |user| times.map(|time| [0, 1, 2].map(|key| (time, user, key)));
    (0..users).flat_map(of).flatten().collect()
}

/// All streams of so many events, but for the order in which they arrive.
fn unordered(letters: &[Event], length: usize) -> Vec<Vec<Event>> {
    let mut streams = vec![(0, Vec::new())];
    for _ in 0..length {
        let longer = |(first, stream): (usize, Vec<Event>)| {
            (first..letters.len())
                .map(move |letter| (letter, stream.iter().copied().chain([letters[letter]]).collect()))
        };
        streams = streams.into_iter().flat_map(longer).collect();
    }
    streams.into_iter().map(|(_, stream)| stream).collect()
}

/// A stream without a user in an epoch, for each of both that it has.
fn neighbours(stream: &[Event]) -> impl Iterator<Item = Vec<Event>> {
    let units = (0..USERS.len()).flat_map(|user| [0, 1].map(|epoch| (user, epoch)));
    units.filter_map(|(user, epoch)| {
        let is_other = |event: &&Event| event.1 != user || event.0 / EPOCH != epoch;
        let others: Vec<Event> = stream.iter().filter(is_other).copied().collect();
        (others.len() < stream.len()).then_some(others)
    })
}

/// How far counts of all panes moved, added up, if bounds allow it.
fn moved(with: &Counts, without: &Counts, (per_user, per_key): (u32, u32)) -> Option<i64> {
    let difference = |pane: usize, key: usize| with[pane][key] - without[pane][key];
    let of_key = |key| (0..PANES).map(|pane| difference(pane, key)).sum::<i64>();
    let in_one_direction = (0..PANES).all(|pane| (0..KEYS).all(|key| difference(pane, key) >= 0));
    let by_little = (0..KEYS).all(|key| of_key(key) <= i64::from(per_key));
    let at_few = (0..KEYS).filter(|key| of_key(*key) > 0).count() <= per_user as usize;
    (in_one_direction && by_little && at_few && norms_move_little(with, without, (per_user, per_key)))
        .then(|| (0..KEYS).map(of_key).sum())
}

fn norms_move_little(with: &Counts, without: &Counts, (per_user, per_key): (u32, u32)) -> bool {
    let norm = |counts: &Counts, from: usize, to: usize| {
        let sum = |key: usize| counts[from..to].iter().map(|pane| pane[key]).sum::<i64>();
        (0..KEYS).map(|key| sum(key).pow(2)).sum::<i64>().isqrt()
    };
    let most = (f64::from(per_key) * f64::from(per_user).sqrt()).ceil() as i64;
    let windows = (0..PANES).flat_map(|from| (from + 1..=PANES).map(move |to| (from, to)));
    windows
        .map(|(from, to)| norm(with, from, to) - norm(without, from, to))
        .all(|by| (0..=most).contains(&by))
}

/// All streams of up to so many events, and all that lack a user in an epoch.
fn assert_bounded(way: Way, most: (u32, u32), streams: &[Vec<Event>]) {
    let bounds = bounds(most.0, most.1);
    let counts: HashMap<&[Event], Counts> =
        streams.iter().map(|stream| (stream.as_slice(), way.counts(bounds, stream))).collect();
    let (mut furthest, mut longest) = (0, 0);
    for (stream, with) in &counts {
        for without in neighbours(stream) {
            let by = moved(with, &counts[without.as_slice()], most);
            assert!(by.is_some(), "{way:?} {most:?}: {stream:?} and {without:?}");
            furthest = furthest.max(by.unwrap());
        }
        longest = longest.max(stream.len() as i64);
    }
    assert_eq!(furthest, i64::from(most.0 * most.1).min(longest), "as far as it may");
}

fn streams_of_up_to(length: usize) -> Vec<Vec<Event>> {
    let letters = letters(USERS.len());
    (0..=length).flat_map(|length| unordered(&letters, length)).collect()
}

/// 9,139 streams, in every way and with every bound.
#[test]
fn what_a_user_does_in_an_epoch_moves_few_counts_by_little_all_in_one_direction() {
    let streams = streams_of_up_to(3);
    for way in WAYS {
        all_bounds().for_each(|most| assert_bounded(way, most, &streams));
    }
}

/// 91,390 streams, in the two ways that differ most.
#[test]
fn four_events_of_three_users_move_no_more() {
    let streams = streams_of_up_to(4);
    for way in [Way::OneShot, Way::StreamingBounder(HALF)] {
        for most in [(1, 1), (1, 3), (2, 2), (3, 1)] {
            assert_bounded(way, most, &streams);
        }
    }
}

fn ordered(letters: &[Event], length: u32) -> impl Iterator<Item = Vec<Event>> {
    let size = letters.len();
    (0..size.pow(length))
        .map(move |number| (0..length).map(|digit| letters[number / size.pow(digit) % size]).collect())
}

fn assert_order_does_not_matter(letters: &[Event], length: u32, way: Way, most: (u32, u32)) {
    let bounds = bounds(most.0, most.1);
    let mut seen: HashMap<Vec<Event>, Counts> = HashMap::new();
    for stream in ordered(letters, length) {
        let counts = way.counts(bounds, &stream);
        let mut in_order = stream.clone();
        in_order.sort_unstable();
        assert_eq!(*seen.entry(in_order).or_insert(counts), counts, "{way:?} {most:?}: {stream:?}");
    }
}

/// Every way, every bound: four events of one user, in every order. And of three users in some of them.
#[test]
fn the_order_of_arrival_changes_nothing() {
    for way in WAYS {
        for most in all_bounds() {
            assert_order_does_not_matter(&letters(1), 4, way, most);
        }
    }
    let epochs_alone: Vec<Event> = letters(3).into_iter().filter(|(time, ..)| time % EPOCH == 0).collect();
    for (way, most) in [
        (Way::OneShot, (1, 1)),
        (Way::OneShot, (2, 2)),
        (Way::StreamingBounder(EPOCH), (2, 1)),
        (Way::BatchBounder(2 * EPOCH), (1, 3)),
    ] {
        assert_order_does_not_matter(&epochs_alone, 4, way, most);
    }
}

/// What is counted as time goes by is what is counted afterwards, where an epoch has several panes too.
#[test]
fn a_time_that_is_over_is_counted_as_when_it_went_by() {
    for length in 0..=4 {
        for stream in unordered(&letters(2), length) {
            for (per_user, per_key) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
                let bounds = bounds(per_user, per_key);
                for pane in [HALF, EPOCH, 2 * EPOCH] {
                    assert_eq!(live(bounds, pane, &stream), bounder(bounds, pane, &stream), "{stream:?}");
                }
                let two = Way::OneShot.counts(bounds, &stream);
                assert_eq!(two, live(bounds, EPOCH, &stream), "{stream:?}");
            }
        }
    }
}

/// Keys are taken for good while there is room in the epoch: what came in its first half stays, whatever comes later.
#[test]
fn what_was_counted_of_an_epoch_stays_counted() {
    for way in [Way::StreamingBounder(HALF), Way::BatchBounder(HALF)] {
        for first in 0..3_u64 {
            for second in 0..3 {
                let counts = way.counts(bounds(1, 1), &[(0, 0, first), (HALF, 0, second)]);
                let mut expected = Counts::default();
                expected[0][first as usize] = 1;
                assert_eq!(counts, expected, "{way:?} {first} {second}");
                let twice = way.counts(bounds(1, 2), &[(0, 0, first), (HALF, 0, second)]);
                expected[1][first as usize] = i64::from(first == second);
                assert_eq!(twice, expected, "{way:?} {first} {second}");
            }
        }
    }
}

fn in_memory() -> io::Result<Box<dyn File>> {
    Ok(Box::new(Cursor::new(Vec::new())))
}

/// Many users, some of whom do much, in an order that has nothing to do with anything.
fn crowd() -> Vec<(i64, Vec<u8>, u64)> {
    (0..40_000_u64)
        .map(|event| {
            let mixed = event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let user = (mixed % 3_001).to_string().into_bytes();
            ((mixed / 7 % 8) as i64, user, mixed / 3_001 % 500)
        })
        .collect()
}

fn counts_of_crowd(bounds: Bounds, pane: i64, memory: Memory) -> crate::Result<Vec<String>> {
    let crowd = crowd();
    let given = crowd.iter().map(|(time, user, key)| (*time, user.as_slice(), *key));
    let (closed, tally) = bounded(bounds, pane, memory, given)?;
    Ok(closed.iter().map(|pane| told(pane, tally)).collect())
}

/// A pane, its counts sorted, and what became of events.
fn told(pane: &Pane<u64>, tally: Tally) -> String {
    format!("{:?} {tally:?}", pane.counts().iter().collect::<BTreeMap<_, _>>())
}

/// Ten times to disk and back, user by user.
#[test]
fn what_went_to_disk_is_counted_as_what_did_not() {
    for (per_user, per_key) in [(1, 1), (3, 1), (2, 3)] {
        for pane in [HALF, EPOCH, 2 * EPOCH] {
            let counts = |memory| counts_of_crowd(bounds(per_user, per_key), pane, memory).unwrap();
            let all_in_memory = counts((u64::MAX, None));
            assert!(all_in_memory[0].len() > 1_000);
            assert_eq!(counts((1_000, Some(SpillFactory::new(in_memory)))), all_in_memory);
        }
    }
}

/// Panes as time goes by, in so much memory: sorted, and what became of events. Also how many runs went to disk.
fn live_counts_of_crowd(bounds: Bounds, pane: i64, memory: Memory) -> (Vec<String>, usize) {
    let calendar = Calendar::new(&bounds, pane);
    let mut live =
        StreamingBounder::<u64>::new(Keys::Open, bounds, calendar, SEED, memory.0, Fault::default());
    live.scratch = memory.1;
    let mut events = crowd();
    // The panes of an epoch come in their order, all else at random.
    events.sort_by_key(|(time, ..)| time.div_euclid(pane));
    let (mut closed, mut runs) = (Vec::new(), 0);
    for number in 0..2 * EPOCH / pane {
        for (time, user, key) in events.iter().filter(|(time, ..)| time.div_euclid(pane) == number) {
            live.push(*time, Some(user), Some(*key)).unwrap();
        }
        runs += live.runs().len();
        closed.push(told(&live.close(number, made_with()).unwrap(), live.filter.tally));
    }
    assert_eq!((live.bytes(), live.runs().len()), (0, 0), "nobody is remembered");
    (closed, runs)
}

/// Users who went to disk in the middle of an epoch are admitted as if they had stayed.
#[test]
fn what_went_to_disk_as_time_went_by_is_counted_as_what_did_not() {
    for (per_user, per_key) in [(1, 1), (3, 1), (2, 3)] {
        for pane in [HALF, EPOCH, 2 * EPOCH] {
            let counts = |memory| live_counts_of_crowd(bounds(per_user, per_key), pane, memory);
            let (all_in_memory, none) = counts((u64::MAX, None));
            assert!(all_in_memory[0].len() > 1_000 && none == 0);
            for memory in [20_000, 60_000] {
                let (on_disk, runs) = counts((memory, Some(SpillFactory::new(in_memory))));
                assert!(runs >= 2, "{runs} runs");
                assert_eq!(on_disk, all_in_memory, "{per_user} {per_key} {pane} {memory}");
            }
        }
    }
}

/// Where events stopped depends on everybody: what came before is no count of anything.
#[test]
fn after_events_that_had_no_room_nothing_is_counted() {
    let bounds = bounds(1, 1);
    let calendar = Calendar::new(&bounds, EPOCH);
    let mut live = StreamingBounder::<u64>::new(Keys::Open, bounds, calendar, SEED, 1_000, Fault::default());
    let memory = (1_000, None);
    let mut bounder =
        BatchBounder::<u64>::new(Keys::Open, bounds, calendar, 0..2, SEED, memory, Fault::default());
    let users: Vec<String> = (0..10_000).map(|user| user.to_string()).collect();
    let all = |push: &mut dyn FnMut(&[u8]) -> crate::error::Result<()>| {
        let refused = users.iter().filter(|user| push(user.as_bytes()).is_err()).count();
        assert!((1..10_000).contains(&refused));
    };
    all(&mut |user| live.push(0, Some(user), Some(1)));
    all(&mut |user| bounder.push(0, Some(user), Some(1)));
    assert!((0..2).all(|pane| live.close(pane, made_with()).is_err()));
    assert!(bounder.close(2, |_| 0, made_with()).is_err());
}

#[test]
fn without_room_there_is_an_error_that_tells_no_number() {
    let refusal = |memory| counts_of_crowd(bounds(1, 1), EPOCH, memory).unwrap_err().to_string();
    let no_disk =
        "the users do not fit into the memory: nothing was released; give more memory, or sample the users";
    assert_eq!(refusal((1_000, None)), no_disk);
    let full = SpillFactory::new(|| Err(io::ErrorKind::StorageFull.into()));
    let said = "the users do not fit into the memory, and the disk that the rest should go to gave an error (no storage space): \
                nothing was released; make room, or give more memory";
    assert_eq!(refusal((1_000, Some(full))), said);
    let fills = SpillFactory::new(|| Ok(Box::new(Cursor::new(Box::new([0_u8; 100]) as Box<[u8]>))));
    assert!(refusal((1_000, Some(fills))).starts_with("the users do not fit into the memory, and the disk"));
}
