//! The probability that a privacy loss exceeds epsilon.

use serde::{Deserialize, Serialize};

/// A delta as it was given. Deltas add up in whole units of `1e-36`, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delta(f64);

/// A delta of 1 has `10^DIGITS` units: far finer than any delta worth stating.
const DIGITS: i32 = 36;

impl Delta {
    /// Zero: pure privacy.
    pub const ZERO: Self = Self(0.0);

    /// Keeps the number as it is given; the specification that contains it is validated as a whole.
    pub const fn new(delta: f64) -> Self {
        Self(delta)
    }

    /// The value as a float.
    pub fn as_f64(self) -> f64 {
        self.0
    }

    pub(crate) fn sum(deltas: impl Iterator<Item = Self>) -> Self {
        let units = deltas.map(|delta| delta.units().map_or(u128::MAX, |[_, up]| up));
        let units = units.fold(0, u128::saturating_add);
        Self(decimal(units as f64 / 10_f64.powi(DIGITS)))
    }

    /// The units of the shortest decimal number that reads as this float, rounded down and rounded up.
    /// `None` if it is negative, NaN or too large.
    pub(crate) fn units(self) -> Option<[u128; 2]> {
        if self.0 == 0.0 {
            return Some([0, 0]);
        }
        let written = format!("{:e}", self.0);
        let (digits, exponent) = written.split_once('e')?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let digits: u128 = digits.replace('.', "").parse().ok()?;
        let shift = exponent.parse::<i32>().ok()? - decimals as i32 + DIGITS;
        let power = 10_u128.checked_pow(shift.unsigned_abs());
        match power {
            Some(power) if shift < 0 => Some([digits / power, digits.div_ceil(power)]),
            None if shift < 0 => Some([0, 1]),
            _ => digits.checked_mul(power?).map(|units| [units, units]),
        }
    }
}

/// The nearest number with few decimal digits: removes binary rounding from a sum.
fn decimal(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_add_up_without_dust_and_never_to_less() {
        for (delta, releases, sum) in [(1e-9, 3, 3e-9), (0.1, 3, 0.3), (1e-6, 1, 1e-6), (0.0, 5, 0.0)] {
            assert_eq!(Delta::sum(std::iter::repeat_n(Delta::new(delta), releases)).as_f64(), sum);
        }
        assert!(Delta::sum([Delta::new(1e-40); 2].into_iter()).as_f64() >= 2e-40);
    }

    /// The float that reads as 1e-9 is above it, and the one that reads as 1e-6 below: a thousand of
    /// the former would exceed the latter.
    #[test]
    fn units_are_those_of_the_number_as_it_was_written() {
        for (delta, units) in [
            (0.0, Some([0, 0])),
            (-0.0, Some([0, 0])),
            (1e-9, Some([10_u128.pow(27); 2])),
            (1e-6, Some([10_u128.pow(30); 2])),
            (1.25e-3, Some([125 * 10_u128.pow(31); 2])),
            (1.0, Some([10_u128.pow(36); 2])),
            (120.0, Some([120 * 10_u128.pow(36); 2])),
            (1e-36, Some([1, 1])),
            (1.5e-36, Some([1, 2])),
            (3e-37, Some([0, 1])),
            (5e-324, Some([0, 1])),
            (1e3, None),
            (1e300, None),
            (-1e-9, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(Delta::new(delta).units(), units, "{delta}");
        }
    }
}
