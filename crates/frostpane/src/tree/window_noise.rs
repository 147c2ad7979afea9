//! The noise of a window of many panes.

use crate::budget::Epsilon;
use crate::error::{Error, Result};
use crate::noise::{DiscreteLaplace, Inversion, LaplaceSum};
use crate::spec::Unit;
use crate::tree::Tree;

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
    pub sum: LaplaceSum,
}

impl WindowNoise {
    /// For windows of so many panes, at an epsilon for the counts of all windows together, with tables that fit the memory.
    pub fn new(panes: u64, unit: Unit, epsilon: Epsilon, memory: u64) -> Result<Self> {
        let tree = Tree::for_window(panes);
        let nodes = tree.most_nodes(panes);
        let laplace = DiscreteLaplace::new(unit.tree(tree.levels()), epsilon);
        if (nodes as f64 + TABLE_ENTRIES) * laplace.scale() * ENTRY > memory as f64 {
            return Err(Error::parameter(format!(
                "epsilon is so small that tables of the noise, of scale {}, do not fit the memory: give a larger epsilon or \
                 more memory",
                laplace.scale()
            )));
        }
        Ok(Self {
            tree,
            sampler: Inversion::new(laplace),
            sum: LaplaceSum::new(laplace, nodes),
        })
    }

    /// The share of delta that is left for keys that only one of two neighbours has.
    pub fn delta_left(&self) -> f64 {
        1.0
    }

    /// The standard deviation of the sum.
    pub fn deviation(&self) -> f64 {
        (self.sum.terms() as f64 * self.sum.laplace().variance()).sqrt()
    }

    /// How much memory the tables take.
    pub fn bytes(&self) -> u64 {
        self.sampler.bytes() + self.sum.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pane is in as many nodes as there are levels, and moves two counts by 1 in each.
    #[test]
    fn every_level_takes_its_share_of_epsilon() {
        for (panes, levels, nodes) in [(1, 1, 1), (32, 1, 32), (64, 2, 15), (365, 2, 40), (1_000, 3, 28)] {
            let noise = WindowNoise::new(panes, Unit::Event, Epsilon::new(0.5).unwrap(), u64::MAX).unwrap();
            assert_eq!(
                (noise.tree.levels(), noise.sum.terms()),
                (levels, nodes),
                "{panes}"
            );
            let scale = 4.0 * f64::from(levels);
            assert_eq!(noise.sum.laplace().scale(), scale);
            let q = (-1.0 / scale).exp();
            let variance = 2.0 * q / (1.0 - q).powi(2);
            let deviation = (nodes as f64 * variance).sqrt();
            assert!((noise.deviation() / deviation - 1.0).abs() < 1e-12);
            assert_eq!(noise.bytes(), noise.sampler.bytes() + noise.sum.bytes());
        }
    }

    #[test]
    fn tables_are_as_large_as_reckoned() {
        for (panes, epsilon) in [(1, 1.0), (32, 0.01), (32, 4.0), (1_000, 0.1), (20_000, 1.0)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let noise = WindowNoise::new(panes, Unit::Event, epsilon, u64::MAX).unwrap();
            let reckoned = (noise.sum.terms() as f64 + TABLE_ENTRIES) * noise.sum.laplace().scale() * ENTRY;
            let bytes = noise.bytes() as f64;
            assert!(
                bytes < reckoned + 10_000.0 && bytes > reckoned / 3.0,
                "{panes}: {bytes} of {reckoned}"
            );
        }
        // (32 + 320) * 2/0.01 * 16 bytes.
        let epsilon = Epsilon::new(0.01).unwrap();
        assert!(WindowNoise::new(32, Unit::Event, epsilon, 352 * 200 * 16).is_ok());
        assert!(WindowNoise::new(32, Unit::Event, epsilon, 352 * 200 * 16 - 1).is_err());
        let refused = WindowNoise::new(32, Unit::Event, Epsilon::new(1e-6).unwrap(), 64 << 20);
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("give a larger epsilon or more memory")
        );
    }

    /// One pane at scale 2: (1 + 320) * 2 * 16 bytes. Three panes at scale 4: (3 + 320) * 4 * 16 bytes.
    #[test]
    fn tables_that_just_fit_the_memory_are_made() {
        for (panes, epsilon, bytes) in [(1, 1.0, 10_272), (3, 0.5, 20_672)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            assert!(WindowNoise::new(panes, Unit::Event, epsilon, bytes).is_ok());
            assert!(WindowNoise::new(panes, Unit::Event, epsilon, bytes + 1).is_ok());
            assert!(WindowNoise::new(panes, Unit::Event, epsilon, bytes - 1).is_err());
        }
    }
}
