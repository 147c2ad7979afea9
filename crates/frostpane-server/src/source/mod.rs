//! Sources that are pulled from: a message is acknowledged to its source after its events are on disk, and known again if it comes twice.

mod nats;

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use bytes::Bytes;
use frostpane_store::KeyKind;
use futures_util::future::join_all;

use crate::events::{Format, Read, Reading, Wrong, read};
use crate::log::tell;
use crate::problem::Problem;
use crate::stream::Stream;
pub use nats::Nats;

/// How long to wait after a failure.
const PATIENCE: Duration = Duration::from_secs(1);

/// A message of a source.
pub struct Message<M> {
    /// What tells it from all others, of this source and of any other: the same whenever it comes again.
    pub id: String,
    /// Its events.
    pub body: Bytes,
    /// With which it is acknowledged.
    pub receipt: M,
}

/// Something that hands out messages, each again and again until it is acknowledged. Another kind of source implements this, and no more.
pub trait Source: Send + 'static {
    /// With which a message is acknowledged.
    type Receipt: Send;

    /// The next messages, some or none. After an error it is asked again, and may have to connect anew.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Message<Self::Receipt>>, String>> + Send;

    /// The events of a message are there for good.
    fn acknowledge(&mut self, receipt: Self::Receipt) -> impl Future<Output = Result<(), String>> + Send;
}

/// Takes messages of a source into a stream, for ever.
pub async fn pull<S: Source>(mut source: S, stream: Arc<Stream>, format: Format) {
    loop {
        let messages = match source.next().await {
            Ok(messages) => messages,
            Err(cause) => {
                tell(format_args!(
                    "stream {}: the source failed: {cause}",
                    stream.name()
                ));
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
        };
        if messages.is_empty() {
            stream.drained();
        }
        let taken = messages.into_iter().map(|message| take(&stream, format, message));
        for receipt in join_all(taken).await {
            // What is not acknowledged comes again, and is known.
            if let Err(cause) = source.acknowledge(receipt).await {
                tell(format_args!(
                    "stream {}: the source failed: {cause}",
                    stream.name()
                ));
                break;
            }
        }
    }
}

/// Takes a message, however long that takes. What cannot be read is left out.
async fn take<M>(stream: &Stream, format: Format, message: Message<M>) -> M {
    let settings = stream.settings();
    let reading = Reading {
        format,
        columns: settings.columns,
        has: stream.has(),
        wrong: Wrong::Skip,
        since: settings.since,
    };
    loop {
        let taken = match parse(stream, &message.body, &reading) {
            Ok(events) => {
                let digest = *blake3::hash(&message.body).as_bytes();
                stream.take(Some(message.id.clone()), digest, events.batch).await
            }
            Err(problem) => Err(problem),
        };
        match taken {
            Ok(_) => return message.receipt,
            Err(problem) if is_passing(&problem) => tokio::time::sleep(PATIENCE).await,
            Err(problem) => {
                tell(format_args!(
                    "stream {}: a message was left out: {}",
                    stream.name(),
                    problem.error()
                ));
                return message.receipt;
            }
        }
    }
}

fn parse(stream: &Stream, body: &[u8], reading: &Reading) -> crate::problem::Result<Read> {
    match stream.header().keys {
        KeyKind::Bytes => read::<frostpane::Bytes>(body, reading),
        KeyKind::Integers => read::<u64>(body, reading),
    }
}

/// Whether it may go better later.
fn is_passing(problem: &Problem) -> bool {
    let passing = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::INSUFFICIENT_STORAGE,
    ];
    passing.contains(&problem.status())
}
