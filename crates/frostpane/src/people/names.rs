//! Keys, each with a number.

use std::marker::PhantomData;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::contributions::numbered;
use crate::key::Key;

/// The keys that users named, numbered as they came. A number stands for its key alone: keys are compared whole.
#[derive(Debug)]
pub struct Names<K> {
    seed: u64,
    /// The hash and the number of each.
    numbers: HashTable<(u64, u32)>,
    /// Of each key: its hash, and where it begins.
    hashes: Vec<u64>,
    starts: Vec<usize>,
    packed: Vec<u8>,
    /// Whether a key came that there is no number for any more.
    pub is_full: bool,
    keys: PhantomData<K>,
}

impl<K: Key> Names<K> {
    /// None so far.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            numbers: HashTable::new(),
            hashes: Vec::new(),
            starts: Vec::new(),
            packed: Vec::new(),
            is_full: false,
            keys: PhantomData,
        }
    }

    /// The number of a key.
    #[inline]
    pub fn number(&mut self, key: K::Ref<'_>) -> u32 {
        let hash = K::hash(key, self.seed);
        let (starts, packed) = (&self.starts, &self.packed);
        let is_same = |(held, number): &(u64, u32)| {
            let name = || K::unpack(&mut &packed[starts[*number as usize]..]);
            *held == hash && name().is_some_and(|name| K::are_same(name, key))
        };
        match self.numbers.entry(hash, is_same, |(hash, _)| *hash) {
            Entry::Occupied(entry) => entry.get().1,
            Entry::Vacant(entry) => {
                let Some(number) = numbered(self.starts.len()) else {
                    self.is_full = true;
                    return 0;
                };
                entry.insert((hash, number));
                self.hashes.push(hash);
                self.starts.push(self.packed.len());
                K::pack(key, &mut self.packed);
                number
            }
        }
    }

    /// The key with a number.
    pub fn key(&self, number: u32) -> Option<K::Ref<'_>> {
        K::unpack(&mut self.packed.get(*self.starts.get(number as usize)?..)?)
    }

    /// A hash of the key with a number.
    #[inline]
    pub fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        let slots = self.numbers.capacity() * (size_of::<(u64, u32)>() + 1);
        (slots
            + self.hashes.capacity() * size_of::<u64>()
            + self.starts.capacity() * size_of::<usize>()
            + self.packed.capacity()) as u64
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        *self = Self::new(self.seed);
    }
}
