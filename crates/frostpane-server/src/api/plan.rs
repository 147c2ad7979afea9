//! What to expect, before any data.

use axum::Json;

use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::App;
use super::caller::Caller;
use super::extract::{Path, Query, Small};
use super::streams::{spec_of, think};
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
    responses((status = 200, description = "The plan", body = Object), (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem), (status = 422, body = Problem)),
    security((), ("token" = [])))]
pub async fn of_stream(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Query(expected): Query<Expected>,
) -> Result<Json<Value>> {
    let stream = caller.reads(&name)?;
    think(&app, stream.spec().clone(), expected.events)
        .await
        .map(Json)
}

/// What to expect of a specification, before there is a stream.
#[utoipa::path(post, path = "/v1/plan", tag = "plans", params(Expected), request_body(content = Object, description = "The specification"),
    responses((status = 200, description = "The plan", body = Object), (status = 400, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem)))]
pub async fn of_spec(
    State(app): State<App>,
    Query(expected): Query<Expected>,
    Small(body): Small,
) -> Result<Json<Value>> {
    think(&app, spec_of(&body)?, expected.events).await.map(Json)
}
