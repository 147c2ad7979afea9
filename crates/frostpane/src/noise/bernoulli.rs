//! Coins with exact probabilities, from uniform integers. All of them err only if the source of entropy does.

use crate::error::Result;
use crate::noise::Entropy;

/// True with probability exactly `numerator / denominator`; always if that is 1 or more. The denominator is not 0.
pub fn bernoulli(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    Ok(entropy.below(denominator)? < numerator)
}

/// True with probability exactly `exp(-numerator / denominator)`: all of so many coins of `exp(-1)`, and one of what is left.
pub fn bernoulli_exp(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    for _ in 0..numerator / denominator {
        if !bernoulli_exp_fraction(1, 1, entropy)? {
            return Ok(false);
        }
    }
    bernoulli_exp_fraction(numerator % denominator, denominator, entropy)
}

/// The same for a fraction of at most 1. Flip coins of probability `x/1, x/2, x/3, ...` until one shows
/// false: the `i`-th is the first with probability `x^(i-1)/(i-1)! - x^i/i!`, so that `i` is odd
/// with probability `exp(-x)` (Canonne, Kamath and Steinke 2020, Algorithm 1). Coins go on with a chance of `1/i!`, so none
/// ever has a denominator above 64 bits.
fn bernoulli_exp_fraction(numerator: u64, denominator: u64, entropy: &mut impl Entropy) -> Result<bool> {
    let mut trial = 1;
    while bernoulli(numerator, denominator.saturating_mul(trial), entropy)? {
        trial += 1;
    }
    Ok(trial % 2 == 1)
}
