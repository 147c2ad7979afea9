//! Sources that are pulled from: a message is acknowledged to its source when its events are on disk, and
//! recognized if it comes twice.

mod nats;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use axum::http::StatusCode;
use frostpane_events::Format;
use futures_util::future::join_all;

use crate::events::{ParsedEvents, Wrong, read};
use crate::log;
use crate::problem::Problem;
use crate::stream::{Identity, StreamHandle};
pub use nats::JetStream;

/// The wait after a failure.
const PATIENCE: Duration = Duration::from_secs(1);

/// The least time between two log lines on messages that were left out: their number must not show.
const SELDOM: Duration = Duration::from_secs(60);

/// Refusals after which a message is tried again.
const PASSING: [StatusCode; 4] = [
    // Closed: the message stays with its source.
    StatusCode::CONFLICT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::INSUFFICIENT_STORAGE,
];

/// Takes messages of a source into a stream, for ever.
pub async fn pull(mut source: JetStream, stream: Arc<StreamHandle>) {
    let left_out = AtomicBool::new(false);
    let mut last_told = None::<Instant>;
    loop {
        let messages = match source.next().await {
            Ok(messages) => messages,
            Err(cause) => {
                stream.shared.cut_off.store(true, Ordering::Relaxed);
                log::of_stream(&stream.shared.name, format_args!("the source failed: {cause}"));
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
        };
        stream.shared.cut_off.store(false, Ordering::Relaxed);
        if messages.is_empty() {
            stream.shared.wall.drained();
        }
        let mut conflicts = false;
        let taken = messages.iter().map(|(id, message)| take(&stream, id, message, &left_out));
        let taken = join_all(taken).await;
        for (is_taken, (_, message)) in taken.into_iter().zip(&messages) {
            if !is_taken {
                conflicts = true;
                continue;
            }
            // A message that is not acknowledged comes again and is recognized.
            if let Err(cause) = message.ack().await {
                log::of_stream(&stream.shared.name, format_args!("the source failed: {cause}"));
                break;
            }
        }
        let seldom = last_told.is_none_or(|last_told| last_told.elapsed() > SELDOM);
        let mut tell_seldom = |what: &str| {
            log::of_stream(&stream.shared.name, what);
            last_told = Some(Instant::now());
        };
        if left_out.swap(false, Ordering::Relaxed) && seldom {
            tell_seldom("messages that cannot be read are left out");
        }
        if conflicts && seldom {
            tell_seldom(
                "messages have the numbers of others that were taken, as if the source had been restored from a copy: they stay with it; delete \
                 its stream, and make it anew, to have them taken",
            );
        }
    }
}

/// Takes a message, however long that takes. Returns false for one with the id of another, which is not taken.
async fn take(stream: &StreamHandle, id: &str, message: &jetstream::Message, left_out: &AtomicBool) -> bool {
    loop {
        let taken = match parse(stream, message.payload.clone()).await {
            Ok((digest, events)) => {
                let identity = Identity { id: id.to_owned(), digest, terms: String::new() };
                stream.take(Some(identity), None, events.batch).await
            }
            Err(problem) => Err(problem),
        };
        match taken {
            Ok(_) => return true,
            Err(problem) if problem.status() == StatusCode::CONFLICT && !stream.settings().closed => {
                return false;
            }
            Err(problem) if PASSING.contains(&problem.status()) => tokio::time::sleep(PATIENCE).await,
            Err(_) => {
                left_out.store(true, Ordering::Relaxed);
                return true;
            }
        }
    }
}

async fn parse(
    stream: &StreamHandle,
    body: bytes::Bytes,
) -> crate::problem::Result<([u8; 32], ParsedEvents)> {
    let rules = stream.rules(Format::Jsonl, Wrong::Skip)?;
    let read = tokio::task::spawn_blocking(move || read(&body, &rules).map(|read| (digest_of(&body), read)));
    read.await.map_err(|_| Problem::invalid("the events cannot be read", "correct them"))?
}

/// The digest by which a repeated body is recognized.
pub fn digest_of(body: &[u8]) -> [u8; 32] {
    *blake3::hash(body).as_bytes()
}
