//! Whether keys come in their own order, which a window by count does not bear (docs/privacy.md, subtlety 4).

use std::cmp::Ordering;

/// Fewer events or keys may be in order by chance: ten keys are, once in several million streams.
const LEAST_EVENTS: u64 = 1_000;
const LEAST_KEYS: u64 = 10;

/// Sees keys as they come. They look sorted if there are at least 1,000 of them, 10 of them distinct, and
/// none goes against the direction of the others, by their bytes or by their lengths first, as whole numbers
/// are.
#[derive(Debug, Default)]
pub struct SortedWatch {
    last: Vec<u8>,
    events: u64,
    keys: u64,
    by_bytes: Direction,
    by_length: Direction,
}

impl SortedWatch {
    #[inline]
    pub fn see(&mut self, key: &[u8]) {
        if self.by_bytes == Direction::Mixed && self.by_length == Direction::Mixed {
            return;
        }
        self.events += 1;
        if self.events > 1 {
            let by_bytes = key.cmp(&self.last);
            if by_bytes == Ordering::Equal {
                return;
            }
            self.by_bytes.turn(by_bytes);
            self.by_length
                .turn(key.len().cmp(&self.last.len()).then(by_bytes));
        }
        self.keys += 1;
        self.last.clear();
        self.last.extend_from_slice(key);
    }

    pub fn looks_sorted(&self) -> bool {
        let one_way = self.by_bytes != Direction::Mixed || self.by_length != Direction::Mixed;
        one_way && self.events >= LEAST_EVENTS && self.keys >= LEAST_KEYS
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Unknown,
    Up,
    Down,
    Mixed,
}

impl Direction {
    fn turn(&mut self, order: Ordering) {
        *self = match (*self, order) {
            (Direction::Unknown | Direction::Up, Ordering::Greater) => Direction::Up,
            (Direction::Unknown | Direction::Down, Ordering::Less) => Direction::Down,
            (direction, Ordering::Equal) => direction,
            _ => Direction::Mixed,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks_sorted(keys: impl Iterator<Item = u64>) -> bool {
        let mut watch = SortedWatch::default();
        keys.for_each(|key| watch.see(key.to_string().as_bytes()));
        watch.looks_sorted()
    }

    #[test]
    fn order_is_seen_in_either_direction_by_text_and_by_number() {
        assert!(looks_sorted(0..1_000));
        assert!(looks_sorted((0..1_000).rev()));
        assert!(looks_sorted((0..5_000).map(|i| 10 + i / 500)));
        let mut texts: Vec<String> = (0..1_000).map(|i| i.to_string()).collect();
        texts.sort();
        let mut watch = SortedWatch::default();
        texts.iter().for_each(|key| watch.see(key.as_bytes()));
        assert!(watch.looks_sorted());
    }

    #[test]
    fn one_key_out_of_order_or_too_little_of_it_is_enough_to_be_quiet() {
        assert!(!looks_sorted((0..5_000).chain([7])));
        assert!(!looks_sorted(0..999));
        assert!(!looks_sorted((0..5_000).map(|i| i / 1_000)));
        assert!(!looks_sorted(std::iter::empty()));
    }
}
