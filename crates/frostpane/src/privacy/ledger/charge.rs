//! The privacy cost of one release.

use dashu_int::UBig;

use super::amount::{Amount, OF_EPSILON, OF_RHO};
use crate::privacy::{Delta, Epsilon};

/// One measurement of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measurement {
    /// With Laplace noise, or any mechanism that costs epsilon.
    Laplace(Epsilon),
    /// Counts with Gaussian noise.
    Gaussian {
        /// The epsilon of the counts, for a part of the release's delta.
        epsilon: Epsilon,
        /// The sum of the squares of the changes of all counts: `c m^2` for `c` keys that move by `m` each.
        squares: u64,
        /// The variance of the noise, as a fraction.
        variance: [u64; 2],
    },
}

/// The cost of one release to every pane it covers, under every accountant, each rounded up once.
///
/// ```
/// use frostpane::{Charge, Delta, Epsilon, Measurement};
///
/// # fn main() -> frostpane::Result<()> {
/// let (total, counts) = (Measurement::Laplace(Epsilon::new(0.1)?), Epsilon::new(0.9)?);
/// // Ten keys that move by 1 each, and noise of variance 1,000.
/// let counts = Measurement::Gaussian { epsilon: counts, squares: 10, variance: [1_000, 1] };
/// let charge = Charge::of(&[total, counts], Delta::new(1e-9));
/// assert_eq!(charge.to_string(), "epsilon 1, delta 1e-9 and rho 0.01");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Charge(Amount);

impl Charge {
    /// The charge of a release that consists of these measurements. `delta` covers all of them together,
    /// including the delta of open keys ([why one is enough](crate::proofs::ledger#what-a-charge-claims)).
    pub fn of(parts: &[Measurement], delta: Delta) -> Self {
        let epsilons = parts.iter().map(Measurement::epsilon);
        let rhos = parts.iter().map(Measurement::rho);
        Self(Amount {
            epsilon: u64::try_from(rounded_up(epsilons, OF_EPSILON)).unwrap_or(u64::MAX),
            delta: delta.units().map_or(u128::MAX, |[_, up]| up),
            rho: rounded_up(rhos, OF_RHO),
        })
    }

    /// The charge of a single measurement with Laplace noise.
    pub fn laplace(epsilon: Epsilon, delta: Delta) -> Self {
        Self::of(&[Measurement::Laplace(epsilon)], delta)
    }

    /// Restores a stored charge.
    pub const fn from_amount(amount: Amount) -> Self {
        Self(amount)
    }

    /// The charge in whole numbers.
    pub const fn amount(&self) -> Amount {
        self.0
    }
}

impl std::fmt::Display for Charge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

type Fraction = [UBig; 2];

impl Measurement {
    fn epsilon(&self) -> Fraction {
        let (Self::Laplace(epsilon) | Self::Gaussian { epsilon, .. }) = self;
        [epsilon.numerator(), epsilon.denominator()].map(UBig::from)
    }

    /// `epsilon^2 / 2`, or the squares over twice the variance.
    fn rho(&self) -> Fraction {
        match self {
            Self::Laplace(_) => {
                let [numerator, denominator] = self.epsilon();
                [&numerator * &numerator, &denominator * &denominator * 2_u8]
            }
            Self::Gaussian { squares, variance: [numerator, denominator], .. } => {
                [UBig::from(*squares) * *denominator, UBig::from(*numerator) * 2_u8]
            }
        }
    }
}

/// The sum in these units, rounded up. A measurement without noise costs infinitely much.
fn rounded_up(fractions: impl Iterator<Item = Fraction>, units: u64) -> u128 {
    let none = [UBig::ZERO, UBig::ONE];
    let [numerator, denominator] = fractions.fold(none, |[a, b], [c, d]| [a * &d + c * &b, b * d]);
    if denominator == UBig::ZERO {
        return u128::MAX;
    }
    u128::try_from((numerator * units + &denominator - UBig::ONE) / denominator).unwrap_or(u128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn laplace_noise_costs_half_the_square_of_epsilon() {
        for (given, zeros) in [(1.0, 17), (0.1, 15), (1e-6, 5), (1e6, 29)] {
            let amount = Charge::laplace(epsilon(given), Delta::ZERO).amount();
            assert_eq!(amount.epsilon, (given * 1e6) as u64);
            assert_eq!(amount.rho, 5 * 10_u128.pow(zeros));
            assert_eq!(amount.delta, 0);
        }
    }

    #[test]
    fn each_sum_is_rounded_up_once() {
        // Thirds of a millionth: three of them are one, and four are more.
        let third = Measurement::Laplace(epsilon(1e-6).share(1, 3));
        let charge = |number| Charge::of(&vec![third; number], Delta::new(1.5e-36)).amount();
        assert_eq!([1, 3, 4].map(|number| charge(number).epsilon), [1, 1, 2]);
        // 1e-12 / 18 is 55,555.5 units.
        assert_eq!([1, 2, 9].map(|number| charge(number).rho), [55_556, 111_112, 500_000]);
        assert_eq!(charge(1).delta, 2);
        assert_eq!(charge(0).epsilon, 0);
    }

    #[test]
    fn gaussian_noise_costs_squares_over_twice_the_variance() {
        let rho = |squares, variance| {
            let epsilon = epsilon(0.9);
            let parts = [
                Measurement::Laplace(Epsilon::ONE.share(1, 20)),
                Measurement::Gaussian { epsilon, squares, variance },
            ];
            let amount = Charge::of(&parts, Delta::new(1e-9)).amount();
            assert_eq!(amount.epsilon, 950_000);
            assert_eq!(amount.delta, 10_u128.pow(27));
            amount.rho.saturating_sub(OF_RHO as u128 / 800)
        };
        assert_eq!(rho(20, [605, 1]), 16_528_925_619_834_711, "0.0165289.. rounded up");
        assert_eq!(rho(20, [605, 2]), 33_057_851_239_669_422);
        assert_eq!(rho(1, [1, 2]), 10_u128.pow(18));
        assert_eq!(rho(1, [0, 1]), u128::MAX - OF_RHO as u128 / 800, "no noise");
        assert_eq!(rho(0, [0, 1]), u128::MAX - OF_RHO as u128 / 800);
    }

    #[test]
    fn what_is_no_delta_fits_no_cap() {
        for delta in [f64::NAN, -1e-9, f64::INFINITY, 1e9] {
            assert_eq!(Charge::laplace(Epsilon::ONE, Delta::new(delta)).amount().delta, u128::MAX);
        }
    }
}
