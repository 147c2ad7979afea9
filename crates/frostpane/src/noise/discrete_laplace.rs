#![doc = include_str!("discrete_laplace.md")]

use crate::error::Result;
use crate::noise::bernoulli::{bernoulli, bernoulli_exp};
use crate::noise::enclosure::Enclosure;
use crate::noise::entropy::Entropy;
use crate::noise::epsilon::Epsilon;

const FIRST_BITS: usize = 128;

/// The discrete Laplace distribution with a rational scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteLaplace {
    /// The scale is `numerator / denominator`, in lowest terms.
    numerator: u64,
    denominator: u64,
}

impl DiscreteLaplace {
    /// The noise that makes an integer vector of this L1 sensitivity `epsilon`-private: scale
    /// `sensitivity / epsilon`.
    pub fn new(sensitivity: u32, epsilon: Epsilon) -> Self {
        let numerator = u64::from(sensitivity) * epsilon.denominator();
        let denominator = epsilon.numerator();
        let divisor = greatest_common_divisor(numerator, denominator);
        Self {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        }
    }

    /// The scale, to show.
    pub fn scale(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The variance, to show.
    pub fn variance(&self) -> f64 {
        let q = (-1.0 / self.scale()).exp();
        2.0 * q / (1.0 - q).powi(2)
    }

    /// One value.
    pub fn sample(&self, entropy: &mut impl Entropy) -> Result<i64> {
        loop {
            let magnitude = self.magnitude(entropy)? as i64;
            match bernoulli(1, 2, entropy)? {
                true => return Ok(magnitude),
                false if magnitude > 0 => return Ok(-magnitude),
                false => {}
            }
        }
    }

    /// A value `g >= 0` with `Pr[g >= m] = exp(-m / scale)`: also the excess over `m` of a value of this
    /// distribution that is known to be at least `m >= 0`.
    pub fn magnitude(&self, entropy: &mut impl Entropy) -> Result<u64> {
        let low = loop {
            let low = entropy.below(self.numerator)?;
            if bernoulli_exp(low, self.numerator, entropy)? {
                break low;
            }
        };
        let mut high = 0;
        while bernoulli_exp(1, 1, entropy)? {
            high += 1;
        }
        Ok((low + self.numerator * high) / self.denominator)
    }

    /// True with probability `exp(-distance / scale)`.
    pub fn survives(&self, distance: u64, entropy: &mut impl Entropy) -> Result<bool> {
        let product = u128::from(distance) * u128::from(self.denominator);
        let numerator = u128::from(self.numerator);
        for _ in 0..product / numerator {
            if !bernoulli_exp(1, 1, entropy)? {
                return Ok(false);
            }
        }
        bernoulli_exp((product % numerator) as u64, self.numerator, entropy)
    }

    /// `Pr[X >= m]` for `m >= 0`.
    pub fn tail(&self, m: u64, bits: usize) -> Enclosure {
        self.power(m, bits)
            .over(&self.decay(bits).plus(&Enclosure::one(bits)))
    }

    /// `exp(-1 / scale)`: how much less likely a value is than the one next to it towards 0.
    pub fn decay(&self, bits: usize) -> Enclosure {
        self.power(1, bits)
    }

    fn power(&self, m: u64, bits: usize) -> Enclosure {
        Enclosure::exp_of_minus(
            u128::from(m) * u128::from(self.denominator),
            u128::from(self.numerator),
            bits,
        )
    }

    /// The least `m >= 0` with `Pr[X >= m] <= chance`. A chance of 0 counts as the smallest float.
    pub fn reach(&self, chance: f64) -> u64 {
        let chance = chance.max(f64::MIN_POSITIVE);
        let about = -self.scale() * (chance * (1.0 + (-1.0 / self.scale()).exp())).ln();
        let mut m = about.clamp(0.0, 2f64.powi(60)).ceil() as u64;
        while !self.tail_at_most(m, chance) {
            m += 1;
        }
        while m > 0 && self.tail_at_most(m - 1, chance) {
            m -= 1;
        }
        m
    }

    /// The least `q` such that `keys` values all lie within `-q..=q`, but for a chance of `failure`.
    pub fn quantile(&self, keys: u64, failure: f64) -> u64 {
        self.reach(failure / (2.0 * keys.max(1) as f64)).saturating_sub(1)
    }

    /// Whether `Pr[X >= m] <= chance`. The tail is transcendental, the chance a fraction: more bits always
    /// decide.
    fn tail_at_most(&self, m: u64, chance: f64) -> bool {
        let mut bits = FIRST_BITS;
        loop {
            if let Some(answer) = self.tail(m, bits).at_most(chance) {
                return answer;
            }
            bits *= 2;
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
