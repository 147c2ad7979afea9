//! Exact noise: integers and rationals from entropy to noisy value.
//!
//! # Choice of the sampler
//!
//! The field's vetted sampler is OpenDP's (`opendp::traits::samplers`), with the algorithm of Canonne, Kamath
//! and Steinke (2020). This module has the same algorithm on machine integers and the operating system's
//! entropy. On two cores OpenDP 0.16 with its secure entropy (OpenSSL) took 173 seconds to build and drew
//! 143,000 values a second; this sampler adds nothing to the build time and draws 1,500,000. Gaussian values
//! come from a table, exactly as well: 25,000,000 a second in a release build, at deviations of 5.5 and 25.
//! `tests/noise.rs` compares both with OpenDP's and with their exact probabilities, and prints the rates
//! (with `--nocapture`). OpenDP has no joint draw for many equal keys; it is in
//! [`Threshold`](crate::mechanism::Threshold).

pub(crate) mod binomial;
pub(crate) mod discrete_gaussian;
pub(crate) mod discrete_laplace;
pub(crate) mod entropy;
pub(crate) mod gaussian_delta;
mod gaussian_tail;
pub(crate) mod inversion;
pub(crate) mod laplace_sum;
mod law;
mod noise_sum;

pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
#[cfg(any(test, feature = "testing"))]
pub use entropy::InsecureSeededEntropy;
pub use entropy::{Entropy, OsEntropy};
pub use inversion::Inversion;
pub use law::{Noise, NoiseLaw};
pub use noise_sum::NoiseSum;
