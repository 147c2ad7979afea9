//! The discrete Laplace distribution from one random word, exactly.
//!
//! Inversion with lazily refined bits. Let `U` be uniform in `[0, 1)`, and `P_m = Pr[|X| >= m]`, which falls with
//! `m`. Then `|X|` is the number of `m >= 1` with `U < P_m`, and a further bit is its sign. Of `U` the first 63 bits
//! are looked at; a table holds the floor and the ceiling of `2^63 P_m`, from enclosures. Only if a bound leaves open on
//! which side `U` lies, which happens with a chance of about `2^-63` for each `m`, are more bits drawn and the
//! enclosure refined, until it is decided: a transcendental number is never met. So every probability is exact, and a
//! value takes one word and a look into a table.

use dashu_int::UBig;

use crate::error::Result;
use crate::noise::DiscreteLaplace;
use crate::noise::Entropy;
use crate::noise::enclosure::Enclosure;

const BITS: usize = 63;
const TABLE_BITS: usize = 192;

/// A sampler with a table.
#[derive(Clone, Debug)]
pub struct Inversion {
    laplace: DiscreteLaplace,
    /// The floor and the ceiling of `2^63 Pr[|X| >= m]`, for `m` from 1 to the first floor of 0.
    bounds: Vec<(u64, u64)>,
}

impl Inversion {
    /// The table of a distribution: about 44 entries for each unit of its scale.
    pub fn new(laplace: DiscreteLaplace) -> Self {
        Self::from_bits(laplace, TABLE_BITS)
    }

    /// From enclosures of so many bits. With fewer, more is left open and the values are the same.
    fn from_bits(laplace: DiscreteLaplace, bits: usize) -> Self {
        let mut bounds = Vec::new();
        let ratio = laplace.decay(bits);
        // Pr[|X| >= 1] = 2q/(1+q); each further m costs a factor q.
        let mut probability = twice(&laplace.tail(1, bits));
        loop {
            let floor = word(&(&probability.low >> (bits - BITS)));
            let ceiling = word(&(&probability.high >> (bits - BITS))) + 1;
            bounds.push((floor, ceiling));
            if floor == 0 {
                return Self { laplace, bounds };
            }
            probability = probability.times(&ratio);
        }
    }

    /// How much memory the table takes.
    pub fn bytes(&self) -> u64 {
        (self.bounds.len() * size_of::<(u64, u64)>()) as u64
    }

    /// A value of the distribution that the table is of, with exactly its probabilities, from one word of entropy, or more where
    /// that leaves it open. Equal words give equal values. Errs only if the source of entropy does.
    #[inline]
    pub fn sample(&self, entropy: &mut impl Entropy) -> Result<i64> {
        let bits = entropy.word()?;
        let (uniform, negative) = (bits >> 1, bits & 1 == 1);
        let surely = self.bounds.partition_point(|(floor, _)| uniform < *floor);
        let magnitude = match self.bounds.get(surely) {
            Some((_, ceiling)) if uniform < *ceiling => self.refine(uniform, surely as u64, entropy)?,
            _ => surely as u64,
        };
        Ok(if negative {
            -(magnitude as i64)
        } else {
            magnitude as i64
        })
    }

    /// Draws more bits until it is clear how many `P_m` lie above the uniform number.
    #[cold]
    fn refine(&self, uniform: u64, mut magnitude: u64, entropy: &mut impl Entropy) -> Result<u64> {
        let (mut uniform, mut bits) = (UBig::from(uniform), BITS);
        loop {
            let bound = twice(&self.laplace.tail(magnitude + 1, bits + 64));
            let (low, high) = (&bound.low >> 64, (&bound.high >> 64) + UBig::ONE);
            if uniform < low {
                magnitude += 1;
            } else if uniform >= high {
                return Ok(magnitude);
            } else {
                uniform = (uniform << 64) + UBig::from(entropy.word()?);
                bits += 64;
            }
        }
    }
}

fn twice(probability: &Enclosure) -> Enclosure {
    probability.plus(probability)
}

fn word(number: &UBig) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Epsilon;
    use crate::noise::InsecureSeededEntropy;
    use crate::noise::entropy::tests::Given;

    fn laplace(sensitivity: u32, epsilon: f64) -> DiscreteLaplace {
        DiscreteLaplace::new(sensitivity, Epsilon::new(epsilon).unwrap())
    }

    #[test]
    fn the_table_cuts_the_interval_where_the_probabilities_are() {
        for (sensitivity, epsilon) in [(2, 1.0), (1, 3.0), (2, 0.01)] {
            let sampler = Inversion::new(laplace(sensitivity, epsilon));
            let q = (-epsilon / f64::from(sensitivity)).exp();
            for (m, (floor, ceiling)) in (1..).zip(&sampler.bounds).take(400) {
                let expected = 2.0 * q.powi(m) / (1.0 + q) * 2_f64.powi(63);
                assert!(*ceiling - *floor <= 2, "{m}");
                assert!(
                    (*floor as f64 / expected - 1.0).abs() < 1e-9 || expected < 1e9,
                    "{m}"
                );
            }
        }
    }

    /// At a bound the next bits decide: all ones lie above it, all zeros below or not, by its own bits.
    #[test]
    fn what_the_first_bits_leave_open_further_bits_decide() {
        let sampler = Inversion::new(laplace(2, 1.0));
        for m in [0, 3, 20] {
            let (floor, _) = sampler.bounds[m];
            let draw = |rest: u64| sampler.sample(&mut Given(vec![floor << 1, rest, 0, 0])).unwrap();
            let (above, below) = (draw(u64::MAX), draw(0));
            assert!(above == m as i64 && below >= m as i64, "{m}: {above} {below}");
            assert_eq!(
                sampler.sample(&mut Given(vec![(floor + 1) << 1])).unwrap(),
                m as i64
            );
            assert_eq!(
                sampler.sample(&mut Given(vec![((floor - 1) << 1) | 1])).unwrap(),
                -(m as i64 + 1)
            );
        }
        // Beyond the table, where the first 63 bits are all zero.
        assert!(sampler.sample(&mut Given(vec![0, 0, 0, 0, u64::MAX])).unwrap() > 128 * 2);
    }

    /// A million values against the other sampler's laplace; the statistic has about 40 degrees of freedom, and
    /// exceeds 110 with a chance below 1e-8. Seeded: it passes always or never.
    #[test]
    fn values_follow_the_law() {
        let laplace = laplace(2, 0.7);
        let sampler = Inversion::new(laplace);
        let mut entropy = InsecureSeededEntropy::new(11);
        let runs = 1_000_000;
        let mut seen = std::collections::HashMap::<i64, f64>::new();
        for _ in 0..runs {
            let value = sampler.sample(&mut entropy).unwrap().clamp(-20, 20);
            *seen.entry(value).or_default() += 1.0;
        }
        let q = (-1.0 / laplace.scale()).exp();
        let chance = |value: i64| match value.abs() {
            20 => q.powi(20) / (1.0 + q),
            _ => (1.0 - q) / (1.0 + q) * q.powi(value.abs() as i32),
        };
        let statistic: f64 = (-20..=20)
            .map(|value| {
                let expected = runs as f64 * chance(value);
                (seen.get(&value).copied().unwrap_or(0.0) - expected).powi(2) / expected
            })
            .sum();
        assert!(statistic < 110.0, "{statistic}");
    }

    /// `2^bits Pr[|X| >= m]`, rounded down: from far more bits than a sampler looks at, by squaring and multiplying.
    fn bits_of_bound(laplace: &DiscreteLaplace, m: u64, bits: usize) -> UBig {
        const FAR: usize = 1_024;
        let q = laplace.decay(FAR);
        let bound = q.power(m).scaled(2, 1).over(&q.plus(&Enclosure::one(FAR)));
        let (low, high) = (bound.low >> (FAR - bits), bound.high >> (FAR - bits));
        assert_eq!(low, high);
        low
    }

    /// A uniform number that shares its first 63, 127 or 191 bits with a bound and lies one unit below or above after that:
    /// decided with exactly the words that it takes, and on the right side.
    #[test]
    fn a_uniform_number_is_told_from_a_bound_at_the_first_bit_that_differs() {
        for laplace in [laplace(2, 1.0), laplace(1, 3.0), laplace(2, 0.1)] {
            let sampler = Inversion::new(laplace);
            for m in [1, 2, 5, 13] {
                for more in 0..4 {
                    let bound = bits_of_bound(&laplace, m, BITS + 64 * more);
                    for (uniform, magnitude) in [(&bound - UBig::ONE, m), (&bound + UBig::ONE, m - 1)] {
                        for negative in [0, 1] {
                            let words = (0..=more)
                                .map(|i| word(&(&uniform >> (64 * (more - i)) & UBig::from(u64::MAX))));
                            let mut words: Vec<u64> = words.collect();
                            words[0] = words[0] << 1 | negative;
                            let mut entropy = Given(words);
                            let expected = magnitude as i64 * (1 - 2 * negative as i64);
                            assert_eq!(sampler.sample(&mut entropy).unwrap(), expected, "{m} {more}");
                            assert!(entropy.0.is_empty(), "{m} {more}");
                        }
                    }
                }
            }
        }
    }

    /// Beyond the table: as many as there are bounds above the uniform number.
    #[test]
    fn a_value_beyond_the_table_has_its_magnitude() {
        let laplace = laplace(2, 1.0);
        let sampler = Inversion::new(laplace);
        for last in [1_u64 << 40, 3 << 61, u64::MAX] {
            let uniform = last as f64 * 2_f64.powi(-191);
            let q = (-0.5_f64).exp();
            let above = (1..)
                .take_while(|m| uniform < 2.0 * q.powi(*m) / (1.0 + q))
                .count();
            let mut entropy = Given(vec![0, 0, last]);
            assert_eq!(sampler.sample(&mut entropy).unwrap(), above as i64);
            assert!(above > sampler.bounds.len());
        }
    }

    #[test]
    fn a_table_takes_two_words_for_each_bound() {
        let sampler = Inversion::new(laplace(2, 1.0));
        assert_eq!(sampler.bytes(), 16 * sampler.bounds.len() as u64);
        // The first below 2^-63.
        let entries =
            (1..).find(|m| 2.0 * (-0.5 * f64::from(*m)).exp() / (1.0 + (-0.5_f64).exp()) < 2_f64.powi(-63));
        assert_eq!(Some(sampler.bounds.len()), entries.map(|m| m as usize));
    }

    /// From 64 and 67 bits, where enclosures are wider than a unit: no bound lies outside what the table says about it, and
    /// values beside a bound are those of the fine table.
    #[test]
    fn a_coarse_table_leaves_more_open_and_decides_nothing_else() {
        for laplace in [laplace(2, 1.0), laplace(1, 3.0)] {
            let fine = Inversion::new(laplace);
            for bits in [64, 67] {
                let coarse = Inversion::from_bits(laplace, bits);
                for (m, (floor, ceiling)) in (1..).zip(&coarse.bounds) {
                    let bound = word(&bits_of_bound(&laplace, m, BITS));
                    assert!((*floor..*ceiling).contains(&bound), "{m} at {bits} bits");
                }
                for (floor, ceiling) in coarse.bounds.iter().filter(|(floor, _)| *floor > 1) {
                    for uniform in floor - 2..ceiling + 2 {
                        let draw = |sampler: &Inversion| {
                            let mut words = Given(vec![uniform << 1, 1 << 63, 0, 0]);
                            sampler.sample(&mut words).unwrap()
                        };
                        assert_eq!(draw(&coarse), draw(&fine), "{uniform} at {bits} bits");
                    }
                }
            }
        }
    }
}
