//! What an event names: bytes or 64-bit integers.

use std::fmt::{Debug, Display};
use std::str::Utf8Chunk;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::plan::Footprint;
use crate::sketch::count_sketch::mix;

/// A key made of bytes.
pub type Bytes = Box<[u8]>;

/// The longest key that is counted. An event with a longer one is an event without a key.
pub const LONGEST_KEY: usize = 64 * 1024;

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

    /// A hash whose 64 bits can all be used.
    fn hash(key: Self::Ref<'_>, seed: u64) -> u64;

    /// Whether the key is short enough to be counted.
    fn fits(key: Self::Ref<'_>) -> bool;

    /// Appends the key in a form that [`unpack`](Self::unpack) finds the end of.
    fn pack(key: Self::Ref<'_>, bytes: &mut Vec<u8>);

    /// Takes a packed key from the front.
    fn unpack<'a>(bytes: &mut &'a [u8]) -> Self::Ref<'a>;

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
        Footprint {
            inline: reference,
            // The system's allocator keeps 8 bytes of its own and rounds up to 16, from 32 on.
            heap: bytes
                .saturating_add(8)
                .checked_next_multiple_of(16)
                .unwrap_or(u64::MAX)
                .max(32),
            packed: bytes.saturating_add(if bytes < 128 { 1 } else { 2 }),
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

    fn hash(key: u64, seed: u64) -> u64 {
        mix(key ^ seed)
    }

    fn fits(_: u64) -> bool {
        true
    }

    fn pack(key: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&key.to_le_bytes());
    }

    fn unpack(bytes: &mut &[u8]) -> u64 {
        let (key, rest) = bytes.split_at(size_of::<u64>());
        *bytes = rest;
        key.iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn shown(&self) -> u64 {
        *self
    }

    fn footprint(_: u64) -> Footprint {
        let bytes = size_of::<u64>() as u64;
        Footprint {
            inline: bytes,
            heap: 0,
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
pub(crate) fn unpack_number(bytes: &mut &[u8]) -> u64 {
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
    fn different_keys_are_shown_differently() {
        let keys: [&[u8]; 6] = [b"a\xff", b"a\\xff", b"a\\\\xff", b"a\\\\", b"a\\", b"a\\\xff"];
        let mut all: Vec<String> = keys.map(shown).to_vec();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), keys.len());
    }
}
