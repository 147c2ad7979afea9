//! What has been spent, and when there will be more.

use axum::Json;

use super::amount::Spent;
use super::caller::Caller;
use super::extract::Path;
use super::refusals::Refusals;
use crate::problem::{Problem, Result};

/// What every pane has spent, how many releases are left, and when there will be more.
#[utoipa::path(get, path = "/v1/streams/{name}/budget", tag = "releases", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Spent), Refusals),
    security((), ("token" = [])))]
pub async fn spent(caller: Caller, Path(name): Path<String>) -> Result<Json<Spent>> {
    let stream = caller.reads(&name)?;
    let budget = stream
        .budget()
        .ok_or_else(|| Problem::unavailable("the budget is not known yet"))?;
    Ok(Json(budget.into()))
}
