//! The privacy budget of a stream.

use axum::Json;
use frostpane_store::{BudgetPeriod, BudgetReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{Readable, StreamPath};
use super::refusals::Refusals;
use crate::problem::{Problem, Result};

/// A privacy loss.
// In plain numbers: the state counts units that are too many for readers of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Amount)]
pub struct PrivacyLoss {
    epsilon: f64,
    delta: f64,
    /// Zero-concentrated differential privacy.
    rho: f64,
}

impl From<frostpane::Amount> for PrivacyLoss {
    fn from(amount: frostpane::Amount) -> Self {
        Self {
            epsilon: amount.epsilon as f64 / 1e6,
            delta: amount.delta as f64 / 1e36,
            rho: amount.rho as f64 / 1e18,
        }
    }
}

/// The privacy budget: what is spent, and how much is left. Nothing in it is private.
#[derive(Serialize, ToSchema)]
pub struct Spent {
    /// True for continual release, which every pane pays for when it opens.
    continual: bool,
    /// The cost of one release for each pane that it covers.
    charge: PrivacyLoss,
    /// The most that any pane may spend.
    cap: PrivacyLoss,
    /// Releases of the longest window that are left now.
    left: u64,
    /// The next time at which more releases are left, because panes leave the window.
    more: Option<More>,
    /// The spending of the panes, or epochs, of the longest window, oldest first.
    periods: Vec<Period>,
}

/// The time at which more releases are left, and how many.
#[derive(Serialize, ToSchema)]
pub struct More {
    at: String,
    left: u64,
}

/// Adjacent panes, or epochs, that have spent the same.
#[derive(Serialize, ToSchema)]
pub struct Period {
    from: String,
    to: String,
    panes: u64,
    spent: PrivacyLoss,
    /// The time at which the last of them has left the window.
    leaves: String,
}

impl From<BudgetReport> for Spent {
    fn from(budget: BudgetReport) -> Self {
        let period = |period: BudgetPeriod| Period {
            from: period.from,
            to: period.to,
            panes: period.panes,
            spent: period.spent.into(),
            leaves: period.leaves,
        };
        Self {
            continual: budget.continual,
            charge: budget.charge.into(),
            cap: budget.cap.into(),
            left: budget.left,
            more: budget.more.map(|(at, left)| More { at, left }),
            periods: budget.periods.into_iter().map(period).collect(),
        }
    }
}

/// The privacy budget: spending of every pane, releases left, and when there will be more.
#[utoipa::path(
    get, path = "/v1/streams/{name}/budget", tag = "releases", params(StreamPath),
    responses((status = 200, body = Spent), Refusals), security((), ("token" = [])),
)]
pub async fn spent(Readable(stream): Readable) -> Result<Json<Spent>> {
    Ok(Json(stream.budget().ok_or_else(|| Problem::unavailable("the budget is not known yet"))?.into()))
}
