//! Streams: what there is, what each is asked for, its beginning and its end.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use frostpane::Spec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::caller::Caller;
use super::extract::{Path, Query, Small};
use super::plan::{Place, think};
use super::refusals::Refusals;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::service::Listed;
use crate::stream::{Columns, Settings, Stream};
use crate::token::Scope;

/// For so long strangers are given the same list of streams, unless a stream comes, goes or is changed.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// What anyone who may read a stream is told about it.
#[derive(Serialize, ToSchema)]
pub struct Description {
    /// Its name.
    name: String,
    /// What it is asked for, with all choices made.
    #[schema(value_type = Object)]
    spec: Box<RawValue>,
    /// Whether anyone may read its releases.
    public: bool,
    /// Whether it takes no more events.
    closed: bool,
    /// Where events have their parts.
    columns: Columns,
    /// Whether its keys are bytes or integers.
    keys: &'static str,
    /// Whether a list comes at every slide.
    continual: bool,
    /// Whether people are protected, and not single events.
    people: bool,
    /// How long a slide is, in seconds, where the clock ends it.
    slide_seconds: Option<f64>,
    /// How many releases there were.
    releases: u64,
}

impl Description {
    fn of(stream: &Stream, spec: &RawValue) -> Self {
        let settings = stream.settings();
        Self {
            name: stream.name().to_owned(),
            spec: spec.to_owned(),
            public: settings.public,
            closed: settings.closed,
            columns: settings.columns.clone(),
            keys: match stream.header().keys {
                frostpane_store::KeyKind::Bytes => "bytes",
                frostpane_store::KeyKind::Integers => "integers",
            },
            continual: stream.spec().continual,
            people: stream.spec().unit.is_user(),
            slide_seconds: stream.slide().map(|(slide, _)| slide as f64 / 1e6),
            releases: stream.shelf().latest().map_or(0, |latest| latest.number),
        }
    }
}

/// What anyone who may read a stream is told about it, the same bytes as long as nothing changes.
fn described(stream: &Stream) -> Response {
    let settings = stream.settings();
    let releases = stream.shelf().latest().map_or(0, |latest| latest.number);
    let body = stream.described((settings.public, settings.closed, releases), || {
        let description = Description::of(stream, &stream.spec_json().whole);
        serde_json::to_vec(&description).unwrap_or_default()
    });
    json(body)
}

fn json(body: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// All streams that the caller may read, each with the number of its declared keys in the place of them.
#[derive(Serialize, ToSchema)]
pub struct Descriptions {
    /// Whether the events of this service are made up.
    demo: bool,
    /// In the order of their names.
    streams: Vec<Description>,
    /// The names of streams whose state cannot be opened.
    failed: Vec<String>,
}

/// The streams that you may read: the public ones, and with a token others.
#[utoipa::path(get, path = "/v1/streams", tag = "streams",
    responses((status = 200, body = Descriptions), Refusals),
    security((), ("token" = [])))]
pub async fn list(State(app): State<App>, caller: Caller) -> Response {
    if caller.has_token() {
        return json(listed(&app, &caller));
    }
    // Strangers share one, which knows of releases within a second.
    let revision = app.revision();
    let mut kept = app.listed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listed) = &*kept
        && listed.revision == revision
        && listed.at.elapsed() < LISTED_FOR
    {
        return json(listed.body.clone());
    }
    let body = listed(&app, &caller);
    *kept = Some(Listed {
        revision,
        at: Instant::now(),
        body: body.clone(),
    });
    json(body)
}

fn listed(app: &App, caller: &Caller) -> Bytes {
    let may = |name: &str| caller.may(Scope::Read, Some(name)) || caller.may(Scope::Admin, Some(name));
    let streams = app.streams().into_iter();
    let seen = streams.filter(|stream| stream.settings().public || may(stream.name()));
    let failed = app.failed().into_iter();
    let listed = Descriptions {
        demo: app.demo,
        streams: seen
            .map(|stream| Description::of(&stream, &stream.spec_json().brief))
            .collect(),
        failed: failed
            .filter(|name| app.has_failed_in_public(name) || may(name))
            .collect(),
    };
    serde_json::to_vec(&listed).unwrap_or_default().into()
}

/// How a stream is begun.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Beginning {
    /// Only says what to expect: nothing is begun.
    dry_run: bool,
    /// For a dry run: how many events the longest window is expected to have.
    events: Option<u64>,
    /// Whether anyone may read its releases.
    public: bool,
    /// The field, or column, of the key; key unless told.
    key: Option<String>,
    /// The field of the time; time unless told, and with arrival the time of an event is that of its arrival.
    time: Option<String>,
    /// The field of the user; user unless told.
    user: Option<String>,
    /// A stream that was deleted and whose place it takes: events from before are left out.
    replaces: Option<String>,
}

impl Beginning {
    fn columns(&self) -> Columns {
        let usual = Columns::default();
        Columns {
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

/// Begins a stream. What it is asked for is fixed from then on; the same again changes nothing.
#[utoipa::path(put, path = "/v1/streams/{name}", tag = "streams", params(("name" = String, Path, description = "Of the stream"), Beginning),
    request_body(content = Object, content_type = "application/json", description = "The specification"),
    responses((status = 200, description = "It was there, or it is a dry run"), (status = 201, body = Description), (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem), Refusals),
    security(("token" = [])))]
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Query(beginning): Query<Beginning>,
    Small(body, _room): Small,
) -> Result<Response> {
    check_stream(&name)?;
    caller.must(Scope::Admin, Some(&name))?;
    let spec = spec_of(&body)?;
    if beginning.dry_run {
        let place = Place::of(&app, &caller, None)?;
        let plan = think(&app, place, spec, beginning.events).await?;
        return Ok(Json(plan).into_response());
    }
    let mut settings = Settings {
        public: beginning.public,
        columns: beginning.columns(),
        asked: Some(spec.clone()),
        ..Settings::default()
    };
    if let Some(gone) = &beginning.replaces {
        settings.since = Some(app.replaces(gone, &spec, &settings.columns)?);
    }
    let (stream, new) = app.create(&name, spec, settings).await?;
    let status = match new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, described(&stream)).into_response())
}

/// What a JSON object stands for: an array of the same values is none.
pub fn object_of<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    match body.trim_ascii_start().first() {
        Some(b'{') => serde_json::from_slice(body),
        _ => Err(serde::de::Error::custom("it is no JSON object")),
    }
}

/// A specification that came over the network.
pub fn spec_of(body: &[u8]) -> Result<Spec> {
    object_of(body).map_err(|cause| {
        Problem::invalid(
            format!("the specification cannot be used: {cause}"),
            "correct it; docs/program.md has all of its fields",
        )
    })
}

/// What a stream is asked for.
#[utoipa::path(get, path = "/v1/streams/{name}", tag = "streams", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Description), Refusals),
    security((), ("token" = [])))]
pub async fn describe(caller: Caller, Path(name): Path<String>) -> Result<Response> {
    Ok(described(&*caller.reads(&name)?))
}

/// What can be changed while a stream goes on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Whether anyone may read its releases.
    public: bool,
}

/// Makes a stream public, or not.
#[utoipa::path(patch, path = "/v1/streams/{name}", tag = "streams", params(("name" = String, Path, description = "Of the stream")), request_body = Changes,
    responses((status = 200, body = Description), (status = 413, body = Problem), (status = 422, body = Problem), Refusals),
    security(("token" = [])))]
pub async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Small(body, _room): Small,
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

/// Takes no more events, for ever. What was published stays, and slides go on to end.
#[utoipa::path(post, path = "/v1/streams/{name}/close", tag = "streams", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Description), Refusals),
    security(("token" = [])))]
pub async fn close(State(app): State<App>, caller: Caller, Path(name): Path<String>) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Admin)?;
    set(&app, &stream, |settings| settings.closed = true).await?;
    Ok(described(&stream))
}

/// Changes settings of a stream; what was begun is finished, also where whoever asked has gone.
async fn set(
    app: &App,
    stream: &Arc<Stream>,
    change: impl FnOnce(&mut Settings) + Send + 'static,
) -> Result<()> {
    let (app, stream) = (app.clone(), stream.clone());
    let changed = tokio::spawn(async move {
        stream.set(&app.writing, change).await?;
        app.revise();
        Ok(())
    });
    let failed = |_| Problem::unavailable("the settings of a stream cannot be written");
    changed.await.map_err(failed)?
}

/// Deletes a stream and everything that is kept of it, for good. Its name is not used again.
#[utoipa::path(delete, path = "/v1/streams/{name}", tag = "streams", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 204, description = "It is gone"), Refusals),
    security(("token" = [])))]
pub async fn delete(State(app): State<App>, caller: Caller, Path(name): Path<String>) -> Result<StatusCode> {
    caller.stream(&name, Scope::Admin)?;
    app.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}
