//! Sizes that the constants of the paper require.

use serde::Serialize;

use crate::claims;

/// The demands of Theorem 1.1 of the paper, with its constants as printed, for a stream of `m` events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Demands {
    /// The theorem needs `epsilon > 1000 ln m / (alpha^3 sqrt W)`: the least `W`.
    pub window: f64,
    /// Timestamps of the smooth histogram, whose norms differ by a factor of `1 + (epsilon / (1000 ln m))^2`.
    pub timestamps: f64,
    /// Counters of each norm estimate, which is good to `epsilon / (500 ln m)`.
    pub counters: f64,
}

impl Demands {
    /// The demands for a stream of `events` events.
    pub fn new(alpha: f64, epsilon: f64, events: u64) -> Self {
        let m = events.max(2) as f64;
        Self {
            window: claims::least_window(alpha, epsilon, m),
            timestamps: claims::timestamps(epsilon, m),
            counters: claims::ams_sums(epsilon, m),
        }
    }
}
