//! What an event names: bytes or 64-bit integers.

use std::fmt::{Debug, Display};
use std::str::Utf8Chunk;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::plan::Footprint;
use crate::sketch::count_sketch::{mix, unmix};

/// A key made of bytes.
pub type Bytes = Box<[u8]>;

/// The longest key that is counted. An event with a longer one is an event without a key.
pub const LONGEST_KEY: usize = 64 * 1024;

/// Of the 64 bits that stand for a key in a table, those that say where the store has it.
const START_BITS: u32 = 40;
const START: u64 = (1 << START_BITS) - 1;

/// The other bits: of the hash, and one that tells them from 0.
#[inline]
fn tag(hash: u64) -> u64 {
    hash & !START | 1 << START_BITS
}

/// A type of key. Keys are equal when they are equal as a whole; the hash only says where to look.
pub trait Key: Clone + Ord + Debug + Send + Sync + 'static {
    /// The form in which events carry the key.
    type Ref<'a>: Copy + Ord;

    /// The form in which releases show the key.
    type Shown: Serialize + Display;

    /// The key as events carry it.
    fn borrowed(&self) -> Self::Ref<'_>;

    /// A key of our own.
    fn owned(key: Self::Ref<'_>) -> Self;

    /// Whether this is the same key.
    fn is(&self, key: Self::Ref<'_>) -> bool;

    /// Whether these are the same key.
    fn are_same(a: Self::Ref<'_>, b: Self::Ref<'_>) -> bool {
        Self::owned(a).is(b)
    }

    /// A hash whose 64 bits can all be used.
    fn hash(key: Self::Ref<'_>, seed: u64) -> u64;

    /// Whether the key is short enough to be counted.
    fn fits(key: Self::Ref<'_>) -> bool;

    /// Appends the key in a form that [`unpack`](Self::unpack) finds the end of.
    fn pack(key: Self::Ref<'_>, bytes: &mut Vec<u8>);

    /// Takes a packed key from the front.
    fn unpack<'a>(bytes: &mut &'a [u8]) -> Self::Ref<'a>;

    /// What stands for the key in a table, with what does not fit into 64 bits appended to the store.
    #[inline]
    fn hold(key: Self::Ref<'_>, hash: u64, store: &mut Vec<u8>) -> u64 {
        let start = store.len() as u64;
        debug_assert!(start < 1 << START_BITS);
        Self::pack(key, store);
        tag(hash) | start
    }

    /// Whether this, or 0, stands for the key.
    #[inline]
    fn holds(held: u64, key: Self::Ref<'_>, hash: u64, store: &[u8]) -> bool {
        held & !START == tag(hash) && Self::are_same(Self::held(held, store), key)
    }

    /// The key that this stands for.
    #[inline]
    fn held(held: u64, store: &[u8]) -> Self::Ref<'_> {
        Self::unpack(&mut &store[(held & START) as usize..])
    }

    /// The first byte of what the store has of the key that this, or 0, stands for; 0 if it has none.
    #[inline]
    fn first_byte(held: u64, store: &[u8]) -> u8 {
        store.get((held & START) as usize).copied().unwrap_or(0)
    }

    /// The key with this hash, if no two keys ever have the same.
    #[inline]
    fn unhash(_hash: u64, _seed: u64) -> Option<Self::Ref<'static>> {
        None
    }

    /// The key as releases show it.
    fn shown(&self) -> Self::Shown;

    /// What a key of this many bytes takes; integers have their own length.
    fn footprint(bytes: u64) -> Footprint;
}

impl Key for Bytes {
    type Ref<'a> = &'a [u8];
    type Shown = String;

    fn borrowed(&self) -> &[u8] {
        self
    }

    fn owned(key: &[u8]) -> Self {
        key.into()
    }

    fn is(&self, key: &[u8]) -> bool {
        self.as_ref() == key
    }

    #[inline]
    fn are_same(a: &[u8], b: &[u8]) -> bool {
        a == b
    }

    #[inline]
    fn hash(key: &[u8], seed: u64) -> u64 {
        xxh3_64_with_seed(key, seed)
    }

    fn fits(key: &[u8]) -> bool {
        key.len() <= LONGEST_KEY
    }

    fn pack(key: &[u8], bytes: &mut Vec<u8>) {
        pack_number(key.len() as u64, bytes);
        bytes.extend_from_slice(key);
    }

    fn unpack<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
        let length = unpack_number(bytes) as usize;
        let (key, rest) = bytes.split_at(length);
        *bytes = rest;
        key
    }

    fn shown(&self) -> String {
        match str::from_utf8(self) {
            Ok(text) if !text.contains(r"\x") && !text.contains(r"\\") => text.to_owned(),
            _ => self.utf8_chunks().map(escape_chunk).collect(),
        }
    }

    fn footprint(bytes: u64) -> Footprint {
        let reference = size_of::<&[u8]>() as u64;
        let packed = bytes.saturating_add(if bytes < 128 { 1 } else { 2 });
        Footprint {
            held: packed,
            listed: false,
            packed,
            reference,
        }
    }
}

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
    fn held(held: u64, _: &[u8]) -> u64 {
        held
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

    fn unpack(bytes: &mut &[u8]) -> u64 {
        let (key, rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
        *bytes = rest;
        u64::from_le_bytes(*key)
    }

    fn shown(&self) -> u64 {
        *self
    }

    fn footprint(_: u64) -> Footprint {
        let bytes = size_of::<u64>() as u64;
        Footprint {
            held: 0,
            listed: true,
            packed: bytes,
            reference: bytes,
        }
    }
}

/// Appends a number in groups of seven bits, the lowest first; all bytes but the last have their top bit set.
pub(crate) fn pack_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a packed number from the front.
#[inline]
pub(crate) fn unpack_number(bytes: &mut &[u8]) -> u64 {
    match bytes.split_first() {
        Some((byte, rest)) if *byte < 0x80 => {
            *bytes = rest;
            u64::from(*byte)
        }
        _ => unpack_long_number(bytes),
    }
}

fn unpack_long_number(bytes: &mut &[u8]) -> u64 {
    let end = bytes
        .iter()
        .position(|byte| byte & 0x80 == 0)
        .map_or(bytes.len(), |last| last + 1);
    let (number, rest) = bytes.split_at(end);
    *bytes = rest;
    number
        .iter()
        .rev()
        .fold(0, |number, byte| number << 7 | u64::from(byte & 0x7F))
}

/// Text with its backslashes doubled, and bytes that are not text as `\xNN`.
fn escape_chunk(chunk: Utf8Chunk<'_>) -> String {
    let text = chunk.valid().replace('\\', "\\\\");
    let bytes = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
    text + &bytes.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(key: &[u8]) -> String {
        Bytes::owned(key).shown()
    }

    #[test]
    fn text_is_shown_as_it_is_and_other_bytes_are_escaped() {
        assert_eq!(shown("höhe\\tiefe".as_bytes()), "höhe\\tiefe");
        assert_eq!(shown(b"a\xff\\b"), "a\\xff\\\\b");
        assert_eq!(shown(b""), "");
    }

    #[test]
    fn an_integer_is_found_again_from_its_hash() {
        for key in [0, 1, 77, u64::MAX, 1 << 63] {
            assert_eq!(u64::unhash(u64::hash(key, 99), 99), Some(key));
        }
    }

    /// By the first bits of the hash and all bytes of the key, wherever the store has them. 0 stands for none, also where the
    /// hash has no bit and the key no byte.
    #[test]
    fn what_is_held_stands_for_its_key_alone() {
        let keys: [(&[u8], u64); 6] = [
            (b"", 0),
            (b"a", 0),
            (b"b", 0),
            (b"b", 1 << 41),
            (b"a", u64::MAX),
            (&[7; 300], 5 << 50),
        ];
        let mut store = Vec::new();
        assert!(!Bytes::holds(0, b"", 0, &store));
        let held = keys.map(|(key, hash)| Bytes::hold(key, hash, &mut store));
        for (number, (key, hash)) in keys.into_iter().enumerate() {
            assert!(!Bytes::holds(0, key, hash, &store));
            assert!(Bytes::held(held[number], &store) == key);
            let found = held.map(|held| Bytes::holds(held, key, hash, &store));
            assert_eq!(found, std::array::from_fn(|other| other == number));
        }
    }

    #[test]
    fn a_packed_key_takes_as_much_as_its_footprint_says() {
        for length in [0, 1, 126, 127, 128, 129, 300, 16_383] {
            let mut packed = Vec::new();
            Bytes::pack(&vec![7; length], &mut packed);
            let footprint = Bytes::footprint(length as u64);
            assert_eq!([footprint.packed, footprint.held], [packed.len() as u64; 2]);
            assert!(!footprint.listed && footprint.reference == 16);
        }
        let integer = u64::footprint(300);
        assert_eq!([integer.packed, integer.held, integer.reference], [8, 0, 8]);
        assert!(integer.listed);
    }

    #[test]
    fn a_key_of_the_greatest_length_is_counted_and_a_longer_one_is_not() {
        assert!(Bytes::fits(&vec![0; 65_536]) && !Bytes::fits(&vec![0; 65_537]));
        assert!(u64::fits(u64::MAX));
    }

    #[test]
    fn different_keys_are_shown_differently() {
        assert_eq!([0, 5, u64::MAX].map(|key| key.shown()), [0, 5, u64::MAX]);
        let keys: [&[u8]; 6] = [b"a\xff", b"a\\xff", b"a\\\\xff", b"a\\\\", b"a\\", b"a\\\xff"];
        let mut all: Vec<String> = keys.map(shown).to_vec();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), keys.len());
    }
}
