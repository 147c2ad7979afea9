//! The two summaries a pane is made of.

pub mod count_sketch;
pub mod misra_gries;

pub use count_sketch::CountSketch;
pub use misra_gries::MisraGries;
