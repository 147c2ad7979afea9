//! Counting of very frequent words.

use super::{WordCount, room};

/// Words sampled to find the frequent ones.
const SAMPLE: usize = 1 << 12;
/// A frequent word has a slot of its own, chosen from the sample.
const SLOTS: usize = 1 << 10;
/// Counting them apart pays if they are at least one in this many words.
const WORTH_COUNTING: usize = 4;

#[derive(Clone, Debug)]
pub struct Frequent {
    words: Box<[u64; SLOTS]>,
    counts: Box<[u32; SLOTS]>,
    found: Box<[WordCount; SLOTS]>,
    /// The words that are not frequent.
    rest: Vec<u64>,
}

impl Default for Frequent {
    fn default() -> Self {
        Self {
            words: Box::new([0; SLOTS]),
            counts: Box::new([0; SLOTS]),
            found: Box::new([(0, 0); SLOTS]),
            rest: Vec::new(),
        }
    }
}

impl Frequent {
    /// Returns the frequent words with their counts, and all other words.
    pub fn count<'a>(&'a mut self, list: &'a [u64]) -> (&'a [WordCount], &'a [u64]) {
        if !self.choose(&list[..list.len().min(SAMPLE)]) {
            return (&[], list);
        }
        let others = self.pass(list);
        let mut found = 0;
        for (word, count) in self.words.iter().zip(self.counts.iter_mut()) {
            let count = u64::from(std::mem::take(count));
            self.found[found % SLOTS] = (*word, count);
            found += usize::from(count > 0);
        }
        (&self.found[..found], &self.rest[..others])
    }

    /// Gives each slot a word that came to it twice in a row. Returns true if it pays.
    fn choose(&mut self, sample: &[u64]) -> bool {
        let mut last = [0; SLOTS];
        self.words.fill(0);
        for word in sample {
            let place = slot(*word);
            if std::mem::replace(&mut last[place], *word) == *word {
                self.words[place] = *word;
            }
        }
        let frequent = sample.iter().filter(|word| self.words[slot(**word)] == **word);
        frequent.count() * WORTH_COUNTING > sample.len()
    }

    /// Counts the frequent words and returns how many others it set aside. Branch-free: which are frequent cannot be predicted.
    fn pass(&mut self, list: &[u64]) -> usize {
        let rest = room(&mut self.rest, list.len());
        let mut others = 0;
        for word in list {
            let place = slot(*word);
            let frequent = self.words[place] == *word;
            self.counts[place] += u32::from(frequent);
            rest[others] = *word;
            others += usize::from(!frequent);
        }
        others
    }

    pub fn bytes(&self) -> u64 {
        let slot = size_of::<u64>() + size_of::<u32>() + size_of::<WordCount>();
        (SLOTS * slot + self.rest.capacity() * size_of::<u64>()) as u64
    }
}

#[inline]
fn slot(word: u64) -> usize {
    word as usize % SLOTS
}
