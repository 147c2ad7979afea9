//! Whole numbers of any length, written with a point.

use std::io::{self, Write};

const BILLION: u64 = 1_000_000_000;

/// Writes a number in two's complement, the highest byte first, with so many digits after the point.
pub fn write(bytes: &[u8], scale: usize, text: &mut Vec<u8>) -> io::Result<()> {
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let digits = digits(magnitude(bytes, negative));
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if negative { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    write!(text, "{sign}{whole}{point}{fraction}")
}

fn magnitude(bytes: &[u8], negative: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if negative {
        let mut carry = true;
        for byte in bytes.iter_mut().rev() {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    bytes
}

/// The digits of a number without a sign, nine at a time from the lowest.
fn digits(mut bytes: Vec<u8>) -> String {
    let mut digits = String::new();
    while bytes.iter().any(|byte| *byte > 0) {
        let mut rest = 0;
        for byte in &mut bytes {
            let part = rest << 8 | u64::from(*byte);
            *byte = (part / BILLION) as u8;
            rest = part % BILLION;
        }
        digits.insert_str(0, &format!("{rest:09}"));
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], scale: usize) -> String {
        let mut text = Vec::new();
        write(bytes, scale, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn decimals_have_their_point_where_it_belongs() {
        for (number, scale, written) in [
            (0_i128, 0, "0"),
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (1_999, 2, "19.99"),
            (-1_999, 3, "-1.999"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
            (i128::MAX, 38, "1.70141183460469231731687303715884105727"),
            (1_000_000_000, 0, "1000000000"),
        ] {
            assert_eq!(text(&number.to_be_bytes(), scale), written);
        }
        assert_eq!(text(&[0xFF], 0), "-1");
        assert_eq!(text(&[], 1), "0.0");
        let large = [&[1][..], &[0; 31]].concat();
        assert_eq!(
            text(&large, 0),
            "452312848583266388373324160190187140051835877600158453279131187530910662656",
            "2 to the power of 248"
        );
    }
}
