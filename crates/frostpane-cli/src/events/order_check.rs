//! Tests whether the order of events follows from their keys, which windows by count cannot bear
//! (docs/threat-model.md, assumption 2).

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use frostpane::Span;
use frostpane_render::Warning;

use frostpane_events::EventRef;

/// Neighbours are compared among the first `SAMPLE` of every `STRIDE` events.
const STRIDE: u64 = 1 << 16;
const SAMPLE: u64 = 1 << 12;
/// In sorted files one in so many neighbours may go against the others, where another file begins. Fewer keys
/// that take turns are not taken for sorted ones. Without order it does not happen: of 1,000 it is less
/// likely than below.
const ONE_AGAINST: u64 = 1_000;
/// Among so many neighbours with equal times three quarters go the same way once in ten billion streams, if keys
/// have no order. Every second pair is independent, so by Hoeffding's inequality it is at most `8 exp(-2
/// (400/2) / 4^2)`, over two halves, two directions, two orders.
const LEAST_WITHIN_TIMES: u64 = 400;
/// Ten keys of several events each, of which none comes back, in 1,000 events: `10! 2^9 982! / 1000!`, or
/// once in `10^40` streams, if keys have no order.
const LEAST_EVENTS: u64 = 1_000;
const LEAST_GROUPS: u64 = 10;
/// So many keys that did not come back are enough to tell.
const MOST_GROUPS: u64 = 1 << 12;

/// Sees all events. Where keys have no order, it soon looks at one in sixteen only.
#[derive(Default)]
pub struct OrderCheck {
    events: u64,
    /// The key before; empty if there was none.
    last: Vec<u8>,
    last_time: Option<i64>,
    neighbours: Turns,
    of_equal_times: Turns,
    groups: Groups,
}

impl OrderCheck {
    /// A check of events in windows by count.
    pub fn of(window: Span) -> Option<Self> {
        match window {
            Span::Events(_) => Some(Self::default()),
            Span::Clock(_) => None,
        }
    }

    #[inline]
    pub fn see(&mut self, event: EventRef<'_>) {
        let place = self.events % STRIDE;
        self.events += 1;
        if place < SAMPLE || self.groups.are_open() {
            self.look(place, event);
        }
    }

    fn look(&mut self, place: u64, event: EventRef<'_>) {
        let Some(key) = event.key else { return };
        // The last key that was looked at is a neighbour only if all are looked at.
        if place == 0 && !self.groups.are_open() {
            self.last.clear();
        }
        if place < SAMPLE && !self.last.is_empty() {
            self.neighbours.turn(&self.last, key);
            if event.time.is_some() && event.time == self.last_time {
                self.of_equal_times.turn(&self.last, key);
            }
        }
        self.groups.take(key, key == self.last);
        self.last_time = event.time;
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    pub fn warning(&self) -> Option<Warning> {
        if self.neighbours.go_one_way(ONE_AGAINST, ONE_AGAINST) {
            Some(Warning::sorted())
        } else if self.groups.are_seen() {
            Some(Warning::grouped())
        } else if self.of_equal_times.go_one_way(LEAST_WITHIN_TIMES, 4) {
            Some(Warning::sorted_within_times())
        } else {
            None
        }
    }
}

/// Neighbours with different keys, and how many of them rise: by their bytes, and by their length first, as
/// whole numbers are ordered.
#[derive(Default)]
struct Turns {
    all: u64,
    up_by_bytes: u64,
    up_by_length: u64,
}

impl Turns {
    fn turn(&mut self, last: &[u8], key: &[u8]) {
        self.all += u64::from(key != last);
        self.up_by_bytes += u64::from(key > last);
        self.up_by_length += u64::from((key.len(), key) > (last.len(), last));
    }

    /// True if there are enough of them, and at most one in so many goes against the others.
    fn go_one_way(&self, enough: u64, one_in: u64) -> bool {
        let one_way = |up: u64| one_in * up.min(self.all - up) <= self.all;
        self.all >= enough && (one_way(self.up_by_bytes) || one_way(self.up_by_length))
    }
}

/// Tests whether all events of a key are adjacent, whatever the order of keys.
#[derive(Default)]
struct Groups {
    /// True once a key came back, or so many had not: from then on nothing is counted.
    is_settled: bool,
    events: u64,
    groups: u64,
    of_several: u64,
    /// The length of the latest group.
    length: u64,
    /// Hashes of the keys so far: a collision ends the search, and does no other harm.
    keys: HashSet<u64>,
    hash: RandomState,
}

impl Groups {
    #[inline]
    fn are_open(&self) -> bool {
        !self.is_settled
    }

    fn take(&mut self, key: &[u8], is_same: bool) {
        if self.is_settled {
            return;
        }
        if is_same {
            self.length += 1;
            self.of_several += u64::from(self.length == 2);
        } else if self.groups == MOST_GROUPS || !self.keys.insert(self.hash.hash_one(key)) {
            self.is_settled = true;
            self.keys = HashSet::new();
            return;
        } else {
            self.groups += 1;
            self.length = 1;
        }
        self.events += 1;
    }

    /// True if it is no accident, with two events a key or more on average.
    fn are_seen(&self) -> bool {
        let enough = self.events >= LEAST_EVENTS && self.of_several >= LEAST_GROUPS;
        enough && self.events >= 2 * self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(events: impl IntoIterator<Item = (Option<i64>, String)>) -> OrderCheck {
        let mut check = OrderCheck::default();
        for (time, key) in events {
            check.see(EventRef { key: Some(key.as_bytes()), ..EventRef::at(time) });
        }
        check
    }

    fn seen_of(keys: impl IntoIterator<Item = u64>) -> Option<Warning> {
        check(keys.into_iter().map(|key| (None, key.to_string()))).warning()
    }

    /// Numbers below 2^31 without any order.
    fn dice(seed: u64) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(seed), |last| {
            Some(last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
        })
        .skip(1)
        .map(|state| state >> 33)
    }

    #[test]
    fn order_is_seen_in_either_direction_by_text_and_by_number() {
        assert_eq!(seen_of(0..1_001), Some(Warning::sorted()));
        assert_eq!(seen_of((0..1_001).rev()), Some(Warning::sorted()));
        let mut texts: Vec<String> = (0..1_001).map(|i| i.to_string()).collect();
        texts.sort();
        assert_eq!(check(texts.into_iter().map(|key| (None, key))).warning(), Some(Warning::sorted()));
        let files = |length: u64| (0..6_000).map(move |i| i % length);
        assert_eq!(seen_of(files(2_000)), Some(Warning::sorted()), "of files one after the other");
        assert_eq!(seen_of(files(700)), None, "of things that take turns");
        assert_eq!(seen_of(0..1_000), None, "too few");
    }

    /// Ten keys in the order of their last digits, a hundred events each.
    #[test]
    fn groups_are_seen_whatever_the_order_of_their_keys() {
        let order = [70, 41, 12, 93, 54, 5, 26, 87, 38, 69];
        let groups = |length: usize| order.into_iter().flat_map(move |key| [key].repeat(length));
        assert_eq!(seen_of(groups(100)), Some(Warning::grouped()));
        assert_eq!(seen_of(groups(100).chain(groups(100))), Some(Warning::grouped()));
        assert_eq!(seen_of(groups(99)), None, "too few events");
        assert_eq!(seen_of(groups(200).skip(200)), None, "too few keys");
        assert_eq!(seen_of([70, 41].into_iter().chain(groups(100))), None, "two come back");
        let many = dice(3).take(5_000).flat_map(|key| [key; 2]);
        assert_eq!(seen_of(many), Some(Warning::grouped()), "more keys than are remembered");
    }

    /// Two events a second, the second of them with the higher key.
    #[test]
    fn order_within_equal_times_is_seen() {
        let mut events: Vec<(Option<i64>, String)> = dice(1)
            .zip(0..)
            .take(2_000)
            .map(|(key, i)| (Some(i / 2), format!("{:03}", key % 1_000)))
            .collect();
        assert_eq!(check(events.clone()).warning(), None);
        events.sort();
        let warning = check(events.clone()).warning().unwrap().to_string();
        let told = "events of the same time seem to be sorted by key, so with another key an event would";
        assert!(warning.starts_with(told), "{warning}");
        let untimed = check(events.into_iter().map(|(_, key)| (None, key)));
        assert_eq!(untimed.warning(), None, "it cannot be told without times");
    }

    /// By the bounds above, a false alarm in one of about ten million runs.
    #[test]
    fn events_without_order_are_not_told_and_soon_not_looked_at() {
        for seed in 0..200 {
            for keys in [2, 30, 1_000, 1 << 31] {
                let keys = dice(seed).take(2_000).map(|key| (key % keys).to_string());
                let timed = keys.zip(0..).map(|(key, i)| (Some(i / 50), key));
                assert_eq!(check(timed).warning(), None, "seed {seed}");
            }
        }
        assert!(!check(dice(7).take(1_000).map(|key| (None, (key % 100).to_string()))).groups.are_open());
        assert_eq!(seen_of(std::iter::empty()), None);
    }

    #[test]
    fn all_of_a_long_stream_is_looked_at() {
        let sorted = |strides: u64| (0..strides * STRIDE).map(|i| 10_000_000 + i);
        assert_eq!(seen_of(sorted(4)), Some(Warning::sorted()));
        assert_eq!(seen_of(sorted(3).chain(dice(5).take(STRIDE as usize))), None);
    }
}
