//! A table of words that stays in the nearest cache.
//!
//! A hash table with a lookup for each event misses the cache in a flat stream, and whether a key is new is
//! mispredicted half of the time. Here a bucket has about 700 words that share their first bits, and:
//!
//! - Words are hashes already, so their next 11 bits are the slot. Slots, counts and places take 28 kB.
//! - A word that is new, or equal to the one in its slot, is the same store; any other is set aside.
//! - Taken slots are remembered, so emptying a table takes time proportional to its words.
//! - Where more words share their first bits than the table can hold, as chosen keys may, the bucket is sorted
//!   instead: slower by a factor, never by a square.

use std::hint::select_unpredictable;

use super::WordCount;

const SLOTS: usize = 1 << 11;
const MOST_TAKEN: usize = SLOTS / 8 * 7;
/// Words counted at a time.
const BLOCK: usize = 1 << 10;

#[derive(Clone, Debug)]
pub struct WordTable {
    /// The word in each slot and its count, 0 in a free slot.
    words: Box<[u64; SLOTS]>,
    counts: Box<[u32; SLOTS]>,
    /// The taken slots, and their number.
    places: Box<[u16; SLOTS]>,
    taken: usize,
    /// Words that collided with another word.
    displaced: Box<[u64; BLOCK]>,
    found: Box<[WordCount; SLOTS]>,
}

impl Default for WordTable {
    fn default() -> Self {
        Self {
            words: Box::new([0; SLOTS]),
            counts: Box::new([0; SLOTS]),
            places: Box::new([0; SLOTS]),
            taken: 0,
            displaced: Box::new([0; BLOCK]),
            found: Box::new([(0, 0); SLOTS]),
        }
    }
}

impl WordTable {
    /// Visits the words of a list that occur more than `times` times. All words share their `known` first bits.
    pub fn count(&mut self, list: &mut [u64], known: u32, times: u64, mut visit: impl FnMut(&[WordCount])) {
        let mut rest = &*list;
        while !rest.is_empty() && self.taken < MOST_TAKEN {
            // This many words fit, whatever they are.
            let (block, others) = rest.split_at(rest.len().min(BLOCK).min(MOST_TAKEN - self.taken));
            self.count_block(block, known);
            rest = others;
        }
        let fits = rest.is_empty();
        let found = self.empty(times);
        if fits {
            visit(found);
        } else {
            count_by_sorting(list, times, visit);
        }
    }

    /// Counts words without a branch on whether they are new; those that collide are counted in a second pass.
    fn count_block(&mut self, block: &[u64], known: u32) {
        let (mut taken, mut further) = (self.taken, 0);
        for word in block {
            let place = slot(*word, known);
            let (held, count) = (self.words[place], self.counts[place]);
            let free = count == 0;
            let fits = free | (held == *word);
            self.words[place] = select_unpredictable(fits, *word, held);
            self.counts[place] = count + u32::from(fits);
            self.places[taken % SLOTS] = place as u16;
            taken += usize::from(free);
            self.displaced[further % BLOCK] = *word;
            further += usize::from(!fits);
        }
        self.taken = taken;
        for index in 0..further {
            self.add(self.displaced[index], known);
        }
    }

    fn add(&mut self, word: u64, known: u32) {
        let mut place = slot(word, known);
        while self.counts[place] > 0 && self.words[place] != word {
            place = (place + 1) % SLOTS;
        }
        self.places[self.taken] = place as u16;
        self.taken += usize::from(self.counts[place] == 0);
        self.words[place] = word;
        self.counts[place] += 1;
    }

    /// Removes all words and returns those that occurred more than `times` times.
    fn empty(&mut self, times: u64) -> &[WordCount] {
        let mut found = 0;
        for place in &self.places[..std::mem::take(&mut self.taken)] {
            let place = usize::from(*place) % SLOTS;
            let count = u64::from(std::mem::take(&mut self.counts[place]));
            self.found[found % SLOTS] = (self.words[place], count);
            found += usize::from(count > times);
        }
        &self.found[..found]
    }

    pub fn bytes(&self) -> u64 {
        let slot = size_of::<u64>() + size_of::<u32>() + size_of::<u16>() + size_of::<WordCount>();
        (SLOTS * slot + BLOCK * size_of::<u64>()) as u64
    }
}

#[inline]
fn slot(word: u64, known: u32) -> usize {
    (word << known >> (u64::BITS - SLOTS.trailing_zeros())) as usize % SLOTS
}

/// For more words with the same first bits than the table can hold.
#[cold]
fn count_by_sorting(list: &mut [u64], times: u64, mut visit: impl FnMut(&[WordCount])) {
    list.sort_unstable();
    list.chunk_by(|a, b| a == b)
        .filter(|same| same.len() as u64 > times)
        .for_each(|same| visit(&[(same[0], same.len() as u64)]));
}
