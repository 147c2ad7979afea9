//! A privacy loss as an exact fraction.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Result};

const MILLION: u64 = 1_000_000;
const LARGEST: u64 = 1_000_000;

/// A privacy loss: a whole number of millionths, or an exact share of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epsilon {
    numerator: u64,
    denominator: u64,
}

impl Epsilon {
    pub(crate) const NONE: Self = Self { numerator: 0, denominator: MILLION };

    /// 1: a common choice.
    pub const ONE: Self = Self { numerator: MILLION, denominator: MILLION };

    /// Reads an epsilon, to the millionth. Finer digits are rounded down, so no more is spent than was given.
    pub fn new(epsilon: f64) -> Result<Self> {
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(Error::parameter(format!(
                "epsilon is {epsilon}, but must be above 0: 1 is a common choice, less is more private"
            )));
        }
        if epsilon > LARGEST as f64 {
            return Err(Error::parameter(format!(
                "epsilon is {epsilon}, but can be at most {LARGEST}: above 10 it protects nobody, 1 is a common choice"
            )));
        }
        match millionths(epsilon) {
            0 => Err(Error::parameter(format!(
                "epsilon is {epsilon}, but can be no smaller than 0.000001: 1 is a common choice"
            ))),
            numerator => Ok(Self { numerator, denominator: MILLION }),
        }
    }

    /// The share `part / whole` of this epsilon, for small numbers.
    pub(crate) fn share(self, part: u64, whole: u64) -> Self {
        debug_assert!(part <= whole);
        Self { numerator: self.numerator * part, denominator: self.denominator * whole }
    }

    pub(crate) fn times(self, number: u64) -> Self {
        Self { numerator: self.numerator.saturating_mul(number), ..self }
    }

    /// The sum of two epsilons, of which one is a number of millionths or a share of the other.
    pub(crate) fn plus(self, other: Self) -> Self {
        let denominator = self.denominator.max(other.denominator);
        let parts = |epsilon: Self| {
            debug_assert!(denominator.is_multiple_of(epsilon.denominator));
            epsilon.numerator.saturating_mul(denominator / epsilon.denominator)
        };
        Self { numerator: parts(self).saturating_add(parts(other)), denominator }
    }

    /// The value as a float, for display.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    pub(crate) fn numerator(self) -> u64 {
        self.numerator
    }

    pub(crate) fn denominator(self) -> u64 {
        self.denominator
    }
}

impl Serialize for Epsilon {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Epsilon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::new(f64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The millionths of a decimal number as it was written: 0.1 is 100,000 although the float is not
/// exactly a tenth. Otherwise rounded down.
fn millionths(value: f64) -> u64 {
    let nearest = (value * MILLION as f64).round();
    if nearest / MILLION as f64 == value { nearest as u64 } else { (value * MILLION as f64).floor() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused_with_advice() {
        for given in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1e6_f64.next_up(), 1e7] {
            let message = Epsilon::new(given).unwrap_err().to_string();
            assert!(message.contains("1 is a common choice"), "{message}");
            assert_eq!(message.contains("at most 1000000:"), (1e6..1e8).contains(&given));
        }
        assert!(Epsilon::new(1e6).is_ok());
    }

    #[test]
    fn shares_add_up() {
        let whole = Epsilon::new(0.7).unwrap();
        let (small, large) = (whole.share(1, 10), whole.share(9, 10));
        assert_eq!(small.denominator, large.denominator);
        assert_eq!(small.numerator + large.numerator, whole.numerator * 10);
    }

    /// 0.000249 times a million is a float below 249.
    #[test]
    fn every_number_of_millionths_is_read_as_it_is_written() {
        for millionths in (1..3_000).chain([123_457, 999_999, 4_300_007, 1_000_000_000_000]) {
            let written = millionths as f64 / 1e6;
            let read = Epsilon::new(written).unwrap();
            assert_eq!((read.numerator, read.denominator), (millionths, MILLION));
            assert_eq!(read.as_f64(), written);
        }
        assert_eq!(Epsilon::new(2.9999999).unwrap().numerator, 2_999_999, "finer numbers are rounded down");
    }
}
