#![doc = include_str!("budget.md")]

mod cost;
mod delta;
mod epsilon;
pub(crate) mod ledger;
mod split;
mod unit;

pub use cost::Cost;
pub use delta::Delta;
pub use epsilon::Epsilon;
pub use split::Split;
pub use unit::{Bounds, Unit};
