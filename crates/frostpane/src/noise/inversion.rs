//! Discrete Laplace and Gaussian values from one random word, exactly.
//!
//! Inversion with lazily refined bits. Let `U` be uniform in `[0, 1)`, and `P_m = Pr[|X| >= m]`, which
//! falls with `m`. Then `|X|` is the number of `m >= 1` with `U < P_m`, and one further bit is its
//! sign. The first 63 bits of `U` are compared with a table of the floor and the ceiling of `2^63 P_m`,
//! computed from enclosures. Only if a bound does not decide on which side `U` lies, which has a
//! probability of about `2^-63` for each `m`, are more bits drawn and the enclosure refined until it
//! decides; a uniform number equals a given one with probability 0. So every probability is exact, and
//! a value takes one word and a table lookup.

use dashu_int::UBig;

use crate::error::Result;
use crate::noise::{Entropy, Noise};

const BITS: usize = 63;
const TABLE_BITS: usize = 192;

/// A sampler with a table.
#[derive(Clone, Debug)]
pub struct Inversion {
    noise: Noise,
    /// The floor and the ceiling of `2^63 Pr[|X| >= m]`, for `m` from 1 to the first floor of 0.
    bounds: Vec<(u64, u64)>,
}

impl Inversion {
    /// Computes the table: about 44 entries for each unit of the scale of a Laplace distribution, or 9
    /// for each unit of the standard deviation of a Gaussian one.
    pub fn new(noise: impl Into<Noise>) -> Self {
        Self::from_bits(noise.into(), TABLE_BITS)
    }

    /// Enclosures of fewer bits leave more comparisons open and give the same values.
    fn from_bits(noise: Noise, bits: usize) -> Self {
        let mut bounds = Vec::new();
        for probability in noise.outside(bits) {
            let floor = word(&(&probability.low >> (bits - BITS)));
            let ceiling = word(&(&probability.high >> (bits - BITS))) + 1;
            bounds.push((floor, ceiling));
            if floor == 0 {
                break;
            }
        }
        Self { noise, bounds }
    }

    /// The memory of the table, in bytes.
    pub fn bytes(&self) -> u64 {
        (self.bounds.len() * size_of::<(u64, u64)>()) as u64
    }

    /// Draws a value with exactly the probabilities of the distribution, from one word of entropy, or more
    /// where that does not decide. Equal words give equal values. Fails only if the entropy source fails.
    #[inline]
    pub fn sample(&self, entropy: &mut impl Entropy) -> Result<i64> {
        let bits = entropy.word()?;
        let (uniform, negative) = (bits >> 1, bits & 1 == 1);
        let surely = self.bounds.partition_point(|(floor, _)| uniform < *floor);
        let magnitude = match self.bounds.get(surely) {
            Some((_, ceiling)) if uniform < *ceiling => self.refine(uniform, surely as u64, entropy)?,
            _ => surely as u64,
        };
        Ok(if negative { -(magnitude as i64) } else { magnitude as i64 })
    }

    /// Draws more bits until the number of `P_m` above the uniform number is certain.
    #[cold]
    fn refine(&self, uniform: u64, mut magnitude: u64, entropy: &mut impl Entropy) -> Result<u64> {
        let (mut uniform, mut bits) = (UBig::from(uniform), BITS);
        loop {
            let tail = self.noise.tail(magnitude + 1, bits + 64);
            let bound = tail.plus(&tail);
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

fn word(number: &UBig) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::discrete_gaussian::tests::gaussian;
    use crate::noise::discrete_laplace::tests::laplace;
    use crate::noise::entropy::tests::FixedWords;

    /// `floor(2^bits Pr[|X| >= m])`, from far more bits than a sampler reads.
    fn bits_of_bound(noise: Noise, m: u64, bits: usize) -> UBig {
        const FAR: usize = 1_024;
        let tail = noise.tail(m, FAR);
        let (low, high) = ((tail.low * 2_u8) >> (FAR - bits), (tail.high * 2_u8) >> (FAR - bits));
        assert_eq!(low, high);
        low
    }

    /// A uniform number that shares its first 63, 127 or 191 bits with a bound and then lies one unit
    /// below or above: decided with exactly the words needed, on the correct side.
    #[test]
    fn a_uniform_number_is_told_from_a_bound_at_the_first_bit_that_differs() {
        for noise in
            [laplace(2, 1.0).into(), laplace(1, 3.0).into(), laplace(2, 0.1).into(), gaussian(30.25).into()]
        {
            let sampler = Inversion::new(noise);
            for m in [1, 2, 5, 13] {
                for more in 0..4 {
                    let bound = bits_of_bound(noise, m, BITS + 64 * more);
                    for (uniform, magnitude) in [(&bound - UBig::ONE, m), (&bound + UBig::ONE, m - 1)] {
                        for negative in [0, 1] {
                            let words = (0..=more)
                                .map(|i| word(&(&uniform >> (64 * (more - i)) & UBig::from(u64::MAX))));
                            let mut words: Vec<u64> = words.collect();
                            words[0] = words[0] << 1 | negative;
                            let mut entropy = FixedWords(words);
                            let expected = magnitude as i64 * (1 - 2 * negative as i64);
                            assert_eq!(sampler.sample(&mut entropy).unwrap(), expected, "{m} {more}");
                            assert!(entropy.0.is_empty(), "{m} {more}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_value_beyond_the_table_has_its_magnitude() {
        let laplace = laplace(2, 1.0);
        let sampler = Inversion::new(laplace);
        for last in [1_u64 << 40, 3 << 61, u64::MAX] {
            let uniform = last as f64 * 2_f64.powi(-191);
            let q = (-0.5_f64).exp();
            let above = (1..).take_while(|m| uniform < 2.0 * q.powi(*m) / (1.0 + q)).count();
            let mut entropy = FixedWords(vec![0, 0, last]);
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

    /// No bound lies outside its table entry, of at most two units for the table in use. From 64 and 67 bits
    /// enclosures are wider, and values beside a bound equal those of the fine table.
    #[test]
    fn a_coarse_table_leaves_more_open_and_decides_nothing_else() {
        for laplace in [laplace(2, 1.0), laplace(1, 3.0)] {
            let fine = Inversion::new(laplace);
            assert!(fine.bounds.iter().all(|(floor, ceiling)| ceiling - floor <= 2));
            for bits in [64, 67, TABLE_BITS] {
                let coarse = Inversion::from_bits(laplace.into(), bits);
                for (m, (floor, ceiling)) in (1..).zip(&coarse.bounds) {
                    let bound = word(&bits_of_bound(laplace.into(), m, BITS));
                    assert!((*floor..*ceiling).contains(&bound), "{m} at {bits} bits");
                }
                for (floor, ceiling) in coarse.bounds.iter().filter(|(floor, _)| *floor > 1) {
                    for uniform in floor - 2..ceiling + 2 {
                        let draw = |sampler: &Inversion| {
                            let mut words = FixedWords(vec![uniform << 1, 1 << 63, 0, 0]);
                            sampler.sample(&mut words).unwrap()
                        };
                        assert_eq!(draw(&coarse), draw(&fine), "{uniform} at {bits} bits");
                    }
                }
            }
        }
    }

    /// Every bound of the table equals the floor computed from many more bits, up to one unit, and the
    /// table has an entry for each value with a probability of at least `2^-63`.
    #[test]
    fn the_table_of_a_gaussian_distribution_has_its_probabilities() {
        for variance in [4.0, 30.25, 625.0] {
            let gaussian = gaussian(variance);
            let sampler = Inversion::new(gaussian);
            for (m, (floor, ceiling)) in (1..).zip(&sampler.bounds) {
                let tail = gaussian.tail(m, 256);
                let bound = word(&((tail.low * 2_u8) >> (256 - BITS)));
                assert_eq!((*floor, *ceiling), (bound, bound + 1), "{variance} {m}");
            }
            let last = sampler.bounds.len() as u64;
            assert_eq!(sampler.bounds[last as usize - 1].0, 0);
            assert!(sampler.bounds[..last as usize - 1].iter().all(|(floor, _)| *floor > 0));
        }
    }

    #[test]
    fn a_gaussian_value_beyond_the_table_lies_where_its_tail_says() {
        let gaussian = gaussian(30.25);
        let sampler = Inversion::new(gaussian);
        let far = sampler.sample(&mut FixedWords(vec![1, 0, 0, 0, u64::MAX])).unwrap();
        assert!(far < -(sampler.bounds.len() as i64), "{far}");
        let least = 2.0 * gaussian.tail_in_floats(far.unsigned_abs());
        assert!(least > 2_f64.powi(-255), "{least}");
    }
}
