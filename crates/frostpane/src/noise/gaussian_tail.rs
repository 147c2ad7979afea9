//! Tails of the discrete Gaussian distribution in floats, with lower and upper bounds.

use std::f64::consts::PI;

use crate::noise::discrete_gaussian::ROUNDING;

/// After this many terms, each computed from the one before, one is computed anew.
const BLOCK: usize = 256;
/// Terms are added until all others are at most this part of them.
const NEGLIGIBLE: f64 = 1e-12;
/// From this variance on an integral replaces the sum.
const WIDE: f64 = 256.0;
/// Levels of the continued fraction, for arguments from 2 on. An even number gives an upper bound.
const LEVELS: u32 = 80;
/// Terms of the series, for arguments below 2.
const TERMS: u32 = 60;

/// Bounds on `sum over x >= m of exp(-x^2 / (2 variance)) / sqrt(2 pi variance)` for `m >= 0`, within
/// [`ROUNDING`] ([why](crate::proofs::discrete_gaussian#in-floats)).
pub fn tail_between(variance: f64, m: f64) -> [f64; 2] {
    let (mut sum, mut from) = (0.0, m);
    loop {
        sum += block(variance, from);
        from += BLOCK as f64;
        let rest = weight(variance, from) / -(-(2.0 * from + 1.0) / (2.0 * variance)).exp_m1();
        if rest <= NEGLIGIBLE * sum {
            let unit = (2.0 * PI * variance).sqrt();
            let low = sum / unit * (1.0 - ROUNDING) - f64::MIN_POSITIVE;
            let high = (sum + rest) / unit * (1.0 + ROUNDING) + f64::MIN_POSITIVE;
            return [low.max(0.0), high];
        }
    }
}

/// An upper bound on the same; by the integral where the sum has many terms. Takes about a microsecond.
pub fn tail_at_most(variance: f64, m: f64) -> f64 {
    if variance < WIDE {
        return tail_between(variance, m)[1];
    }
    let (sigma, from) = (variance.sqrt(), m - 0.5);
    let bent = (-0.5_f64).exp() / sigma - from / variance * weight(variance, from);
    let bent = if from < sigma { bent.max(0.0) / 8.0 } else { 0.0 };
    let unit = (2.0 * PI * variance).sqrt();
    (normal_tail(from / sigma) + bent / unit) * (1.0 + ROUNDING) + f64::MIN_POSITIVE
}

fn weight(variance: f64, x: f64) -> f64 {
    (-x * x / (2.0 * variance)).exp()
}

/// The sum of the next [`BLOCK`] weights.
fn block(variance: f64, from: f64) -> f64 {
    let mut weight = weight(variance, from);
    let mut ratio = (-(2.0 * from + 1.0) / (2.0 * variance)).exp();
    let decay = (-1.0 / variance).exp();
    let mut sum = 0.0;
    for _ in 0..BLOCK {
        sum += weight;
        weight *= ratio;
        ratio *= decay;
    }
    sum
}

/// An upper bound on the tail of the standard normal distribution from `x >= -1` on.
fn normal_tail(x: f64) -> f64 {
    let density = weight(1.0, x) / (2.0 * PI).sqrt();
    if x >= 2.0 {
        let fraction = (1..=LEVELS).rev().fold(x, |below, level| x + f64::from(level) / below);
        return density / fraction;
    }
    let mut term = x;
    let mut sum = x;
    for i in 1..TERMS {
        term *= x * x / f64::from(2 * i + 1);
        sum += term;
    }
    0.5 - density * sum
}
