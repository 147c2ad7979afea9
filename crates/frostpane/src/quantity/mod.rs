//! Quantities as text: spans of time, sizes in bytes, ratios, and the numbers before a unit: `1.5`, `1,000`, `1_000`, `1e6`.

mod ratio;
mod size;
pub(crate) mod span;

pub use ratio::Ratio;
pub use size::Size;
pub use span::Span;

/// An exact number without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    digits: u64,
    exponent: i32,
}

impl Quantity {
    /// The number at the start of a text, and the rest of the text.
    pub fn first_of(text: &str) -> Option<(Self, &str)> {
        let (whole, rest) = digits(text);
        let whole = without_marks(whole)?;
        let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
        let (power, rest) = exponent(rest).unwrap_or((0, rest));
        let number = Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            exponent: power - i32::try_from(fraction.len()).ok()?,
        };
        Some((number, rest))
    }

    pub fn at_most(self, unit: u64) -> Option<u64> {
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        match (self.exponent < 0, power) {
            (true, power) => {
                let product = u128::from(self.digits) * u128::from(unit);
                power.map_or(0, |power| product / power).try_into().ok()
            }
            (false, _) => self.times(unit),
        }
    }

    pub fn times(self, unit: u64) -> Option<u64> {
        let product = u128::from(self.digits) * u128::from(unit);
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let whole = match (self.exponent >= 0, power) {
            (true, power) => product.checked_mul(power?)?,
            (false, Some(power)) if product.is_multiple_of(power) => product / power,
            (false, _) => return None,
        };
        whole.try_into().ok()
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '_');
    text.split_at(end.unwrap_or(text.len()))
}

/// The digits alone. A comma that is not before exactly three digits is no separator.
fn without_marks(digits: &str) -> Option<String> {
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let begins = digits.starts_with(|c: char| c.is_ascii_digit());
    (begins && digits.split(',').skip(1).all(is_group)).then(|| digits.replace([',', '_'], ""))
}

fn exponent(text: &str) -> Option<(i32, &str)> {
    let after = text.strip_prefix(['e', 'E'])?;
    let after = after.strip_prefix('+').unwrap_or(after);
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let (digits, rest) = after.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        for (text, unit, number, rest) in [
            ("15", 1, Some(15), ""),
            ("1,000,000 events", 1, Some(1_000_000), " events"),
            ("1_000k", 1_000, Some(1_000_000), "k"),
            ("1.5h", 3_600, Some(5_400), "h"),
            ("1e6", 1, Some(1_000_000), ""),
            ("2.5E+3x", 1, Some(2_500), "x"),
            ("1.5", 1, None, ""),
            ("0.1s", 1_000_000, Some(100_000), "s"),
            ("1e40", 1, None, ""),
            ("3events", 1, Some(3), "events"),
        ] {
            let (quantity, after) = Quantity::first_of(text).unwrap();
            assert_eq!((quantity.times(unit), after), (number, rest), "{text}");
        }
        for text in ["", "x", "-1", ".5", ",5", "1,5", "1,0000", "99999999999999999999"] {
            assert_eq!(Quantity::first_of(text), None, "{text}");
        }
    }
}
