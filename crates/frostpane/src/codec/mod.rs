//! Encoding of state that outlives the process: numbers and lists, one after the other.
//!
//! Input is not trusted: a length is checked against the remaining bytes before memory is allocated,
//! and anything invalid is an error of kind [`State`](crate::ErrorKind::State). `docs/format.md`
//! specifies the bytes.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// Far above any count, and far from overflow.
pub(crate) const MOST: u64 = 1 << 60;
/// Far above the events of a pane; the panes of a window can be added without overflow.
pub(crate) const MOST_OF_PANE: u64 = 1 << 44;

#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub fn number(&mut self, number: u64) {
        pack_number(number, &mut self.0);
    }

    /// Zigzag encoding: small numbers of either sign take few bytes.
    pub fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    pub fn flag(&mut self, flag: bool) {
        self.0.push(flag.into());
    }

    /// Writes the length, then the bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Writes bytes of a length known to the reader.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub fn range(&mut self, range: &Range<i64>) {
        self.signed(range.start);
        self.signed(range.end);
    }

    pub fn each<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    /// Writes a presence byte, then the item if there is one.
    pub fn maybe<T>(&mut self, item: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(item.is_some());
        if let Some(item) = item {
            write(self, item);
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    /// What `write` writes, as bytes.
    pub fn written(write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut to = Self::default();
        write(&mut to);
        to.finish()
    }
}

pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads all of these bytes: fails if some remain.
    pub fn read_all<T>(bytes: &'a [u8], read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let mut from = Self::new(bytes);
        let found = read(&mut from)?;
        from.finish().map(|()| found)
    }

    pub fn number(&mut self) -> Result<u64> {
        unpack_number(&mut self.0).ok_or_else(|| damaged("a number ends early"))
    }

    /// A number of at most [`MOST`].
    pub fn count(&mut self) -> Result<u64> {
        self.at_most(MOST)
    }

    /// A number of at most [`MOST_OF_PANE`], which can be added to those of other panes.
    pub fn count_of_pane(&mut self) -> Result<u64> {
        self.at_most(MOST_OF_PANE)
    }

    pub fn at_most(&mut self, most: u64) -> Result<u64> {
        let number = self.number()?;
        check(number <= most, "a number is too large").map(|()| number)
    }

    pub fn signed(&mut self) -> Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A position of at most [`MOST`] in absolute value.
    pub fn position(&mut self) -> Result<i64> {
        self.within(MOST)
    }

    /// A signed number of at most `most` in absolute value.
    pub fn within(&mut self, most: u64) -> Result<i64> {
        let number = self.signed()?;
        check(number.unsigned_abs() <= most, "a number is too large").map(|()| number)
    }

    pub fn flag(&mut self) -> Result<bool> {
        match self.raw(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(damaged("a flag is neither yes nor no")),
        }
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.length()?;
        self.raw(length)
    }

    pub fn raw(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(|| damaged("bytes end early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.raw(N)?);
        Ok(array)
    }

    pub fn range(&mut self) -> Result<Range<i64>> {
        let range = self.position()?..self.position()?;
        check(range.start <= range.end, "a range ends before it begins").map(|()| range)
    }

    /// A number of items that take at least one byte each.
    pub fn length(&mut self) -> Result<usize> {
        self.at_most(self.0.len() as u64).map(|length| length as usize)
    }

    pub fn each<T, C: FromIterator<T>>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<C> {
        (0..self.length()?).map(|_| read(self)).collect()
    }

    pub fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        self.flag()?.then(|| read(self)).transpose()
    }

    /// The remaining bytes, for a caller that consumes them itself.
    pub fn rest(&mut self) -> &mut &'a [u8] {
        &mut self.0
    }

    pub fn finish(self) -> Result<()> {
        check(self.0.is_empty(), "something follows its end")
    }
}

/// Returns an error unless bytes are as this library writes them.
pub(crate) fn check(is_sound: bool, what: &str) -> Result<()> {
    if is_sound { Ok(()) } else { Err(damaged(what)) }
}

/// The error for bytes that cannot have been written by this library.
#[cold]
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::State,
        format!("the state is damaged ({what}): restore a copy, whose budget will count as spent"),
    )
}

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

    #[test]
    fn what_is_written_is_read_and_nothing_more() {
        let mut to = Writer::default();
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            to.signed(number);
        }
        to.bytes(b"frost");
        to.each([3_u64, 5].into_iter(), Writer::number);
        to.maybe(None::<u64>, Writer::number);
        to.range(&(-7..9));
        let bytes = to.finish();
        let read = |bytes: &[u8]| -> Result<()> {
            let mut from = Reader::new(bytes);
            for number in [0, -1, 1, i64::MIN, i64::MAX] {
                assert_eq!(from.signed()?, number);
            }
            assert_eq!(from.bytes()?, b"frost");
            assert_eq!(from.each::<_, Vec<u64>>(Reader::number)?, [3, 5]);
            assert_eq!(from.maybe(Reader::number)?, None);
            assert_eq!(from.range()?, -7..9);
            from.finish()
        };
        assert!(read(&bytes).is_ok());
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]).unwrap_err().kind(), ErrorKind::State);
        }
        assert!(read(&[&bytes[..], &[0]].concat()).is_err());
    }

    /// Memory is allocated only for bytes that exist.
    #[test]
    fn a_length_beyond_the_bytes_that_are_left_is_refused() {
        let mut to = Writer::default();
        to.number(u64::MAX);
        to.raw(&[1; 20]);
        let bytes = to.finish();
        assert!(Reader::new(&bytes).bytes().is_err());
        assert!(Reader::new(&bytes).each::<_, Vec<u64>>(Reader::number).is_err());
    }
}
