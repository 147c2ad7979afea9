//! Streams: list, creation, description, changes, deletion.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frostpane::Spec;
use frostpane_store::KeyKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::extract::{Path, Query, Readable, SmallBody, StreamPath};
use super::plan::{PlanPermit, make_plan};
use super::refusals::Refusals;
use crate::auth::{Caller, Scope};
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::stream::{EventColumns, Settings, StreamHandle};
use crate::sync;

/// The most time for which clients without a token get the same list of streams, unless a stream changes.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// A stream as its readers see it.
#[derive(Serialize, ToSchema)]
pub struct Description {
    /// Its name.
    name: String,
    /// The specification, with all choices made.
    #[schema(value_type = Object)]
    spec: Box<RawValue>,
    /// Anyone may read its releases.
    public: bool,
    /// It takes no more events.
    closed: bool,
    /// The fields of an event.
    columns: EventColumns,
    /// bytes or integers.
    #[schema(value_type = String)]
    keys: KeyKind,
    /// True for continual release: a release at every slide.
    continual: bool,
    /// True if users are protected, false if single events are.
    people: bool,
    /// The length of a slide in seconds, where the clock ends it.
    slide_seconds: Option<f64>,
    /// The number of releases so far.
    releases: u64,
}

impl Description {
    fn of(stream: &StreamHandle, spec: &RawValue) -> Self {
        let settings = stream.settings();
        Self {
            name: stream.shared.name.clone(),
            spec: spec.to_owned(),
            public: settings.public,
            closed: settings.closed,
            columns: settings.columns.clone(),
            keys: stream.header.keys,
            continual: stream.shared.spec.continual,
            people: stream.shared.spec.unit.is_user(),
            slide_seconds: stream.shared.slide.map(|(slide, _)| slide as f64 / 1e6),
            releases: stream.shared.cache.latest_number(),
        }
    }
}

/// The description, written again only when something has changed.
fn described(stream: &StreamHandle) -> Response {
    let settings = stream.settings();
    let releases = stream.shared.cache.latest_number();
    let body = stream.described((settings.public, settings.closed, releases), || {
        serde_json::to_vec(&Description::of(stream, &stream.spec_json.whole)).unwrap_or_default()
    });
    json(body)
}

fn json(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// All streams that the caller may read, with the number of declared keys in place of the keys.
#[derive(Serialize, ToSchema)]
pub struct Descriptions {
    /// True if the events of this service are synthetic.
    demo: bool,
    /// In the order of their names.
    streams: Vec<Description>,
    /// The names of streams whose state cannot be opened.
    failed: Vec<String>,
}

/// The streams that you may read: the public ones and, with a token, others.
#[utoipa::path(
    get, path = "/v1/streams", tag = "streams", responses((status = 200, body = Descriptions), Refusals),
    security((), ("token" = [])),
)]
pub async fn list(State(app): State<App>, caller: Caller) -> Response {
    if caller.has_token() {
        return json(listed(&app, &caller));
    }
    // Clients without a token share one list, which is at most a second behind.
    let mut cached = sync::lock(&app.listed);
    if let Some((written_at, body)) = &*cached
        && written_at.elapsed() < LISTED_FOR
    {
        return json(body.clone());
    }
    let body = listed(&app, &caller);
    *cached = Some((Instant::now(), body.clone()));
    json(body)
}

fn listed(app: &App, caller: &Caller) -> Bytes {
    let may = |name: &str| caller.may(Scope::Read, Some(name)) || caller.may(Scope::Admin, Some(name));
    let streams = app.streams().into_iter();
    let seen = streams.filter(|stream| stream.settings().public || may(&stream.shared.name));
    let failed = app.failed().into_iter();
    let listed = Descriptions {
        demo: app.demo,
        streams: seen.map(|stream| Description::of(&stream, &stream.spec_json.brief)).collect(),
        failed: failed.filter(|name| app.has_failed_in_public(name) || may(name)).collect(),
    };
    serde_json::to_vec(&listed).unwrap_or_default().into()
}

/// Options of a new stream.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CreateParams {
    /// Only makes a plan: nothing is created.
    dry_run: bool,
    /// For a dry run: the number of events expected in the longest window.
    events: Option<u64>,
    /// Anyone may read its releases.
    public: bool,
    /// The field, or column, of the key; key by default.
    key: Option<String>,
    /// The field of the time; time by default. arrival: the time of an event is that of its arrival.
    time: Option<String>,
    /// The field of the user; user by default.
    user: Option<String>,
    /// A deleted stream that this one replaces: events from before the deletion are left out.
    replaces: Option<String>,
}

impl CreateParams {
    fn columns(&self) -> EventColumns {
        let usual = EventColumns::default();
        EventColumns {
            key: self.key.clone().unwrap_or(usual.key),
            time: match self.time.as_deref() {
                Some("arrival") => None,
                Some(name) => Some(name.to_owned()),
                None => usual.time,
            },
            user: self.user.clone().unwrap_or(usual.user),
        }
    }
}

/// Creates a stream. Its specification is fixed from then on; the same request again changes nothing.
#[utoipa::path(
    put, path = "/v1/streams/{name}", tag = "streams", params(StreamPath, CreateParams),
    request_body(content = Object, content_type = "application/json", description = "The specification"),
    responses(
        (status = 200, description = "It existed, or this is a dry run"), (status = 201, body = Description),
        (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        Refusals,
    ),
    security(("token" = [])),
)]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
    Query(params): Query<CreateParams>,
    SmallBody(body, _permits): SmallBody,
) -> Result<Response> {
    check_stream(&name)?;
    caller.must(Scope::Admin, Some(&name))?;
    let spec = spec_of(&body)?;
    if params.dry_run {
        let permit = PlanPermit::new(&app, &caller, None)?;
        return Ok(Json(make_plan(&app, permit, spec, params.events).await?).into_response());
    }
    let mut settings = Settings {
        public: params.public,
        columns: params.columns(),
        asked: Some(spec.clone()),
        ..Settings::default()
    };
    if let Some(deleted) = &params.replaces {
        settings.since = Some(app.replaces(deleted, &spec, &settings.columns)?);
    }
    let (stream, new) = app.create(&name, spec, settings).await?;
    Ok((if new { StatusCode::CREATED } else { StatusCode::OK }, described(&stream)).into_response())
}

/// Parses a JSON object; an array of the same values is refused.
pub fn object_of<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    match body.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(body),
        _ => Err(serde::de::Error::custom("it is no JSON object")),
    }
}

pub fn spec_of(body: &[u8]) -> Result<Spec> {
    object_of(body).map_err(|cause| {
        Problem::invalid(
            format!("the specification cannot be used: {cause}"),
            "correct it; docs/reference.md has all of its fields",
        )
    })
}

/// Describes a stream.
#[utoipa::path(
    get, path = "/v1/streams/{name}", tag = "streams", params(StreamPath),
    responses((status = 200, body = Description), Refusals), security((), ("token" = [])),
)]
pub async fn describe(Readable(stream): Readable) -> Response {
    described(&stream)
}

/// The settings of a stream that can change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Anyone may read its releases.
    public: bool,
}

/// Makes a stream public or private.
#[utoipa::path(
    patch, path = "/v1/streams/{name}", tag = "streams", params(StreamPath), request_body = Changes,
    responses(
        (status = 200, body = Description), (status = 413, body = Problem), (status = 422, body = Problem),
        Refusals,
    ),
    security(("token" = [])),
)]
pub async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
    SmallBody(body, _permits): SmallBody,
) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Admin)?;
    let changes: Changes = object_of(&body).map_err(|_| {
        Problem::invalid(
            "this is not what can be changed of a stream",
            r#"send { "public": true } or { "public": false }"#,
        )
    })?;
    set(&app, &stream, move |settings| settings.public = changes.public).await?;
    Ok(described(&stream))
}

/// Closes a stream to events for good. Releases stay, and slides continue to end.
#[utoipa::path(
    post, path = "/v1/streams/{name}/close", tag = "streams", params(StreamPath),
    responses((status = 200, body = Description), Refusals), security(("token" = [])),
)]
pub async fn close(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Admin)?;
    set(&app, &stream, |settings| settings.closed = true).await?;
    Ok(described(&stream))
}

/// Changes settings to the end, even if the client has gone.
async fn set(
    app: &App,
    stream: &Arc<StreamHandle>,
    change: impl FnOnce(&mut Settings) + Send + 'static,
) -> Result<()> {
    let (app, stream) = (app.clone(), stream.clone());
    let changed = tokio::spawn(async move {
        stream.set(&app.writing, change).await?;
        app.revise();
        Ok(())
    });
    changed.await.map_err(|_| Problem::unavailable("the settings of a stream cannot be written"))?
}

/// Deletes a stream and all of its data for good. Its name cannot be used again.
#[utoipa::path(
    delete, path = "/v1/streams/{name}", tag = "streams", params(StreamPath),
    responses((status = 204, description = "It is deleted"), Refusals), security(("token" = [])),
)]
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
) -> Result<StatusCode> {
    caller.stream(&name, Scope::Admin)?;
    app.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}
