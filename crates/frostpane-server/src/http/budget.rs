//! The privacy budget of a stream.

use axum::Json;

use super::amount::Spent;
use super::extract::{Path, StreamPath};
use super::refusals::Refusals;
use crate::auth::Caller;
use crate::problem::{Problem, Result};

/// The privacy budget: spending of every pane, releases left, and when there will be more.
#[utoipa::path(
    get, path = "/v1/streams/{name}/budget", tag = "releases", params(StreamPath),
    responses((status = 200, body = Spent), Refusals), security((), ("token" = [])),
)]
pub async fn spent(caller: Caller, Path(StreamPath { name }): Path<StreamPath>) -> Result<Json<Spent>> {
    let stream = caller.reads(&name)?;
    let budget = stream.budget().ok_or_else(|| Problem::unavailable("the budget is not known yet"))?;
    Ok(Json(budget.into()))
}
