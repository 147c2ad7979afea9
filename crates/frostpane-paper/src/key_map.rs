//! A hash map by key. Each event looks its key up in hundreds of instances, so the hash is one product.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// One multiplication, folded. Not resistant to chosen keys, which a yardstick does not meet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(key ^ self.0) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
