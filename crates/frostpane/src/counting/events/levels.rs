//! The norms that the levels of a histogram ask about.

use crate::codec::{MOST_OF_PANE, Reader, Writer, check};
use crate::error::Result;
use crate::key::Key;
use crate::mechanism::Secret;
use crate::pane::{OpenPane, Pane};
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;

#[derive(Debug)]
pub struct LevelSketches {
    dimensions: Dimensions,
    seed: u64,
    levels: Vec<CountSketch>,
}

impl LevelSketches {
    pub fn new(levels: usize, dimensions: Dimensions, seed: u64) -> Self {
        Self { dimensions, seed, levels: vec![CountSketch::new(dimensions, seed); levels] }
    }

    /// Adds the events of a block that has ended, whose table must be exact, and the pane that it has become.
    pub fn add<K: Key>(&mut self, block: &OpenPane<K>, pane: &Pane<K>) -> Result<()> {
        match (self.levels.first_mut(), pane.sketch()) {
            (Some(sum), Some(sketch)) if sum.adds_up_with(sketch) => sum.merge(sketch),
            (Some(sum), _) => {
                block.add_to(sum);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// The norm of all events since the last end of a level; moves by at most 2 between neighbours.
    pub fn since(&self, level: usize) -> Secret<u64> {
        Secret::new(self.levels[level - 1].norm())
    }

    pub fn end(&mut self, level: usize) -> Result<()> {
        let ended =
            std::mem::replace(&mut self.levels[level - 1], CountSketch::new(self.dimensions, self.seed));
        self.levels.get_mut(level).map_or(Ok(()), |above| above.merge(&ended))
    }

    pub(super) fn save(&self, to: &mut Writer) {
        to.each(self.levels.iter(), |to, sketch| sketch.save(to));
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let levels: Vec<CountSketch> =
            from.each(|from| CountSketch::load(from, self.dimensions, self.seed, MOST_OF_PANE))?;
        check(levels.len() == self.levels.len(), "there are more or fewer levels")?;
        self.levels = levels;
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.levels.len() as u64 * self.dimensions.bytes()
    }

    pub fn levels(&self) -> usize {
        self.levels.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{AboveThreshold, Answer};
    use crate::noise::InsecureSeededEntropy;
    use crate::pane::PaneShape;
    use crate::privacy::Epsilon;

    /// A norm can only be compared: here without noise, with this number and the next.
    fn is(norms: &LevelSketches, level: usize, norm: u64) -> bool {
        let reaches = |threshold| {
            let (epsilon, entropy) = (Epsilon::new(1e5).unwrap(), &mut InsecureSeededEntropy::new(1));
            let question = AboveThreshold::new(threshold, 1, epsilon, entropy).unwrap();
            matches!(question.ask(norms.since(level), entropy), Answer::Above)
        };
        reaches(norm) && !reaches(norm + 1)
    }

    /// One key, whose count is the norm: events go to level 1, and up where a level ends, whether panes have a sketch that
    /// adds up with the levels', another one, or none.
    #[test]
    fn each_level_has_the_events_since_its_own_last_end() {
        let dimensions = Dimensions { rows: 3, width: 64 };
        let other = Dimensions { rows: 3, width: 128 };
        for sketch in [None, Some(dimensions), Some(other)] {
            for entries in [1, 100] {
                let shape = PaneShape::new(entries, 100, sketch, 7).unwrap();
                let mut norms = LevelSketches::new(3, dimensions, 7);
                assert_eq!((norms.levels(), norms.bytes()), (3, 3 * dimensions.bytes()));
                let add = |norms: &mut LevelSketches, events: u64| {
                    let mut block = OpenPane::<u64>::new(shape);
                    (0..events).for_each(|_| block.update(Some(5)));
                    norms.add(&block, &block.close()).unwrap();
                };
                add(&mut norms, 10);
                add(&mut norms, 7);
                assert!(is(&norms, 1, 17) && is(&norms, 2, 0) && is(&norms, 3, 0));
                norms.end(1).unwrap();
                assert!(is(&norms, 1, 0) && is(&norms, 2, 17) && is(&norms, 3, 0));
                add(&mut norms, 20);
                norms.end(1).unwrap();
                norms.end(2).unwrap();
                assert!(is(&norms, 1, 0) && is(&norms, 2, 0) && is(&norms, 3, 37));
                add(&mut norms, 4);
                norms.end(3).unwrap();
                assert!(is(&norms, 1, 4) && is(&norms, 2, 0) && is(&norms, 3, 0));
            }
        }
    }
}
