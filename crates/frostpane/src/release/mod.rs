//! What is published, and how far it can be trusted.

mod alternatives;
#[cfg(test)]
pub(crate) mod by_hand;
pub mod by_sketch;
pub mod continual;
pub mod guarantee;
pub mod norm;
pub mod one_shot;
pub mod slack;
mod sums;
pub(crate) mod terms;

pub use continual::Continuity;
pub use guarantee::Promises;
pub use norm::Norm;
pub use one_shot::{Asked, Coverage, Edge, Estimator, Heavy, Release};
pub(crate) use sums::part;
