//! Real numbers enclosed between two fractions, as narrowly as needed.
//!
//! Probabilities of the discrete Laplace and Gaussian distributions are irrational, or not known to be
//! rational. To compare or sample one, it is enclosed between two multiples of `2^-bits`, with every
//! rounding directed outwards; where the enclosure does not decide, the caller asks for more bits. No
//! decision rests on a float.

use std::cmp::Ordering;

use dashu_int::UBig;
use dashu_int::ops::BitTest;

/// A number known to lie between `low / 2^bits` and `high / 2^bits`.
#[derive(Clone, Debug)]
pub struct Enclosure {
    pub(crate) low: UBig,
    pub(crate) high: UBig,
    pub(crate) bits: usize,
}

impl Enclosure {
    /// 1, exactly.
    pub fn one(bits: usize) -> Self {
        let one = UBig::ONE << bits;
        Self { low: one.clone(), high: one, bits }
    }

    /// A float of at least 0, exactly or between two neighbouring multiples.
    pub fn of_float(value: f64, bits: usize) -> Self {
        let (mantissa, exponent) = parts(value);
        let exponent = exponent + bits as i64;
        let mantissa = UBig::from(mantissa);
        let shift = exponent.unsigned_abs() as usize;
        let (low, high) = if exponent >= 0 {
            (&mantissa << shift, &mantissa << shift)
        } else {
            (&mantissa >> shift, shift_up(mantissa, shift))
        };
        Self { low, high, bits }
    }

    pub fn exp_of_minus(numerator: u128, denominator: u128, bits: usize) -> Self {
        let halvings = (u128::BITS - (numerator / denominator).leading_zeros()) as usize;
        let precise = bits + halvings + 8;
        let mut power = exp_of_minus_small(numerator, UBig::from(denominator) << halvings, precise);
        for _ in 0..halvings {
            power = power.times(&power);
        }
        power.rounded_to(bits)
    }

    pub fn times(&self, other: &Self) -> Self {
        Self {
            low: (&self.low * &other.low) >> self.bits,
            high: shift_up(&self.high * &other.high, self.bits),
            bits: self.bits,
        }
    }

    /// The quotient. The lower end of the divisor must not be 0.
    pub fn over(&self, other: &Self) -> Self {
        Self {
            low: (&self.low << self.bits) / &other.high,
            high: divide_up(&self.high << self.bits, &other.low),
            bits: self.bits,
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self { low: &self.low + &other.low, high: &self.high + &other.high, bits: self.bits }
    }

    /// `numerator / denominator` times the number.
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Self {
        self.times_scaled(&Self::one(self.bits), numerator, denominator)
    }

    /// `numerator / denominator` times the product, rounded once.
    pub fn times_scaled(&self, other: &Self, numerator: u64, denominator: u64) -> Self {
        let divisor = UBig::from(denominator) << self.bits;
        Self {
            low: &self.low * &other.low * numerator / &divisor,
            high: divide_up(&self.high * &other.high * numerator, &divisor),
            bits: self.bits,
        }
    }

    /// One minus the number, which must be at most 1.
    pub fn complement(&self) -> Self {
        let one = UBig::ONE << self.bits;
        Self { low: &one - (&self.high).min(&one), high: one - &self.low, bits: self.bits }
    }

    pub fn power(&self, mut exponent: u64) -> Self {
        let mut result = Self::one(self.bits);
        let mut square = self.clone();
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result.times(&square);
            }
            square = square.times(&square);
            exponent /= 2;
        }
        result
    }

    /// Compares the number with a float, taken exactly; `None` if more bits are needed.
    pub fn at_most(&self, value: f64) -> Option<bool> {
        if compare(&self.high, self.bits, value) != Ordering::Greater {
            Some(true)
        } else if compare(&self.low, self.bits, value) == Ordering::Greater {
            Some(false)
        } else {
            None
        }
    }

    /// A float near the upper end, for choices that need not be exact.
    pub fn approximate(&self) -> f64 {
        let excess = self.high.bit_len().saturating_sub(64);
        let leading = u64::try_from(&self.high >> excess).unwrap_or(u64::MAX);
        leading as f64 * 2f64.powi(excess as i32 - self.bits as i32)
    }

    pub(crate) fn rounded_to(&self, bits: usize) -> Self {
        Self {
            low: &self.low >> (self.bits - bits),
            high: shift_up(self.high.clone(), self.bits - bits),
            bits,
        }
    }
}

/// `exp(-numerator / denominator)` for a fraction of at most 1, by its alternating series: partial sums
/// with an even number of terms lie below, those with an odd number above.
fn exp_of_minus_small(numerator: u128, denominator: UBig, bits: usize) -> Enclosure {
    let fraction = Enclosure {
        low: (UBig::from(numerator) << bits) / &denominator,
        high: divide_up(UBig::from(numerator) << bits, &denominator),
        bits,
    };
    let mut term = Enclosure::one(bits);
    let (mut added, mut taken) = (term.clone(), Enclosure::one(bits).complement());
    let mut index = 0;
    loop {
        index += 1;
        term = term.times_scaled(&fraction, 1, index);
        taken = taken.plus(&term);
        let low = &added.low - taken.high.clone().min(added.low.clone());
        index += 1;
        term = term.times_scaled(&fraction, 1, index);
        added = added.plus(&term);
        if term.high <= UBig::ONE {
            let high = &added.high - &taken.low;
            return Enclosure { low, high, bits };
        }
    }
}

fn shift_up(value: UBig, bits: usize) -> UBig {
    let floor = &value >> bits;
    if (&floor << bits) == value { floor } else { floor + UBig::ONE }
}

fn divide_up(value: UBig, divisor: &UBig) -> UBig {
    (value + divisor - UBig::ONE) / divisor
}

/// Compares `value / 2^bits` with a non-negative float.
fn compare(value: &UBig, bits: usize, float: f64) -> Ordering {
    let (mantissa, exponent) = parts(float);
    let exponent = exponent + bits as i64;
    if exponent >= 0 {
        value.cmp(&(UBig::from(mantissa) << exponent as usize))
    } else {
        (value << exponent.unsigned_abs() as usize).cmp(&UBig::from(mantissa))
    }
}

/// The mantissa and the exponent of two of a float of at least 0.
fn parts(float: f64) -> (u64, i64) {
    let raw = float.to_bits();
    let (biased, fraction) = ((raw >> 52) & 0x7FF, raw & ((1 << 52) - 1));
    let mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
    (mantissa, biased.max(1) as i64 - 1075)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A float is enclosed by the adjacent multiples at few bits, and exactly at many.
    #[test]
    fn a_float_is_enclosed_by_the_multiples_next_to_it() {
        for value in [0.0, 5e-324, f64::MIN_POSITIVE, 1e-9, 0.1, 0.5, 0.75, 1.0, 3.5] {
            for bits in [1, 8, 52, 64, 200, 1_074, 2_000] {
                let found = Enclosure::of_float(value, bits);
                assert_ne!(compare(&found.low, bits, value), Ordering::Greater);
                assert_ne!(compare(&found.high, bits, value), Ordering::Less);
                let exact = compare(&found.low, bits, value) == Ordering::Equal;
                let width = UBig::from(u8::from(!exact));
                assert_eq!(&found.high - &found.low, width, "{value} at {bits}");
                assert!(exact || bits < 1_074);
            }
        }
    }

    fn between(low: u64, high: u64, bits: usize) -> Enclosure {
        Enclosure { low: low.into(), high: high.into(), bits }
    }

    /// At four bits, for all ends up to a little more than one: each end is the exact one, rounded outwards.
    #[test]
    fn every_operation_is_rounded_outwards_and_no_further() {
        const ONE: u64 = 16;
        let found = |result: &Enclosure| {
            assert_eq!(result.bits, 4);
            (u64::try_from(&result.low).unwrap(), u64::try_from(&result.high).unwrap())
        };
        let numbers = || (0..=ONE + 2).flat_map(|low| (low..=ONE + 2).map(move |high| (low, high)));
        for (low, high) in numbers() {
            let number = between(low, high, 4);
            if low <= ONE {
                assert_eq!(found(&number.complement()), (ONE.saturating_sub(high), ONE - low));
            }
            for (numerator, denominator) in [(0, 1), (1, 1), (1, 3), (7, 2), (5, 16)] {
                assert_eq!(
                    found(&number.scaled(numerator, denominator)),
                    (low * numerator / denominator, (high * numerator).div_ceil(denominator))
                );
            }
            for (other_low, other_high) in numbers() {
                let other = between(other_low, other_high, 4);
                let products = (low * other_low, high * other_high);
                assert_eq!(found(&number.times(&other)), (products.0 / ONE, products.1.div_ceil(ONE)));
                assert_eq!(
                    found(&number.times_scaled(&other, 5, 3)),
                    (5 * products.0 / (3 * ONE), (5 * products.1).div_ceil(3 * ONE))
                );
                assert_eq!(found(&number.plus(&other)), (low + other_low, high + other_high));
                if other_low > 0 {
                    assert_eq!(
                        found(&number.over(&other)),
                        (low * ONE / other_high, (high * ONE).div_ceil(other_low))
                    );
                }
            }
        }
        let third = between(5, 6, 4);
        assert_eq!(found(&third.power(0)), (16, 16));
        assert_eq!(found(&third.power(1)), (5, 6));
        assert_eq!(found(&third.power(2)), (1, 3));
        assert_eq!(found(&third.power(3)), (0, 2));
    }

    /// `exp(numerator / denominator)` lies between the first two over the third: the partial sum, and
    /// the same with twice the next term, as each later term is at most half the one before.
    fn exp_by_series(numerator: u64, denominator: u64, terms: u64) -> (UBig, UBig, UBig) {
        assert!(terms >= 2 * (numerator / denominator + 1));
        let (mut sum, mut power, mut divisor) = (UBig::ONE, UBig::ONE, UBig::ONE);
        for i in 1..=terms {
            power *= numerator;
            divisor *= denominator * i;
            sum = sum * (denominator * i) + &power;
        }
        let unit = UBig::from(denominator * (terms + 1));
        let low = sum * &unit;
        let high = &low + power * (2 * numerator);
        (low, high, divisor * unit)
    }

    /// Compared with the series of `exp(x)`, whose terms are all positive, in integers without rounding.
    #[test]
    fn exponentials_are_enclosed_by_proof() {
        for (numerator, denominator) in [
            (0_u64, 1_u64),
            (1, 1),
            (1, 3),
            (2, 7),
            (1, 1_000),
            (999, 1_000),
            (3, 2),
            (7, 2),
            (20, 3),
            (40, 1),
        ] {
            let (low, high, unit) = exp_by_series(numerator, denominator, 400);
            for bits in (1..40).chain([63, 64, 127, 128, 192, 256]) {
                let found = Enclosure::exp_of_minus(numerator.into(), denominator.into(), bits);
                // low / 2^bits <= unit / high and unit / low <= high / 2^bits.
                assert!(&found.low * &high <= &unit << bits, "{numerator}/{denominator} at {bits} bits");
                assert!(&found.high * &low >= &unit << bits, "{numerator}/{denominator} at {bits} bits");
                assert!(&found.high - &found.low <= UBig::from(2_u8));
                if numerator <= denominator {
                    let found = exp_of_minus_small(numerator.into(), denominator.into(), bits);
                    assert!(&found.low * &high <= &unit << bits);
                    assert!(&found.high * &low >= &unit << bits);
                }
            }
        }
    }

    /// Such fractions occur in thresholds of very large scales.
    #[test]
    fn fractions_of_huge_numbers_are_no_special_case() {
        for shift in [0, 40, 100, 126] {
            let found = Enclosure::exp_of_minus(1 << shift, 1 << shift, 64);
            let small = Enclosure::exp_of_minus(1, 1, 64);
            assert_eq!((found.low, found.high), (small.low, small.high));
        }
    }

    /// Subnormal floats have no leading one; 0 is one of them.
    #[test]
    fn floats_are_compared_exactly() {
        assert_eq!(between(0, 2, 1).at_most(0.5), None);
        let smallest = 5e-324_f64;
        for (units, bits, float, at_most) in [
            (1, 1, 0.5, true),
            (1, 1, 0.5 - f64::EPSILON / 4.0, false),
            (1, 1, f64::MIN_POSITIVE / 8.0, false),
            (0, 1_074, 0.0, true),
            (1, 1_074, 0.0, false),
            (1, 1_074, smallest, true),
            (2, 1_074, smallest, false),
            (2, 1_074, 2.0 * smallest, true),
            (1, 1_075, smallest, true),
            (2, 1_075, smallest, true),
            (3, 1_075, smallest, false),
            (1, 1_022, f64::MIN_POSITIVE, true),
            (1, 1_022, f64::MIN_POSITIVE.next_down(), false),
        ] {
            assert_eq!(
                between(units, units, bits).at_most(float),
                Some(at_most),
                "{units} at {bits}: {float}"
            );
        }
    }

    /// Rounded from 64 leading bits, as machine integers are rounded to floats.
    #[test]
    fn an_approximation_is_the_upper_end_to_the_last_bit_of_a_float() {
        for high in [0, 1, 3, (1 << 53) + 1, (1 << 63) + (1 << 10) + 1, u64::MAX] {
            for bits in [0, 5, 64] {
                let found = between(0, high, bits).approximate();
                assert_eq!(found, high as f64 / 2f64.powi(bits as i32), "{high}");
            }
        }
        assert_eq!(Enclosure::one(300).scaled(3, 4).approximate(), 0.75);
    }
}
