#![doc = include_str!("threshold.md")]

use std::collections::HashSet;

use crate::error::Result;
use crate::mechanism::open_users::{SharedKeys, least_threshold};
use crate::noise::binomial::binomial;
use crate::noise::{DiscreteGaussian, DiscreteLaplace, Entropy, Inversion, Noise};
use crate::privacy::{Bounds, Epsilon, Unit};

/// The most absent keys that noise alone may be expected to list. A larger universe gets a higher threshold.
pub const MOST_EXPECTED_FROM_NOISE: u64 = 1_000_000;

/// The least noisy count that is listed, tied to the noise it was computed from. It can be raised,
/// never lowered, and only it can draw the noise of the counts that it is applied to.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    noise: Noise,
    value: u64,
}

impl Threshold {
    /// For open keys: the least threshold that a key which occurred once reaches with probability at
    /// most `delta`.
    pub fn for_open_keys(noise: impl Into<Noise>, delta: f64) -> Self {
        let noise = noise.into();
        Self { noise, value: 1 + noise.reach(delta) }
    }

    /// For open keys of users who contribute within these bounds: the noise and the least threshold that hide
    /// all keys of one user at once. Takes Laplace or Gaussian noise, whichever has the lower threshold; the
    /// choice follows from the bounds, epsilon and delta alone. A delta of 0 counts as the smallest float.
    pub fn for_users(bounds: Bounds, epsilon: Epsilon, delta: f64) -> Self {
        let delta = delta.max(f64::MIN_POSITIVE);
        let laplace = Self::by_laplace(bounds, epsilon, delta);
        let gaussian = Self::by_gaussian(bounds, epsilon, delta);
        gaussian.filter(|gaussian| gaussian.value < laplace.value).unwrap_or(laplace)
    }

    pub(super) fn by_laplace(bounds: Bounds, epsilon: Epsilon, delta: f64) -> Self {
        let laplace = DiscreteLaplace::new(Unit::User(bounds).counts(), epsilon);
        Self {
            noise: laplace.into(),
            // A delta above 0 always leaves something.
            value: least_threshold(laplace.into(), bounds, &SharedKeys::pure(bounds), delta)
                .unwrap_or(u64::MAX),
        }
    }

    /// `None` if no such Gaussian noise is offered.
    pub(super) fn by_gaussian(bounds: Bounds, epsilon: Epsilon, delta: f64) -> Option<Self> {
        let gaussian = DiscreteGaussian::for_keys(bounds.per_user, bounds.per_key, epsilon, delta)?;
        let shared = SharedKeys::of_gaussian(&gaussian, bounds, epsilon);
        let value = least_threshold(gaussian.into(), bounds, &shared, delta)?;
        Some(Self { noise: gaussian.into(), value })
    }

    /// For a declared universe: the least threshold that does not flood the list with noise.
    pub fn for_declared_keys(noise: DiscreteLaplace, size: u64) -> Self {
        let chance = MOST_EXPECTED_FROM_NOISE as f64 / size as f64;
        Self { noise: noise.into(), value: noise.reach(chance).max(1) }
    }

    /// For audits: one too low, so it names a key that occurred once more often than delta allows.
    pub(crate) fn less_one(self) -> Self {
        Self { value: (self.value - 1).max(1), ..self }
    }

    /// For audits: as if the noise were continuous, `Pr[1 + X >= tau] = exp(-(tau - 1)/scale)/2 <= delta`.
    pub(crate) fn of_continuous(noise: DiscreteLaplace, delta: f64) -> Self {
        let reach = -noise.scale() * (2.0 * delta).min(1.0).ln();
        Self { noise: noise.into(), value: 1 + reach.ceil() as u64 }
    }

    /// Raises the threshold to at least `value`.
    pub fn raised_to(self, value: u64) -> Self {
        Self { value: self.value.max(value), ..self }
    }

    /// The least noisy count that is listed; at least 1.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The noise that counts receive.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Adds fresh, independent noise to every count and returns those that reach the threshold, with
    /// their noisy counts, in no order: distributed exactly as if each key had drawn a value of its own
    /// ([why](crate::proofs::threshold#drawing-only-what-is-listed)). Fails only if the entropy source
    /// fails, and then returns nothing.
    pub fn select<T: Copy>(
        &self,
        counts: impl IntoIterator<Item = (T, u64)>,
        entropy: &mut impl Entropy,
    ) -> Result<Vec<(T, u64)>> {
        match self.noise {
            Noise::Laplace(laplace) => Jointly { laplace, value: self.value }.select(counts, entropy),
            Noise::Gaussian(gaussian) => {
                let sampler = Inversion::new(gaussian);
                let mut passed = Vec::new();
                for (key, count) in counts {
                    let noisy = noisy_if_passing(count, sampler.sample(entropy)?, self.value);
                    passed.extend(noisy.map(|noisy| (key, noisy)));
                }
                Ok(passed)
            }
        }
    }

    /// The same for `absent` keys with a count of 0: returns which of the numbers below `absent` reach
    /// the threshold, with their noisy counts. With Laplace noise it takes time proportional to their
    /// number, not to `absent`.
    pub fn select_absent(&self, absent: u64, entropy: &mut impl Entropy) -> Result<Vec<(u64, u64)>> {
        match self.noise {
            Noise::Laplace(laplace) => Jointly { laplace, value: self.value }.select_absent(absent, entropy),
            Noise::Gaussian(_) => self.select((0..absent).map(|number| (number, 0)), entropy),
        }
    }
}

fn noisy_if_passing(count: u64, noise: i64, threshold: u64) -> Option<u64> {
    let noisy = (count as i64).saturating_add(noise);
    u64::try_from(noisy).ok().filter(|&noisy| noisy >= threshold)
}

/// Laplace noise of many keys, drawn only for keys that pass.
struct Jointly {
    laplace: DiscreteLaplace,
    value: u64,
}

impl Jointly {
    fn select<T: Copy>(
        &self,
        counts: impl IntoIterator<Item = (T, u64)>,
        entropy: &mut impl Entropy,
    ) -> Result<Vec<(T, u64)>> {
        let mut passed = Vec::new();
        let mut below: Vec<Vec<(T, u64)>> = (0..u64::BITS).map(|_| Vec::new()).collect();
        for (key, count) in counts {
            if count < self.value {
                let distance = self.value - count;
                below[distance.ilog2() as usize].push((key, distance));
            } else if let Some(noisy) = noisy_if_passing(count, self.laplace.sample(entropy)?, self.value) {
                passed.push((key, noisy));
            }
        }
        for (exponent, group) in below.into_iter().enumerate() {
            self.select_below(1 << exponent, &group, entropy, &mut passed)?;
        }
        Ok(passed)
    }

    fn select_absent(&self, absent: u64, entropy: &mut impl Entropy) -> Result<Vec<(u64, u64)>> {
        self.passing(absent, self.value, entropy)?
            .into_iter()
            .map(|number| Ok((number, self.value + self.laplace.magnitude(entropy)?)))
            .collect()
    }

    /// The same for keys that lie below the threshold by at least `nearest` and less than twice that.
    fn select_below<T: Copy>(
        &self,
        nearest: u64,
        group: &[(T, u64)],
        entropy: &mut impl Entropy,
        passed: &mut Vec<(T, u64)>,
    ) -> Result<()> {
        if group.is_empty() {
            return Ok(());
        }
        for number in self.passing(group.len() as u64, nearest, entropy)? {
            let (key, distance) = group[number as usize];
            if self.laplace.survives(distance - nearest, entropy)? {
                passed.push((key, self.value + self.laplace.magnitude(entropy)?));
            }
        }
        Ok(())
    }

    /// The keys, of `keys` keys at `distance >= 1` below the threshold, that reach it: each with
    /// probability `Pr[X >= distance]`, independently.
    fn passing(&self, keys: u64, distance: u64, entropy: &mut impl Entropy) -> Result<HashSet<u64>> {
        let count = binomial(keys, |bits| self.laplace.tail(distance, bits), entropy)?;
        subset(keys, count, entropy)
    }
}

/// A set of `count` distinct integers below `n`, all such sets equally likely (Floyd's algorithm).
fn subset(n: u64, count: u64, entropy: &mut impl Entropy) -> Result<HashSet<u64>> {
    let mut chosen = HashSet::with_capacity(count as usize);
    for last in n - count..n {
        let candidate = entropy.below(last + 1)?;
        if !chosen.insert(candidate) {
            chosen.insert(last);
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::InsecureSeededEntropy;

    fn noise(epsilon: f64) -> DiscreteLaplace {
        DiscreteLaplace::new(2, Epsilon::new(epsilon).unwrap())
    }

    /// One key for each distance, so that each is drawn alone: a coin with the tail at the power of two
    /// below its distance, then the rest of the distance, then the excess.
    #[test]
    fn a_key_below_the_threshold_passes_by_the_tail_of_its_distance() {
        let threshold = Threshold { noise: noise(0.7).into(), value: 9 };
        let mut passed = 0;
        for (count, nearest, rest) in
            [(8, 1, 0), (7, 2, 0), (6, 2, 1), (5, 4, 0), (2, 4, 3), (1, 8, 0), (0, 8, 1)]
        {
            for seed in 0..60 {
                let (mut entropy, mut again) =
                    (InsecureSeededEntropy::new(seed), InsecureSeededEntropy::new(seed));
                let found = threshold.select([('k', count)], &mut entropy).unwrap();
                let laplace = noise(0.7);
                let coin = binomial(1, |bits| laplace.tail(nearest, bits), &mut again).unwrap() == 1;
                // Choosing one of one still reads a word.
                let passes =
                    coin && again.below(1).unwrap() == 0 && laplace.survives(rest, &mut again).unwrap();
                let expected = passes.then(|| ('k', 9 + laplace.magnitude(&mut again).unwrap()));
                assert_eq!(found, Vec::from_iter(expected), "count {count}, seed {seed}");
                passed += found.len();
                assert_eq!(entropy.word().unwrap(), again.word().unwrap());
            }
        }
        assert!(passed > 50, "{passed}");
    }

    #[test]
    fn a_key_at_the_threshold_or_above_has_a_noise_of_its_own() {
        let threshold = Threshold { noise: noise(0.7).into(), value: 9 };
        for (count, seed) in (9..13).flat_map(|count| (0..60).map(move |seed| (count, seed))) {
            let (mut entropy, mut again) =
                (InsecureSeededEntropy::new(seed), InsecureSeededEntropy::new(seed));
            let found = threshold.select([('k', count)], &mut entropy).unwrap();
            let noisy = count as i64 + noise(0.7).sample(&mut again).unwrap();
            assert_eq!(found, Vec::from_iter((noisy >= 9).then_some(('k', noisy as u64))));
            assert_eq!(entropy.word().unwrap(), again.word().unwrap());
        }
    }

    /// Absent keys lie below by the whole threshold. Their numbers are distinct, and their excesses
    /// drawn one by one.
    #[test]
    fn absent_keys_pass_by_the_tail_at_the_threshold() {
        let threshold = Threshold { noise: noise(0.7).into(), value: 5 };
        for seed in 0..20 {
            let (mut entropy, mut again) =
                (InsecureSeededEntropy::new(seed), InsecureSeededEntropy::new(seed));
            let mut found = threshold.select_absent(300, &mut entropy).unwrap();
            let laplace = noise(0.7);
            let count = binomial(300, |bits| laplace.tail(5, bits), &mut again).unwrap();
            let numbers = subset(300, count, &mut again).unwrap();
            let mut excesses: Vec<u64> = (0..count).map(|_| laplace.magnitude(&mut again).unwrap()).collect();
            assert_eq!(entropy.word().unwrap(), again.word().unwrap());
            let mut above: Vec<u64> = found.iter().map(|(_, noisy)| noisy - 5).collect();
            above.sort_unstable();
            excesses.sort_unstable();
            assert_eq!(above, excesses);
            found.sort_unstable();
            let mut expected: Vec<u64> = numbers.into_iter().collect();
            expected.sort_unstable();
            assert!(found.iter().map(|(number, _)| *number).eq(expected));
        }
    }

    /// All 6 subsets of 2 out of 4, 60,000 draws: each 10,000 expected, 6 standard deviations allowed
    /// (false alarm below 1e-7).
    #[test]
    fn subsets_are_uniform() {
        let mut entropy = InsecureSeededEntropy::new(5);
        let mut seen = std::collections::HashMap::new();
        for _ in 0..60_000 {
            let mut set: Vec<u64> = subset(4, 2, &mut entropy).unwrap().into_iter().collect();
            set.sort_unstable();
            *seen.entry(set).or_insert(0_i64) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|times| (times - 10_000).abs() < 548), "{seen:?}");
    }

    /// The joint draw, for counts on both sides of the threshold: the frequency of each key and the sum
    /// of the excesses of those from below, against their probabilities. 20,000 runs; 6 standard errors
    /// (false alarm below 1e-7).
    #[test]
    fn the_joint_draw_has_the_distribution_of_a_value_a_key() {
        let threshold = Threshold { noise: noise(1.0).into(), value: 7 };
        let counts = [0_u64, 0, 1, 3, 4, 5, 6, 6, 7, 9];
        let runs = 20_000;
        let mut entropy = InsecureSeededEntropy::new(11);
        let mut passed = [(0.0, 0.0); 10];
        for _ in 0..runs {
            for (key, noisy) in threshold.select(counts.into_iter().enumerate(), &mut entropy).unwrap() {
                passed[key].0 += 1.0;
                passed[key].1 += (noisy - 7) as f64;
            }
        }
        let p = (-0.5_f64).exp();
        for ((times, excess), count) in passed.into_iter().zip(counts) {
            let tail = |m: i32| p.powi(m) / (1.0 + p);
            let chance = if count < 7 { tail(7 - count as i32) } else { 1.0 - tail(count as i32 - 6) };
            let expected = f64::from(runs) * chance;
            let spread = 6.0 * (expected * (1.0 - chance)).sqrt();
            assert!((times - expected).abs() <= spread, "{count}: {times} passed, {expected} expected");
            let (mean, spread) = (times * p / (1.0 - p), 6.0 * (times * p).sqrt() / (1.0 - p));
            assert!(
                count >= 7 || (excess - mean).abs() <= spread,
                "{count}: excess {excess}, {mean} expected"
            );
        }
    }

    /// A universe in which exactly a million keys are expected from noise, and one with one key more.
    #[test]
    fn a_universe_is_flooded_from_a_million_keys_of_noise_on() {
        let noise = noise(1.0);
        let p = (-0.5_f64).exp();
        for m in [5, 20] {
            let size = (1e6 * (1.0 + p) / p.powi(m)).floor() as u64;
            assert_eq!(Threshold::for_declared_keys(noise, size).value(), m as u64);
            assert_eq!(Threshold::for_declared_keys(noise, size + 1).value(), m as u64 + 1);
        }
        assert_eq!(Threshold::for_declared_keys(noise, 1).value(), 1);
    }

    #[test]
    fn a_key_may_lie_below_by_all_that_a_count_can_hold() {
        let noise = noise(1.0).into();
        for value in [1 << 40, 1 << 62, 1 << 63, u64::MAX] {
            let threshold = Threshold { noise, value };
            let entropy = &mut InsecureSeededEntropy::new(1);
            assert_eq!(threshold.select([('k', 0), ('l', 1)], entropy).unwrap(), []);
        }
    }

    /// One value for each key, in order, from one table.
    #[test]
    fn with_gaussian_noise_every_key_has_a_value_of_its_own() {
        let gaussian = DiscreteGaussian::new(30, 1).unwrap();
        let threshold = Threshold { noise: gaussian.into(), value: 9 };
        let sampler = Inversion::new(gaussian);
        for seed in 0..40 {
            let (mut entropy, mut again) =
                (InsecureSeededEntropy::new(seed), InsecureSeededEntropy::new(seed));
            let counts = [1, 5, 8, 9, 10, 40, 0];
            let found = threshold.select(counts.into_iter().enumerate(), &mut entropy).unwrap();
            let noisy = counts.map(|count| count as i64 + sampler.sample(&mut again).unwrap());
            let all = noisy.into_iter().enumerate();
            let expected = all.filter(|(_, noisy)| *noisy >= 9).map(|(key, noisy)| (key, noisy as u64));
            assert_eq!(found, Vec::from_iter(expected));
            let found = threshold.select_absent(7, &mut entropy).unwrap();
            let noisy = (0..7).map(|number| (number, sampler.sample(&mut again).unwrap()));
            let expected = noisy.filter(|(_, noisy)| *noisy >= 9).map(|(key, noisy)| (key, noisy as u64));
            assert_eq!(found, Vec::from_iter(expected));
        }
    }
}
