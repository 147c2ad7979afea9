//! Conversion of rho to epsilon: [the proof](crate::proofs::ledger#what-rho-means).

use dashu_int::UBig;

use super::amount::{OF_EPSILON, OF_RHO};
use crate::enclosure::Enclosure;
use crate::search::first_near;

/// Units of a delta of 1.
const OF_DELTA: u128 = 10_u128.pow(36);
/// Units of a logarithm of 1.
const OF_LOG: u128 = 10_u128.pow(12);
/// Precision that decides for a delta of one unit, with 70 bits to spare.
const BITS: usize = 192;

/// The largest rho, in its units, that is `(epsilon, slack)`-private, both in theirs: the largest with
/// `4 rho log(1/slack) <= (epsilon - rho)^2`. `slack` is above 0 and at most 1.
pub fn most_rho(epsilon: u64, slack: u128) -> u128 {
    let log = UBig::from(log_of_inverse(slack));
    let epsilon = u128::from(epsilon) * u128::from(OF_RHO / OF_EPSILON);
    let is_private = |rho: u128| {
        let left = UBig::from(epsilon - rho);
        UBig::from(rho) * &log * 4_u8 * OF_RHO <= &left * &left * OF_LOG
    };
    // Both sides are monotone up to epsilon.
    let (mut low, mut high) = (0, epsilon);
    while low < high {
        let middle = high - (high - low) / 2;
        if is_private(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// A tight upper bound on `log(1/slack)`, in units of `1 / OF_LOG`.
fn log_of_inverse(slack: u128) -> u64 {
    let is_enough = |log: u64| {
        let inverse = Enclosure::exp_of_minus(log.into(), OF_LOG, BITS);
        inverse.high * OF_DELTA <= UBig::from(slack) << BITS
    };
    // Floats only choose where the search begins.
    first_near(((OF_DELTA as f64 / slack as f64).ln() * OF_LOG as f64) as u64, is_enough)
}

#[cfg(test)]
mod tests {
    use dashu::float::DBig;

    use super::*;

    /// To 80 digits, from units of 1.
    fn exact(units: u128, digits: isize) -> DBig {
        DBig::from_parts(units.into(), -digits).with_precision(80).value()
    }

    fn log(slack: u128) -> DBig {
        -exact(slack, 36).ln()
    }

    const SLACKS: [u128; 8] = [
        1,
        7,
        10_u128.pow(18),
        123_456_789 * 10_u128.pow(19),
        5 * 10_u128.pow(29),
        10_u128.pow(34),
        OF_DELTA / 3,
        OF_DELTA / 2,
    ];

    fn epsilons() -> impl Iterator<Item = u64> {
        (0..=12).flat_map(|power| [1, 2, 7].map(|digit| digit * 10_u64.pow(power)))
    }

    #[test]
    fn what_is_accepted_is_private_and_hardly_anything_is_refused_too_early() {
        for (epsilon, slack) in epsilons().flat_map(|epsilon| SLACKS.map(|slack| (epsilon, slack))) {
            let found = exact(most_rho(epsilon, slack), 18);
            let limit = exact(epsilon.into(), 6);
            let log = log(slack);
            let costs = &found + exact(2, 0) * (&found * &log).sqrt();
            assert!(costs <= limit, "{epsilon} {slack}: {costs}");
            // The square root of the largest rho is the difference of these.
            let root = (&log + &limit).sqrt() - log.sqrt();
            let missed = &root * &root - &found;
            assert!(missed <= &found * exact(1, 9) + exact(1, 18), "{epsilon} {slack}: {missed}");
        }
    }

    #[test]
    fn a_logarithm_is_the_least_that_is_not_too_small() {
        for slack in SLACKS.into_iter().chain([OF_DELTA - 1, OF_DELTA]) {
            let found = log_of_inverse(slack);
            assert!(exact(found.into(), 12) >= log(slack), "{slack}");
            assert!(found == 0 || exact((found - 1).into(), 12) < log(slack), "{slack}: {found}");
        }
    }
}
