//! Packed counts of a closed pane.

use std::marker::PhantomData;

use crate::codec::{pack_number, unpack_number};
use crate::key::Key;

/// Keys with their counts in one block of memory: a key of 16 bytes takes about 19.
#[derive(Clone, Debug)]
pub struct PackedCounts<K> {
    pub(super) bytes: Box<[u8]>,
    pub(super) entries: usize,
    pub(super) keys: PhantomData<K>,
}

impl<K: Key> PackedCounts<K> {
    pub fn len(&self) -> usize {
        self.entries
    }

    #[cfg(any(test, feature = "internals"))]
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The keys and their counts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (K::Ref<'_>, u64)> {
        let mut rest = &*self.bytes;
        (0..self.entries).map_while(move |_| {
            let key = K::unpack(&mut rest)?;
            Some((key, unpack_number(&mut rest)?))
        })
    }

    pub fn collect<'a>(counts: impl Iterator<Item = (K::Ref<'a>, u64)>) -> Self {
        let mut packed = Packer::default();
        counts.for_each(|(key, count)| packed.push(key, count));
        packed.finish()
    }
}

/// Packs counts one by one and reuses its memory.
#[derive(Clone, Debug)]
pub struct Packer<K> {
    bytes: Vec<u8>,
    entries: usize,
    keys: PhantomData<K>,
}

impl<K> Default for Packer<K> {
    fn default() -> Self {
        Self { bytes: Vec::new(), entries: 0, keys: PhantomData }
    }
}

impl<K: Key> Packer<K> {
    #[inline]
    pub fn push(&mut self, key: K::Ref<'_>, count: u64) {
        K::pack(key, &mut self.bytes);
        pack_number(count, &mut self.bytes);
        self.entries += 1;
    }

    /// All keys so far, in no more memory than they need. Starts anew.
    pub fn finish(&mut self) -> PackedCounts<K> {
        let counts =
            PackedCounts { bytes: self.bytes.as_slice().into(), entries: self.entries, keys: PhantomData };
        self.bytes.clear();
        self.entries = 0;
        counts
    }

    pub fn len(&self) -> usize {
        self.entries
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;

    #[test]
    fn what_is_packed_is_unpacked() {
        let long = vec![b'x'; 65_536];
        let keys: [&[u8]; 5] = [b"", b"a", b"\xff\x80\x00", &[0x80; 200], &long];
        let numbers = [1, 127, 128, 16_384, u64::MAX];
        let packed = PackedCounts::<Bytes>::collect(keys.into_iter().zip(numbers));
        assert!(packed.iter().eq(keys.into_iter().zip(numbers)));
        assert_eq!(packed.len(), 5);

        let packed = PackedCounts::<u64>::collect(numbers.into_iter().zip(numbers));
        assert!(packed.iter().eq(numbers.into_iter().zip(numbers)));
    }
}
