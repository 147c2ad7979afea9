//! The noise of a window of many panes.

use crate::error::{Error, Result};
use crate::noise::{DiscreteLaplace, Epsilon, Inversion, NoiseSum, Tree};

/// Entries of its tables for each unit of the scale, beside those for each noise value that adds up.
const TABLE_ENTRIES: f64 = 320.0;
const ENTRY: f64 = 16.0;

/// One value for each node of a tree, and the sum of those that make up a window.
#[derive(Clone, Debug)]
pub struct WindowNoise {
    /// Which panes share noise.
    pub tree: Tree,
    /// Draws the noise of a node.
    pub sampler: Inversion,
    /// The noise of a window.
    pub sum: NoiseSum,
}

impl WindowNoise {
    /// For windows of so many panes, each of which moves two counts by 1, at an epsilon for all windows
    /// together, with tables that fit the memory.
    pub fn new(panes: u64, epsilon: Epsilon, memory: u64) -> Result<Self> {
        let tree = Tree::for_window(panes);
        let nodes = tree.most_nodes(panes);
        let law = DiscreteLaplace::new(2 * tree.levels(), epsilon);
        if (nodes as f64 + TABLE_ENTRIES) * law.scale() * ENTRY > memory as f64 {
            return Err(Error::parameter(format!(
                "epsilon is so small that tables of the noise, of scale {}, do not fit the memory: give a larger epsilon or \
                 more memory",
                law.scale()
            )));
        }
        Ok(Self {
            tree,
            sampler: Inversion::new(law),
            sum: NoiseSum::new(law, nodes),
        })
    }

    /// The standard deviation of the sum.
    pub fn deviation(&self) -> f64 {
        (self.sum.terms() as f64 * self.sum.law().variance()).sqrt()
    }

    /// How much memory the tables take.
    pub fn bytes(&self) -> u64 {
        self.sampler.bytes() + self.sum.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_as_large_as_reckoned() {
        for (panes, epsilon) in [(1, 1.0), (32, 0.01), (32, 4.0), (1_000, 0.1), (20_000, 1.0)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let noise = WindowNoise::new(panes, epsilon, u64::MAX).unwrap();
            let reckoned = (noise.sum.terms() as f64 + TABLE_ENTRIES) * noise.sum.law().scale() * ENTRY;
            let bytes = noise.bytes() as f64;
            assert!(
                bytes < reckoned + 10_000.0 && bytes > reckoned / 3.0,
                "{panes}: {bytes} of {reckoned}"
            );
        }
        let refused = WindowNoise::new(32, Epsilon::new(1e-6).unwrap(), 64 << 20);
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("give a larger epsilon or more memory")
        );
    }
}
