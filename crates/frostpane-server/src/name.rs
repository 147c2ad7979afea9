//! Names of streams, and ids of releases and deliveries; they may come from anyone.

use crate::problem::{Problem, Result};

/// The name of a stream is the name of a folder.
const LONGEST: usize = 64;
const LONGEST_ID: usize = 256;

/// Checks the name of a stream: it cannot lead out of the folder of streams.
pub fn check_stream(name: &str) -> Result<()> {
    let fits = !name.is_empty()
        && name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_');
    if fits {
        return Ok(());
    }
    Err(Problem::malformed(
        "this cannot be the name of a stream",
        "take small letters, digits, - and _, at most 64, beginning with a letter or a digit",
    ))
}

pub fn check_id(id: &str) -> Result<()> {
    if !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(|c| (b' '..=b'~').contains(&c)) {
        return Ok(());
    }
    Err(Problem::malformed("this cannot be an id", "take printable ASCII characters, at most 256"))
}
