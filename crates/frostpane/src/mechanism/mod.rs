//! Private mechanisms, built on exact noise.

pub mod above_threshold;
mod open_users;
pub mod threshold;

pub use above_threshold::{AboveThreshold, Answer, Bounded, Draws, Secret};
pub use threshold::Threshold;
