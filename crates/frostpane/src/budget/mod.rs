#![doc = include_str!("budget.md")]

mod account;
mod cost;
mod delta;
mod epsilon;
mod split;

pub use account::Account;
pub use cost::Cost;
pub use delta::Delta;
pub use epsilon::Epsilon;
pub use split::Split;
