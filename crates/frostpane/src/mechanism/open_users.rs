//! The least threshold that hides all keys of one user: [the
//! proof](crate::proofs::threshold#open-keys-of-users).

use crate::enclosure::Enclosure;
use crate::noise::discrete_gaussian::surely_at_most;
use crate::noise::{DiscreteGaussian, Noise};
use crate::privacy::{Bounds, Epsilon};
use crate::search::first_near;

/// Numbers of keys are tried one by one up to this; beyond it in blocks of this part of them.
const ONE_BY_ONE: u32 = 16;

/// For `first..=last` keys that only one user has, a bound on the delta of the noise of that user's
/// other keys.
#[derive(Clone, Copy, Debug)]
struct KeyCountBlock {
    last: u32,
    /// The delta of the other keys when `first` keys are only the user's.
    delta: f64,
}

/// The privacy of a user's keys that others have too, for every number of keys that only the user has.
#[derive(Clone, Debug)]
pub struct SharedKeys(Vec<KeyCountBlock>);

impl SharedKeys {
    /// Without a delta, as with Laplace noise: it is worst that no key is shared.
    pub fn pure(bounds: Bounds) -> Self {
        Self(vec![KeyCountBlock { last: bounds.per_user, delta: 0.0 }])
    }

    /// With the delta of Gaussian noise on the shared keys.
    pub fn of_gaussian(gaussian: &DiscreteGaussian, bounds: Bounds, epsilon: Epsilon) -> Self {
        let shared = |own: u32| gaussian.delta(bounds.per_user - own, bounds.per_key, epsilon);
        let blocks =
            blocks(bounds.per_user).map(|[first, last]| KeyCountBlock { last, delta: shared(first) });
        Self(blocks.collect())
    }

    /// An approximation to the largest probability with which each key may be named; not above 0 if
    /// there is none.
    fn chance(&self, delta: f64) -> f64 {
        let chances = self.0.iter().map(|block| (delta - block.delta) / f64::from(block.last));
        chances.fold(1.0, f64::min)
    }
}

/// The numbers from 1 to `most`, in blocks.
fn blocks(most: u32) -> impl Iterator<Item = [u32; 2]> {
    let last = move |first: u32| first.saturating_add(first / ONE_BY_ONE).min(most);
    let next = move |[_, last]: &[u32; 2]| last.checked_add(1).filter(|first| *first <= most);
    let first = (most > 0).then(|| [1, last(1)]);
    std::iter::successors(first, move |block| next(block).map(|first| [first, last(first)]))
}

/// The least threshold of at least `per_key` at which `1 - (1 - d)^k (1 - delta_s) <= delta` for every number
/// `k` of keys that only one user has, where `d` is the probability that a count of `per_key` reaches it, and
/// `delta_s` the delta of the shared keys. `None` if the shared keys leave nothing of delta.
pub fn least_threshold(noise: Noise, bounds: Bounds, shared: &SharedKeys, delta: f64) -> Option<u64> {
    let chance = shared.chance(delta);
    if chance <= 0.0 {
        return None;
    }
    // Delta holds where keys lie below the threshold by `reach`.
    let hides = |reach: u64| surely_at_most(|bits| worst(&noise.tail(reach, bits), &shared.0), delta);
    let reach = first_near(noise.reach_in_floats(chance), hides);
    Some(reach + u64::from(bounds.per_key))
}

/// The largest probability over all blocks, where each key is named with probability `named`.
fn worst(named: &Enclosure, blocks: &[KeyCountBlock]) -> Enclosure {
    let hidden = named.complement();
    let bits = named.bits;
    let none = Enclosure::of_float(0.0, bits);
    blocks.iter().fold(none, |worst, block| {
        let shared = Enclosure::of_float(block.delta, bits).complement();
        let chance = hidden.power(u64::from(block.last)).times(&shared).complement();
        Enclosure { low: worst.low.max(chance.low), high: worst.high.max(chance.high), bits }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Threshold;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn blocks_are_all_numbers_once_and_never_much_longer_than_they_are_far() {
        for most in [1, 2, 15, 16, 17, 31, 32, 33, 100, 10_000, u32::MAX] {
            let mut next = 1_u64;
            for [first, last] in blocks(most) {
                assert_eq!(u64::from(first), next);
                assert!(last >= first && (last - first) <= first / 16, "{first} {last}");
                next = u64::from(last) + 1;
            }
            assert_eq!(next, u64::from(most) + 1);
        }
        assert!(blocks(10_000).count() < 150);
    }

    /// The deviations and thresholds of both distributions, and the choice, at epsilon 1 and delta 1e-9.
    #[test]
    fn the_lower_threshold_wins() {
        for (per_user, laplace, gaussian) in
            [(1, (1.36, 22), (5.5, 35)), (5, (7.06, 110), (12.3, 79)), (20, (28.3, 463), (24.6, 161))]
        {
            let bounds = Bounds::new(per_user);
            let of = |found: Threshold| (found.noise().variance().sqrt(), found.value());
            let by_laplace = of(Threshold::by_laplace(bounds, epsilon(1.0), 1e-9));
            let by_gaussian = of(Threshold::by_gaussian(bounds, epsilon(1.0), 1e-9).unwrap());
            for (found, expected) in [(by_laplace, laplace), (by_gaussian, gaussian)] {
                assert!((found.0 - expected.0).abs() < 0.05, "{per_user}: {found:?}");
                assert_eq!(found.1, expected.1, "{per_user}");
            }
            let taken = Threshold::for_users(bounds, epsilon(1.0), 1e-9);
            assert_eq!(taken.value(), laplace.1.min(gaussian.1));
            assert_eq!(matches!(taken.noise(), Noise::Gaussian(_)), per_user > 1);
        }
        // No Gaussian variance is offered here.
        let taken = Threshold::for_users(Bounds::new(3), epsilon(1e-6), 1e-9);
        assert!(matches!(taken.noise(), Noise::Laplace(_)));
    }

    /// `Pr[X >= m]`, by summation.
    fn tail(noise: &Noise, m: i64) -> f64 {
        match u64::try_from(m) {
            Ok(m) => noise.tail(m, 128).approximate(),
            Err(_) => 1.0 - noise.tail(m.unsigned_abs() + 1, 128).approximate(),
        }
    }

    /// The probabilities of all outputs of one key at a threshold, from its counts with and without the user.
    fn shown(noise: &Noise, threshold: u64, counts: [u64; 2]) -> Vec<[f64; 2]> {
        let reaches = |count: u64, value: u64| match count {
            0 => 0.0,
            count => tail(noise, value as i64 - count as i64),
        };
        let at_least = |value: u64| counts.map(|count| reaches(count, value));
        let last = threshold + 4 * noise.variance().sqrt() as u64 + 8;
        let mut shown = vec![at_least(threshold).map(|reaches| 1.0 - reaches), at_least(last)];
        for value in threshold..last {
            let (here, next) = (at_least(value), at_least(value + 1));
            shown.push([here[0] - next[0], here[1] - next[1]]);
        }
        shown
    }

    /// The delta of a user with these keys, over all outputs, in the worse direction.
    fn enumerated(noise: &Noise, threshold: u64, keys: &[[u64; 2]], epsilon: f64) -> f64 {
        let mut all = vec![[1.0, 1.0]];
        for counts in keys {
            let shown = shown(noise, threshold, *counts);
            let pairs = all.iter().flat_map(|[p, q]| shown.iter().map(move |[r, s]| [p * r, q * s]));
            all = pairs.collect();
        }
        let part = |p: f64, q: f64| (p - epsilon.exp() * q).max(0.0);
        let sum = |of: &dyn Fn(&[f64; 2]) -> f64| all.iter().map(of).sum::<f64>();
        sum(&|[p, q]| part(*p, *q)).max(sum(&|[p, q]| part(*q, *p)))
    }

    /// The worst of all mixtures of keys that only the user has, at most often or once, and of shared
    /// keys, far below the threshold, next to it or above.
    fn worst_mixture(noise: &Noise, threshold: u64, bounds: Bounds, epsilon: f64) -> f64 {
        let most = u64::from(bounds.per_key);
        let mut kinds = vec![[most, 0], [1, 0]];
        for others in [1, threshold.saturating_sub(most).max(1), threshold, threshold + 9] {
            kinds.push([others + most, others]);
        }
        let number = kinds.len().pow(bounds.per_user);
        let keys = |number: usize| -> Vec<[u64; 2]> {
            let kind = |key: u32| kinds[number / kinds.len().pow(key) % kinds.len()];
            (0..bounds.per_user).map(kind).collect()
        };
        // The order of keys does not matter.
        let sorted = (0..number).map(keys).filter(|keys| keys.is_sorted());
        sorted.map(|keys| enumerated(noise, threshold, &keys, epsilon)).fold(0.0, f64::max)
    }

    /// All outputs for one to three keys: no mixture of them exceeds delta, and a threshold of one less
    /// would.
    #[test]
    fn thresholds_of_both_kinds_are_the_least_that_hide_every_mixture_of_keys() {
        for (per_user, per_key, given, delta) in
            [(1, 1, 1.0, 0.01), (1, 3, 0.8, 0.02), (2, 1, 1.0, 0.01), (2, 2, 1.5, 0.003), (3, 1, 1.5, 0.001)]
        {
            let bounds = Bounds::new(per_user).per_key(per_key);
            let laplace = Threshold::by_laplace(bounds, epsilon(given), delta);
            for threshold in [laplace, Threshold::by_gaussian(bounds, epsilon(given), delta).unwrap()] {
                let worst = |value| worst_mixture(threshold.noise(), value, bounds, given);
                let found = worst(threshold.value());
                assert!(found <= delta * (1.0 + 1e-9), "{bounds:?} {threshold:?}: {found}");
                let less = worst(threshold.value() - 1);
                assert!(less > delta, "{bounds:?} {threshold:?}: {less}");
            }
        }
    }

    /// For every number of the user's own keys: shared keys take no more delta than their block
    /// assumes, and exactly as much for its first.
    #[test]
    fn a_block_assumes_the_delta_of_its_first_and_the_power_of_its_last() {
        let bounds = Bounds::new(120);
        let gaussian = DiscreteGaussian::for_keys(120, 1, epsilon(1.0), 1e-6).unwrap();
        let shared = SharedKeys::of_gaussian(&gaussian, bounds, epsilon(1.0));
        let delta = |own: u32| gaussian.delta(120 - own, 1, epsilon(1.0));
        let mut first = 1;
        for block in &shared.0 {
            assert_eq!(block.delta, delta(first));
            assert!((first..=block.last).all(|own| delta(own) <= block.delta));
            first = block.last + 1;
        }
        assert_eq!(first, 121);
        let found = worst(&Enclosure::of_float(0.25, 128), &[KeyCountBlock { last: 3, delta: 0.5 }]);
        assert_eq!(found.at_most(1.0 - 0.5 * 0.75_f64.powi(3)), Some(true));
        assert_eq!(found.at_most((1.0 - 0.5 * 0.75_f64.powi(3)).next_down()), Some(false));
    }

    /// Compared with giving all of delta to the noise, each number of keys treated separately.
    #[test]
    fn blocks_cost_nothing_that_can_be_seen() {
        for (per_user, per_key, given) in [(40, 1, 1.0), (150, 2, 3.0), (300, 1, 0.5)] {
            let bounds = Bounds::new(per_user).per_key(per_key);
            let found = Threshold::by_gaussian(bounds, epsilon(given), 1e-9).unwrap();
            let Noise::Gaussian(gaussian) = *found.noise() else { panic!("{found:?}") };
            let each = (1..=per_user).map(|own| KeyCountBlock {
                last: own,
                delta: gaussian.delta(per_user - own, per_key, epsilon(given)),
            });
            let each = SharedKeys(each.collect());
            assert_eq!(
                Some(found.value()),
                least_threshold(*found.noise(), bounds, &each, 1e-9),
                "{per_user}"
            );
        }
    }

    /// The condition in floats, for both distributions and up to ten thousand keys.
    #[test]
    fn a_threshold_is_the_least_that_its_condition_allows() {
        for (per_user, per_key) in [(1, 1), (7, 3), (400, 1), (10_000, 1)] {
            let bounds = Bounds::new(per_user).per_key(per_key);
            let laplace = Threshold::by_laplace(bounds, epsilon(1.0), 1e-9);
            for threshold in [laplace, Threshold::by_gaussian(bounds, epsilon(1.0), 1e-9).unwrap()] {
                let named = |value: u64| tail(threshold.noise(), value as i64 - i64::from(per_key));
                let any = |value: u64| -(f64::from(per_user) * (-named(value)).ln_1p()).exp_m1();
                assert!(any(threshold.value()) <= 1e-9, "{per_user} {threshold:?}");
                assert!(any(threshold.value() - 1) > 1e-9, "{per_user} {threshold:?}");
            }
        }
    }

    #[test]
    fn where_shared_keys_take_all_of_delta_there_is_no_threshold() {
        let bounds = Bounds::new(2);
        let noise = Threshold::by_laplace(bounds, epsilon(1.0), 1e-9).noise().to_owned();
        let shared =
            |delta| SharedKeys(vec![KeyCountBlock { last: 1, delta }, KeyCountBlock { last: 2, delta: 0.0 }]);
        assert_eq!(least_threshold(noise, bounds, &shared(1e-9), 1e-9), None);
        assert!(
            least_threshold(noise, bounds, &shared(0.9e-9), 1e-9)
                > least_threshold(noise, bounds, &shared(0.0), 1e-9)
        );
    }
}
