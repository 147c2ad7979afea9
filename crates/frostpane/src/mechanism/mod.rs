//! Private mechanisms, built on exact noise.

pub mod above_threshold;
mod draws;
mod open_users;
mod secret;
pub mod threshold;

pub use above_threshold::{AboveThreshold, Answer};
pub use draws::Draws;
pub use secret::{Bounded, Secret};
pub use threshold::Threshold;
