//! Bodies of requests, and the room that they take.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::App;
use super::caller::Caller;
use crate::events::too_large;
use crate::problem::{Problem, Result};
use crate::stream::overloaded;

/// Bytes of a body that are received before others have their turn.
const TURN: usize = 64 << 10;
/// How long each of them takes at least of a body that was refused.
const PAUSE: Duration = Duration::from_millis(16);

/// Room that a body takes among those of its producer, and of all.
pub type Room = [OwnedSemaphorePermit; 2];

/// The parts of a body, if it is not too large and there is room for it, which is given back. They are joined where that holds up nobody:
/// copying a large body takes milliseconds.
pub async fn receive(
    app: &App,
    caller: &Caller,
    body: Body,
    most: usize,
) -> Result<(Vec<Bytes>, Option<Room>)> {
    let producer = app.producer(caller.producer());
    let mut body = body;
    let (mut parts, mut size, mut room) = (Vec::new(), 0, None::<Room>);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ended_early())?;
        let Ok(part) = frame.into_data() else { continue };
        let part_size = part.len();
        size += part_size;
        let refusal = match size > most {
            true => too_large(most),
            false => match enlarge(&mut room, [&producer.bodies, &app.bodies], part_size) {
                Ok(()) => {
                    parts.push(part);
                    if is_turn(size, part_size) {
                        thread::yield_now();
                        tokio::task::yield_now().await;
                    }
                    continue;
                }
                Err(refusal) => refusal,
            },
        };
        drop((parts, room));
        see_out(body, most).await;
        return Err(refusal);
    }
    Ok((parts, room))
}

/// The parts of a body as one; copying a large one lets others have their turn.
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

/// Has room for so many bytes more, of the producer's and of all.
pub fn enlarge(room: &mut Option<Room>, bodies: [&Arc<Semaphore>; 2], size: usize) -> Result<()> {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let [one, other] = bodies.map(|bodies| bodies.clone().try_acquire_many_owned(size).ok());
    let more = [one.ok_or_else(overloaded)?, other.ok_or_else(overloaded)?];
    match room {
        Some(room) => room
            .iter_mut()
            .zip(more)
            .for_each(|(room, more)| room.merge(more)),
        None => *room = Some(more),
    }
    Ok(())
}

/// Whether others have their turn after these bytes, which came last of so many.
fn is_turn(size: usize, last: usize) -> bool {
    size % TURN < last
}

/// Lets a body come to its end, and keeps nothing of it: whoever is still sending would not read the answer.
async fn see_out(mut body: Body, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        left = match left.checked_sub(size) {
            Some(left) => left,
            None => return,
        };
        if is_turn(left, size) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The whole body, if it is not too large.
pub async fn collect(body: Body, most: usize) -> Result<Bytes> {
    let whole = Limited::new(body, most).collect().await;
    whole
        .map(|whole| whole.to_bytes())
        .map_err(|cause| match cause.downcast_ref::<LengthLimitError>() {
            Some(_) => too_large(most),
            None => ended_early(),
        })
}

fn ended_early() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "the body ended early: nothing of it was taken",
        "send it whole",
    )
}
