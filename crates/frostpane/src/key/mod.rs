//! Keys of events: bytes or 64-bit integers.

mod bytes;
mod integer;
pub(crate) mod mix;
mod universe;

use std::fmt::{Debug, Display};
use std::ops::Range;

use serde::Serialize;

pub use universe::{Keys, Universe};

/// A key made of bytes.
pub type Bytes = Box<[u8]>;

/// The longest key that is counted, in bytes. An event with a longer key is an event without a key.
pub const LONGEST_KEY: usize = 64 * 1024;

/// The low bits of a table entry: the position of the key in the store.
const START_BITS: u32 = 40;
const START: u64 = (1 << START_BITS) - 1;

/// The high bits of a table entry: bits of the hash, and one bit that tells an entry from 0.
#[inline]
fn tag(hash: u64) -> u64 {
    hash & !START | 1 << START_BITS
}

/// Seals [`Key`]: a wrong hash or an encoding that is not injective would break privacy.
pub trait Sealed {}

impl Sealed for Bytes {}
impl Sealed for u64 {}

/// A type of key: [`Bytes`] or `u64`. Keys are compared as a whole; the hash only says where to look.
pub trait Key: Sealed + Clone + Ord + Debug + Send + Sync + 'static {
    /// The borrowed form that events carry.
    type Ref<'a>: Copy + Ord + Send;

    /// The form in which releases show the key.
    type Shown: Serialize + Display;

    /// Borrows the key.
    fn borrowed(&self) -> Self::Ref<'_>;

    /// An owned copy of the key.
    fn owned(key: Self::Ref<'_>) -> Self;

    /// Returns true if this is the same key.
    fn is(&self, key: Self::Ref<'_>) -> bool;

    /// Returns true if both are the same key.
    fn are_same(a: Self::Ref<'_>, b: Self::Ref<'_>) -> bool {
        Self::owned(a).is(b)
    }

    /// A hash of which all 64 bits are usable.
    fn hash(key: Self::Ref<'_>, seed: u64) -> u64;

    /// Returns true if the key is short enough to be counted.
    fn fits(key: Self::Ref<'_>) -> bool;

    /// The length of the key in bytes.
    fn length(_key: Self::Ref<'_>) -> u64 {
        size_of::<Self>() as u64
    }

    /// Appends the key in a self-delimiting form, for [`unpack`](Self::unpack).
    fn pack(key: Self::Ref<'_>, bytes: &mut Vec<u8>);

    /// Takes a packed key from the front; returns `None` and takes nothing if there is no complete one.
    fn unpack<'a>(bytes: &mut &'a [u8]) -> Option<Self::Ref<'a>>;

    /// The table entry of the key; bytes that do not fit into 64 bits are appended to the store.
    #[inline]
    fn hold(key: Self::Ref<'_>, hash: u64, store: &mut Vec<u8>) -> u64 {
        let start = store.len() as u64;
        debug_assert!(start < 1 << START_BITS);
        Self::pack(key, store);
        tag(hash) | start
    }

    /// Returns true if `held` (0 for an empty slot) is the entry of the key.
    #[inline]
    fn holds(held: u64, key: Self::Ref<'_>, hash: u64, store: &[u8]) -> bool {
        held & !START == tag(hash) && Self::held(held, store).is_some_and(|other| Self::are_same(other, key))
    }

    /// The key of a table entry.
    #[inline]
    fn held(held: u64, store: &[u8]) -> Option<Self::Ref<'_>> {
        Self::unpack(&mut store.get((held & START) as usize..)?)
    }

    /// The first byte that the store has for an entry, or 0 if it has none: a read that prefetches.
    #[inline]
    fn first_byte(held: u64, store: &[u8]) -> u8 {
        store.get((held & START) as usize).copied().unwrap_or(0)
    }

    /// The key with this hash, for key types whose hash is injective.
    #[inline]
    fn unhash(_hash: u64, _seed: u64) -> Option<Self::Ref<'static>> {
        None
    }

    /// The keys of a range, for integers.
    fn of_range(_range: Range<u64>) -> Option<Keys<Self>> {
        None
    }

    /// An unambiguous text of the key, if there is one.
    fn text(_key: Self::Ref<'_>) -> Option<String> {
        None
    }

    /// The key as releases show it.
    fn shown(&self) -> Self::Shown;

    /// Memory use of a key of this many bytes; integers have a fixed length.
    fn footprint(bytes: u64) -> Footprint;
}

/// Memory use of one key, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// In a table of the open pane, beside its slot.
    pub held: u64,
    /// True if the key can be kept in a sorted list instead.
    pub listed: bool,
    /// In a closed pane.
    pub packed: u64,
    /// As a reference while a release is made.
    pub reference: u64,
    /// As an owned key, beside its reference: its allocated block.
    pub block: u64,
}

impl Footprint {
    /// In a release, with its count and interval.
    pub(crate) fn in_list(&self) -> u64 {
        self.block.saturating_add(self.reference + 3 * size_of::<u64>() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn shown(key: &[u8]) -> String {
        Bytes::owned(key).shown()
    }

    #[test]
    fn text_is_shown_as_it_is_and_other_bytes_are_escaped_so_that_no_two_keys_are_shown_alike() {
        assert_eq!(shown("höhe\\tiefe".as_bytes()), "höhe\\tiefe");
        assert_eq!(shown(b"a\xff\\b"), "a\\xff\\\\b");
        assert_eq!(shown(b""), "");
        let keys: [&[u8]; 6] = [b"a\xff", b"a\\xff", b"a\\\\xff", b"a\\\\", b"a\\", b"a\\\xff"];
        assert_eq!(BTreeSet::from(keys.map(shown)).len(), keys.len());
        assert_eq!([0, 5, u64::MAX].map(|key| key.shown()), [0, 5, u64::MAX]);
    }

    #[test]
    fn an_integer_is_found_again_from_its_hash() {
        for key in [0, 1, 77, u64::MAX, 1 << 63] {
            assert_eq!(u64::unhash(u64::hash(key, 99), 99), Some(key));
        }
    }

    /// Also for keys that share the first bits of their hash. 0 is no entry, even where the hash is 0 and the key empty.
    #[test]
    fn what_is_held_stands_for_its_key_alone() {
        let keys: [(&[u8], u64); 6] =
            [(b"", 0), (b"a", 0), (b"b", 0), (b"b", 1 << 41), (b"a", u64::MAX), (&[7; 300], 5 << 50)];
        let mut store = Vec::new();
        assert!(!Bytes::holds(0, b"", 0, &store));
        for bit in 0..u64::BITS {
            assert_ne!(Bytes::hold(b"", 1 << bit, &mut Vec::new()), 0);
        }
        let held = keys.map(|(key, hash)| Bytes::hold(key, hash, &mut store));
        for (number, (key, hash)) in keys.into_iter().enumerate() {
            assert!(!Bytes::holds(0, key, hash, &store));
            assert_eq!(Bytes::held(held[number], &store), Some(key));
            let found = held.map(|held| Bytes::holds(held, key, hash, &store));
            assert_eq!(found, std::array::from_fn(|other| other == number));
        }
    }

    #[test]
    fn a_packed_key_takes_as_much_as_its_footprint_says() {
        for length in [0, 1, 126, 127, 128, 129, 300, 16_383] {
            let mut packed = Vec::new();
            Bytes::pack(&vec![7; length], &mut packed);
            let footprint = Bytes::footprint(length as u64);
            assert_eq!([footprint.packed, footprint.held], [packed.len() as u64; 2]);
            assert!(!footprint.listed && footprint.reference == 16);
            assert!(footprint.block >= length as u64 + 8 && footprint.block.is_multiple_of(16));
            assert_eq!(Bytes::length(&vec![7; length]), length as u64);
        }
        let integer = u64::footprint(300);
        assert_eq!([integer.packed, integer.held, integer.reference], [8, 0, 8]);
        assert_eq!([integer.block, u64::length(300)], [0, 8]);
        assert!(integer.listed);
    }

    #[test]
    fn a_key_of_the_greatest_length_is_counted_and_a_longer_one_is_not() {
        assert!(Bytes::fits(&vec![0; 65_536]) && !Bytes::fits(&vec![0; 65_537]));
        assert!(u64::fits(u64::MAX));
    }

    #[test]
    fn what_is_no_whole_key_is_none() {
        let mut packed = Vec::new();
        Bytes::pack(b"snow", &mut packed);
        for length in 0..packed.len() {
            let mut short = &packed[..length];
            assert_eq!((Bytes::unpack(&mut short), short.len()), (None, length));
        }
        assert_eq!(Bytes::unpack(&mut &packed[..]), Some(&b"snow"[..]));
        assert_eq!(Bytes::held(5, &packed), None);
        assert_eq!(u64::unpack(&mut &[0; 7][..]), None);
        assert_eq!(u64::unpack(&mut &[1, 0, 0, 0, 0, 0, 0, 0, 9][..]), Some(1));
    }

    #[test]
    fn a_hash_follows_from_all_of_the_key_and_from_the_seed() {
        let keys: [&[u8]; 5] = [b"", b"fig", b"fih", b"gig", b"figs"];
        let mut hashes: BTreeSet<u64> =
            [1, 2].iter().flat_map(|seed| keys.map(|key| Bytes::hash(key, *seed))).collect();
        hashes.extend([1, 2].iter().flat_map(|seed| [0, 1].map(|key| u64::hash(key, *seed << 8))));
        assert_eq!(hashes.len(), 2 * 5 + 2 * 2);
        assert_eq!(Bytes::hash(b"fig", 1), Bytes::hash(b"fig", 1));
        let fig = Bytes::owned(b"fig");
        assert_eq!(keys.map(|key| fig.is(key)), keys.map(|key| key == b"fig"));
    }

    #[test]
    fn a_key_that_is_no_text_has_none() {
        assert_eq!(u64::text(70), Some("70".to_owned()));
        assert_eq!(Bytes::text(b"fig"), Some("fig".to_owned()));
        assert_eq!(Bytes::text(b"fig\xff"), None);
    }
}
