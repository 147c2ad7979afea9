//! What an event names: bytes or 64-bit integers.

use std::fmt::{Debug, Display};
use std::str::Utf8Chunk;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A key made of bytes.
pub type Bytes = Box<[u8]>;

/// The longest key that is counted. An event with a longer one is an event without a key.
pub const LONGEST_KEY: usize = 64 * 1024;

/// A type of key. Keys are equal when they are equal as a whole; the hash only says where to look.
pub trait Key: Clone + Ord + Debug + Send + Sync {
    /// The form in which events carry the key.
    type Borrowed: ?Sized + Eq + Ord;

    /// The key as events carry it.
    fn borrowed(&self) -> &Self::Borrowed;

    /// A key of our own.
    fn owned(key: &Self::Borrowed) -> Self;

    /// A hash whose 64 bits can all be used.
    fn hash(key: &Self::Borrowed, seed: u64) -> u64;

    /// Whether the key is short enough to be counted.
    fn fits(key: &Self::Borrowed) -> bool;

    /// The form in which releases show the key.
    type Shown: Serialize + Display;

    /// The key as releases show it.
    fn shown(&self) -> Self::Shown;
}

impl Key for Bytes {
    type Borrowed = [u8];

    fn borrowed(&self) -> &[u8] {
        self
    }

    fn owned(key: &[u8]) -> Self {
        key.into()
    }

    fn hash(key: &[u8], seed: u64) -> u64 {
        xxh3_64_with_seed(key, seed)
    }

    fn fits(key: &[u8]) -> bool {
        key.len() <= LONGEST_KEY
    }

    type Shown = String;

    fn shown(&self) -> String {
        match str::from_utf8(self) {
            Ok(text) if !text.contains(r"\x") && !text.contains(r"\\") => text.to_owned(),
            _ => self.utf8_chunks().map(escape_chunk).collect(),
        }
    }
}

impl Key for u64 {
    type Borrowed = u64;

    fn borrowed(&self) -> &u64 {
        self
    }

    fn owned(key: &u64) -> Self {
        *key
    }

    fn hash(key: &u64, seed: u64) -> u64 {
        xxh3_64_with_seed(&key.to_le_bytes(), seed)
    }

    fn fits(_: &u64) -> bool {
        true
    }

    type Shown = u64;

    fn shown(&self) -> u64 {
        *self
    }
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
