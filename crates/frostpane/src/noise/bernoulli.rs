//! Coins with exact probabilities, from uniform integers. They fail only if the entropy source fails.

use crate::error::Result;
use crate::noise::Entropy;

/// Returns true with probability exactly `numerator / denominator`; always if that is 1 or more.
/// `denominator` must not be 0.
pub fn bernoulli(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    Ok(entropy.below(denominator)? < numerator)
}

/// Returns true with probability exactly `exp(-numerator / denominator)`: one coin of `exp(-1)` for
/// each whole, and one of the fraction that remains.
pub fn bernoulli_exp(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    for _ in 0..numerator / denominator {
        if !bernoulli_exp_fraction(1, 1, entropy)? {
            return Ok(false);
        }
    }
    bernoulli_exp_fraction(numerator % denominator, denominator, entropy)
}

/// The same for a fraction of at most 1. Flips coins of probability `x/1, x/2, x/3, ...` until one
/// shows false: the `i`-th is the first with probability `x^(i-1)/(i-1)! - x^i/i!`, so `i` is odd with
/// probability `exp(-x)` (Canonne, Kamath and Steinke 2020, Algorithm 1). The `i`-th coin is reached
/// with probability at most `1/i!`, so no denominator exceeds 64 bits.
fn bernoulli_exp_fraction(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    let mut trial = 1;
    while bernoulli(numerator, denominator.saturating_mul(trial), entropy)? {
        trial += 1;
    }
    Ok(trial % 2 == 1)
}
