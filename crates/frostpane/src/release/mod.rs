//! What is published, and how far it can be trusted.

pub(crate) mod alternatives;
#[cfg(test)]
pub(crate) mod by_hand;
pub(crate) mod by_sketch;
mod counts;
pub(crate) mod guarantee;
#[cfg(feature = "internals")]
mod inside;
pub(crate) mod norm;
pub(crate) mod note;
pub(crate) mod one_shot;
mod published;
pub(crate) mod reach;
pub(crate) mod request;
pub(crate) mod sequence;
mod slack;
pub(crate) mod total;
mod window_counts;

pub use alternatives::Alternatives;
pub use guarantee::Promises;
#[cfg(feature = "internals")]
pub use inside::Inside;
pub use note::{Note, Obstacle, Remedy, Shortfall};
pub use published::{Asked, Coverage, Estimator, Heavy, Release};
pub(crate) use request::Request;
pub use sequence::Continuity;
pub(crate) use window_counts::keys_at_a_time;
