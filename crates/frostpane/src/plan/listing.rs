//! The number of keys that a release may list, to plan its memory.

use crate::mechanism::Threshold;
use crate::mechanism::threshold::MOST_EXPECTED_FROM_NOISE;

/// Standard deviations, and additional keys, of the bound: exceeded with a probability of one in a billion.
const DEVIATIONS: f64 = 6.0;
const MORE: f64 = 40.0;
/// Steps per unit of the noise's scale when counts are searched, and their number.
const PARTS: f64 = 8.0;
const STEPS: u64 = 100;

/// A bound on the keys that pass the least threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub keys: u64,
    /// Those of them that did not occur.
    pub absent: u64,
}

impl Listing {
    /// For windows with this many events and occurring keys, and a universe of this size if keys are declared.
    pub fn new(floor: &Threshold, events: u64, keys: u64, universe: Option<u64>) -> Self {
        let absent = universe.map_or(0.0, |size| (size as f64 / 2.0).min(MOST_EXPECTED_FROM_NOISE as f64));
        let present = events as f64 * gain(floor, universe.is_some());
        let absent_at_most = universe.map_or(0, |size| at_most(absent).min(size));
        Self { keys: at_most(absent + present).min(universe.unwrap_or(keys)), absent: absent_at_most }
    }

    pub fn up_to(self, keys: u64) -> Self {
        Self { keys: self.keys.min(keys), absent: self.absent.min(keys) }
    }
}

/// The most by which one event may raise the expected number of listed keys: the largest increase of
/// the probability to pass per event of a key. Below the threshold that is convex, so its ends suffice.
fn gain(floor: &Threshold, declared: bool) -> f64 {
    let (noise, threshold) = (floor.noise(), floor.value());
    let passes = |count: u64| match threshold.checked_sub(count) {
        Some(distance) => noise.tail_in_floats(distance),
        None => 1.0 - noise.tail_in_floats(count - threshold + 1),
    };
    let without = if declared { passes(0) } else { 0.0 };
    let step = (noise.scale() / PARTS).ceil() as u64;
    (0..STEPS)
        .map(|number| threshold.saturating_add(number.saturating_mul(step)))
        .map(|count| (passes(count.saturating_add(step)) - without) / count as f64)
        .fold(passes(1) - without, f64::max)
}

fn at_most(expected: f64) -> u64 {
    (expected + DEVIATIONS * expected.sqrt() + MORE).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{DiscreteLaplace, InsecureSeededEntropy};
    use crate::privacy::Epsilon;

    /// All streams of 20,000 events whose keys are equally frequent, and absent keys alone: the listed
    /// keys stay within the bound, and some stream reaches a third of it.
    #[test]
    fn no_stream_lists_more_and_some_list_a_third_of_it() {
        const EVENTS: u64 = 20_000;
        for epsilon in [0.1, 1.0, 5.0] {
            let noise = DiscreteLaplace::new(2, Epsilon::new(epsilon).unwrap());
            for (floor, universe) in [
                (Threshold::for_open_keys(noise, 1e-6), None),
                (Threshold::for_open_keys(noise, 1e-2), None),
                (Threshold::for_declared_keys(noise, 30_000), Some(30_000)),
            ] {
                let listing = Listing::new(&floor, EVENTS, EVENTS, universe);
                let mut most = 0;
                for often in (0..12).map(|power| 1 << power).chain([floor.value()]) {
                    let entropy = &mut InsecureSeededEntropy::new(often);
                    let present = EVENTS / often;
                    let listed = floor.select((0..present).map(|key| (key, often)), entropy).unwrap();
                    let absent = universe.map_or(0, |size| size - present);
                    let noisy = floor.select_absent(absent, entropy).unwrap();
                    assert!(noisy.len() as u64 <= listing.absent);
                    most = most.max((listed.len() + noisy.len()) as u64);
                }
                assert!(most <= listing.keys, "{most} of {listing:?}");
                assert!(most + 60 >= listing.keys / 3, "{most} of {listing:?}");
            }
        }
    }

    #[test]
    fn no_more_keys_are_listed_than_there_are() {
        let noise = DiscreteLaplace::new(2, Epsilon::new(1.0).unwrap());
        assert_eq!(Listing::new(&Threshold::for_open_keys(noise, 0.5), 1 << 40, 700, None).keys, 700);
        let declared = Threshold::for_declared_keys(noise, 50);
        assert_eq!(Listing::new(&declared, 1 << 40, 700, Some(50)), Listing { keys: 50, absent: 50 });
    }
}
