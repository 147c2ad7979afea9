//! Compressed bodies, and how large they may be decompressed.

use std::io::Read;

use axum::http::StatusCode;
use bytes::Bytes;
use frostpane_events::Compression;

use crate::problem::{Problem, Result};

/// The largest window of Zstandard that is unpacked: 8 MB.
const LARGEST_WINDOW: u32 = 23;

/// Bytes that may come of every byte that is packed, beside the first megabyte.
const RATIO: usize = 256;
const PART: usize = 64 << 10;

/// Decompresses a body of at most `most` bytes. Before each part, room for its bytes is asked for.
pub fn unpack(
    body: Bytes,
    compression: Compression,
    most: usize,
    room: impl FnMut(usize) -> Result<()>,
) -> Result<Bytes> {
    let by_ratio = body.len().saturating_mul(RATIO).saturating_add(1 << 20);
    let limits = (most, by_ratio);
    let unpacked = match compression {
        Compression::None => return Ok(body),
        Compression::Gzip => limited(flate2::read::MultiGzDecoder::new(&*body), limits, room),
        Compression::Zstd => zstd::stream::read::Decoder::with_buffer(&*body)
            .and_then(|mut decoder| {
                decoder.window_log_max(LARGEST_WINDOW)?;
                Ok(decoder)
            })
            .map_err(|_| broken())
            .and_then(|decoder| limited(decoder, limits, room)),
    };
    unpacked.map(Bytes::from)
}

fn limited(
    mut from: impl Read,
    (most, by_ratio): (usize, usize),
    mut room: impl FnMut(usize) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    loop {
        room(PART)?;
        let part = from.by_ref().take(PART as u64);
        let read = { part }.read_to_end(&mut unpacked).map_err(|_| broken())?;
        match unpacked.len() {
            size if size > most => return Err(too_large(most)),
            size if size > by_ratio => return Err(too_dense()),
            _ if read < PART => return Ok(unpacked),
            _ => std::thread::yield_now(),
        }
    }
}

fn too_dense() -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!(
            "the body becomes more than {RATIO} times as large when it is unpacked: nothing of it was taken"
        ),
        "send it in several requests, or unpacked, each with an Idempotency-Key of its own",
    )
}

fn broken() -> Problem {
    Problem::malformed(
        "the body cannot be unpacked: nothing of it was taken",
        "pack it as Content-Encoding says, and whole",
    )
}

pub fn too_large(most: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body has more than {most} bytes, counted unpacked: nothing of it was taken"),
        "send it in several requests, each with an Idempotency-Key of its own",
    )
}
