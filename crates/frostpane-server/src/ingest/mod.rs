//! Sources that are pulled from: a message is acknowledged to its source when its events are on disk, and
//! recognized if it comes twice.

mod nats;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use bytes::Bytes;
use frostpane_events::Format;
use futures_util::future::join_all;

use crate::events::{Read, Wrong, read};
use crate::log;
use crate::problem::Problem;
use crate::stream::{Identity, StreamHandle};
pub use nats::JetStream;

/// The wait after a failure.
const PATIENCE: Duration = Duration::from_secs(1);

/// The least time between two log lines on messages that were left out: their number must not show.
const SELDOM: Duration = Duration::from_secs(60);

/// A message of a source.
pub struct Message<M> {
    /// Identifies the message among those of all sources, whenever it comes.
    pub id: String,
    pub body: Bytes,
    /// Acknowledges the message.
    pub receipt: M,
}

/// A source that delivers each message until it is acknowledged. Another kind of source implements this
/// alone.
pub trait MessageSource: Send + 'static {
    type Receipt: Send;

    /// The next messages, some or none. After an error it is called again, and may have to connect anew.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Message<Self::Receipt>>, String>> + Send;

    /// Called when the events of a message are durable.
    fn acknowledge(&mut self, receipt: Self::Receipt) -> impl Future<Output = Result<(), String>> + Send;
}

/// Takes messages of a source into a stream, for ever.
pub async fn pull<S: MessageSource>(mut source: S, stream: Arc<StreamHandle>, format: Format) {
    let left_out = AtomicBool::new(false);
    let mut last_told = None::<Instant>;
    loop {
        let messages = match source.next().await {
            Ok(messages) => messages,
            Err(cause) => {
                stream.reaches_source(false);
                log::of_stream(stream.name(), format_args!("the source failed: {cause}"));
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
        };
        stream.reaches_source(true);
        if messages.is_empty() {
            stream.drained();
        }
        let mut conflicts = false;
        let taken = messages.into_iter().map(|message| take(&stream, format, message, &left_out));
        for taken in join_all(taken).await {
            let acknowledged = match taken {
                Some(receipt) => source.acknowledge(receipt).await,
                None => {
                    conflicts = true;
                    continue;
                }
            };
            // A message that is not acknowledged comes again and is recognized.
            if let Err(cause) = acknowledged {
                log::of_stream(stream.name(), format_args!("the source failed: {cause}"));
                break;
            }
        }
        let seldom = last_told.is_none_or(|last_told| last_told.elapsed() > SELDOM);
        let mut tell_seldom = |what: &str| {
            log::of_stream(stream.name(), what);
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

/// Takes a message, however long that takes. An unreadable message is left out; one with the id of another is
/// not taken.
async fn take<M>(
    stream: &StreamHandle,
    format: Format,
    message: Message<M>,
    left_out: &AtomicBool,
) -> Option<M> {
    loop {
        let taken = match parse(stream, format, message.body.clone()).await {
            Ok((digest, events)) => {
                let identity = Identity { id: message.id.clone(), digest, terms: String::new() };
                stream.take(Some(identity), String::new(), events.batch).await
            }
            Err(problem) => Err(problem),
        };
        match taken {
            Ok(_) => return Some(message.receipt),
            Err(problem) if problem.status() == StatusCode::CONFLICT && !stream.settings().closed => {
                return None;
            }
            Err(problem) if is_passing(&problem) => tokio::time::sleep(PATIENCE).await,
            Err(_) => {
                left_out.store(true, Ordering::Relaxed);
                return Some(message.receipt);
            }
        }
    }
}

async fn parse(
    stream: &StreamHandle,
    format: Format,
    body: Bytes,
) -> crate::problem::Result<([u8; 32], Read)> {
    let reading = stream.reading(format, Wrong::Skip)?;
    let read =
        tokio::task::spawn_blocking(move || read(&body, &reading).map(|read| (digest_of(&body), read)));
    read.await.map_err(|_| Problem::invalid("the events cannot be read", "correct them"))?
}

/// The digest by which a repeated body is recognized.
pub fn digest_of(body: &[u8]) -> [u8; 32] {
    *blake3::hash(body).as_bytes()
}

/// Returns true if the problem may pass.
fn is_passing(problem: &Problem) -> bool {
    let passing = [
        // Closed: the message stays with its source.
        StatusCode::CONFLICT,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::INSUFFICIENT_STORAGE,
    ];
    passing.contains(&problem.status())
}
