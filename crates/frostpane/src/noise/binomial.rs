//! Exact binomial sampling with an irrational probability.
//!
//! Inversion with lazily refined bits: the count is the least `k` whose cumulative probability exceeds
//! a uniform real number in `[0, 1)`. Both are known to 128 bits at first; where an enclosure does not
//! decide on which side the uniform number lies, both are refined. Probabilities far below the smallest
//! float need no special case. A large count is drawn in batches of about 16 expected heads, so that
//! the table of cumulative probabilities is short and computed once.

use dashu_int::UBig;

use crate::enclosure::Enclosure;
use crate::error::Result;
use crate::noise::Entropy;

const BATCH_MEAN: f64 = 16.0;
const FIRST_BITS: usize = 128;

/// Draws the number of heads among `n` independent coins: `k` with probability exactly `C(n, k) h^k
/// (1-h)^(n-k)`, where `probability(bits)` encloses `h <= 1/2` to so many bits. Fails only if the
/// entropy source fails.
pub fn binomial(n: u64, probability: impl Fn(usize) -> Enclosure, entropy: &mut impl Entropy) -> Result<u64> {
    binomial_from(FIRST_BITS, n, probability, entropy)
}

fn binomial_from(
    first_bits: usize,
    n: u64,
    probability: impl Fn(usize) -> Enclosure,
    entropy: &mut impl Entropy,
) -> Result<u64> {
    let chance = probability(first_bits).approximate();
    let batch = ((BATCH_MEAN / chance).min(n as f64) as u64).clamp(1, n.max(1));
    let mut whole = Cumulative::new(batch, first_bits, &probability);
    let mut rest = Cumulative::new(n % batch, first_bits, &probability);
    let mut heads = rest.draw(entropy)?;
    for _ in 0..n / batch {
        heads += whole.draw(entropy)?;
    }
    Ok(heads)
}

/// Cumulative probabilities of a binomial distribution at the current precision.
struct Cumulative<P> {
    n: u64,
    probability: P,
    bits: usize,
    /// `sums[k]` encloses `Pr[heads <= k]`. May end before `n`, where the rest is below one unit.
    sums: Vec<Enclosure>,
}

impl<P: Fn(usize) -> Enclosure> Cumulative<P> {
    fn new(n: u64, bits: usize, probability: P) -> Self {
        let mut table = Self { n, probability, bits, sums: Vec::new() };
        table.refine(bits);
        table
    }

    fn draw(&mut self, entropy: &mut impl Entropy) -> Result<u64> {
        if self.n == 0 {
            return Ok(0);
        }
        let (mut uniform, mut bits) = (UBig::ZERO, 0);
        loop {
            while bits < self.bits {
                uniform = (uniform << 64usize) + UBig::from(entropy.word()?);
                bits += 64;
            }
            match self.locate(&(&uniform >> (bits - self.bits))) {
                Some(heads) => return Ok(heads),
                None => self.refine(2 * self.bits),
            }
        }
    }

    /// The `k` with `Pr[heads < k] <= u < Pr[heads <= k]` for every `u` that begins with these bits, if
    /// there is one.
    fn locate(&self, uniform: &UBig) -> Option<u64> {
        let after = uniform + UBig::ONE;
        let k = self.sums.partition_point(|sum| sum.low < after);
        let found = k < self.sums.len() && (k == 0 || self.sums[k - 1].high <= *uniform);
        found.then_some(k as u64)
    }

    fn refine(&mut self, bits: usize) {
        self.bits = bits;
        self.sums.clear();
        if self.n == 0 {
            return;
        }
        let heads = (self.probability)(bits);
        let tails = heads.complement();
        let odds = heads.over(&tails);
        let mut mass = tails.power(self.n);
        let mut sum = mass.clone();
        for k in 0..self.n {
            self.sums.push(sum.clone());
            if mass.high <= UBig::ONE {
                return;
            }
            mass = mass.times_scaled(&odds, self.n - k, k + 1);
            sum = sum.plus(&mass);
        }
        self.sums.push(Enclosure::one(bits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::noise::entropy::tests::FixedWords;

    fn dyadic(numerator: u64, shift: usize) -> impl Fn(usize) -> Enclosure {
        move |bits| Enclosure {
            low: (UBig::from(numerator) << bits) >> shift,
            high: ((UBig::from(numerator) << bits) >> shift) + UBig::ONE,
            bits,
        }
    }

    /// For few coins and for very many: the draw is the least `k` whose cumulative probability exceeds the uniform
    /// number made of the words.
    #[test]
    fn a_draw_is_the_inverse_of_the_cumulative_probabilities() {
        for (n, numerator, shift) in
            [(1_u64, 3, 4), (2, 3, 4), (3, 3, 4), (40, 3, 4), (1 << 32, 5, 36), (1 << 40, 5, 39)]
        {
            let p = numerator as f64 / 2_f64.powi(shift as i32);
            let choose = |k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
            let mass = |k: u64| choose(k) * p.powi(k as i32) * ((n - k) as f64 * (-p).ln_1p()).exp();
            for seed in 0..300 {
                let mut words = InsecureSeededEntropy::new(seed);
                let uniform = words.word().unwrap() as f64 / 2f64.powi(64);
                let mut sum = 0.0;
                let expected = (0..=n).find(|k| {
                    sum += mass(*k);
                    sum > uniform
                });
                let mut entropy = InsecureSeededEntropy::new(seed);
                let found = binomial(n, dyadic(numerator, shift), &mut entropy).unwrap();
                assert_eq!(Some(found), expected, "{n} coins, seed {seed}");
                words.word().unwrap();
                assert_eq!(entropy.word().unwrap(), words.word().unwrap(), "128 bits were enough");
            }
        }
        // No coin draws nothing.
        let mut entropy = InsecureSeededEntropy::new(1);
        assert_eq!(binomial(0, dyadic(3, 4), &mut entropy).unwrap(), 0);
        assert_eq!(entropy.word().unwrap(), InsecureSeededEntropy::new(1).word().unwrap());
    }

    /// A thousand coins of 3/16: a remainder of 65, then batches of 85 (about 16 heads each).
    #[test]
    fn many_coins_are_drawn_in_batches_and_none_is_left_out() {
        for seed in 0..20 {
            let (mut entropy, mut again) =
                (InsecureSeededEntropy::new(seed), InsecureSeededEntropy::new(seed));
            let found = binomial(1_000, dyadic(3, 4), &mut entropy).unwrap();
            let parts = [65].into_iter().chain([85; 11]);
            let expected: u64 = parts.map(|part| binomial(part, dyadic(3, 4), &mut again).unwrap()).sum();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn refinement_gives_what_full_precision_gives() {
        for seed in 0..2_000 {
            let draw =
                |bits| binomial_from(bits, 40, dyadic(3, 4), &mut InsecureSeededEntropy::new(seed)).unwrap();
            assert_eq!(draw(8), draw(256), "seed {seed}");
        }
    }

    #[test]
    fn probabilities_below_the_smallest_float_are_no_special_case() {
        let mut entropy = InsecureSeededEntropy::new(3);
        for _ in 0..100 {
            assert_eq!(binomial(u64::MAX, dyadic(1, 2_000), &mut entropy).unwrap(), 0);
        }
    }

    /// One coin of 1/2 at 64 bits: `Pr[no heads]` is enclosed between `2^63 - 1` and `2^63` units. Outside of these
    /// one word decides; inside, twice as many words are read each time. Of two words at a hundred bits, the first
    /// hundred decide.
    #[test]
    fn more_bits_are_read_only_where_the_first_leave_it_open_and_then_twice_as_many() {
        const OPEN: u64 = (1 << 63) - 1;
        for (first_bits, words, heads) in [
            (64, &[0][..], 0),
            (64, &[OPEN - 1], 0),
            (64, &[OPEN, 0], 0),
            (64, &[OPEN, u64::MAX - 1], 0),
            (64, &[OPEN, u64::MAX, 0, 0], 0),
            (64, &[OPEN, u64::MAX, u64::MAX, u64::MAX - 1], 0),
            (64, &[OPEN + 1], 1),
            (64, &[u64::MAX], 1),
            (100, &[1 << 62, u64::MAX], 0),
            (100, &[OPEN, u64::MAX << 29], 0),
            (100, &[1 << 63, 0], 1),
            (100, &[u64::MAX, u64::MAX], 1),
        ] {
            let mut entropy = FixedWords(words.to_vec());
            assert_eq!(binomial_from(first_bits, 1, dyadic(1, 1), &mut entropy).unwrap(), heads, "{words:?}");
            assert!(entropy.0.is_empty(), "{words:?}");
        }
    }
}
