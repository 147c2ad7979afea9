//! The first byte selects the stream that the bytes belong to, the second the decoder.

#![no_main]

#[path = "../../crates/frostpane-store/tests/common/mod.rs"]
mod common;

use std::sync::LazyLock;

use common::decoders::{PARTS, Written};
use libfuzzer_sys::fuzz_target;

static ALL: LazyLock<Vec<Written>> = LazyLock::new(Written::all);

fuzz_target!(|bytes: &[u8]| {
    if let [written, part, bytes @ ..] = bytes {
        let written = &ALL[usize::from(*written) % ALL.len()];
        let _ = written.read(PARTS[usize::from(*part) % PARTS.len()], bytes);
    }
});
