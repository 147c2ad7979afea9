//! What auditors, benchmarks and tests look into. It may change at any time.

pub use crate::budget::Epsilon;
pub use crate::key::{Footprint, LONGEST_KEY, Sealed};
pub use crate::mechanism::Threshold;
#[cfg(any(test, feature = "insecure"))]
pub use crate::noise::InsecureSeededEntropy;
pub use crate::noise::gaussian_delta::rho_for;
pub use crate::noise::{DiscreteGaussian, DiscreteLaplace, Entropy, Inversion, Noise, OsEntropy};
pub use crate::pane::{OpenPane, Pane, PaneShape};
pub use crate::sketch::CountSketch;
pub use crate::sketch::count_sketch::Dimensions;
