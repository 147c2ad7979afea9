//! The algorithms of Blocki, Lee, Mukherjee and Zhou, *Differentially Private L2-Heavy Hitters in the Sliding
//! Window Model* (ICLR 2023), as the page prints them.
//!
//! **Not for real data.** Frostpane is measured against this crate. Where the printed form does not do what
//! its text says, the intended form is implemented beside it, and an enum chooses one and documents the
//! error. `docs/paper.md` goes through the claims one by one.

pub mod ams;
pub mod answer;
pub mod claims;
pub mod continual;
pub mod count_sketch;
pub mod counter;
pub mod hashes;
pub mod l1;
pub mod l2;
pub mod laplace;
pub mod misra_gries;
pub mod preset;
pub mod smooth_histogram;

pub use ams::Ams;
pub use answer::{AlgorithmForm, NoiseScale, PublishedAnswer};
pub use claims::{Composition, Demands};
pub use continual::PublishedContinual;
pub use count_sketch::{CountSketchEstimator, CountSketchShape, PublishedCountSketch};
pub use counter::PublishedCounter;
pub use frostpane::testing::OsEntropy;
pub use hashes::Hashes;
pub use l1::L1;
pub use l2::L2;
pub use misra_gries::PublishedMisraGries;
pub use preset::{ConstantChange, PresetRefusal};
pub use smooth_histogram::{Instance, SmoothHistogram, Stamp};
