//! Variable-length integers.

/// Appends a number in groups of seven bits, lowest first; all bytes but the last have their top bit set.
pub(crate) fn pack_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front; returns `None` and takes nothing if there is no complete one.
#[inline]
pub(crate) fn unpack_number(bytes: &mut &[u8]) -> Option<u64> {
    match bytes.split_first() {
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            Some(u64::from(*byte))
        }
        _ => unpack_long_number(bytes),
    }
}

fn unpack_long_number(bytes: &mut &[u8]) -> Option<u64> {
    let last = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (groups, rest) = bytes.split_at(last + 1);
    let mut number = 0_u64;
    for group in groups.iter().rev() {
        let shifted = number << 7;
        // The group has bits beyond 64.
        if shifted >> 7 != number {
            return None;
        }
        number = shifted | u64::from(group & 0x7F);
    }
    *bytes = rest;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_again_and_what_is_no_whole_number_is_left_alone() {
        for number in [0, 1, 127, 128, 300, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut packed = Vec::new();
            pack_number(number, &mut packed);
            for length in 0..packed.len() {
                let mut short = &packed[..length];
                assert_eq!((unpack_number(&mut short), short.len()), (None, length));
            }
            packed.push(7);
            let mut rest = &packed[..];
            assert_eq!((unpack_number(&mut rest), rest), (Some(number), &[7][..]));
        }
        let mut long = [[0xFF; 9].as_slice(), &[2]].concat();
        assert_eq!(unpack_number(&mut &long[..]), None, "65 bits");
        long[9] = 1;
        assert_eq!(unpack_number(&mut &long[..]), Some(u64::MAX));
        let zeros = [[0x80; 12].as_slice(), &[0]].concat();
        assert_eq!(unpack_number(&mut &zeros[..]), Some(0));
    }
}
