//! Keys made of bytes.

use std::str::Utf8Chunk;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Bytes, Footprint, Key, LONGEST_KEY};
use crate::codec::{pack_number, unpack_number};

/// Block header and block sizes of the C library's allocator on 64 bits.
const BLOCK_HEAD: u64 = 8;
const BLOCK_STEP: u64 = 16;
const LEAST_BLOCK: u64 = 32;

fn block(bytes: u64) -> u64 {
    bytes
        .saturating_add(BLOCK_HEAD)
        .checked_next_multiple_of(BLOCK_STEP)
        .map_or(u64::MAX, |block| block.max(LEAST_BLOCK))
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

    fn length(key: &[u8]) -> u64 {
        key.len() as u64
    }

    fn pack(key: &[u8], bytes: &mut Vec<u8>) {
        pack_number(key.len() as u64, bytes);
        bytes.extend_from_slice(key);
    }

    #[inline]
    fn unpack<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = *bytes;
        let length = usize::try_from(unpack_number(&mut rest)?).ok()?;
        let (key, rest) = rest.split_at_checked(length)?;
        *bytes = rest;
        Some(key)
    }

    fn text(key: &[u8]) -> Option<String> {
        str::from_utf8(key).ok().map(str::to_owned)
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
        Footprint { held: packed, listed: false, packed, reference, block: block(bytes) }
    }
}

/// Text with its backslashes doubled, and bytes that are not UTF-8 as `\xNN`.
fn escape_chunk(chunk: Utf8Chunk<'_>) -> String {
    let text = chunk.valid().replace('\\', "\\\\");
    let bytes = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
    text + &bytes.collect::<String>()
}
