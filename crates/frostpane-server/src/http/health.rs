//! Health of the service and of its streams, and metrics.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::extract::{Path, Readable, StreamPath};
use super::refusals::Refusals;
use crate::auth::{Caller, Scope};
use crate::metrics::IngestStatistics;
use crate::problem::{Problem, Result};
use crate::stream::{QUEUE_BYTES, Status};

pub const HEALTHZ: &str = "/healthz";
pub const READYZ: &str = "/readyz";
/// The service counts as dead after a transaction of so many times the limit: a minute.
const DEAD: u32 = 6;

/// Liveness: the process answers, and its disk does not hang for good.
#[utoipa::path(
    get, path = "/healthz", tag = "service",
    responses((status = 200, description = "It does", content_type = "text/plain"), Refusals),
)]
pub async fn lives(State(app): State<App>) -> Result<&'static str> {
    check_disk(&app, DEAD)?;
    Ok("it answers\n")
}

/// Fails if the disk has been hanging for so many times the limit.
fn check_disk(app: &App, times: u32) -> Result<()> {
    if !app.hangs(times) {
        return Ok(());
    }
    Err(Problem::not_now(
        "the disk hangs: a transaction of a stream does not end",
        "the operator has to look at the disk of the service",
    ))
}

/// Readiness: the process takes requests. The state of streams does not matter: ask
/// `/v1/streams/{name}/ready`.
#[utoipa::path(
    get, path = "/readyz", tag = "service",
    responses((status = 200, description = "It does", content_type = "text/plain"), Refusals),
)]
pub async fn is_ready(State(app): State<App>) -> Result<&'static str> {
    check_disk(&app, 1)?;
    if *app.stopping().borrow() {
        return Err(Problem::unavailable("the service is being stopped"));
    }
    Ok("ready\n")
}

/// Readiness of a stream: it takes events and releases.
#[utoipa::path(
    get, path = "/v1/streams/{name}/ready", tag = "service", params(StreamPath),
    responses(
        (
            status = 200, description = "It does, or waits for a moment that is known",
            content_type = "text/plain",
        ),
        Refusals,
    ),
    security((), ("token" = [])),
)]
pub async fn stream_is_ready(Readable(stream): Readable) -> Result<&'static str> {
    match stream.status() {
        // One that waits works as it should.
        Status::Ready | Status::Waiting => Ok("ready\n"),
        _ => Err(Problem::unavailable("the stream takes no events, or ends no slides")),
    }
}

/// Metrics for the operator, in the format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "service",
    responses(
        (status = 200, description = "The numbers", content_type = "application/openmetrics-text"), Refusals,
    ),
    security(("token" = [])),
)]
pub async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response> {
    caller.must(Scope::Admin, None)?;
    let text = crate::metrics::text(&app.streams(), &app.failed(), app.connections.count());
    let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, form)], text).into_response())
}

/// Health of a stream, for its operator. **Nothing of it may be published.**
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// ready, failed, clock (the wall clock is not plausible), waiting (restored: continues when the clock
    /// has reached its own), source (its source cannot be reached), catching_up (it was off for long: slides
    /// are ended step by step), hung (a transaction does not end) or stopped.
    #[schema(value_type = String)]
    standing: Status,
    /// The time that its clock has reached; null by count, and before the first event.
    clock: Option<String>,
    /// The most bytes of events that may wait.
    room_bytes: usize,
    /// Statistics that reveal how many events there were: not given where users are protected.
    #[serde(skip_serializing_if = "Option::is_none")]
    ingest: Option<IngestStatistics>,
}

/// Health of a stream, for its operator.
#[utoipa::path(
    get, path = "/v1/streams/{name}/health", operation_id = "health_of_stream", tag = "service",
    params(StreamPath), responses((status = 200, body = Health), Refusals), security(("token" = [])),
)]
pub async fn of_stream(caller: Caller, Path(StreamPath { name }): Path<StreamPath>) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Admin)?;
    let clock = stream.shared.slide.map(|_| stream.shared.clock()).filter(|&clock| clock > 0);
    let clock = clock.and_then(|clock| jiff::Timestamp::from_microsecond(clock).ok());
    let health = Health {
        standing: stream.status(),
        clock: clock.map(|clock| clock.to_string()),
        room_bytes: QUEUE_BYTES,
        ingest: stream.statistics(),
    };
    Ok((StatusCode::OK, [(header::CACHE_CONTROL, "no-store")], Json(health)).into_response())
}
