#![doc = include_str!("reach.md")]

use std::cmp::Reverse;

use crate::noise::Noise;

/// The part of the chance of failure, to either side, for what is said of keys before any noise is drawn.
const BEFORE: f64 = 0.1;

/// How far noise reaches: of listed keys up, of keys that must be listed down.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    /// As far for every key.
    Alike {
        /// Up.
        over: u64,
        /// Down.
        under: u64,
    },
    /// Less far for frequent keys, because they are few.
    ByCount(ByCount),
}

impl Reach {
    fn alike(reach: u64) -> Self {
        Self::Alike {
            over: reach,
            under: reach,
        }
    }

    /// The least count of a key with this noisy count.
    pub fn low(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { over, .. } => noisy.saturating_sub(*over),
            Self::ByCount(by_count) => by_count.low(noisy),
        }
    }

    /// The greatest.
    pub fn high(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { under, .. } => noisy.saturating_add(*under),
            Self::ByCount(by_count) => by_count.high(noisy),
        }
    }

    /// How far below its noisy count the count of a key may lie, if that is at least this.
    pub fn over(&self, noisy: u64) -> u64 {
        match self {
            Self::Alike { over, .. } => *over,
            Self::ByCount(by_count) => by_count.over(noisy),
        }
    }

    /// How far above its noisy count the count of a key may lie, listed or not, if the threshold is this.
    pub fn under(&self, threshold: u64) -> u64 {
        self.complete(threshold) - threshold
    }

    /// The least count from which on every key passes a threshold of at least 1.
    pub fn complete(&self, threshold: u64) -> u64 {
        self.high(threshold - 1).saturating_add(1)
    }
}

/// What is known of the counts of a window before their noise is drawn: public numbers, and the norm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// They add up to no more than this.
    pub events: u64,
    /// Their norm is at most this, if it was measured.
    pub norm: Option<f64>,
    /// At most so many keys have noise.
    pub keys: u64,
    /// Whether keys that did not occur have noise too.
    pub declared: bool,
}

/// Why frequent keys are few. Every key has a part of a chance, by its count, and the parts of all keys add up to no more than 1.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    sum: Sum,
    /// This part of a chance is shared evenly.
    even: f64,
    keys: f64,
}

/// What counts add up to.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Events(f64),
    Squares(f64),
}

impl Crowd {
    /// All keys alike.
    fn even(known: &Known) -> Self {
        Self {
            sum: Sum::Events(known.events.max(1) as f64),
            even: 1.0,
            keys: known.keys.max(1) as f64,
        }
    }

    /// By what counts add up to, with so much left for keys that did not occur.
    fn by_sum(known: &Known, absent: f64) -> impl Iterator<Item = Self> {
        let even = Self::even(known);
        let absent = if known.declared { absent.min(0.5) } else { 0.0 };
        let squares = known.norm.map(|norm| Sum::Squares(norm.powi(2).max(1.0)));
        [Some(even.sum), squares]
            .into_iter()
            .flatten()
            .map(move |sum| Self {
                sum,
                even: absent,
                ..even
            })
    }

    fn part(&self, count: u64) -> f64 {
        let count = count as f64;
        let share = match self.sum {
            Sum::Events(events) => count / events,
            Sum::Squares(squares) => count * count / squares,
        };
        self.even / self.keys + (1.0 - self.even) * share.min(1.0)
    }
}

/// Noise that reaches less far for frequent keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByCount {
    noise: Noise,
    crowd: Crowd,
    /// The least count that has noise.
    least: u64,
    /// The chance of failure to either side.
    failure: f64,
}

impl ByCount {
    /// The one that leaves least open at a threshold.
    fn new(noise: impl Into<Noise>, known: &Known, threshold: u64, failure: f64) -> Self {
        let noise = noise.into();
        // With this much, and a hair more for rounding, no key that did not occur passes.
        let absent = known.keys as f64 * noise.tail_in_floats(threshold) / failure * (1.0 + 1e-9);
        let by = |crowd| Self {
            noise,
            crowd,
            least: u64::from(!known.declared),
            failure,
        };
        let others = Crowd::by_sum(known, absent).map(by);
        let worth = |by_count: &Self| (by_count.low(threshold), Reverse(by_count.goes(threshold)));
        others.fold(by(Crowd::even(known)), |best, other| {
            if worth(&other) > worth(&best) { other } else { best }
        })
    }

    /// How far the noise of a key with this count goes.
    fn goes(&self, count: u64) -> u64 {
        let chance = self.failure * self.crowd.part(count);
        self.noise.reach_in_floats(chance).saturating_sub(1)
    }

    /// The least noisy count of a key with at least this count.
    fn least_noisy(&self, count: u64) -> u64 {
        count.saturating_sub(self.goes(count.max(1)))
    }

    /// How far the noise of each goes, where so many have the same part.
    fn shared_by(&self, keys: usize) -> u64 {
        let chance = self.failure / keys.max(1) as f64;
        self.noise.reach_in_floats(chance).saturating_sub(1)
    }

    /// From here on the greatest noisy count rises with the count.
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

    /// The least counts between one power of two and the next, before the greatest noisy count rises.
    fn powers(&self) -> impl Iterator<Item = u64> {
        let rising = self.rising();
        let all = (0..).map(|i| (1 << i) >> 1).skip(self.least as usize);
        all.take_while(move |power| *power < rising)
    }

    /// How far above a power of two, or 0, noisy counts of keys go that have less than the next: as if each had the highest count and the
    /// noise of the lowest.
    fn goes_from(&self, power: u64) -> u64 {
        self.goes(power) + power.saturating_sub(1)
    }

    fn over(&self, noisy: u64) -> u64 {
        let low = self.low(noisy);
        let powers = self.powers().filter(|power| *power >= low);
        powers
            .map(|power| self.goes_from(power))
            .fold(self.goes(low), u64::max)
    }

    fn high(&self, noisy: u64) -> u64 {
        let most = noisy.saturating_add(self.goes(noisy.max(1)));
        first(noisy, most, |count| {
            count + 1 > noisy.saturating_add(self.goes(count + 1))
        })
    }
}

/// The first of `from..=to` that has a property which all after it have; the last, if none before has it.
pub(crate) fn first(from: u64, to: u64, has: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from, to.max(from));
    while low < high {
        let middle = low + (high - low) / 2;
        if has(middle) {
            high = middle
        } else {
            low = middle + 1
        }
    }
    low
}

/// What can be said at a threshold before noise is drawn, and from where on noisy counts are worth a look, to say more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlook {
    /// The least noisy count that is looked at, no more than the threshold.
    pub least: u64,
    /// Whatever is seen.
    pub reach: Reach,
    sight: Option<Sight>,
}

impl Outlook {
    /// At a threshold, which is not below the floor, or for the top keys of those that reach it, with a chance of failure.
    pub fn new(
        noise: impl Into<Noise>,
        known: &Known,
        [floor, threshold]: [u64; 2],
        top: Option<u64>,
        failure: f64,
    ) -> Self {
        let noise = noise.into();
        let by_count = |part: f64| ByCount::new(noise, known, threshold, failure * part);
        let sight = Sight {
            all: by_count(BEFORE),
            seen: by_count(0.5 - BEFORE),
            floor,
            top,
        };
        let count = sight.all.low(threshold);
        let least = sight.all.least_noisy(count);
        if least < floor && top.is_none() {
            return Self {
                least: threshold,
                reach: Reach::ByCount(by_count(0.5)),
                sight: None,
            };
        }
        Self {
            least: least.max(floor).min(threshold),
            reach: Reach::alike(sight.before(count)),
            sight: Some(sight),
        }
    }

    /// What can be said when these noisy counts have been seen.
    pub fn having_seen(&self, noisy: impl Iterator<Item = u64>, threshold: u64) -> Reach {
        self.sight
            .map_or(self.reach, |sight| sight.having_seen(noisy.collect(), threshold))
    }
}

/// How the number of noisy counts that were seen tells how many keys can be listed.
#[derive(Clone, Copy, Debug)]
struct Sight {
    /// What is said of all keys.
    all: ByCount,
    /// What is said of those that can be listed.
    seen: ByCount,
    floor: u64,
    top: Option<u64>,
}

impl Sight {
    /// How far noise reaches if keys with lower counts are not listed.
    fn before(&self, count: u64) -> u64 {
        self.seen.goes(count.max(self.seen.least))
    }

    fn having_seen(&self, mut noisy: Vec<u64>, threshold: u64) -> Reach {
        let count = self.least_listed(&mut noisy, threshold);
        let least = self.all.least_noisy(count);
        if least < self.floor {
            return Reach::alike(self.before(count));
        }
        let keys = noisy.iter().filter(|noisy| **noisy >= least).count();
        Reach::alike(self.before(count).min(self.seen.shared_by(keys)))
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
    use crate::release::by_hand::{laplace, reach};

    const EPSILON: f64 = 1.0;

    fn known(events: u64, norm: Option<f64>, keys: u64, declared: bool) -> Known {
        Known {
            events,
            norm,
            keys,
            declared,
        }
    }

    /// `Pr[noise >= m]`.
    fn tail(m: u64) -> f64 {
        let p = (-EPSILON / 2.0).exp();
        p.powi(m as i32) / (1.0 + p)
    }

    /// The greatest chance, over streams whose keys all have one count or none, that some key is listed with a count below its
    /// interval: as many keys as there is room for, and the rest absent.
    fn untrue(known: &Known, reach: &Reach, threshold: u64) -> f64 {
        let chance = |count: u64| {
            let first = (threshold..).find(|noisy| reach.low(*noisy) > count).unwrap();
            tail(first - count)
        };
        let most = |count: u64| {
            let by_norm = known.norm.map_or(f64::MAX, |norm| (norm / count as f64).powi(2));
            (known.events as f64 / count as f64)
                .min(by_norm)
                .min(known.keys as f64)
        };
        let absent = |keys: f64| match known.declared {
            true => (known.keys as f64 - keys) * chance(0),
            false => 0.0,
        };
        (1..threshold + 200)
            .map(|count| most(count) * chance(count) + absent(most(count)))
            .fold(0.0, f64::max)
    }

    fn outlook(known: &Known, floor: u64, threshold: u64, top: Option<u64>) -> Outlook {
        Outlook::new(laplace(2, EPSILON), known, [floor, threshold], top, 0.1)
    }

    /// Of streams whose keys all stand at the worst count, an interval that is narrower by 1 would be untrue more often than stated, or at
    /// least more than half as often as the chance that is spent on it; as it is, never more often.
    #[test]
    fn intervals_by_count_are_as_narrow_as_the_worst_stream_allows() {
        for (known, threshold) in [
            (known(10_000, None, 10_000, false), 40),
            (known(1_000_000, None, 1_000_000, false), 40),
            (known(1_000_000, Some(9_000.0), 1_000_000, false), 40),
            (known(1_000_000, None, 400, false), 40),
            (known(20_000, None, 1_000, true), 1),
            (known(20_000, None, 1_000_000, true), 30),
            (known(1_000_000, Some(5_000.0), 100_000, true), 50),
        ] {
            let outlook = outlook(&known, threshold, threshold, None);
            assert_eq!(outlook.least, threshold, "nothing below is looked at");
            assert!(matches!(outlook.reach, Reach::ByCount(_)));
            let found = untrue(&known, &outlook.reach, threshold);
            assert!(found <= 0.05, "{known:?}: {found}");
            assert!(found > 0.05 / 10.0, "{known:?}: {found} is too careful");
        }
    }

    /// However high a noisy count is, its key's count is not further below than said of it and all that are higher.
    #[test]
    fn noise_reaches_no_further_above_than_it_does_here() {
        for (known, epsilon) in [
            (known(1_000_000, None, 1_000_000, false), 1.0),
            (known(10_000_000, None, 10_000_000, false), 0.05),
            (known(1_000, None, 100_000, true), 1.0),
            (known(100_000, Some(900.0), 100_000, true), 0.3),
        ] {
            let by_count = ByCount::new(laplace(2, epsilon), &known, 14, 0.05);
            let furthest = |noisy: u64| noisy - by_count.low(noisy);
            for noisy in 1..600 {
                let found = by_count.over(noisy);
                assert!(
                    (noisy..4_000).all(|other| furthest(other) <= found),
                    "{known:?} {noisy}: {found}"
                );
            }
        }
    }

    /// Of the top keys of many that are declared most may be absent: their noise counts.
    #[test]
    fn keys_that_did_not_occur_are_reckoned_with_among_the_top() {
        let known = known(1_000, None, 100_000, true);
        let outlook = outlook(&known, 1, 1, Some(10));
        // Half of two fifths of the chance, shared by all.
        let absent = reach(2.0, EPSILON, 0.1 * 0.4 / 2.0 / 1e5) - 1;
        let whole = reach(2.0, EPSILON, 0.1 * 0.4 / 1e5) - 1;
        let Reach::Alike { over, under } = outlook.having_seen([15; 40].into_iter(), 1) else {
            panic!("{outlook:?}")
        };
        assert!(
            [absent, whole].contains(&over) && over == under,
            "{over}: {absent} or {whole}"
        );
    }

    /// Down, a key is missed or listed too low by the same rule.
    #[test]
    fn a_frequent_key_is_missed_no_more_often_than_stated() {
        for events in [1_000_u64, 100_000, 10_000_000] {
            let known = known(events, None, events, false);
            let reach = outlook(&known, 40, 40, None).reach;
            let complete = reach.complete(40);
            let missed = |complete: u64| events as f64 / complete as f64 * tail(complete - 39);
            assert!(missed(complete) <= 0.05, "{events}: {complete} is too little");
            assert!(missed(complete - 1) > 0.05, "{events}: {complete} is too much");
        }
    }

    /// A key is few if it has much of the events: at a tenth of them its noise goes as far as that of one in ten keys.
    #[test]
    fn a_part_of_the_events_is_a_part_of_the_chance() {
        let by_count = ByCount::new(
            laplace(2, EPSILON),
            &known(1_000_000, None, 1_000_000, false),
            42,
            0.05,
        );
        for count in [1, 2, 50, 1_000, 100_000, 1_000_000] {
            let chance = 0.05 * count as f64 / 1e6;
            assert_eq!(
                by_count.goes(count),
                reach(2.0, EPSILON, chance).saturating_sub(1),
                "{count}"
            );
        }
        let squares = ByCount::new(
            laplace(2, EPSILON),
            &known(1_000_000, Some(1_000.0), 1_000_000, false),
            600,
            0.05,
        );
        assert_eq!(squares.goes(500), reach(2.0, EPSILON, 0.05 * 0.25) - 1);
        let few = ByCount::new(laplace(2, EPSILON), &known(1_000_000, None, 20, false), 42, 0.05);
        assert_eq!(few.goes(1), reach(2.0, EPSILON, 0.05 / 20.0) - 1);
        let declared = ByCount::new(laplace(2, EPSILON), &known(20_000, None, 1_000, true), 80, 0.05);
        // No more is left for absent keys than they need to stay below.
        assert_eq!(declared.goes(0), 79);
    }

    /// Ends of intervals are where they are by definition, found one by one: the least and the greatest count whose noise allows it.
    #[test]
    fn ends_of_intervals_are_the_least_and_the_greatest_count_that_noise_allows() {
        for known in [
            known(50_000, None, 50_000, false),
            known(50_000, Some(700.0), 3_000, true),
        ] {
            let by_count = ByCount::new(laplace(2, EPSILON), &known, 60, 0.02);
            let rising = 5;
            for noisy in 60..400 {
                let least = (by_count.least..)
                    .find(|count| count + by_count.goes(*count) >= noisy)
                    .unwrap();
                let low = by_count.low(noisy);
                assert!(
                    low == least || least < rising && low == by_count.least,
                    "{noisy}: {low} {least}"
                );
                let greatest = (noisy..)
                    .take_while(|count| count - by_count.goes(*count) <= noisy)
                    .last();
                assert_eq!(Some(by_count.high(noisy)), greatest, "{noisy}");
            }
        }
    }

    /// With much noise rare keys can show more than those that are a little less rare, because they may be many more.
    #[test]
    fn no_count_below_an_interval_can_have_been_the_one() {
        for known in [
            known(10_000_000, None, 10_000_000, false),
            known(10_000_000, Some(9_000.0), 1_000_000, true),
        ] {
            let by_count = ByCount::new(laplace(2, 0.05), &known, 900, 0.05);
            let mut falls = 0;
            for count in by_count.least..300 {
                let noisy = count + by_count.goes(count);
                assert!(by_count.low(noisy) <= count, "{known:?} {count}");
                falls += u32::from(count + 1 + by_count.goes(count + 1) < noisy);
            }
            assert!(falls > 0, "{known:?}: the test has no power");
        }
    }

    /// What is seen: the noise of 7 keys, each with a seventh of two fifths of the chance, and never further than foreseen.
    #[test]
    fn where_few_noisy_counts_are_seen_noise_reaches_less_far() {
        let known = known(1_000_000, None, 1_000_000, false);
        let outlook = outlook(&known, 42, 500, None);
        let Reach::Alike { over, under } = outlook.reach else {
            panic!("{outlook:?}")
        };
        // Of keys with fewer than `count` none passes, and those with more are seen, but for a tenth of the chance each.
        let goes = |count: u64, part: f64| reach(2.0, EPSILON, 0.1 * part * count as f64 / 1e6) - 1;
        let count = (5..500).find(|count| count + goes(*count, 0.1) >= 500).unwrap();
        assert_eq!(outlook.least, count - goes(count, 0.1));
        assert_eq!((over, under), (goes(count, 0.4), goes(count, 0.4)));
        let seen = |noisy: Vec<u64>| {
            let Reach::Alike { over, under } = outlook.having_seen(noisy.into_iter(), 500) else {
                panic!("{outlook:?}")
            };
            assert_eq!(over, under);
            over
        };
        let alike = |keys: f64| reach(2.0, EPSILON, 0.04 / keys) - 1;
        assert_eq!(seen(vec![outlook.least; 7]), alike(7.0));
        assert_eq!(seen(Vec::new()), alike(1.0));
        assert_eq!(seen(vec![900; 1_000_000]), over, "no further than foreseen");
        // Close to the floor nothing more can be seen.
        let close = self::outlook(&known, 42, outlook.least.min(60), None);
        assert!(matches!(close.reach, Reach::ByCount(_)));
    }

    /// The same of the top: from their last noisy count down to the least that a listed key may have had, and on to the least that such a
    /// key may show.
    #[test]
    fn of_the_top_keys_those_are_seen_that_may_have_been_among_them() {
        let known = known(1_000_000, None, 1_000_000, false);
        let outlook = outlook(&known, 42, 42, Some(3));
        let goes = |count: u64, part: f64| reach(2.0, EPSILON, 0.1 * part * count as f64 / 1e6) - 1;
        let low = |noisy: u64| (5..).find(|count| count + goes(*count, 0.1) >= noisy).unwrap();
        let step = |noisy: u64| low(noisy) - goes(low(noisy), 0.1);
        let last = 1_000;
        let count = low(step(last));
        let least = count - goes(count, 0.1);
        let seen = |others: Vec<u64>| match outlook.having_seen(others.into_iter(), 42) {
            Reach::Alike { over, under } if over == under => over,
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

    /// Gaussian noise goes as far as its own tail says, for every count, and ends of intervals are where they are by definition, but for
    /// the lower ones up to the power of two within which greatest noisy counts begin to rise.
    #[test]
    fn intervals_with_gaussian_noise_end_where_its_tail_says() {
        for (known, variance) in [
            (known(50_000, None, 50_000, false), 30),
            (known(50_000, Some(700.0), 3_000, true), 30),
            (known(1_000_000, Some(9_000.0), 1_000_000, false), 600),
        ] {
            let noise = gaussian(variance);
            let by_count = ByCount::new(noise, &known, 160, 0.02);
            for count in [1, 2, 9, 40, 300, 2_000] {
                let exact = noise.reach(0.02 * by_count.crowd.part(count)).saturating_sub(1);
                assert!((exact..=exact + 1).contains(&by_count.goes(count)), "{count}");
            }
            for noisy in 160..600 {
                let low = by_count.low(noisy);
                let least = (by_count.least..)
                    .find(|count| count + by_count.goes(*count) >= noisy)
                    .unwrap();
                assert!(low <= least, "{noisy}: {low} {least}");
                assert!(
                    low == least || least < 2 * by_count.rising(),
                    "{noisy}: {low} {least}"
                );
                let greatest = (noisy..)
                    .take_while(|count| count - by_count.goes(*count) <= noisy)
                    .last();
                assert_eq!(Some(by_count.high(noisy)), greatest, "{noisy}");
            }
        }
    }

    /// From `2/h` on the greatest noisy count never falls, where parts are as the squares of counts, and just below it can.
    #[test]
    fn greatest_noisy_counts_rise_where_they_are_said_to() {
        for variance in [4, 30, 600, 40_000] {
            let noise = gaussian(variance);
            // Where there is little noise, no count is low enough.
            let mut falls_before = usize::from(variance < 30);
            for failure in [0.9, 0.3, 0.05, 1e-4] {
                for most in [60.0, 1_000.0, 30_000.0] {
                    let by_count = ByCount {
                        noise,
                        crowd: Crowd {
                            sum: Sum::Squares(most * most),
                            even: 0.0,
                            keys: 1.0,
                        },
                        least: 1,
                        failure,
                    };
                    let shows = |count: u64| count + by_count.goes(count);
                    let falls = |count: &u64| shows(count + 1) < shows(*count);
                    let rising = by_count.rising();
                    assert_eq!(
                        (rising..rising + 400).find(falls),
                        None,
                        "{variance} {failure} {most}"
                    );
                    falls_before += (1..rising).filter(falls).count();
                }
            }
            assert!(falls_before > 0, "{variance}: the test has no power");
        }
    }

    #[test]
    fn counts_below_an_interval_cannot_have_been_the_one_with_gaussian_noise() {
        let known = known(10_000_000, Some(9_000.0), 1_000_000, true);
        let by_count = ByCount::new(gaussian(1_600), &known, 300, 0.05);
        for count in by_count.least..400 {
            let noisy = count + by_count.goes(count);
            assert!(by_count.low(noisy) <= count, "{count}");
            assert!(by_count.over(noisy) >= noisy - by_count.low(noisy), "{count}");
        }
    }
}
