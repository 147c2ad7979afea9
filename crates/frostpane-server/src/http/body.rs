//! Bodies of requests, and their share of memory.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

use super::App;
use crate::auth::Caller;
use crate::events::too_large;
use crate::problem::{Problem, Result};
use crate::stream::overloaded;

/// Bytes of a body that are received before other requests have their turn.
const TURN: usize = 64 << 10;
/// The least time for each `TURN` of a refused body; those of one producer wait for each other.
const PAUSE: Duration = Duration::from_millis(16);

/// Permits for the bytes of a body: of its producer, and of all.
pub type BodyPermits = [OwnedSemaphorePermit; 2];

/// Receives the parts of a body that is not too large and for which there is memory. The bodies of one producer
/// take turns, so that many connections delay other producers no more than one. The caller joins the parts where
/// that delays nothing: copying a large body takes milliseconds.
pub async fn receive(
    app: &App,
    caller: &Caller,
    body: Body,
    most: usize,
) -> Result<(Vec<Bytes>, Option<BodyPermits>)> {
    let producer = app.producer(caller.producer());
    let mut body = body;
    let (mut parts, mut size, mut permits) = (Vec::new(), 0, None::<BodyPermits>);
    if let Err(refusal) = admit(&body, most, [&producer.bodies, &app.bodies]) {
        drain(body, most, &producer.refused).await;
        return Err(refusal);
    }
    while let Some(frame) = body.frame().await {
        let Ok(part) = frame.map_err(|_| ended_early())?.into_data() else { continue };
        let part_size = part.len();
        size += part_size;
        let admitted = if size > most {
            Err(too_large(most))
        } else {
            enlarge(&mut permits, [&producer.bodies, &app.bodies], part_size)
        };
        if let Err(refusal) = admitted {
            drop((parts, permits));
            drain(body, most, &producer.refused).await;
            return Err(refusal);
        }
        parts.push(part);
        if is_turn(size, part_size) {
            let _turn = producer.receiving.lock().await;
            thread::yield_now();
            tokio::task::yield_now().await;
        }
    }
    Ok((parts, permits))
}

/// Refuses a body that says that it is too large, or larger than the memory left now, before any of it is received.
fn admit(body: &Body, most: usize, bodies: [&Arc<Semaphore>; 2]) -> Result<()> {
    let size = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if size > most {
        return Err(too_large(most));
    }
    let has_room = bodies.iter().all(|bodies| bodies.available_permits() >= size);
    if has_room { Ok(()) } else { Err(overloaded()) }
}

/// Joins the parts of a body; yields while it copies a large one.
pub fn join(parts: &[Bytes]) -> Bytes {
    let mut whole = Vec::with_capacity(parts.iter().map(Bytes::len).sum());
    for part in parts {
        whole.extend_from_slice(part);
        if is_turn(whole.len(), part.len()) {
            thread::yield_now();
        }
    }
    whole.into()
}

/// Takes permits for so many bytes more, of the producer and of all.
pub fn enlarge(permits: &mut Option<BodyPermits>, bodies: [&Arc<Semaphore>; 2], size: usize) -> Result<()> {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let [one, other] = bodies.map(|bodies| bodies.clone().try_acquire_many_owned(size).ok());
    let more = [one.ok_or_else(overloaded)?, other.ok_or_else(overloaded)?];
    match permits {
        Some(permits) => permits.iter_mut().zip(more).for_each(|(permits, more)| permits.merge(more)),
        None => *permits = Some(more),
    }
    Ok(())
}

/// Returns true if others have their turn after the last of these bytes.
fn is_turn(size: usize, last: usize) -> bool {
    size % TURN < last
}

/// Receives the rest of a body and drops it: a client that is still sending would not read the answer.
async fn drain(mut body: Body, most: usize, refused: &Mutex<()>) {
    let mut left = most;
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        left = match left.checked_sub(size) {
            Some(left) => left,
            None => return,
        };
        if is_turn(left, size) {
            let _turn = refused.lock().await;
            tokio::time::sleep(PAUSE).await;
        }
    }
}

pub async fn collect(body: Body, most: usize) -> Result<Bytes> {
    let whole = Limited::new(body, most).collect().await;
    whole.map(|whole| whole.to_bytes()).map_err(|cause| match cause.downcast_ref::<LengthLimitError>() {
        Some(_) => too_large(most),
        None => ended_early(),
    })
}

fn ended_early() -> Problem {
    Problem::malformed("the body ended early: nothing of it was taken", "send it whole")
}
