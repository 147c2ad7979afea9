//! A list split by the first bits of its words.

use super::room;

/// Expected words of a bucket, and the most buckets.
const BUCKET: usize = 700;
const MOST_BUCKETS: usize = 1 << 9;

#[derive(Clone, Debug)]
pub struct Buckets {
    /// The words, bucket by bucket.
    words: Vec<u64>,
    /// The end of each bucket.
    ends: Box<[u32; MOST_BUCKETS]>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { words: Vec::new(), ends: Box::new([0; MOST_BUCKETS]) }
    }
}

impl Buckets {
    /// Splits a list, replacing the previous one. Returns how many bits all words of a bucket share.
    pub fn split(&mut self, list: &[u64]) -> u32 {
        let bits = list.len().div_ceil(BUCKET).next_power_of_two().min(MOST_BUCKETS).trailing_zeros();
        let bucket = |word: u64| word.unbounded_shr(u64::BITS - bits) as usize % MOST_BUCKETS;
        let next = &mut self.ends;
        next.fill(0);
        list.iter().for_each(|word| next[bucket(*word)] += 1);
        let mut start = 0;
        for next in next.iter_mut() {
            start += std::mem::replace(next, start);
        }
        let words = room(&mut self.words, list.len());
        for word in list {
            let place = &mut next[bucket(*word)];
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
        (MOST_BUCKETS * size_of::<u32>() + self.words.capacity() * size_of::<u64>()) as u64
    }
}
