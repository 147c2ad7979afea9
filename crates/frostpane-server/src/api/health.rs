//! How the service is.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::caller::Caller;
use super::extract::Path;
use super::refusals::Refusals;
use crate::problem::{Problem, Result};
use crate::stream::Standing;
use crate::token::Scope;

/// The path of the probe that the process answers.
pub const HEALTHZ: &str = "/healthz";
/// The path of the probe that it takes requests.
pub const READYZ: &str = "/readyz";
/// How many times as long as one may take a transaction takes before the process is said to be dead: a minute.
const DEAD: u32 = 6;

/// That the process answers, and that its disk does not hang for good.
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "It does", content_type = "text/plain"), Refusals))]
pub async fn lives(State(app): State<App>) -> Result<&'static str> {
    match app.hangs(DEAD) {
        false => Ok("it answers\n"),
        true => Err(hangs()),
    }
}

/// That a transaction does not come to its end.
fn hangs() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the disk hangs: a transaction of a stream does not end",
        "the operator has to look at the disk of the service",
    )
    .after(5)
}

/// Whether the process takes requests. How a stream is says nothing about that: ask `/v1/streams/{name}/ready`.
#[utoipa::path(get, path = "/readyz", tag = "service", responses((status = 200, description = "It does", content_type = "text/plain"), Refusals))]
pub async fn is_ready(State(app): State<App>) -> Result<&'static str> {
    if app.hangs(1) {
        return Err(hangs());
    }
    match *app.stopping().borrow() {
        false => Ok("ready\n"),
        true => Err(Problem::unavailable("the service is being stopped")),
    }
}

/// Whether a stream takes events and releases lists.
#[utoipa::path(get, path = "/v1/streams/{name}/ready", tag = "service", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, description = "It does, or waits for a moment that is known", content_type = "text/plain"), Refusals),
    security((), ("token" = [])))]
pub async fn stream_is_ready(caller: Caller, Path(name): Path<String>) -> Result<&'static str> {
    match caller.reads(&name)?.is_well() {
        true => Ok("ready\n"),
        false => Err(Problem::unavailable(
            "the stream takes no events, or ends no slides",
        )),
    }
}

/// Numbers for the operator, in the form of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "service", responses((status = 200, description = "The numbers", content_type = "application/openmetrics-text"), Refusals), security(("token" = [])))]
pub async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response> {
    caller.must(Scope::Admin, None)?;
    let text = crate::metrics::text(&app.streams(), &app.failed(), app.connections.count());
    let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, form)], text).into_response())
}

/// How a stream is, for its operator. **Nothing of it may be published.**
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// ready, failed, clock (that on the wall is not believed), waiting (restored: it goes on when the clock has come to its own), source (what
    /// it pulls from cannot be reached), catching_up (it was off for long: slides are ended step by step), hung (a transaction does not end) or stopped.
    standing: &'static str,
    /// How far its clock has come; none by count, and before it has been set.
    clock: Option<String>,
    /// Bytes of events that may wait.
    room_bytes: usize,
    /// What tells how many events there were: not of people.
    #[serde(skip_serializing_if = "Option::is_none")]
    ingest: Option<Ingest>,
}

/// What came in since the service was started.
#[derive(Serialize, ToSchema)]
pub struct Ingest {
    /// Events.
    events: u64,
    /// Events that came too late, and are not counted.
    late: u64,
    /// Transactions.
    commits: u64,
    /// How long one took in the mean, in milliseconds.
    commit_milliseconds: f64,
    /// Bytes of events that wait.
    waiting_bytes: usize,
    /// Requests that were told to come again later.
    overloads: u64,
}

/// How a stream is, for its operator.
#[utoipa::path(get, path = "/v1/streams/{name}/health", operation_id = "health_of_stream", tag = "service", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Health), Refusals),
    security(("token" = [])))]
pub async fn of_stream(caller: Caller, Path(name): Path<String>) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Admin)?;
    let (waiting, room) = stream.waiting();
    let metrics = stream.metrics();
    let (commits, micros) = metrics.commits();
    let ingest = Ingest {
        events: metrics.events(),
        late: stream.dropped(),
        commits,
        commit_milliseconds: micros as f64 / 1e3 / commits.max(1) as f64,
        waiting_bytes: waiting,
        overloads: metrics.overloads(),
    };
    let health = Health {
        standing: match stream.standing() {
            Standing::Ready => "ready",
            Standing::Failed => "failed",
            Standing::Clock => "clock",
            Standing::Waiting => "waiting",
            Standing::Stopped => "stopped",
            Standing::CutOff => "source",
            Standing::CatchingUp => "catching_up",
            Standing::Hung => "hung",
        },
        clock: stream
            .slide()
            .map(|_| stream.clock())
            .filter(|&clock| clock > 0)
            .and_then(|clock| jiff::Timestamp::from_microsecond(clock).ok())
            .map(|clock| clock.to_string()),
        room_bytes: room,
        ingest: (!stream.spec().unit.is_user()).then_some(ingest),
    };
    Ok((
        StatusCode::OK,
        [(header::CACHE_CONTROL, "no-store")],
        Json(health),
    )
        .into_response())
}
