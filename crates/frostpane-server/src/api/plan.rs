//! What to expect, before any data.

use axum::Json;

use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::caller::Caller;
use super::extract::{Path, Query, Tiny, Turn};
use super::streams::{spec_of, think};
use crate::plan::check_modest;
use crate::problem::{Problem, Result};

/// What is expected.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Expected {
    /// How many events the longest window is expected to have: 100,000 unless told.
    events: Option<u64>,
}

/// What to expect of a stream's lists.
#[utoipa::path(get, path = "/v1/streams/{name}/plan", tag = "plans", params(("name" = String, Path, description = "Of the stream"), Expected),
    responses((status = 200, description = "The plan", body = Object), (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)),
    security((), ("token" = [])))]
pub async fn of_stream(
    caller: Caller,
    Path(name): Path<String>,
    Query(expected): Query<Expected>,
    turn: Turn,
) -> Result<Json<Value>> {
    let stream = caller.reads(&name)?;
    think(turn, stream.spec().clone(), expected.events)
        .await
        .map(Json)
}

/// What to expect of a specification, before there is a stream.
#[utoipa::path(post, path = "/v1/plan", tag = "plans", params(Expected), request_body(content = Object, description = "The specification"),
    responses((status = 200, description = "The plan", body = Object), (status = 400, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)))]
pub async fn of_spec(Query(expected): Query<Expected>, turn: Turn, Tiny(body): Tiny) -> Result<Json<Value>> {
    let spec = spec_of(&body)?;
    check_modest(&spec)?;
    think(turn, spec, expected.events).await.map(Json)
}
