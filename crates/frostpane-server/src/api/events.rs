//! Events that come in: answered when they are on disk.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::body::{enlarge, join, receive};
use super::caller::Caller;
use super::extract::{Path, Query};
use super::refusals::Refusals;
use crate::events::{Format, Packing, Read, Wrong, read, unpack};
use crate::name::check_id;
use crate::problem::{Problem, Result};
use crate::stream::{Acknowledged, Identity, Stream, closed, overloaded};
use crate::token::Scope;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Reading a body of more bytes is long work.
const LONG: usize = 64 << 10;

/// How a request is to be taken.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct How {
    /// What becomes of events that are wrong: refuse the request as a whole, or skip them.
    #[param(inline)]
    wrong: Wrong,
}

/// What became of the events of a request. One that comes again under its Idempotency-Key is answered as it was the first time.
#[derive(Serialize, ToSchema)]
pub struct Receipt {
    #[serde(flatten)]
    counts: Counts,
    /// Whether the request had been taken before, under its Idempotency-Key, and was not taken again.
    again: bool,
}

/// How many events of a request were taken, as it is kept with its id.
#[derive(Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
struct Counts {
    /// How many of those that were sent can count; null if the request came before and an earlier version of the service took it.
    events: Option<u64>,
    /// How many were wrong, or later than the clock of the service and its tolerance, and left out: they do not count when this is sent again.
    wrong: Option<u64>,
}

/// Brings in events. They are there for good, whatever happens to the service, when this is answered with 200.
#[utoipa::path(post, path = "/v1/streams/{name}/events", tag = "events",
    params(("name" = String, Path, description = "Of the stream"), How, ("Idempotency-Key" = Option<String>, Header, description = "What tells this request from others of the same producer")),
    request_body(content(([u8] = "application/x-ndjson"), ([u8] = "application/json"), ([u8] = "text/plain"), ([u8] = "text/csv"), ([u8] = "text/tab-separated-values"), ([u8] = "application/vnd.apache.arrow.stream")), description = "The events"),
    responses((status = 200, body = Receipt), (status = 409, body = Problem),
        (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem), Refusals),
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
    let format = Format::of(text(&headers, header::CONTENT_TYPE)?)?;
    let packing = Packing::of(text(&headers, header::CONTENT_ENCODING)?)?;
    let key = text(&headers, IDEMPOTENCY_KEY)?;
    key.map(check_id).transpose()?;
    let bringing = Bringing {
        stream: &stream,
        format,
        wrong: how.wrong,
        packing,
        // Apart for every producer, and never the same as that of another.
        id: key.map(|key| format!("{}\n{key}", caller.producer())),
    };
    let brought = bringing.finish(&app, &caller, body).await;
    if let Err(problem) = &brought
        && problem.status() == StatusCode::TOO_MANY_REQUESTS
    {
        stream.metrics().refused();
    }
    brought.map(Json)
}

/// Events on their way.
struct Bringing<'a> {
    stream: &'a Stream,
    format: Format,
    wrong: Wrong,
    packing: Packing,
    id: Option<String>,
}

impl Bringing<'_> {
    async fn finish(self, app: &App, caller: &Caller, body: Body) -> Result<Receipt> {
        if self.id.is_none() {
            // Without a key nothing can have been taken before: it is refused before it is received.
            self.reading()?;
        }
        let most = app.limits.body;
        let (parts, mut room) = receive(app, caller, body, most).await?;
        let producer = app.producer(caller.producer());
        // Its own turn first: whoever waits for that holds up nobody else.
        let own = producer.reading.clone().acquire_owned().await;
        let turn = app.reading.clone().acquire_owned().await;
        let Ok(turns) = own.and_then(|own| turn.map(|turn| (own, turn))) else {
            return Err(overloaded());
        };
        let reading = self.reading().map(|reading| crate::events::Reading {
            most: app.limits.events,
            ..reading
        });
        let (packing, keyed) = (self.packing, self.id.is_some());
        let bodies = app.bodies.clone();
        let is_long = packing != Packing::None || parts.iter().map(Bytes::len).sum::<usize>() > LONG;
        let work = move || -> Result<([u8; 32], Result<Read>)> {
            // As long as this goes on, also where whoever asked has gone.
            let _turns = turns;
            let more = |size: usize| enlarge(&mut room, [&producer.bodies, &bodies], size);
            let body = unpack(join(&parts), packing, most, more)?;
            let digest = match keyed {
                true => *blake3::hash(&body).as_bytes(),
                false => [0; 32],
            };
            Ok((digest, reading.and_then(|reading| read(&body, &reading))))
        };
        let worked = match is_long {
            true => app.workers.run(work).await,
            false => tokio::task::spawn_blocking(work).await.ok(),
        };
        let failed = || Err(Problem::invalid("the events cannot be read", "correct them"));
        let (digest, read) = worked.unwrap_or_else(failed)?;
        self.take(digest, read).await
    }

    /// How events are read that come now; or why none are taken.
    fn reading(&self) -> Result<crate::events::Reading> {
        match self.stream.settings().closed {
            true => Err(closed()),
            false => self.stream.reading(self.format, self.wrong),
        }
    }

    /// Takes what was read. What cannot be taken now may have been taken before, and then that is the answer.
    async fn take(self, digest: [u8; 32], read: Result<Read>) -> Result<Receipt> {
        let terms = self.terms();
        let identity = self.id.map(|id| Identity { id, digest, terms });
        let (counts, acknowledged) = match read {
            Err(refusal) => (Counts::default(), self.stream.recall_or(identity, refusal).await?),
            Ok(Read { batch, events, wrong }) => {
                let counts = Counts {
                    events: Some(events),
                    wrong: Some(wrong),
                };
                let receipt = serde_json::to_string(&counts).unwrap_or_default();
                (counts, self.stream.take(identity, receipt, batch).await?)
            }
        };
        Ok(match acknowledged {
            Acknowledged::First => Receipt { counts, again: false },
            Acknowledged::Again(receipt) => Receipt {
                counts: receipt
                    .and_then(|receipt| serde_json::from_str(&receipt).ok())
                    .unwrap_or_default(),
                again: true,
            },
        })
    }

    /// What the id stands for beside the body.
    fn terms(&self) -> String {
        let skips = if self.wrong == Wrong::Skip {
            " wrong=skip"
        } else {
            ""
        };
        format!("{}{skips}", self.format.name())
    }
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
