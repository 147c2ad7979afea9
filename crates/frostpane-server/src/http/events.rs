//! Ingest: a request with events is answered when they are on disk.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use bytes::Bytes;
use frostpane_events::{Compression, Format};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::body::{enlarge, join, receive};
use super::extract::{Path, Query, StreamPath};
use super::refusals::Refusals;
use crate::auth::{Caller, Scope};
use crate::events::{EventCounts, ParseRules, ParsedEvents, Wrong, format, read, unpack};
use crate::ingest::digest_of;
use crate::name::check_id;
use crate::problem::{Problem, Result};
use crate::stream::{Acknowledged, Identity, StreamHandle, closed, overloaded};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Parsing a body of more bytes is long work.
const LONG: usize = 64 << 10;

/// Options of an ingest request.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct IngestParams {
    /// Invalid events: refuse the request as a whole, or count those that cannot be read as events without a key.
    #[param(inline)]
    wrong: Wrong,
}

/// The outcome of an ingest request. A repeated Idempotency-Key gets the answer of the first time.
#[derive(Serialize, ToSchema)]
#[schema(as = Receipt)]
pub struct IngestReceipt {
    #[serde(flatten)]
    counts: EventCounts,
    /// True if the request had been taken before, under its Idempotency-Key, and was not taken again.
    again: bool,
}

/// Sends events. They are durable when this is answered with 200.
#[utoipa::path(
    post, path = "/v1/streams/{name}/events", tag = "events",
    params(
        StreamPath, IngestParams,
        (
            "Idempotency-Key" = Option<String>, Header,
            description = "Identifies this request among those of the same producer",
        ),
    ),
    request_body(
        content(
            ([u8] = "application/x-ndjson"), ([u8] = "application/json"), ([u8] = "text/plain"),
            ([u8] = "text/csv"), ([u8] = "text/tab-separated-values"),
            ([u8] = "application/vnd.apache.arrow.stream"),
        ),
        description = "The events",
    ),
    responses(
        (status = 200, body = IngestReceipt), (status = 409, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem),
        Refusals,
    ),
    security(("token" = [])),
)]
pub async fn ingest(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
    params: Result<Query<IngestParams>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<IngestReceipt>> {
    let stream = caller.stream(&name, Scope::Ingest)?;
    let Query(params) = params?;
    let format = format::of_content_type(text(&headers, header::CONTENT_TYPE)?)?;
    let compression = format::of_content_encoding(text(&headers, header::CONTENT_ENCODING)?)?;
    let key = text(&headers, IDEMPOTENCY_KEY)?;
    key.map(check_id).transpose()?;
    let request = IngestCall {
        stream: &stream,
        format,
        wrong: params.wrong,
        compression,
        // Producers never share an id.
        id: key.map(|key| format!("{}\n{key}", caller.producer())),
    };
    let receipt = request.finish(&app, &caller, body).await;
    if let Err(problem) = &receipt
        && problem.status() == StatusCode::TOO_MANY_REQUESTS
    {
        stream.shared.metrics.refused.inc();
    }
    receipt.map(Json)
}

struct IngestCall<'a> {
    stream: &'a StreamHandle,
    format: Format,
    wrong: Wrong,
    compression: Compression,
    id: Option<String>,
}

impl IngestCall<'_> {
    async fn finish(self, app: &App, caller: &Caller, body: Body) -> Result<IngestReceipt> {
        if self.id.is_none() {
            // Without a key it cannot have been taken before: a refusal need not wait for the body.
            self.rules()?;
        }
        let most = app.limits.body;
        let (parts, mut room) = receive(app, caller, body, most).await?;
        let producer = app.producer(caller.producer());
        // The turn of the producer first: waiting for it delays no other producer.
        let own = producer.reading.clone().acquire_owned().await;
        let turn = app.reading.clone().acquire_owned().await;
        let Ok(turns) = own.and_then(|own| turn.map(|turn| (own, turn))) else {
            return Err(overloaded());
        };
        let rules = self.rules().map(|rules| ParseRules { most: app.limits.events, ..rules });
        let (compression, keyed) = (self.compression, self.id.is_some());
        let bodies = app.bodies.clone();
        let is_long = compression != Compression::None || parts.iter().map(Bytes::len).sum::<usize>() > LONG;
        let work = move || -> Result<([u8; 32], Result<ParsedEvents>)> {
            // Held to the end, even if the client has gone.
            let _turns = turns;
            let more = |size: usize| enlarge(&mut room, [&producer.bodies, &bodies], size);
            let body = unpack(join(&parts), compression, most, more)?;
            let digest = if keyed { digest_of(&body) } else { [0; 32] };
            Ok((digest, rules.and_then(|rules| read(&body, &rules))))
        };
        let worked =
            if is_long { app.workers.run(work).await } else { tokio::task::spawn_blocking(work).await.ok() };
        let failed = || Err(Problem::invalid("the events cannot be read", "correct them"));
        let (digest, read) = worked.unwrap_or_else(failed)?;
        self.take(digest, read).await
    }

    fn rules(&self) -> Result<ParseRules> {
        if self.stream.settings().closed {
            return Err(closed());
        }
        self.stream.rules(self.format, self.wrong)
    }

    /// Takes parsed events. If that is refused now, they may have been taken before: then that is the answer.
    async fn take(self, digest: [u8; 32], read: Result<ParsedEvents>) -> Result<IngestReceipt> {
        // The format and options that the id stands for, beside the body.
        let skips = if self.wrong == Wrong::Skip { " wrong=skip" } else { "" };
        let terms = format!("{}{skips}", format::name(self.format));
        let identity = self.id.map(|id| Identity { id, digest, terms });
        let acknowledged = match read {
            Err(refusal) => self.stream.recall_or(identity, refusal).await?,
            Ok(ParsedEvents { batch, counts }) => self.stream.take(identity, Some(counts), batch).await?,
        };
        Ok(match acknowledged {
            Acknowledged::First(counts) => IngestReceipt { counts, again: false },
            Acknowledged::Again(receipt) => IngestReceipt {
                counts: receipt.and_then(|receipt| serde_json::from_str(&receipt).ok()).unwrap_or_default(),
                again: true,
            },
        })
    }
}

/// Returns a header that may be given at most once.
fn text(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>> {
    let mut all = headers.get_all(&name).iter();
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(value), None) if let Ok(text) = value.to_str() => Ok(Some(text)),
        _ => Err(Problem::malformed(
            format!("the header {name} is there twice, or is not text"),
            "send it once",
        )),
    }
}
