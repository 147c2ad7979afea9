//! What the constants of the paper ask for.

use serde::Serialize;

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
    /// For a stream of `events` events.
    pub fn new(alpha: f64, epsilon: f64, events: u64) -> Self {
        let log = (events.max(2) as f64).ln();
        Self {
            window: (1000.0 * log / (alpha.powi(3) * epsilon)).powi(2),
            timestamps: log * (1000.0 * log / epsilon).powi(2),
            counters: (500.0 * log / epsilon).powi(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billion_events_at_a_tenth_would_need_far_more_than_a_billion() {
        let demand = Demands::new(0.1, 1.0, 1_000_000_000);
        assert!((4.2e14..4.4e14).contains(&demand.window), "{demand:?}");
        assert!((8.5e9..9.5e9).contains(&demand.timestamps), "{demand:?}");
        assert!((1.0e8..1.1e8).contains(&demand.counters), "{demand:?}");
        // Twice the epsilon needs a quarter of everything, half the alpha 64 times the window.
        let easier = Demands::new(0.05, 2.0, 1_000_000_000);
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(close(easier.window, demand.window * 64.0 / 4.0), "{easier:?}");
        assert!(close(easier.timestamps, demand.timestamps / 4.0), "{easier:?}");
        assert!(close(easier.counters, demand.counters / 4.0), "{easier:?}");
    }
}
