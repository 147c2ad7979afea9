//! Amounts of privacy in plain numbers: the state keeps them in whole units too large for what reads JSON.

use frostpane_store::Budget;
use serde::Serialize;
use utoipa::ToSchema;

/// What is spent, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Amount {
    epsilon: f64,
    delta: f64,
    /// The measure of zero-concentrated privacy.
    rho: f64,
}

impl From<frostpane::Amount> for Amount {
    fn from(amount: frostpane::Amount) -> Self {
        Self {
            epsilon: amount.epsilon as f64 / 1e6,
            delta: amount.delta as f64 / 1e36,
            rho: amount.rho as f64 / 1e18,
        }
    }
}

/// What has been spent, and how much is left. Nothing in it is private.
#[derive(Serialize, ToSchema)]
pub struct Spent {
    /// Whether a list is released at every slide, which every pane pays for when it is born.
    continual: bool,
    /// What one release costs everyone it covers.
    charge: Amount,
    /// The most that anyone may spend.
    cap: Amount,
    /// How many more releases of the longest window fit now.
    left: u64,
    /// When there will be more because panes have left.
    more: Option<More>,
    /// What the panes, or epochs, of the longest window have spent, from the oldest on.
    periods: Vec<Period>,
}

/// When there will be more, and how many releases fit then.
#[derive(Serialize, ToSchema)]
pub struct More {
    at: String,
    left: u64,
}

/// Panes, or epochs, next to each other that have spent the same.
#[derive(Serialize, ToSchema)]
pub struct Period {
    from: String,
    to: String,
    panes: u64,
    spent: Amount,
    /// When the last of them has left the window.
    leaves: String,
}

impl From<Budget> for Spent {
    fn from(budget: Budget) -> Self {
        let period = |period: frostpane_store::Period| Period {
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
