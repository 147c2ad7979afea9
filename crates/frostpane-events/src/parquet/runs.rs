//! Whole numbers in runs of equal ones and in packs of eight: Parquet's levels and dictionary places.

use bytes::Bytes;
use parquet::errors::Result;

use super::damaged;

const WIDEST: u8 = 32;
/// Bits of the number that begins a run and says how long it is.
const LENGTH_BITS: u32 = 32;

pub struct Runs {
    bytes: Bytes,
    width: u8,
    next: usize,
    run: Run,
    left: usize,
}

enum Run {
    /// One number, repeated.
    Equal(u32),
    /// Numbers side by side from this bit on.
    Packed(usize),
}

impl Runs {
    pub fn new(bytes: Bytes, width: u8) -> Result<Self> {
        if width > WIDEST {
            return Err(damaged());
        }
        Ok(Self { bytes, width, next: 0, run: Run::Equal(0), left: 0 })
    }

    /// Replaces what is in `numbers` with the next `count` ones.
    pub fn read(&mut self, count: usize, numbers: &mut Vec<u32>) -> Result<()> {
        numbers.clear();
        while numbers.len() < count {
            if self.left == 0 {
                self.begin_run()?;
            }
            let taken = self.left.min(count - numbers.len());
            match self.run {
                Run::Equal(number) => numbers.resize(numbers.len() + taken, number),
                Run::Packed(bit) => {
                    unpack(&self.bytes, bit, self.width, taken, numbers)?;
                    self.run = Run::Packed(bit + taken * usize::from(self.width));
                }
            }
            self.left -= taken;
        }
        Ok(())
    }

    fn begin_run(&mut self) -> Result<()> {
        let length = self.length()?;
        let (half, width) = (length as usize / 2, usize::from(self.width));
        if length & 1 == 1 {
            self.left = half.checked_mul(8).ok_or_else(damaged)?;
            self.run = Run::Packed(self.next * 8);
            // The last pack may be cut off after the last number that counts.
            self.next = self.bytes.len().min(self.next.saturating_add(half * width));
        } else {
            let mut number = [0; 4];
            for byte in &mut number[..width.div_ceil(8)] {
                *byte = self.byte()?;
            }
            self.left = half;
            self.run = Run::Equal(u32::from_le_bytes(number));
        }
        Ok(())
    }

    /// Seven bits a byte, the lowest first.
    fn length(&mut self) -> Result<u32> {
        let mut length = 0;
        for shift in (0..LENGTH_BITS).step_by(7) {
            let byte = self.byte()?;
            length |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(damaged())
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.next).ok_or_else(damaged)?;
        self.next += 1;
        Ok(byte)
    }
}

/// Appends numbers that stand side by side from a bit on, the lowest bits first.
fn unpack(bytes: &[u8], first: usize, width: u8, count: usize, numbers: &mut Vec<u32>) -> Result<()> {
    let width = usize::from(width);
    let end = first + count * width;
    if end > bytes.len() * 8 {
        return Err(damaged());
    }
    let mask = ((1_u64 << width) - 1) as u32;
    numbers.extend((0..count).map(|index| {
        let bit = first + index * width;
        (word(&bytes[bit / 8..]) >> (bit % 8)) as u32 & mask
    }));
    Ok(())
}

/// The first eight bytes, with zeros for those that are missing.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8], width: u8, count: usize) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        let mut runs = Runs::new(Bytes::from_static(bytes), width)?;
        runs.read(count, &mut numbers)?;
        Ok(numbers)
    }

    #[test]
    fn the_examples_of_the_format_are_read() {
        let packed = b"\x03\x88\xC6\xFA";
        assert_eq!(read(packed, 3, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(read(packed, 3, 3).unwrap(), [0, 1, 2]);
        assert_eq!(
            read(b"\x06\x05\x00\x07\x03\x88\xC6\xFA", 3, 6).unwrap(),
            [5, 5, 5, 0, 1, 2],
            "a run of no numbers has a number all the same"
        );
    }

    #[test]
    fn numbers_have_up_to_32_bits() {
        assert_eq!(read(b"\x04\xFE\xFF\xFF\xFF", 32, 2).unwrap(), [u32::MAX - 1; 2]);
        assert_eq!(read(b"\x03\xFE\xFF\xFF\xFF\x01\0\0\0", 32, 2).unwrap(), [u32::MAX - 1, 1]);
        assert_eq!(read(b"\x80\x01", 0, 64).unwrap(), [0; 64]);
        assert_eq!(read(b"\x03", 0, 8).unwrap(), [0; 8]);
        assert!(read(b"\x02", 33, 1).is_err());
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for (bytes, width) in [
            (b"".as_slice(), 3),
            (b"\x02", 3),
            (b"\x02\xFF", 9),
            (b"\x80", 1),
            (b"\x80\x80\x80\x80\x80\x01", 1),
            (b"\x00\x01", 1),
            (b"\x03", 1),
        ] {
            assert!(read(bytes, width, 1).is_err(), "{bytes:?}");
        }
        assert!(read(b"\x03\x88\xC6", 3, 5).is_ok(), "the rest is padding");
        assert!(read(b"\x03\x88\xC6", 3, 6).is_err());
    }
}
