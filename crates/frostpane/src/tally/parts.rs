//! A list, split by the first bits of its words.

use super::room;

/// About so many words make a part, and at most so many parts.
const PART: usize = 700;
const MOST_PARTS: usize = 1 << 9;

#[derive(Clone, Debug)]
pub struct Parts {
    /// The words, part by part.
    words: Vec<u64>,
    /// Where each part ends.
    ends: Box<[u32; MOST_PARTS]>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            ends: Box::new([0; MOST_PARTS]),
        }
    }
}

impl Parts {
    /// Splits a list, in place of the one before. Returns how many bits all words of a part share.
    pub fn split(&mut self, list: &[u64]) -> u32 {
        let bits = list
            .len()
            .div_ceil(PART)
            .next_power_of_two()
            .min(MOST_PARTS)
            .trailing_zeros();
        let part = |word: u64| word.unbounded_shr(u64::BITS - bits) as usize % MOST_PARTS;
        let next = &mut self.ends;
        next.fill(0);
        list.iter().for_each(|word| next[part(*word)] += 1);
        let mut start = 0;
        for next in next.iter_mut() {
            start += std::mem::replace(next, start);
        }
        let words = room(&mut self.words, list.len());
        for word in list {
            let place = &mut next[part(*word)];
            words[*place as usize] = *word;
            *place += 1;
        }
        bits
    }

    pub fn for_each(&mut self, mut visit: impl FnMut(&mut [u64])) {
        let mut start = 0;
        for end in self.ends.iter().map(|end| *end as usize) {
            visit(&mut self.words[start..end]);
            start = end;
        }
    }

    pub fn bytes(&self) -> u64 {
        (MOST_PARTS * size_of::<u32>() + self.words.capacity() * size_of::<u64>()) as u64
    }
}
