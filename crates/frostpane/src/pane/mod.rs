#![doc = include_str!("pane.md")]

mod closed;
pub(crate) mod list_count;
pub(crate) mod norm_bound;
mod open;
pub(crate) mod packed;
mod partial;
mod shape;
mod stored;
mod suspended;
#[cfg(test)]
mod tests;

pub use closed::Pane;
pub(crate) use closed::add_up;
pub use open::{Closer, OpenNorm, OpenPane};
pub use packed::PackedCounts;
pub use partial::PartialPane;
pub(crate) use shape::LONGEST_LIST;
pub use shape::{PaneShape, Parameters};
pub use suspended::SuspendedPane;
