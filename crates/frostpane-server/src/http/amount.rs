//! Amounts of privacy as plain numbers: the state counts units that are too many for readers of JSON.

use frostpane_store::Budget;
use serde::Serialize;
use utoipa::ToSchema;

/// A privacy loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Amount {
    epsilon: f64,
    delta: f64,
    /// Zero-concentrated differential privacy.
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

/// The privacy budget: what is spent, and how much is left. Nothing in it is private.
#[derive(Serialize, ToSchema)]
pub struct Spent {
    /// True for continual release, which every pane pays for when it opens.
    continual: bool,
    /// The cost of one release for each pane that it covers.
    charge: Amount,
    /// The most that any pane may spend.
    cap: Amount,
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
    spent: Amount,
    /// The time at which the last of them has left the window.
    leaves: String,
}

impl From<Budget> for Spent {
    fn from(budget: Budget) -> Self {
        let period = |period: frostpane_store::BudgetPeriod| Period {
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
