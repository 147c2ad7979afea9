//! Noise that is the same whenever it is asked for.
//!
//! A node of a continual release has a key of a pseudo-random function, drawn from the operating system when the node
//! completes. The noise of an event key is what an exact sampler makes of the
//! function's output for an injective encoding of that key. Keyed BLAKE3 is such a function: anyone who does not hold
//! the node's key cannot tell its outputs from fresh random bits, so the noise is as good as fresh noise drawn once.
//!
//! The key lives in one place on the heap, which is overwritten when it is dropped, as are the function's state and output,
//! which would give the key or the noise away, and the bits that the key was made from. What the compiler leaves in
//! registers and on the stack is not overwritten, nor what the system has written to swap or a core dump.

use zeroize::Zeroizing;

use crate::error::Result;
use crate::noise::{Entropy, Inversion};

const KEY: usize = blake3::KEY_LEN;
const WORD: usize = size_of::<u64>();

/// The secret of a node.
pub struct NodeKey(Box<Zeroizing<[u8; KEY]>>);

/// Purposes of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// The count of a key, by an injective encoding of it.
    Count(&'a [u8]),
    /// The counts of all keys of a universe, in its order.
    Counts,
    /// The norm of the window that ends with the node.
    Norm,
    /// The number of users' events.
    Total,
    /// A whole release that is made once.
    Release,
}

impl NodeKey {
    /// Bytes on the heap.
    pub(crate) const BYTES: usize = KEY;

    /// A fresh key.
    pub fn draw(entropy: &mut (impl Entropy + ?Sized)) -> Result<Self> {
        let mut key = Self(Box::default());
        for bytes in key.0.chunks_exact_mut(WORD) {
            bytes.copy_from_slice(&entropy.word()?.to_ne_bytes());
        }
        Ok(key)
    }

    /// One that was drawn before.
    pub(crate) fn from_secret(secret: Zeroizing<[u8; KEY]>) -> Self {
        Self(Box::new(secret))
    }

    pub(super) fn secret(&self) -> &[u8; KEY] {
        &self.0
    }

    /// Its function, for many noise values.
    pub fn function(&self) -> Keyed {
        let hasher = Zeroizing::new(blake3::Hasher::new_keyed(&self.0));
        let output = KeyedEntropy {
            reader: Zeroizing::new(hasher.finalize_xof()),
            pool: Zeroizing::new([0; POOL]),
            used: POOL,
        };
        Keyed { hasher, output }
    }

    /// Random bits for a purpose: the same whenever they are asked for.
    pub fn entropy(&self, purpose: Purpose<'_>) -> KeyedEntropy {
        let mut function = self.function();
        function.turn_to(purpose);
        function.output
    }
}

/// The function of a node, and its output for one purpose after the other in one place: wiping it each time would double
/// the time that a release takes.
pub struct Keyed {
    hasher: Zeroizing<blake3::Hasher>,
    output: KeyedEntropy,
}

impl Keyed {
    /// The noise of one count: the same whenever it is asked for.
    pub fn noise(&mut self, encoding: &[u8], sampler: &Inversion) -> Result<i64> {
        self.turn_to(Purpose::Count(encoding));
        sampler.sample(&mut self.output)
    }

    fn turn_to(&mut self, purpose: Purpose<'_>) {
        let hasher = self.hasher.reset();
        match purpose {
            Purpose::Count(encoding) => hasher.update(&[0]).update(encoding),
            Purpose::Counts => hasher.update(&[1]),
            Purpose::Norm => hasher.update(&[2]),
            Purpose::Total => hasher.update(&[3]),
            Purpose::Release => hasher.update(&[4]),
        };
        *self.output.reader = hasher.finalize_xof();
        self.output.used = POOL;
    }
}

impl std::fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeKey")
    }
}

const POOL: usize = 64;

/// The output of a node's function for one purpose.
pub struct KeyedEntropy {
    reader: Zeroizing<blake3::OutputReader>,
    pool: Zeroizing<[u8; POOL]>,
    used: usize,
}

impl Entropy for KeyedEntropy {
    #[inline]
    fn word(&mut self) -> Result<u64> {
        if self.used == POOL {
            self.reader.fill(&mut *self.pool);
            self.used = 0;
        }
        let mut word = [0; WORD];
        word.copy_from_slice(&self.pool[self.used..self.used + WORD]);
        self.used += WORD;
        Ok(u64::from_le_bytes(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{InsecureSeededEntropy, OsEntropy};

    /// The function is keyed BLAKE3 of a purpose's number and, for a count, the event key: frozen, because what was released
    /// must be the same when it is read again.
    #[test]
    fn noise_is_what_keyed_blake3_makes_of_the_purpose_and_the_key() {
        let node = NodeKey::draw(&mut InsecureSeededEntropy::new(1)).unwrap();
        let mut words = InsecureSeededEntropy::new(1);
        let key: Vec<u8> = (0..4).flat_map(|_| words.word().unwrap().to_ne_bytes()).collect();
        let key: [u8; KEY] = key.try_into().unwrap();
        let mut function = node.function();
        for (purpose, input) in [
            (Purpose::Count(b"oak"), &b"\0oak"[..]),
            (Purpose::Counts, b"\x01"),
            (Purpose::Norm, b"\x02"),
            (Purpose::Total, b"\x03"),
            (Purpose::Release, b"\x04"),
            (Purpose::Count(b""), b"\0"),
        ] {
            let mut expected = [0; 3 * POOL];
            let mut hasher = blake3::Hasher::new_keyed(&key);
            hasher.update(input).finalize_xof().fill(&mut expected);
            let mut entropy = node.entropy(purpose);
            function.turn_to(purpose);
            for bytes in expected.chunks_exact(WORD) {
                let word = u64::from_le_bytes(bytes.try_into().unwrap());
                assert_eq!([entropy.word().unwrap(), function.output.word().unwrap()], [word; 2]);
            }
        }
    }

    #[test]
    fn what_gives_the_key_away_is_wiped_when_it_is_dropped() {
        fn wiped_when_dropped(_: &impl zeroize::ZeroizeOnDrop) {}
        let node = NodeKey::draw(&mut OsEntropy::new()).unwrap();
        wiped_when_dropped(&*node.0);
        let function = node.function();
        wiped_when_dropped(&function.hasher);
        let entropy = node.entropy(Purpose::Norm);
        wiped_when_dropped(&entropy.reader);
        wiped_when_dropped(&entropy.pool);
        assert_eq!(format!("{node:?}"), "NodeKey");
    }
}
