#![doc = include_str!("noise_bounds.md")]

use std::cmp::Reverse;

use crate::noise::Noise;
use crate::search::first;

/// The part of the failure probability, in either direction, for bounds stated before any noise is drawn.
const BEFORE: f64 = 0.1;

/// Bounds on the noise of counts: upwards for listed keys, downwards for keys that must be listed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoiseBounds {
    /// The same bounds for every key.
    Alike {
        /// Upwards.
        over: u64,
        /// Downwards.
        under: u64,
    },
    /// Tighter bounds for frequent keys, because they are few.
    ByCount(ByCount),
}

impl NoiseBounds {
    fn alike(reach: u64) -> Self {
        Self::Alike { over: reach, under: reach }
    }

    /// The least count of a key with this noisy count.
    pub fn low(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { over, .. } => noisy.saturating_sub(*over),
            Self::ByCount(by_count) => by_count.low(noisy),
        }
    }

    /// The greatest count of a key with this noisy count.
    pub fn high(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { under, .. } => noisy.saturating_add(*under),
            Self::ByCount(by_count) => by_count.high(noisy),
        }
    }

    /// A bound on how far the count of a key lies below its noisy count, if that is at least `noisy`.
    pub fn over(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { over, .. } => *over,
            Self::ByCount(by_count) => by_count.over(noisy),
        }
    }

    /// A bound on how far the count of a key lies above its noisy count, listed or not, at this threshold.
    pub fn under(&self, threshold: u64) -> u64 {
        self.complete(threshold) - threshold
    }

    /// The least count from which on every key reaches a threshold of at least 1.
    pub fn complete(&self, threshold: u64) -> u64 {
        self.high(threshold - 1).saturating_add(1)
    }
}

/// Bounds on the counts of a window that are limits before their noise is drawn: public numbers, and the
/// norm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountLimits {
    /// The counts add up to at most this.
    pub events: u64,
    /// The norm is at most this, if it was measured.
    pub norm: Option<f64>,
    /// The most keys with noise.
    pub keys: u64,
    /// True if keys that did not occur have noise too.
    pub declared: bool,
}

/// A division of the failure probability among keys: each key gets a part by its count, and the parts
/// of all keys add up to at most 1, because frequent keys are few.
#[derive(Clone, Copy, Debug)]
struct FailureShares {
    sum: ShareBasis,
    /// This part is divided evenly.
    even: f64,
    keys: f64,
}

/// The bound on the counts that the division uses.
#[derive(Clone, Copy, Debug)]
enum ShareBasis {
    Events(f64),
    Squares(f64),
}

impl FailureShares {
    /// All keys alike.
    fn even(limits: &CountLimits) -> Self {
        Self {
            sum: ShareBasis::Events(limits.events.max(1) as f64),
            even: 1.0,
            keys: limits.keys.max(1) as f64,
        }
    }

    /// By a bound on a sum over counts, with the part `absent` for keys that did not occur.
    fn by_sum(limits: &CountLimits, absent: f64) -> impl Iterator<Item = Self> {
        let even = Self::even(limits);
        let absent = if limits.declared { absent.min(0.5) } else { 0.0 };
        let squares = limits.norm.map(|norm| ShareBasis::Squares(norm.powi(2).max(1.0)));
        [Some(even.sum), squares].into_iter().flatten().map(move |sum| Self { sum, even: absent, ..even })
    }

    fn part(&self, count: u64) -> f64 {
        let count = count as f64;
        let share = match self.sum {
            ShareBasis::Events(events) => count / events,
            ShareBasis::Squares(squares) => count * count / squares,
        };
        self.even / self.keys + (1.0 - self.even) * share.min(1.0)
    }
}

/// Noise bounds that are tighter for frequent keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByCount {
    noise: Noise,
    shares: FailureShares,
    /// The least count that has noise.
    least: u64,
    /// The failure probability in either direction.
    failure: f64,
}

impl ByCount {
    /// Chooses the division with the tightest bounds at a threshold.
    fn new(noise: impl Into<Noise>, limits: &CountLimits, threshold: u64, failure: f64) -> Self {
        let noise = noise.into();
        // Enough, with a margin for rounding, that no key that did not occur reaches the threshold.
        let absent = limits.keys as f64 * noise.tail_in_floats(threshold) / failure * (1.0 + 1e-9);
        let by = |shares| Self { noise, shares, least: u64::from(!limits.declared), failure };
        let others = FailureShares::by_sum(limits, absent).map(by);
        let worth = |by_count: &Self| (by_count.low(threshold), Reverse(by_count.goes(threshold)));
        others.fold(
            by(FailureShares::even(limits)),
            |best, other| {
                if worth(&other) > worth(&best) { other } else { best }
            },
        )
    }

    /// The bound on the noise of a key with this count.
    fn goes(&self, count: u64) -> u64 {
        let chance = self.failure * self.shares.part(count);
        self.noise.reach_in_floats(chance).saturating_sub(1)
    }

    /// The least noisy count of a key with at least this count.
    fn least_noisy(&self, count: u64) -> u64 {
        count.saturating_sub(self.goes(count.max(1)))
    }

    /// The bound on the noise of each of `keys` keys that have equal parts.
    fn shared_by(&self, keys: usize) -> u64 {
        let chance = self.failure / keys.max(1) as f64;
        self.noise.reach_in_floats(chance).saturating_sub(1)
    }

    /// From this count on the greatest noisy count rises with the count.
    fn rising(&self) -> u64 {
        self.noise.steady()
    }

    fn low(&self, noisy: u64) -> u64 {
        let reaches = |count: u64| count.saturating_add(self.goes(count)) >= noisy;
        let mut powers = self.powers();
        match powers.find(|power| power.saturating_add(self.goes_from(*power)) >= noisy) {
            Some(low) => low.min(noisy),
            None => first(self.rising(), noisy, reaches),
        }
    }

    /// The powers of two (and 0) below the count from which on the greatest noisy count rises.
    fn powers(&self) -> impl Iterator<Item = u64> {
        let rising = self.rising();
        let all = (0..).map(|i| (1 << i) >> 1).skip(self.least as usize);
        all.take_while(move |power| *power < rising)
    }

    /// A bound on noisy counts above a power of two, or 0, for keys with counts below the next: as if
    /// each had the highest count and the noise of the lowest.
    fn goes_from(&self, power: u64) -> u64 {
        self.goes(power) + power.saturating_sub(1)
    }

    fn over(&self, noisy: u64) -> u64 {
        let low = self.low(noisy);
        let powers = self.powers().filter(|power| *power >= low);
        powers.map(|power| self.goes_from(power)).fold(self.goes(low), u64::max)
    }

    fn high(&self, noisy: u64) -> u64 {
        let most = noisy.saturating_add(self.goes(noisy.max(1)));
        first(noisy, most, |count| count + 1 > noisy.saturating_add(self.goes(count + 1)))
    }
}

/// Noise bounds at a threshold before noise is drawn, and the noisy counts to observe in order to
/// tighten them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorBounds {
    /// The least noisy count that is observed; at most the threshold.
    pub least: u64,
    /// The bounds without observation.
    pub bounds: NoiseBounds,
    observation: Option<Observation>,
}

impl PriorBounds {
    /// At a threshold, which is at least the floor, or for the top keys of those that reach it, with a
    /// failure probability.
    pub fn new(
        noise: impl Into<Noise>,
        limits: &CountLimits,
        [floor, threshold]: [u64; 2],
        top: Option<u64>,
        failure: f64,
    ) -> Self {
        let noise = noise.into();
        let by_count = |part: f64| ByCount::new(noise, limits, threshold, failure * part);
        let observation = Observation { all: by_count(BEFORE), seen: by_count(0.5 - BEFORE), floor, top };
        let count = observation.all.low(threshold);
        let least = observation.all.least_noisy(count);
        if least < floor && top.is_none() {
            return Self { least: threshold, bounds: NoiseBounds::ByCount(by_count(0.5)), observation: None };
        }
        Self {
            least: least.max(floor).min(threshold),
            bounds: NoiseBounds::alike(observation.before(count)),
            observation: Some(observation),
        }
    }

    /// The bounds after these noisy counts have been observed.
    pub fn observing(&self, noisy: impl Iterator<Item = u64>, threshold: u64) -> NoiseBounds {
        self.observation.map_or(self.bounds, |observation| observation.observing(noisy.collect(), threshold))
    }
}

/// Turns the number of observed noisy counts into a bound on the number of keys that can be listed.
#[derive(Clone, Copy, Debug)]
struct Observation {
    /// The bounds for all keys.
    all: ByCount,
    /// The bounds for keys that can be listed.
    seen: ByCount,
    floor: u64,
    top: Option<u64>,
}

impl Observation {
    /// The bounds if keys with lower counts are not listed.
    fn before(&self, count: u64) -> u64 {
        self.seen.goes(count.max(self.seen.least))
    }

    fn observing(&self, mut noisy: Vec<u64>, threshold: u64) -> NoiseBounds {
        let count = self.least_listed(&mut noisy, threshold);
        let least = self.all.least_noisy(count);
        if least < self.floor {
            return NoiseBounds::alike(self.before(count));
        }
        let keys = noisy.iter().filter(|noisy| **noisy >= least).count();
        NoiseBounds::alike(self.before(count).min(self.seen.shared_by(keys)))
    }

    /// The least count of a key that can be listed, whatever the noise was.
    fn least_listed(&self, noisy: &mut [u64], threshold: u64) -> u64 {
        let listed = self.all.low(threshold);
        let top = self.top.and_then(|top| usize::try_from(top).ok());
        match top.filter(|top| (1..=noisy.len()).contains(top)) {
            None => listed,
            Some(top) => {
                let (_, last, _) = noisy.select_nth_unstable_by(top - 1, |a, b| b.cmp(a));
                let least = self.all.least_noisy(self.all.low(*last));
                listed.max(self.all.low(least))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::DiscreteGaussian;
    use crate::release::test_oracle::{laplace, reach};

    const EPSILON: f64 = 1.0;

    fn limits(events: u64, norm: Option<f64>, keys: u64, declared: bool) -> CountLimits {
        CountLimits { events, norm, keys, declared }
    }

    /// `Pr[noise >= m]`.
    fn tail(m: u64) -> f64 {
        let p = (-EPSILON / 2.0).exp();
        p.powi(m as i32) / (1.0 + p)
    }

    /// The greatest probability, over streams whose keys all have one count or none, that some key is
    /// listed with a count below its interval: as many keys as fit, and the rest absent.
    fn untrue(limits: &CountLimits, bounds: &NoiseBounds, threshold: u64) -> f64 {
        let chance = |count: u64| {
            let first = (threshold..).find(|noisy| bounds.low(*noisy) > count).unwrap();
            tail(first - count)
        };
        let most = |count: u64| {
            let by_norm = limits.norm.map_or(f64::MAX, |norm| (norm / count as f64).powi(2));
            (limits.events as f64 / count as f64).min(by_norm).min(limits.keys as f64)
        };
        let absent = |keys: f64| {
            if limits.declared { (limits.keys as f64 - keys) * chance(0) } else { 0.0 }
        };
        (1..threshold + 200)
            .map(|count| most(count) * chance(count) + absent(most(count)))
            .fold(0.0, f64::max)
    }

    fn prior(limits: &CountLimits, floor: u64, threshold: u64, top: Option<u64>) -> PriorBounds {
        PriorBounds::new(laplace(2, EPSILON), limits, [floor, threshold], top, 0.1)
    }

    /// On streams whose keys all have the worst count, an interval that is narrower by 1 would fail
    /// more often than stated, or at least more than half as often as the part that is spent on it; as
    /// it is, never more often.
    #[test]
    fn intervals_by_count_are_as_narrow_as_the_worst_stream_allows() {
        for (limits, threshold) in [
            (limits(10_000, None, 10_000, false), 40),
            (limits(1_000_000, None, 1_000_000, false), 40),
            (limits(1_000_000, Some(9_000.0), 1_000_000, false), 40),
            (limits(1_000_000, None, 400, false), 40),
            (limits(20_000, None, 1_000, true), 1),
            (limits(20_000, None, 1_000_000, true), 30),
            (limits(1_000_000, Some(5_000.0), 100_000, true), 50),
        ] {
            let prior = prior(&limits, threshold, threshold, None);
            assert_eq!(prior.least, threshold, "nothing below is looked at");
            assert!(matches!(prior.bounds, NoiseBounds::ByCount(_)));
            let found = untrue(&limits, &prior.bounds, threshold);
            assert!(found <= 0.05, "{limits:?}: {found}");
            assert!(found > 0.05 / 10.0, "{limits:?}: {found} is too careful");
        }
    }

    /// For any noisy count, the key's count is at most as far below as stated for it and all higher ones.
    #[test]
    fn noise_reaches_no_further_above_than_it_does_here() {
        for (limits, epsilon) in [
            (limits(1_000_000, None, 1_000_000, false), 1.0),
            (limits(10_000_000, None, 10_000_000, false), 0.05),
            (limits(1_000, None, 100_000, true), 1.0),
            (limits(100_000, Some(900.0), 100_000, true), 0.3),
        ] {
            let by_count = ByCount::new(laplace(2, epsilon), &limits, 14, 0.05);
            let furthest = |noisy: u64| noisy - by_count.low(noisy);
            for noisy in 1..600 {
                let found = by_count.over(noisy);
                assert!((noisy..4_000).all(|other| furthest(other) <= found), "{limits:?} {noisy}: {found}");
            }
        }
    }

    /// Most of the top keys may be absent if many are declared: their noise counts.
    #[test]
    fn keys_that_did_not_occur_are_assumed_among_the_top() {
        let prior = prior(&limits(1_000, None, 100_000, true), 1, 1, Some(10));
        // Half of two fifths of the failure probability, divided among all.
        let absent = reach(2.0, EPSILON, 0.1 * 0.4 / 2.0 / 1e5) - 1;
        let whole = reach(2.0, EPSILON, 0.1 * 0.4 / 1e5) - 1;
        let NoiseBounds::Alike { over, under } = prior.observing([15; 40].into_iter(), 1) else {
            panic!("{prior:?}")
        };
        assert!([absent, whole].contains(&over) && over == under, "{over}: {absent} or {whole}");
    }

    /// The same bounds apply downwards, to keys missed or listed too low.
    #[test]
    fn a_frequent_key_is_missed_no_more_often_than_stated() {
        for events in [1_000_u64, 100_000, 10_000_000] {
            let limits = limits(events, None, events, false);
            let reach = prior(&limits, 40, 40, None).bounds;
            let complete = reach.complete(40);
            let missed = |complete: u64| events as f64 / complete as f64 * tail(complete - 39);
            assert!(missed(complete) <= 0.05, "{events}: {complete} is too little");
            assert!(missed(complete - 1) > 0.05, "{events}: {complete} is too much");
        }
    }

    /// A key with a tenth of the events has the bound of one in ten keys.
    #[test]
    fn a_part_of_the_events_is_a_part_of_the_chance() {
        let by_count =
            ByCount::new(laplace(2, EPSILON), &limits(1_000_000, None, 1_000_000, false), 42, 0.05);
        for count in [1, 2, 50, 1_000, 100_000, 1_000_000] {
            let chance = 0.05 * count as f64 / 1e6;
            assert_eq!(by_count.goes(count), reach(2.0, EPSILON, chance).saturating_sub(1), "{count}");
        }
        let squares =
            ByCount::new(laplace(2, EPSILON), &limits(1_000_000, Some(1_000.0), 1_000_000, false), 600, 0.05);
        assert_eq!(squares.goes(500), reach(2.0, EPSILON, 0.05 * 0.25) - 1);
        let few = ByCount::new(laplace(2, EPSILON), &limits(1_000_000, None, 20, false), 42, 0.05);
        assert_eq!(few.goes(1), reach(2.0, EPSILON, 0.05 / 20.0) - 1);
        let declared = ByCount::new(laplace(2, EPSILON), &limits(20_000, None, 1_000, true), 80, 0.05);
        // Absent keys get no larger part than they need to stay below.
        assert_eq!(declared.goes(0), 79);
    }

    /// The bounds follow the tail of the noise for every count. Ends of intervals are those by definition, found one by one:
    /// the least and the greatest count whose noise allows it; except the lower ones below the count from which on
    /// greatest noisy counts rise or, with Gaussian noise, up to the power of two that it lies within.
    #[test]
    fn ends_of_intervals_are_the_least_and_the_greatest_count_that_noise_allows() {
        let (by_events, by_norm) =
            (limits(50_000, None, 50_000, false), limits(50_000, Some(700.0), 3_000, true));
        for (noise, limits, first, factor) in [
            (laplace(2, EPSILON).into(), by_events, 60, 1),
            (laplace(2, EPSILON).into(), by_norm, 60, 1),
            (gaussian(30), by_events, 160, 2),
            (gaussian(30), by_norm, 160, 2),
            (gaussian(600), limits(1_000_000, Some(9_000.0), 1_000_000, false), 160, 2),
        ] {
            let by_count = ByCount::new(noise, &limits, first, 0.02);
            for count in [1, 2, 9, 40, 300, 2_000] {
                let exact = noise.reach(0.02 * by_count.shares.part(count)).saturating_sub(1);
                assert!((exact..=exact + 1).contains(&by_count.goes(count)), "{count}");
            }
            for noisy in first..600 {
                let low = by_count.low(noisy);
                let least = (by_count.least..).find(|count| count + by_count.goes(*count) >= noisy).unwrap();
                assert!(low <= least, "{noisy}: {low} {least}");
                assert!(low == least || least < factor * by_count.rising(), "{noisy}: {low} {least}");
                let greatest = (noisy..).take_while(|count| count - by_count.goes(*count) <= noisy).last();
                assert_eq!(Some(by_count.high(noisy)), greatest, "{noisy}");
            }
        }
    }

    /// With much noise rare keys can show more than slightly more frequent ones, because there may be
    /// many more of them.
    #[test]
    fn no_count_below_an_interval_can_have_been_the_one() {
        let by_norm = limits(10_000_000, Some(9_000.0), 1_000_000, true);
        let mut falls = 0;
        for (noise, limits, threshold) in [
            (laplace(2, 0.05).into(), limits(10_000_000, None, 10_000_000, false), 900),
            (laplace(2, 0.05).into(), by_norm, 900),
            (gaussian(1_600), by_norm, 300),
        ] {
            let by_count = ByCount::new(noise, &limits, threshold, 0.05);
            for count in by_count.least..400 {
                let noisy = count + by_count.goes(count);
                assert!(by_count.low(noisy) <= count, "{limits:?} {count}");
                assert!(by_count.over(noisy) >= noisy - by_count.low(noisy), "{limits:?} {count}");
                falls += u32::from(count + 1 + by_count.goes(count + 1) < noisy);
            }
        }
        assert!(falls > 1, "the test has no power");
    }

    /// The noise of 7 keys is observed, each with a seventh of two fifths of the failure probability;
    /// the bound is never wider than the forecast.
    #[test]
    fn where_few_noisy_counts_are_seen_noise_reaches_less_far() {
        let limits = limits(1_000_000, None, 1_000_000, false);
        let prior = prior(&limits, 42, 500, None);
        let NoiseBounds::Alike { over, under } = prior.bounds else { panic!("{prior:?}") };
        // Keys with fewer than `count` do not reach the threshold, and those with more are observed,
        // except with a tenth of the probability each.
        let goes = |count: u64, part: f64| reach(2.0, EPSILON, 0.1 * part * count as f64 / 1e6) - 1;
        let count = (5..500).find(|count| count + goes(*count, 0.1) >= 500).unwrap();
        assert_eq!(prior.least, count - goes(count, 0.1));
        assert_eq!((over, under), (goes(count, 0.4), goes(count, 0.4)));
        let seen = |noisy: Vec<u64>| {
            let NoiseBounds::Alike { over, under } = prior.observing(noisy.into_iter(), 500) else {
                panic!("{prior:?}")
            };
            assert_eq!(over, under);
            over
        };
        let alike = |keys: f64| reach(2.0, EPSILON, 0.04 / keys) - 1;
        assert_eq!(seen(vec![prior.least; 7]), alike(7.0));
        assert_eq!(seen(Vec::new()), alike(1.0));
        assert_eq!(seen(vec![900; 1_000_000]), over, "no further than foreseen");
        // Close to the floor nothing more can be observed.
        let close = self::prior(&limits, 42, prior.least.min(60), None);
        assert!(matches!(close.bounds, NoiseBounds::ByCount(_)));
    }

    /// The same for top keys: from their last noisy count down to the least that a listed key may have
    /// had, and on to the least that such a key may show.
    #[test]
    fn of_the_top_keys_those_are_seen_that_may_have_been_among_them() {
        let prior = prior(&limits(1_000_000, None, 1_000_000, false), 42, 42, Some(3));
        let goes = |count: u64, part: f64| reach(2.0, EPSILON, 0.1 * part * count as f64 / 1e6) - 1;
        let low = |noisy: u64| (5..).find(|count| count + goes(*count, 0.1) >= noisy).unwrap();
        let step = |noisy: u64| low(noisy) - goes(low(noisy), 0.1);
        let last = 1_000;
        let count = low(step(last));
        let least = count - goes(count, 0.1);
        let seen = |others: Vec<u64>| match prior.observing(others.into_iter(), 42) {
            NoiseBounds::Alike { over, under } if over == under => over,
            other => panic!("{other:?}"),
        };
        let alike = |keys: f64| reach(2.0, EPSILON, 0.04 / keys) - 1;
        assert_eq!(seen(vec![least - 1, 1_200, last, 1_100]), alike(3.0));
        assert_eq!(seen(vec![least, 1_200, least, last, 1_100]), alike(5.0));
        let floor = goes(low(42), 0.4);
        assert_eq!(seen(vec![1_200, 1_100]), floor, "the list is not full");
        assert!(seen(vec![1_200, 1_100, 60]) <= floor);
    }

    fn gaussian(variance: u64) -> Noise {
        DiscreteGaussian::new(variance, 1).unwrap().into()
    }

    /// From `2/h` on the greatest noisy count never falls, with parts proportional to the squares of
    /// counts; just below it can.
    #[test]
    fn greatest_noisy_counts_rise_where_they_are_said_to() {
        for variance in [4, 30, 600, 40_000] {
            let noise = gaussian(variance);
            // With little noise, no count is low enough.
            let mut falls_before = usize::from(variance < 30);
            for failure in [0.9, 0.3, 0.05, 1e-4] {
                for most in [60.0, 1_000.0, 30_000.0] {
                    let by_count = ByCount {
                        noise,
                        shares: FailureShares { sum: ShareBasis::Squares(most * most), even: 0.0, keys: 1.0 },
                        least: 1,
                        failure,
                    };
                    let shows = |count: u64| count + by_count.goes(count);
                    let falls = |count: &u64| shows(count + 1) < shows(*count);
                    let rising = by_count.rising();
                    assert_eq!((rising..rising + 400).find(falls), None, "{variance} {failure} {most}");
                    falls_before += (1..rising).filter(falls).count();
                }
            }
            assert!(falls_before > 0, "{variance}: the test has no power");
        }
    }
}
