//! Amounts of privacy loss in whole units.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Units of an epsilon of 1.
pub(super) const OF_EPSILON: u64 = 1_000_000;
/// Units of a rho of 1.
pub(super) const OF_RHO: u64 = 1_000_000_000_000_000_000;

/// An amount spent, asked for or left, in whole numbers. Sums are exact, and saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Amount {
    /// Epsilon, in millionths.
    pub epsilon: u64,
    /// Delta, in units of `1e-36`.
    pub delta: u128,
    /// Rho, the parameter of zero-concentrated differential privacy, in units of `1e-18`.
    pub rho: u128,
}

impl Amount {
    /// More than any cap.
    pub(super) const ALL: Self = Self { epsilon: u64::MAX, delta: u128::MAX, rho: u128::MAX };

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add, u128::saturating_add)
    }

    pub(super) fn times(self, number: u64) -> Self {
        let all = Self { epsilon: number, delta: number.into(), rho: number.into() };
        self.with(all, u64::saturating_mul, u128::saturating_mul)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub, u128::saturating_sub)
    }

    pub(super) fn max(self, other: Self) -> Self {
        self.with(other, u64::max, u128::max)
    }

    fn with(self, other: Self, narrow: fn(u64, u64) -> u64, wide: fn(u128, u128) -> u128) -> Self {
        Self {
            epsilon: narrow(self.epsilon, other.epsilon),
            delta: wide(self.delta, other.delta),
            rho: wide(self.rho, other.rho),
        }
    }
}

/// Delta and rho have four digits, rounded up; with `#` rounded down, for an amount that is left.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epsilon = self.epsilon as f64 / OF_EPSILON as f64;
        let [delta, rho] = [(self.delta, 36), (self.rho, 18)].map(|(units, places)| {
            let dropped = units.checked_ilog10().unwrap_or(0).saturating_sub(3);
            let step = 10_u128.pow(dropped);
            let digits = if f.alternate() { units / step } else { units.div_ceil(step) };
            short(&format!("{digits}e{}", i64::from(dropped) - places))
        });
        write!(f, "epsilon {epsilon}, delta {delta} and rho {rho}")
    }
}

fn short(number: &str) -> String {
    let number: f64 = number.parse().unwrap_or(f64::INFINITY);
    if number == 0.0 || number >= 1e-3 { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Amount = Amount { epsilon: 1, delta: 1, rho: 1 };

    #[test]
    fn the_smallest_spend_is_never_lost_and_the_largest_never_wraps() {
        let large = Amount { epsilon: u64::MAX - 1, delta: u128::MAX - 1, rho: u128::MAX - 1 };
        assert_eq!(large.plus(ONE), Amount::ALL);
        assert_eq!(Amount::ALL.plus(ONE), Amount::ALL);
        assert_eq!(large.times(2), Amount::ALL);
        assert_eq!(large.minus(Amount::ALL), Amount::default());
        assert_eq!(Amount::ALL.minus(large), ONE);
    }

    #[test]
    fn what_is_spent_is_shown_rounded_up_and_what_is_left_rounded_down() {
        let amount = Amount { epsilon: 2_310_001, delta: 10_u128.pow(27), rho: 367_548_209_366_391_185 };
        assert_eq!(amount.to_string(), "epsilon 2.310001, delta 1e-9 and rho 0.3676");
        assert_eq!(format!("{:#}", amount.minus(ONE)), "epsilon 2.31, delta 9.999e-10 and rho 0.3675");
    }
}
