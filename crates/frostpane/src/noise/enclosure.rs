//! Real numbers between two fractions, as narrow as asked for.
//!
//! Probabilities of the discrete Laplace distribution are irrational. Where one has to be compared or sampled
//! from, it is enclosed between two multiples of `2^-bits`, with every rounding directed outwards; where the
//! enclosure does not decide, the caller asks for more bits. No decision rests on a float.

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
        Self {
            low: one.clone(),
            high: one,
            bits,
        }
    }

    /// `exp(-numerator / denominator)`.
    pub fn exp_of_minus(numerator: u128, denominator: u128, bits: usize) -> Self {
        let halvings = (u128::BITS - (numerator / denominator).leading_zeros()) as usize;
        let precise = bits + halvings + 8;
        let mut power = exp_of_minus_small(numerator, UBig::from(denominator) << halvings, precise);
        for _ in 0..halvings {
            power = power.times(&power);
        }
        power.rounded_to(bits)
    }

    /// The product.
    pub fn times(&self, other: &Self) -> Self {
        Self {
            low: (&self.low * &other.low) >> self.bits,
            high: shift_up(&self.high * &other.high, self.bits),
            bits: self.bits,
        }
    }

    /// The quotient. The divisor's lower end must not be 0.
    pub fn over(&self, other: &Self) -> Self {
        Self {
            low: (&self.low << self.bits) / &other.high,
            high: divide_up(&self.high << self.bits, &other.low),
            bits: self.bits,
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            low: &self.low + &other.low,
            high: &self.high + &other.high,
            bits: self.bits,
        }
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
        Self {
            low: if self.high > one {
                UBig::ZERO
            } else {
                &one - &self.high
            },
            high: one - &self.low,
            bits: self.bits,
        }
    }

    /// The number to a power.
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

    /// Whether the number is at most a float, taken exactly; `None` if more bits are needed to tell.
    pub fn at_most(&self, value: f64) -> Option<bool> {
        if compare(&self.high, self.bits, value) != Ordering::Greater {
            Some(true)
        } else if compare(&self.low, self.bits, value) == Ordering::Greater {
            Some(false)
        } else {
            None
        }
    }

    /// Near the upper end; for choices that do not have to be exact.
    pub fn approximate(&self) -> f64 {
        let excess = self.high.bit_len().saturating_sub(64);
        let leading = u64::try_from(&self.high >> excess).unwrap_or(u64::MAX);
        leading as f64 * 2f64.powi(excess as i32 - self.bits as i32)
    }

    fn rounded_to(&self, bits: usize) -> Self {
        Self {
            low: &self.low >> (self.bits - bits),
            high: shift_up(self.high.clone(), self.bits - bits),
            bits,
        }
    }
}

/// `exp(-numerator / denominator)` for a fraction of at most 1, by its alternating series: the partial sums
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
    if (&floor << bits) == value {
        floor
    } else {
        floor + UBig::ONE
    }
}

fn divide_up(value: UBig, divisor: &UBig) -> UBig {
    (value + divisor - UBig::ONE) / divisor
}

/// Compares `value / 2^bits` with a non-negative float.
fn compare(value: &UBig, bits: usize, float: f64) -> Ordering {
    let raw = float.to_bits();
    let (biased, fraction) = ((raw >> 52) & 0x7FF, raw & ((1 << 52) - 1));
    let mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = biased.max(1) as i64 - 1075 + bits as i64;
    if exponent >= 0 {
        value.cmp(&(UBig::from(mantissa) << exponent as usize))
    } else {
        (value << exponent.unsigned_abs() as usize).cmp(&UBig::from(mantissa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(enclosure: &Enclosure) -> (f64, f64) {
        let unit = 2f64.powi(-(enclosure.bits as i32));
        (
            enclosure.low.to_f64().value() * unit,
            enclosure.high.to_f64().value() * unit,
        )
    }

    #[test]
    fn exponentials_are_enclosed_tightly_at_any_precision() {
        for (numerator, denominator) in [(0, 1), (1, 3), (1, 1), (7, 2), (40, 1), (1000, 7)] {
            let truth = (-(numerator as f64) / denominator as f64).exp();
            for bits in [4, 16, 40, 60, 200] {
                let (low, high) = ends(&Enclosure::exp_of_minus(numerator, denominator, bits));
                let slack = truth * 1e-14;
                assert!(
                    low <= truth + slack && truth - slack <= high,
                    "exp(-{numerator}/{denominator})"
                );
                assert!(
                    high - low <= 3.0 * 2f64.powi(-(bits as i32)),
                    "exp(-{numerator}/{denominator}) at {bits} bits"
                );
            }
        }
    }

    #[test]
    fn more_bits_stay_inside_fewer() {
        for (numerator, denominator) in [(1, 2), (9, 20), (355, 113)] {
            let coarse = Enclosure::exp_of_minus(numerator, denominator, 64);
            let fine = Enclosure::exp_of_minus(numerator, denominator, 512);
            assert!(coarse.low.clone() << 448usize <= fine.low);
            assert!(fine.high <= coarse.high.clone() << 448usize);
        }
    }

    #[test]
    fn floats_are_compared_exactly() {
        let half = Enclosure::one(1).scaled(1, 2);
        assert_eq!(half.at_most(0.5), Some(true));
        assert_eq!(half.at_most(0.5 - f64::EPSILON / 4.0), Some(false));
        assert_eq!(half.at_most(f64::MIN_POSITIVE / 8.0), Some(false));
        let wide = Enclosure {
            low: UBig::ZERO,
            high: UBig::from(2u8),
            bits: 1,
        };
        assert_eq!(wide.at_most(0.5), None);
    }
}
