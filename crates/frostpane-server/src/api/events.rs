//! Events that come in: answered when they are on disk.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use bytes::BytesMut;
use frostpane_store::KeyKind;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::caller::Caller;
use super::extract::{Path, Query};
use crate::events::{Format, Packing, Read, Reading, Wrong, read, too_large, unpack};
use crate::name::check_id;
use crate::problem::{Problem, Result};
use crate::stream::overloaded;
use crate::token::Scope;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// How a request is to be taken.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct How {
    /// What becomes of events that are wrong: refuse the request as a whole, or skip them.
    #[param(inline)]
    wrong: Wrong,
}

/// What became of the events of a request.
#[derive(Serialize, ToSchema)]
pub struct Receipt {
    /// How many of those that were sent can count.
    events: u64,
    /// How many were wrong, or later than the clock of the service and its tolerance, and left out: they do not count when this is sent again.
    wrong: u64,
    /// Whether the request had been taken before, under its Idempotency-Key, and was not taken again.
    again: bool,
}

/// Brings in events. They are there for good, whatever happens to the service, when this is answered with 200.
#[utoipa::path(post, path = "/v1/streams/{name}/events", tag = "events",
    params(("name" = String, Path, description = "Of the stream"), How, ("Idempotency-Key" = Option<String>, Header, description = "What tells this request from others of the same producer")),
    request_body(content(([u8] = "application/x-ndjson"), ([u8] = "application/json"), ([u8] = "text/plain"), ([u8] = "text/csv"), ([u8] = "text/tab-separated-values"), ([u8] = "application/vnd.apache.arrow.stream")), description = "The events"),
    responses((status = 200, body = Receipt), (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 408, body = Problem), (status = 409, body = Problem), (status = 410, body = Problem),
        (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem), (status = 503, body = Problem), (status = 507, body = Problem)),
    security(("token" = [])))]
pub async fn take(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    how: Result<Query<How>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Receipt>> {
    let stream = caller.stream(&name, Scope::Ingest)?;
    let Query(how) = how?;
    let settings = stream.settings();
    if settings.closed {
        return Err(Problem::conflict(
            "this stream is closed, and takes no more events",
            "send them to another",
        ));
    }
    let reading = Reading {
        format: Format::of(text(&headers, header::CONTENT_TYPE)?)?,
        has: stream.has(),
        columns: settings.columns,
        wrong: how.wrong,
        since: settings.since,
        present: stream.present()?,
    };
    let packing = Packing::of(text(&headers, header::CONTENT_ENCODING)?)?;
    let key = text(&headers, IDEMPOTENCY_KEY)?;
    key.map(check_id).transpose()?;
    // Apart for every producer, and never the same as that of another.
    let id = key.map(|key| format!("{}\n{key}", caller.producer()));
    let (most, keyed) = (app.limits.body, id.is_some());
    let (body, room) = receive(&app, &caller, body, most).await?;
    let kind = stream.header().keys;
    let Ok(turn) = app.reading.clone().acquire_owned().await else {
        return Err(overloaded());
    };
    let work = move || -> Result<([u8; 32], Read)> {
        // As long as this goes on, also where whoever asked has gone.
        let _held = (turn, room);
        let body = unpack(body, packing, most)?;
        let digest = match keyed {
            true => *blake3::hash(&body).as_bytes(),
            false => [0; 32],
        };
        let read = match kind {
            KeyKind::Bytes => read::<frostpane::Bytes>(&body, &reading)?,
            KeyKind::Integers => read::<u64>(&body, &reading)?,
        };
        Ok((digest, read))
    };
    let worked = tokio::task::spawn_blocking(work).await;
    let (digest, read) =
        worked.map_err(|_| Problem::invalid("the events cannot be read", "correct them"))??;
    let Read { batch, events, wrong } = read;
    let taken = stream.take(id, digest, batch).await;
    if taken
        .as_ref()
        .is_err_and(|problem| problem.status() == StatusCode::TOO_MANY_REQUESTS)
    {
        stream.metrics().refused();
    }
    Ok(Json(Receipt {
        events,
        wrong,
        again: taken?,
    }))
}

/// A header that may be there once.
fn text(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>> {
    let mut all = headers.get_all(&name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) if let Ok(text) = value.to_str() => Ok(Some(text)),
        _ => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("the header {name} is there twice, or is not text"),
            "send it once",
        )),
    }
}

/// Room that a body takes among those of its producer, and of all.
pub type Room = [OwnedSemaphorePermit; 2];

/// The whole body, if it is not too large and there is room for it, which is given back.
pub async fn receive(
    app: &App,
    caller: &Caller,
    body: Body,
    most: usize,
) -> Result<(bytes::Bytes, Option<Room>)> {
    let of_producer = app.bodies_of(caller.producer());
    let mut body = body;
    let (mut whole, mut room) = (BytesMut::new(), None::<Room>);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ended_early())?;
        let Ok(part) = frame.into_data() else { continue };
        let entered = enter([&of_producer, &app.bodies], part.len());
        let refusal = match entered {
            _ if whole.len() + part.len() > most => too_large(most),
            None => overloaded(),
            Some(more) => {
                match &mut room {
                    Some(room) => room
                        .iter_mut()
                        .zip(more)
                        .for_each(|(room, more)| room.merge(more)),
                    None => room = Some(more),
                }
                whole.extend_from_slice(&part);
                continue;
            }
        };
        drop((whole, room));
        see_out(body, most).await;
        return Err(refusal);
    }
    Ok((whole.freeze(), room))
}

fn enter(bodies: [&Arc<Semaphore>; 2], size: usize) -> Option<Room> {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    let [one, other] = bodies.map(|bodies| bodies.clone().try_acquire_many_owned(size).ok());
    Some([one?, other?])
}

/// Lets a body come to its end, and keeps nothing of it: whoever is still sending would not read the answer.
async fn see_out(mut body: Body, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, bytes::Bytes::len);
        left = match left.checked_sub(size) {
            Some(left) => left,
            None => return,
        };
    }
}

/// The whole body, if it is not too large.
pub async fn collect(body: Body, most: usize) -> Result<bytes::Bytes> {
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
