//! Misra-Gries over a list of words that is there as a whole: the same counters as one word after the other
//! gives ([`misra_gries`](crate::sketch::misra_gries)), sooner.

use std::hint::select_unpredictable;

/// Words that are counted at a time.
const BLOCK: usize = 1 << 10;
/// From so many words on, if most of them are new, it pays to put those together that fall into the same part of
/// the table: the part then stays in the nearest cache. Where few are new, the frequent ones are there anyway.
const WORTH_SORTING: usize = 1 << 12;
const PARTS: usize = 1 << 8;

/// A table of words and what counting needs beside it, kept for the next list.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The word in each slot, and its counter: 0 in a slot that is free.
    words: Vec<u64>,
    counters: Vec<u32>,
    /// The slots that are taken, in the first places, and how many they are.
    places: Vec<u32>,
    taken: usize,
    /// How often every counter was decremented.
    decrements: u64,
    /// Words that have found another word in their slot.
    displaced: Vec<u64>,
    /// Some of the list, part by part.
    sorted: Vec<u64>,
    /// The slot of a word is in what is left of it after this shift.
    shift: u32,
}

impl Tally {
    /// Counts a list of fewer than `2^32` words with so many counters, in place of what was counted before. Words
    /// must look random in all their bits.
    pub fn count(&mut self, mut words: &[u64], capacity: usize) {
        self.clear();
        self.reserve(capacity.min(words.len()));
        let mut flat = false;
        while !words.is_empty() {
            // So many words find a counter or room for one, whatever they are.
            let safe = (capacity - self.taken).min(words.len());
            let (some, rest) = words.split_at(if flat { safe } else { safe.min(WORTH_SORTING) }.max(1));
            words = rest;
            let before = self.taken;
            match safe {
                0 if self.raise(some[0]) => {}
                0 => self.decrement(),
                WORTH_SORTING.. if flat => self.sort_and_count(some),
                _ => self.count_all(some),
            }
            flat = safe == 0 || (self.taken - before) * 2 > some.len();
        }
    }

    fn sort_and_count(&mut self, words: &[u64]) {
        let mut next = [0_u32; PARTS + 1];
        words.iter().for_each(|word| next[part(*word) + 1] += 1);
        for part in 0..PARTS {
            next[part + 1] += next[part];
        }
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.resize(sorted.len().max(words.len()), 0);
        for word in words {
            let place = &mut next[part(*word)];
            sorted[*place as usize] = *word;
            *place += 1;
        }
        self.count_all(&sorted[..words.len()]);
        self.sorted = sorted;
    }

    fn count_all(&mut self, words: &[u64]) {
        words.chunks(BLOCK).for_each(|block| self.count_block(block));
    }

    /// Which words are new nobody can foresee, so nothing branches on it; those that find another word in their
    /// slot are counted in a second pass.
    fn count_block(&mut self, block: &[u64]) {
        let mask = self.words.len() - 1;
        let (words, counters) = (&mut self.words[..=mask], &mut self.counters[..=mask]);
        let (places, displaced) = (&mut self.places[..=mask], &mut self.displaced[..BLOCK]);
        let (shift, mut taken, mut further) = (self.shift, self.taken, 0);
        for word in block {
            let place = (*word >> shift) as usize & mask;
            let (held, counter) = (words[place], counters[place]);
            let free = counter == 0;
            let fits = free | (held == *word);
            words[place] = select_unpredictable(fits, *word, held);
            counters[place] = counter + u32::from(fits);
            places[taken & mask] = place as u32;
            taken += usize::from(free);
            displaced[further % BLOCK] = *word;
            further += usize::from(!fits);
        }
        self.taken = taken;
        for index in 0..further {
            self.add(self.displaced[index], 1);
        }
    }

    /// Adds to the counter of a word, which has one or finds room for one.
    fn add(&mut self, word: u64, count: u32) {
        let place = self.find(word);
        if self.counters[place] == 0 {
            self.places[self.taken] = place as u32;
            self.taken += 1;
        }
        self.words[place] = word;
        self.counters[place] += count;
    }

    /// Adds one to the counter of a word, if it has one.
    fn raise(&mut self, word: u64) -> bool {
        let place = self.find(word);
        let held = self.counters[place] > 0;
        self.counters[place] += u32::from(held);
        held
    }

    /// The slot of a word, or the one that it would take.
    fn find(&self, word: u64) -> usize {
        let mask = self.words.len() - 1;
        let mut place = (word >> self.shift) as usize & mask;
        while self.counters[place] > 0 && self.words[place] != word {
            place = (place + 1) & mask;
        }
        place
    }

    /// Takes one from every counter. A counter at zero gives up its slot.
    fn decrement(&mut self) {
        let mut left = Vec::new();
        for place in &self.places[..self.taken] {
            let place = *place as usize;
            if self.counters[place] > 1 {
                left.push((self.words[place], self.counters[place] - 1));
            }
            self.counters[place] = 0;
        }
        self.taken = 0;
        left.into_iter()
            .for_each(|(word, counter)| self.add(word, counter));
        self.decrements += 1;
    }

    fn clear(&mut self) {
        for place in &self.places[..self.taken] {
            self.counters[*place as usize] = 0;
        }
        (self.taken, self.decrements) = (0, 0);
    }

    /// Makes room for so many words: at most three fifths of the slots are taken.
    fn reserve(&mut self, words: usize) {
        let slots = (words.max(1) * 5 / 3 + 1).next_power_of_two();
        if self.words.len() < slots {
            self.words = vec![0; slots];
            self.counters = vec![0; slots];
            self.places = vec![0; slots];
            self.displaced = vec![0; BLOCK];
            self.shift = u64::BITS - slots.trailing_zeros();
        }
    }

    /// The words and their counters, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places[..self.taken].iter().map(|place| {
            let place = *place as usize;
            (self.words[place], u64::from(self.counters[place]))
        })
    }

    /// How often every counter was decremented.
    pub fn decrements(&self) -> u64 {
        self.decrements
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        let words = self.words.capacity() + self.displaced.capacity() + self.sorted.capacity();
        let counters = self.counters.capacity() + self.places.capacity();
        (words * size_of::<u64>() + counters * size_of::<u32>()) as u64
    }
}

#[inline]
fn part(word: u64) -> usize {
    (word >> (u64::BITS - PARTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::key::Key;
    use crate::sketch::MisraGries;
    use crate::sketch::count_sketch::mix;

    /// Lists of all kinds, with far too few counters, nearly enough and more: the same as one by one.
    #[test]
    fn a_list_gives_the_counters_that_its_words_give_one_by_one() {
        let mut tally = Tally::default();
        for (length, distinct) in [
            (0, 1),
            (1, 1),
            (5_000, 1),
            (5_000, 5_000),
            (20_000, 1_500),
            (9_000, 40),
        ] {
            let skewed = |i: u64| (distinct as f64).powf(mix(i) as f64 / 2_f64.powi(64)) as u64;
            let flat = |i: u64| mix(i) % distinct;
            for keys in [
                (0..length).map(skewed).collect::<Vec<_>>(),
                (0..length).map(flat).collect(),
            ] {
                for capacity in [1, 2, 39, 40, 1_000, 1_024, 1_499, 30_000] {
                    let words: Vec<u64> = keys.iter().map(|key| u64::hash(*key, 5)).collect();
                    tally.count(&words, capacity);
                    let mut expected = MisraGries::<u64>::new(capacity, 5);
                    for (key, word) in keys.iter().zip(&words) {
                        if !expected.update(*key, *word) {
                            expected.decrement();
                        }
                    }
                    let counted: BTreeMap<_, _> = tally.iter().collect();
                    let expected_counters: BTreeMap<_, _> = expected
                        .iter()
                        .map(|(key, counter)| (u64::hash(key, 5), counter))
                        .collect();
                    assert_eq!(counted, expected_counters, "{length} of {distinct} in {capacity}");
                    assert_eq!(tally.decrements(), expected.decrements());
                    assert_eq!(tally.iter().count(), counted.len());
                }
            }
        }
    }
}
