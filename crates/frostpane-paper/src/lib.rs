//! The algorithms of Blocki, Lee, Mukherjee and Zhou, *Differentially Private L2-Heavy Hitters in the Sliding
//! Window Model* (ICLR 2023), as the page prints them.
//!
//! **Not for real data.** This crate is a yardstick: what Frostpane does is measured against it. Where the
//! printed form does not do what its text says, the intended form stands beside it, and an enum says which
//! one runs and what was wrong. `docs/paper.md` goes through the claims one by one.

pub mod ams;
pub mod answer;
pub mod claims;
pub mod continual;
pub mod count_sketch;
pub mod counter;
pub mod demands;
pub mod form;
pub mod hashes;
mod key_map;
pub mod l1;
pub mod l2;
pub mod laplace;
mod median;
pub mod misra_gries;
pub mod preset;
pub mod smooth_histogram;

pub use ams::Ams;
pub use answer::{Answer, Noise};
pub use continual::Continual;
pub use count_sketch::{CountSketch, Estimator, Shape};
pub use counter::Counter;
pub use demands::Demands;
pub use form::Form;
pub use frostpane::internals::OsEntropy;
pub use hashes::Hashes;
pub use l1::L1;
pub use l2::{Composition, L2};
pub use misra_gries::MisraGries;
pub use preset::{Change, Refusal};
pub use smooth_histogram::{Instance, SmoothHistogram, Stamp};
