//! Other ways to count the same keys, without privacy.

use std::hint::black_box;

use datasketches::frequencies::FrequentItemsSketch;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// The window that is counted exactly, in events.
pub const WINDOW: usize = 10_000_000;

/// Reads the keys only: a bound on every rate.
pub fn plain_pass(keys: &[u64]) {
    black_box(keys.iter().fold(0, |sum: u64, key| sum.wrapping_add(*key)));
}

/// The counts of the whole stream, without a window.
pub fn hash_map<K: Copy + Eq + std::hash::Hash>(keys: &[K]) {
    let mut counts: HashMap<K, u32> = HashMap::new();
    for key in keys {
        *counts.entry(*key).or_insert(0) += 1;
    }
    black_box(counts);
}

/// Exact counts of the last [`WINDOW`] keys.
pub fn exact_window<K: Copy + Eq + std::hash::Hash>(keys: &[K]) {
    let mut counts: HashMap<K, u32> = HashMap::new();
    for (i, key) in keys.iter().enumerate() {
        *counts.entry(*key).or_insert(0) += 1;
        if i >= WINDOW
            && let Entry::Occupied(mut oldest) = counts.entry(keys[i - WINDOW])
        {
            *oldest.get_mut() -= 1;
            if *oldest.get() == 0 {
                oldest.remove();
            }
        }
    }
    black_box(counts);
}

/// Apache DataSketches' frequent items, without a window.
pub fn frequent_items(keys: &[u64], map: usize) {
    let Ok(mut sketch) = FrequentItemsSketch::new(map) else {
        return;
    };
    keys.iter().for_each(|key| sketch.update(*key));
    black_box(sketch);
}
