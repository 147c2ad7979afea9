//! Releases, and the statements about their accuracy.

pub(crate) mod alternatives;
pub(crate) mod by_sketch;
pub(crate) mod continual;
pub(crate) mod followed_keys;
pub(crate) mod guarantee;
pub(crate) mod noise_bounds;
pub(crate) mod noise_tree;
pub(crate) mod norm;
pub(crate) mod note;
pub(crate) mod one_shot;
mod published;
pub(crate) mod request;
mod slack;
#[cfg(test)]
pub(crate) mod test_oracle;
pub(crate) mod total;
pub(crate) mod window;
mod window_counts;

pub use continual::ContinualInfo;
pub use guarantee::Promises;
pub use note::{Note, Shortfall};
#[cfg(feature = "internals")]
pub use one_shot::Unnoised;
pub use published::{Coverage, Estimator, Heavy, Release, RequestedWindow};
pub(crate) use request::Request;
pub(crate) use window_counts::keys_at_a_time;
