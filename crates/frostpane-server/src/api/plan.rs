//! What to expect, before any data.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use frostpane::Spec;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::IntoParams;

use super::App;
use super::body::collect;
use super::caller::Caller;
use super::extract::{Path, Query};
use super::guard::Address;
use super::refusals::Refusals;
use super::streams::spec_of;
use crate::crowd::{self, Who};
use crate::plan::outlook;
use crate::problem::{Problem, Result};

/// Plans of one token, or of one address, that may be asked for at once.
const SHARE: usize = 4;
/// The most plans a second from one address that have no token.
const RATE: u32 = 10;
/// How long the specification of a plan may take to come in.
const BODY_TIME: Duration = Duration::from_secs(5);

/// What is expected.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Expected {
    /// How many events the longest window is expected to have: 100,000 unless told.
    events: Option<u64>,
}

/// What to expect of a stream's lists.
#[utoipa::path(get, path = "/v1/streams/{name}/plan", operation_id = "plan_of_stream", tag = "plans", params(("name" = String, Path, description = "Of the stream"), Expected),
    responses((status = 200, description = "The plan", body = Object), (status = 422, body = Problem), Refusals),
    security((), ("token" = [])))]
pub async fn of_stream(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Query(expected): Query<Expected>,
    place: Place,
) -> Result<Json<Value>> {
    let stream = caller.reads(&name)?;
    think(&app, place, stream.spec().clone(), expected.events)
        .await
        .map(Json)
}

/// What to expect of a specification, before there is a stream.
#[utoipa::path(post, path = "/v1/plan", operation_id = "plan_of_spec", tag = "plans", params(Expected), request_body(content = Object, description = "The specification"),
    responses((status = 200, description = "The plan", body = Object), (status = 413, body = Problem), (status = 422, body = Problem), Refusals))]
pub async fn of_spec(
    State(app): State<App>,
    Query(expected): Query<Expected>,
    place: Place,
    Asked(body): Asked,
) -> Result<Json<Value>> {
    think(&app, place, spec_of(&body)?, expected.events)
        .await
        .map(Json)
}

/// A place among those who ask for plans, held before anything of theirs is read and as long as their plan is made.
pub struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_one: Option<crowd::Place<Who>>,
}

impl Place {
    /// One, if there is one left for this token or address, and the address did not ask for too many without a token.
    pub fn of(app: &App, caller: &Caller, address: Option<Address>) -> Result<Self> {
        if let (false, Some(Address(address))) = (caller.has_token(), address)
            && !app.plan_rate.allows(address, RATE)
        {
            return Err(busy("this address asks for too many plans without a token"));
        }
        let of_one = caller.who(address).map(|who| {
            let place = app.planners.enter(who, SHARE);
            place.ok_or_else(|| busy("other plans for this token, or this address, are still being made"))
        });
        Ok(Self {
            _of_one: of_one.transpose()?,
            _of_all: app
                .planning
                .clone()
                .try_acquire_owned()
                .map_err(|_| busy("too many others are asking for plans"))?,
        })
    }
}

fn busy(why: &str) -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        why,
        "ask again after the time that Retry-After says",
    )
    .after(1)
}

impl FromRequestParts<App> for Place {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let address = parts.extensions.get::<Address>().copied();
        let caller = Caller::from_request_parts(parts, app).await?;
        Self::of(app, &caller, address)
    }
}

/// The body of a request for a plan, which may come from anyone.
pub struct Asked(Bytes);

impl FromRequest<App> for Asked {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self> {
        let body = collect(request.into_body(), app.limits.plan_body);
        match tokio::time::timeout(BODY_TIME.min(app.limits.time), body).await {
            Ok(body) => body.map(Self),
            Err(_) => Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "the specification took too long to come in",
                "send it faster",
            )),
        }
    }
}

/// What to expect of a specification. Only few think at once, and each as long as it does, also where whoever asked has gone.
pub async fn think(app: &App, place: Place, spec: Spec, events: Option<u64>) -> Result<Value> {
    let failed = || Problem::unavailable("the plan could not be made");
    let turn = app.thinking.clone().acquire_owned().await.map_err(|_| failed())?;
    let planned = app.workers.run(move || {
        let _held = (place, turn);
        outlook(&spec, events)
    });
    planned.await.unwrap_or_else(|| Err(failed()))
}
