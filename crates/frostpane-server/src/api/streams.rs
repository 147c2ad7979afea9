//! Streams: what there is, what each is asked for, its beginning and its end.

use axum::Json;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use frostpane::Spec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::caller::Caller;
use super::extract::{Path, Query, Small};
use super::plan::{Place, think};
use super::refusals::Refusals;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::stream::{Columns, Settings, Stream};
use crate::token::Scope;

/// What anyone who may read a stream is told about it.
#[derive(Serialize, ToSchema)]
pub struct Description {
    /// Its name.
    name: String,
    /// What it is asked for, with all choices made.
    #[schema(value_type = Object)]
    spec: Spec,
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
    fn of(stream: &Stream) -> Self {
        let settings = stream.settings();
        Self {
            name: stream.name().to_owned(),
            spec: stream.spec().clone(),
            public: settings.public,
            closed: settings.closed,
            columns: settings.columns,
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

/// All streams that the caller may read.
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
pub async fn list(State(app): State<App>, caller: Caller) -> Json<Descriptions> {
    let may = |name: &str| caller.may(Scope::Read, Some(name)) || caller.may(Scope::Admin, Some(name));
    let streams = app.streams().into_iter();
    let streams = streams.filter(|stream| stream.settings().public || may(stream.name()));
    let failed = app.failed().into_iter();
    Json(Descriptions {
        demo: app.demo,
        streams: streams.map(|stream| Description::of(&stream)).collect(),
        failed: failed
            .filter(|name| app.has_failed_in_public(name) || may(name))
            .collect(),
    })
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
        let plan = think(&app, Place::of(&app)?, spec, beginning.events).await?;
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
    Ok((status, Json(Description::of(&stream))).into_response())
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
pub async fn describe(caller: Caller, Path(name): Path<String>) -> Result<Json<Description>> {
    Ok(Json(Description::of(&*caller.reads(&name)?)))
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
    caller: Caller,
    Path(name): Path<String>,
    Small(body, _room): Small,
) -> Result<Json<Description>> {
    let stream = caller.stream(&name, Scope::Admin)?;
    let changes: Changes = object_of(&body).map_err(|_| {
        Problem::invalid(
            "this is not what can be changed of a stream",
            r#"send { "public": true } or { "public": false }"#,
        )
    })?;
    stream.set(|settings| settings.public = changes.public)?;
    Ok(Json(Description::of(&stream)))
}

/// Takes no more events, for ever. What was published stays, and slides go on to end.
#[utoipa::path(post, path = "/v1/streams/{name}/close", tag = "streams", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Description), Refusals),
    security(("token" = [])))]
pub async fn close(caller: Caller, Path(name): Path<String>) -> Result<Json<Description>> {
    let stream = caller.stream(&name, Scope::Admin)?;
    stream.set(|settings| settings.closed = true)?;
    Ok(Json(Description::of(&stream)))
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
