//! Internals for auditors, benchmarks and tests. They may change at any time.

pub mod audit;

pub use crate::key::{Footprint, LONGEST_KEY, Sealed};
pub use crate::mechanism::Threshold;
#[cfg(any(test, feature = "testing"))]
pub use crate::noise::InsecureSeededEntropy;
pub use crate::noise::gaussian_delta::rho_for;
pub use crate::noise::{DiscreteGaussian, DiscreteLaplace, Entropy, Inversion, Noise, OsEntropy};
pub use crate::pane::{OpenPane, Pane, PaneShape};
pub use crate::privacy::Epsilon;
pub use crate::sketch::CountSketch;
pub use crate::sketch::count_sketch::Dimensions;
