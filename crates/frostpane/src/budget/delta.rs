//! The chance with which a privacy loss may be larger.

use serde::{Deserialize, Serialize};

/// A delta as it was given. It adds up in whole `UNITS`, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delta(f64);

/// Units of a delta of 1: far finer than any delta that is worth stating.
const UNITS: f64 = 1e36;

impl Delta {
    /// None.
    pub const ZERO: Self = Self(0.0);

    /// As it is given. Whether it is one is checked with the specification that it is part of.
    pub const fn new(delta: f64) -> Self {
        Self(delta)
    }

    /// As a number.
    pub fn as_f64(self) -> f64 {
        self.0
    }

    /// All together.
    pub(crate) fn sum(deltas: impl Iterator<Item = Self>) -> Self {
        let units = deltas.map(|delta| (delta.0 * UNITS).ceil() as u128);
        Self(decimal(units.fold(0, u128::saturating_add) as f64 / UNITS))
    }
}

/// A number as it was meant, without the dust of its binary digits.
fn decimal(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_add_up_without_dust_and_never_to_less() {
        for (delta, releases, sum) in [(1e-9, 3, 3e-9), (0.1, 3, 0.3), (1e-6, 1, 1e-6), (0.0, 5, 0.0)] {
            let all = std::iter::repeat_n(Delta::new(delta), releases);
            assert_eq!(Delta::sum(all).as_f64(), sum);
        }
        let tiny = Delta::sum([Delta::new(1e-40); 2].into_iter());
        assert!(tiny.as_f64() >= 2e-40);
    }
}
