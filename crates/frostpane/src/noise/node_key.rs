//! Noise that is the same whenever it is asked for.
//!
//! A node of a continual release has a key of a pseudo-random function, drawn from the operating system when the node
//! completes and overwritten when it is dropped. The noise of an event key is what an exact sampler makes of the
//! function's output for an injective encoding of that key. Keyed BLAKE3 is such a function: whoever does not hold
//! the node's key cannot tell its outputs from fresh random bits, so the noise is as good as fresh noise drawn once.

use crate::error::Result;
use crate::noise::entropy::Entropy;
use crate::noise::inversion::Inversion;

const KEY: usize = blake3::KEY_LEN;
const WORD: usize = size_of::<u64>();

/// The secret of a node.
#[derive(Clone)]
pub struct NodeKey([u8; KEY]);

/// What the noise belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// The count of a key, by an injective encoding of it.
    Count(&'a [u8]),
    /// The counts of all keys of a universe, in its order.
    Counts,
    /// The norm of the window that ends with the node.
    Norm,
}

impl NodeKey {
    /// A fresh key.
    pub fn draw(entropy: &mut impl Entropy) -> Result<Self> {
        let mut key = [0; KEY];
        for bytes in key.chunks_exact_mut(WORD) {
            bytes.copy_from_slice(&entropy.word()?.to_ne_bytes());
        }
        Ok(Self(key))
    }

    /// The noise of one count: the same whenever it is asked for.
    pub fn noise(&self, encoding: &[u8], sampler: &Inversion) -> Result<i64> {
        sampler.sample(&mut self.entropy(Purpose::Count(encoding)))
    }

    /// Random bits for a purpose: the same whenever they are asked for.
    pub fn entropy(&self, purpose: Purpose<'_>) -> KeyedEntropy {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        match purpose {
            Purpose::Count(encoding) => hasher.update(&[0]).update(encoding),
            Purpose::Counts => hasher.update(&[1]),
            Purpose::Norm => hasher.update(&[2]),
        };
        KeyedEntropy {
            reader: hasher.finalize_xof(),
            pool: [0; POOL],
            used: POOL,
        }
    }
}

impl Drop for NodeKey {
    fn drop(&mut self) {
        self.0 = std::hint::black_box([0; KEY]);
        std::hint::black_box(&self.0);
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
    reader: blake3::OutputReader,
    pool: [u8; POOL],
    used: usize,
}

impl Entropy for KeyedEntropy {
    fn word(&mut self) -> Result<u64> {
        if self.used == POOL {
            self.reader.fill(&mut self.pool);
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
    use crate::noise::discrete_laplace::DiscreteLaplace;
    use crate::noise::entropy::{InsecureSeededEntropy, OsEntropy};
    use crate::noise::epsilon::Epsilon;

    #[test]
    fn noise_is_the_same_for_a_key_and_independent_between_keys_and_nodes() {
        let sampler = Inversion::new(DiscreteLaplace::new(2, Epsilon::new(0.01).unwrap()));
        let nodes: Vec<NodeKey> = (0..3)
            .map(|_| NodeKey::draw(&mut OsEntropy::new()).unwrap())
            .collect();
        let values = |node: &NodeKey| -> Vec<i64> {
            (0..1_000_u64)
                .map(|key| node.noise(&key.to_le_bytes(), &sampler).unwrap())
                .collect()
        };
        assert_eq!(values(&nodes[0]), values(&nodes[0].clone()));
        let same = |a: &[i64], b: &[i64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        // Equal values by chance: 1,000 times 1/800.
        assert!(same(&values(&nodes[0]), &values(&nodes[1])) < 20);
        assert!(same(&values(&nodes[1]), &values(&nodes[2])[1..]) < 20);
    }

    #[test]
    fn purposes_do_not_share_bits() {
        let node = NodeKey::draw(&mut InsecureSeededEntropy::new(1)).unwrap();
        let purposes = [
            Purpose::Counts,
            Purpose::Norm,
            Purpose::Count(b""),
            Purpose::Count(b"\x01"),
        ];
        let words: Vec<u64> = purposes
            .map(|purpose| node.entropy(purpose).word().unwrap())
            .to_vec();
        for (i, word) in words.iter().enumerate() {
            assert!(!words[..i].contains(word));
        }
    }
}
