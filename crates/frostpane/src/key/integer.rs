//! Keys that are 64-bit integers.

use std::ops::Range;

use super::mix::{mix, unmix};
use super::{Footprint, Key, Keys};

impl Key for u64 {
    type Ref<'a> = u64;
    type Shown = u64;

    fn borrowed(&self) -> u64 {
        *self
    }

    fn owned(key: u64) -> Self {
        key
    }

    fn is(&self, key: u64) -> bool {
        *self == key
    }

    #[inline]
    fn hash(key: u64, seed: u64) -> u64 {
        mix(key ^ seed)
    }

    fn fits(_: u64) -> bool {
        true
    }

    #[inline]
    fn hold(key: u64, _: u64, _: &mut Vec<u8>) -> u64 {
        key
    }

    #[inline]
    fn holds(held: u64, key: u64, _: u64, _: &[u8]) -> bool {
        held == key
    }

    #[inline]
    fn held(held: u64, _: &[u8]) -> Option<u64> {
        Some(held)
    }

    #[inline]
    fn first_byte(_: u64, _: &[u8]) -> u8 {
        0
    }

    #[inline]
    fn unhash(hash: u64, seed: u64) -> Option<u64> {
        Some(unmix(hash) ^ seed)
    }

    fn pack(key: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&key.to_le_bytes());
    }

    #[inline]
    fn unpack(bytes: &mut &[u8]) -> Option<u64> {
        let (key, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*key))
    }

    fn of_range(range: Range<u64>) -> Option<Keys<u64>> {
        Keys::range(range).ok()
    }

    fn text(key: u64) -> Option<String> {
        Some(key.to_string())
    }

    fn shown(&self) -> u64 {
        *self
    }

    fn footprint(_: u64) -> Footprint {
        let bytes = size_of::<u64>() as u64;
        Footprint { held: 0, listed: true, packed: bytes, reference: bytes, block: 0 }
    }
}
