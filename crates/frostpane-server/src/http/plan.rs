//! Plans: what to expect of a stream before any data.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use frostpane::Spec;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::App;
use super::body::collect;
use super::connection_limit::SharedPermit;
use super::extract::{Path, Query, StreamPath};
use super::guard::Address;
use super::refusals::Refusals;
use super::streams::spec_of;
use crate::auth::Caller;
use crate::plan;
use crate::problem::{Problem, Result};

/// Plans of one token or one address that may be requested at once.
const SHARE: usize = 4;
/// Plans a second from one address without a token.
const RATE: u32 = 10;
/// The most time in which the specification must arrive.
const BODY_TIME: Duration = Duration::from_secs(5);

/// Options of a plan.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlanParams {
    /// The number of events expected in the longest window: 100,000 by default.
    events: Option<u64>,
}

/// The plan of a stream.
#[utoipa::path(
    get, path = "/v1/streams/{name}/plan", operation_id = "plan_of_stream", tag = "plans",
    params(StreamPath, PlanParams),
    responses(
        (status = 200, description = "The plan", body = Object), (status = 422, body = Problem), Refusals,
    ),
    security((), ("token" = [])),
)]
pub async fn of_stream(
    State(app): State<App>,
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
    Query(params): Query<PlanParams>,
    permit: PlanPermit,
) -> Result<Json<Value>> {
    let stream = caller.reads(&name)?;
    make_plan(&app, permit, stream.shared.spec.clone(), params.events).await.map(Json)
}

/// The plan of a specification, before there is a stream.
#[utoipa::path(
    post, path = "/v1/plan", operation_id = "plan_of_spec", tag = "plans", params(PlanParams),
    request_body(content = Object, description = "The specification"),
    responses(
        (status = 200, description = "The plan", body = Object), (status = 413, body = Problem),
        (status = 422, body = Problem), Refusals,
    ),
)]
pub async fn of_spec(
    State(app): State<App>,
    Query(params): Query<PlanParams>,
    permit: PlanPermit,
    body: Body,
) -> Result<Json<Value>> {
    let body = collect(body, app.limits.plan_body);
    let body = tokio::time::timeout(BODY_TIME.min(app.limits.time), body).await.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "the specification took too long to come in",
            "send it faster",
        )
    })?;
    let spec = spec_of(&body?)?;
    make_plan(&app, permit, spec, params.events).await.map(Json)
}

/// A permit to request a plan, held before anything of the request is read and until its plan is made.
pub struct PlanPermit(#[expect(dead_code, reason = "held until the plan is made")] SharedPermit);

impl PlanPermit {
    pub fn new(app: &App, caller: &Caller, address: Option<Address>) -> Result<Self> {
        if let (false, Some(Address(address))) = (caller.has_token(), address)
            && !app.plan_rate.allows(address, RATE)
        {
            return Err(busy("this address asks for too many plans without a token"));
        }
        let own = app.plan_limit.share(caller.holder(address), SHARE);
        let own =
            own.ok_or_else(|| busy("other plans for this token, or this address, are still being made"))?;
        let all = app.plan_queue.clone().try_acquire_owned();
        Ok(Self((own, all.map_err(|_| busy("too many others are asking for plans"))?)))
    }
}

fn busy(why: &str) -> Problem {
    Problem::too_many(why, "ask again after the time that Retry-After says")
}

impl FromRequestParts<App> for PlanPermit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let address = parts.extensions.get::<Address>().copied();
        let caller = Caller::from_request_parts(parts, app).await?;
        Self::new(app, &caller, address)
    }
}

/// Makes a plan. Only a few are made at once, and each to its end, even if the client has gone.
pub async fn make_plan(app: &App, permit: PlanPermit, spec: Spec, events: Option<u64>) -> Result<Value> {
    let failed = || Problem::unavailable("the plan could not be made");
    let turn = app.plan_turns.clone().acquire_owned().await.map_err(|_| failed())?;
    let planned = app.workers.run(move || {
        let _permits = (permit, turn);
        plan::make(&spec, events)
    });
    planned.await.unwrap_or_else(|| Err(failed()))
}
