//! Keys, each with a number.

use std::marker::PhantomData;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::contributions::numbered;
use crate::key::Key;

/// The keys that users named, numbered as they came. A number stands for its key alone: keys are compared whole.
#[derive(Debug)]
pub struct KeyInterner<K> {
    seed: u64,
    numbers: HashTable<Numbered>,
    /// The hash of each key, and the offset at which it begins.
    hashes: Vec<u64>,
    starts: Vec<usize>,
    packed: Vec<u8>,
    pub is_full: bool,
    keys: PhantomData<K>,
}

/// All that it takes to tell a key from others: what its hash begins with, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    tag: u32,
    number: u32,
    start: usize,
}

impl Numbered {
    #[inline]
    fn is<K: Key>(self, key: K::Ref<'_>, hash: u64, packed: &[u8]) -> bool {
        let name = || K::unpack(&mut &packed[self.start..]);
        self.tag == tag(hash) && name().is_some_and(|name| K::are_same(name, key))
    }
}

/// Bits that a table does not look at, but for the few at the top.
fn tag(hash: u64) -> u32 {
    (hash >> 28) as u32
}

#[derive(Clone, Copy, Debug)]
pub struct Nearby {
    pub hash: u64,
    pub held: Option<Numbered>,
}

impl<K: Key> KeyInterner<K> {
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

    #[inline]
    pub fn number(&mut self, key: K::Ref<'_>) -> u32 {
        self.number_of(key, K::hash(key, self.seed))
    }

    #[inline]
    pub fn look_up(&self, nearby: &mut Nearby) {
        let tag = tag(nearby.hash);
        nearby.held = self.numbers.find(nearby.hash, |held| held.tag == tag).copied();
    }

    #[inline]
    pub fn number_near(&mut self, key: K::Ref<'_>, nearby: Nearby) -> u32 {
        match nearby.held {
            Some(held) if held.is::<K>(key, nearby.hash, &self.packed) => held.number,
            _ => self.number_of(key, nearby.hash),
        }
    }

    fn number_of(&mut self, key: K::Ref<'_>, hash: u64) -> u32 {
        let (hashes, packed) = (&self.hashes, &self.packed);
        let is_same = |held: &Numbered| held.is::<K>(key, hash, packed);
        let hash_of = |held: &Numbered| hashes[held.number as usize];
        match self.numbers.entry(hash, is_same, hash_of) {
            Entry::Occupied(entry) => entry.get().number,
            Entry::Vacant(entry) => {
                let Some(number) = numbered(self.starts.len()) else {
                    self.is_full = true;
                    return 0;
                };
                let start = self.packed.len();
                entry.insert(Numbered { tag: tag(hash), number, start });
                self.hashes.push(hash);
                self.starts.push(start);
                K::pack(key, &mut self.packed);
                number
            }
        }
    }

    #[inline]
    pub fn find(&self, key: K::Ref<'_>) -> Option<u32> {
        let hash = K::hash(key, self.seed);
        let is_same = |held: &Numbered| held.is::<K>(key, hash, &self.packed);
        self.numbers.find(hash, is_same).map(|held| held.number)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn key(&self, number: u32) -> Option<K::Ref<'_>> {
        K::unpack(&mut self.packed.get(*self.starts.get(number as usize)?..)?)
    }

    #[inline]
    pub fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    pub fn bytes(&self) -> u64 {
        let slots = self.numbers.capacity() * (size_of::<Numbered>() + 1);
        (slots
            + self.hashes.capacity() * size_of::<u64>()
            + self.starts.capacity() * size_of::<usize>()
            + self.packed.capacity()) as u64
    }
}
