//! What is published, and how far it can be trusted.

pub mod guarantee;
pub mod norm;
pub mod one_shot;
mod sums;
pub(crate) mod terms;

pub use guarantee::Promises;
pub use norm::Norm;
pub use one_shot::{Coverage, Edge, Heavy, Release};
pub(crate) use sums::parts;
