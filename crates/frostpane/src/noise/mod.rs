//! Exact noise: integers and rationals from entropy to noisy value.
//!
//! # Whose sampler
//!
//! The field's vetted sampler is OpenDP's (`opendp::traits::samplers`), which draws the discrete Laplace
//! distribution by the algorithm of Canonne, Kamath and Steinke (2020). This module has the same algorithm on
//! machine integers and the operating system's entropy. Measured on two cores, OpenDP 0.16 with its secure
//! entropy (OpenSSL) took 173 seconds to build and drew 143,000 values a second; without OpenSSL it built in
//! 36 seconds and drew 450,000 a second, from a generator that it calls non-secure itself. This sampler adds
//! nothing to the build and draws 1,500,000 a second (`cargo test -p frostpane --test noise -- --nocapture`
//! prints both rates). It is compared with OpenDP's, and with its own exact probabilities, in
//! `tests/noise.rs`. What OpenDP does not have, the joint draw for many equal keys, is in [`threshold`].

pub mod above_threshold;
pub mod bernoulli;
pub mod binomial;
pub mod discrete_laplace;
pub mod draws;
pub mod enclosure;
pub mod entropy;
pub mod epsilon;
pub mod inversion;
pub mod node_key;
pub mod nodes;
pub mod secret;
pub mod sum;
pub mod threshold;
pub mod tree;
pub mod window_noise;

pub use above_threshold::{AboveThreshold, Answer};
pub use discrete_laplace::DiscreteLaplace;
pub use draws::Draws;
pub use entropy::{Entropy, InsecureSeededEntropy, OsEntropy};
pub use epsilon::Epsilon;
pub use inversion::Inversion;
pub use node_key::NodeKey;
pub use nodes::{Nodes, WindowNodes};
pub use secret::Secret;
pub use sum::NoiseSum;
pub use threshold::Threshold;
pub use tree::Tree;
pub use window_noise::WindowNoise;
