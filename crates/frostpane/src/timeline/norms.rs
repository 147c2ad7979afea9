//! The norms that the levels of a histogram ask about.

use crate::key::Key;
use crate::noise::Secret;
use crate::pane::{OpenPane, Pane};
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;

/// The sketch of all events since the last end of each level, from level 1 on.
#[derive(Debug)]
pub struct Norms {
    dimensions: Dimensions,
    seed: u64,
    levels: Vec<CountSketch>,
}

impl Norms {
    /// For so many levels above level 0.
    pub fn new(levels: usize, dimensions: Dimensions, seed: u64) -> Self {
        Self {
            dimensions,
            seed,
            levels: vec![CountSketch::new(dimensions, seed); levels],
        }
    }

    /// Adds the events of a block that has ended, whose table must be exact, and the pane that it has become.
    pub fn add<K: Key>(&mut self, block: &OpenPane<K>, pane: &Pane<K>) {
        match (self.levels.first_mut(), pane.sketch()) {
            (Some(sum), Some(sketch)) if sum.adds_up_with(sketch) => sum.merge(sketch),
            (Some(sum), _) => block.add_to(sum),
            (None, _) => {}
        }
    }

    /// The norm of all events since the last end of a level; moves by at most 2 between neighbours.
    pub fn since(&self, level: usize) -> Secret<u64> {
        Secret::new(self.levels[level - 1].norm())
    }

    /// A level ends here: the next one takes over its events.
    pub fn end(&mut self, level: usize) {
        let ended = std::mem::replace(
            &mut self.levels[level - 1],
            CountSketch::new(self.dimensions, self.seed),
        );
        if let Some(above) = self.levels.get_mut(level) {
            above.merge(&ended);
        }
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        self.levels.len() as u64 * self.dimensions.bytes()
    }

    /// How many levels there are above level 0.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }
}
