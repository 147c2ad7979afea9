//! Sources of random bits.

use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, ErrorKind, Result};

/// A source of uniform random bits.
pub trait Entropy {
    /// 64 random bits.
    fn word(&mut self) -> Result<u64>;

    /// A uniform integer below `bound`, which must not be 0.
    fn below(&mut self, bound: u64) -> Result<u64> {
        let mask = u64::MAX >> (bound - 1).leading_zeros().min(63);
        loop {
            let candidate = self.word()? & mask;
            if candidate < bound {
                return Ok(candidate);
            }
        }
    }
}

impl<E: Entropy + ?Sized> Entropy for Box<E> {
    fn word(&mut self) -> Result<u64> {
        (**self).word()
    }
}

const WORD: usize = size_of::<u64>();
const POOL: usize = 128 * WORD;

/// The operating system's generator, read in blocks. Bits are overwritten as they are used, and the
/// rest on drop; copies that the compiler leaves in registers or on the stack, or the system in swap or
/// a core dump, are not.
pub struct OsEntropy {
    pool: Zeroizing<[u8; POOL]>,
    used: usize,
}

impl OsEntropy {
    /// A source that has read nothing yet.
    pub fn new() -> Self {
        Self { pool: Zeroizing::new([0; POOL]), used: POOL }
    }

    fn refill(&mut self) -> Result<()> {
        getrandom::fill(&mut *self.pool).map_err(|cause| {
            Error::new(
                ErrorKind::Entropy,
                format!("the operating system gave no random bytes ({cause}): nothing was released"),
            )
        })?;
        self.used = 0;
        Ok(())
    }
}

impl Default for OsEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl Entropy for OsEntropy {
    #[inline]
    fn word(&mut self) -> Result<u64> {
        if self.used == POOL {
            self.refill()?;
        }
        let mut word = [0; WORD];
        let bytes = &mut self.pool[self.used..self.used + WORD];
        word.copy_from_slice(bytes);
        bytes.zeroize();
        self.used += WORD;
        Ok(u64::from_ne_bytes(word))
    }
}

/// A deterministic generator for tests. Noise from it protects nobody.
#[cfg(any(test, feature = "testing"))]
pub struct InsecureSeededEntropy {
    state: u64,
}

#[cfg(any(test, feature = "testing"))]
impl InsecureSeededEntropy {
    /// Equal seeds give equal bits.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Entropy for InsecureSeededEntropy {
    fn word(&mut self) -> Result<u64> {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Ok(z ^ (z >> 31))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A fixed sequence of words.
    pub struct FixedWords(pub Vec<u64>);

    impl Entropy for FixedWords {
        fn word(&mut self) -> Result<u64> {
            Ok(self.0.remove(0))
        }
    }

    /// SplitMix64, compared with its authors' values: tests that replay it rely on them.
    #[test]
    fn the_seeded_source_is_splitmix() {
        let mut entropy = InsecureSeededEntropy::new(0);
        let words = [(); 3].map(|()| entropy.word().unwrap());
        assert_eq!(words, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn bits_that_were_handed_out_are_not_kept() {
        let mut entropy = OsEntropy::new();
        for words in 1..=2 * POOL / WORD {
            entropy.word().unwrap();
            assert_eq!(entropy.used, (words - 1) * WORD % POOL + WORD);
            assert!(entropy.pool[..entropy.used].iter().all(|byte| *byte == 0), "{words}");
        }
        fn wiped_when_dropped(_: &impl zeroize::ZeroizeOnDrop) {}
        wiped_when_dropped(&entropy.pool);
    }

    #[test]
    fn the_operating_system_gives_new_words() {
        let mut entropy = OsEntropy::default();
        let mut words: Vec<u64> = (0..1_000).map(|_| entropy.word().unwrap()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 1_000);
    }

    /// Uses as few bits as the bound needs, and draws another word where they are not below it.
    #[test]
    fn below_takes_the_last_bits_of_a_word_that_are_below_the_bound() {
        for (bound, words, expected) in [
            (1, &[2][..], 0),
            (1, &[1, 3, 4], 0),
            (2, &[6], 0),
            (2, &[7], 1),
            (3, &[3, 7, 4 + 2], 2),
            (8, &[8], 0),
            (8, &[16 + 7], 7),
            (9, &[9, 15, 16 + 8], 8),
            (1 << 63, &[u64::MAX], u64::MAX >> 1),
            (u64::MAX, &[u64::MAX, 5], 5),
        ] {
            let mut entropy = FixedWords(words.to_vec());
            assert_eq!(entropy.below(bound).unwrap(), expected, "below {bound}: {words:?}");
            assert!(entropy.0.is_empty(), "below {bound}: {words:?}");
        }
    }
}
