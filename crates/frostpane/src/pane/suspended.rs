//! An open block that is packed until more events come.

use super::closed::Pane;
use super::open::{Closer, OpenPane};
use super::packed::PackedCounts;
use super::shape::PaneShape;
use crate::key::Key;
use crate::sketch::CountSketch;

/// The full state of an open block, in the memory of a closed one: resumed, it continues as if it had stayed open.
#[derive(Clone, Debug)]
pub struct SuspendedPane<K> {
    events: u64,
    decrements: u64,
    /// All counters, uncut.
    counts: PackedCounts<K>,
    sketch: Option<CountSketch>,
}

impl<K: Key> OpenPane<K> {
    /// Packs the block and leaves it empty. Lists are never suspended: their blocks end for good.
    pub fn suspend(&mut self, closer: &mut Closer<K>) -> SuspendedPane<K> {
        debug_assert!(self.list.is_none());
        self.counts.iter().for_each(|(key, counter)| closer.packer.push(key, counter));
        let suspended = SuspendedPane {
            events: self.events,
            decrements: self.counts.decrements(),
            counts: closer.packer.finish(),
            sketch: self.sketch.take(),
        };
        self.clear();
        suspended
    }

    /// Continues a suspended block; this one must be empty.
    pub fn resume(&mut self, suspended: SuspendedPane<K>) {
        self.events = suspended.events;
        self.counts.restore(suspended.counts.iter(), suspended.decrements);
        self.sketch = suspended.sketch;
    }
}

impl<K: Key> SuspendedPane<K> {
    pub fn close(self, shape: PaneShape, closer: &mut Closer<K>) -> Pane<K> {
        let mut open = OpenPane::new(shape);
        open.resume(self);
        open.close_with(closer)
    }

    pub fn bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.counts.bytes() + self.sketch.as_ref().map_or(0, CountSketch::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;
    use crate::pane::tests::sorted;
    use crate::sketch::count_sketch::Dimensions;

    /// Tables that hold all keys, and full ones, where counters are decremented and events go to the sketch.
    #[test]
    fn a_block_that_was_parked_goes_on_as_if_it_had_stayed_open() {
        let sketch = Some(Dimensions { rows: 3, width: 64 });
        let key = |event: u64| format!("key {}", event * event % 197).into_bytes();
        for entries in [8, 60, 500] {
            let shape = PaneShape::new(entries, 0, sketch, 5).unwrap();
            let (mut stayed, mut moved) = (OpenPane::<Bytes>::new(shape), OpenPane::<Bytes>::new(shape));
            let mut closer = Closer::default();
            for event in 0..3_000 {
                stayed.update(Some(&key(event)));
                moved.update(Some(&key(event)));
                if event % 271 == 0 {
                    let suspended = moved.suspend(&mut closer);
                    assert_eq!((moved.events(), moved.counts.iter().count()), (0, 0));
                    moved.resume(suspended);
                }
            }
            let suspended = moved.clone().suspend(&mut closer).close(shape, &mut closer);
            assert_eq!(sorted(&moved.close()), sorted(&stayed.close()));
            assert_eq!(sorted(&suspended), sorted(&stayed.close()));
        }
    }
}
