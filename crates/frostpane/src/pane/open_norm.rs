//! The norm of the open block.

use super::open::{Closer, OpenPane};
use crate::key::Key;
use crate::mechanism::{Bounded, Secret};

/// The norm of the events of a block so far, for a private mechanism. Exact while there are no more
/// events than counters; it then moves by at most 1 between neighbours.
pub struct OpenNorm<'a, K> {
    pub block: &'a mut OpenPane<K>,
    pub closer: &'a mut Closer<K>,
}

impl<K: Key> Bounded for OpenNorm<'_, K> {
    fn at_most(&mut self) -> Secret<u64> {
        Secret::new(match &self.block.list {
            Some(list) => self.block.bound.get_or_insert_default().of(list),
            None => self.block.counts.norm(),
        })
    }

    fn exactly(&mut self) -> Secret<u64> {
        let Self { block, closer } = self;
        let Some(list) = &block.list else {
            return Secret::new(block.counts.norm());
        };
        block.counted = None;
        let mut squares = 0_u64;
        block.counted = Some(block.close_list(list, closer, 0, |found| {
            let more = found.iter().map(|(_, count)| count * count);
            squares = more.fold(squares, u64::saturating_add);
        }));
        Secret::new(squares.isqrt())
    }
}
