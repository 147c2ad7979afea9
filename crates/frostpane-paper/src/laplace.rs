//! The continuous Laplace distribution that the paper draws from.
//!
//! A floating-point sampler leaks through its rounding (Mironov 2012), so it is for measurements only.
//! Frostpane's own noise is the [discrete Laplace distribution](frostpane::proofs::discrete_laplace).

use frostpane::Result;
use frostpane::testing::Entropy;

/// Draws from `Lap(scale)`, with density `exp(-|x| / scale) / (2 scale)`.
///
/// One word of entropy is a point of (0, 1) and the draw is the quantile there, so the middle word,
/// `1 << 63`, gives zero.
pub fn laplace(scale: f64, entropy: &mut impl Entropy) -> Result<f64> {
    const PARTS: f64 = (1_u64 << 52) as f64;
    // The middle of one of equal parts, so that the quantile is finite.
    let point = ((entropy.word()? >> 12) as f64 + 0.5) / PARTS;
    let from_middle = point - 0.5;
    Ok(-scale * from_middle.signum() * (-2.0 * from_middle.abs()).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frostpane::testing::InsecureSeededEntropy;

    struct Fixed(u64);

    impl Entropy for Fixed {
        fn word(&mut self) -> Result<u64> {
            Ok(self.0)
        }
    }

    #[test]
    fn the_ends_are_finite_and_the_middle_is_zero() {
        let [first, last] = [0, u64::MAX].map(|word| laplace(1.0, &mut Fixed(word)).unwrap());
        assert!(first < -30.0 && first.is_finite() && last > 30.0 && last.is_finite());
        assert!(laplace(1e9, &mut Fixed(1 << 63)).unwrap().abs() < 1e-6);
    }

    /// Shares beyond `x` against `exp(-x / scale) / 2` on each side. 200,000 draws have a standard deviation
    /// of at most 224 in a share; the band is 6 of them, so a false alarm has a chance below 10^-7. Catches
    /// half or double the scale, one side missing, and a wrong logarithm.
    #[test]
    fn shares_are_those_of_the_distribution() {
        const DRAWS: usize = 200_000;
        let mut entropy = InsecureSeededEntropy::new(7);
        let draws: Vec<f64> = (0..DRAWS).map(|_| laplace(3.0, &mut entropy).unwrap()).collect();
        for x in [0.0, 1.0, 3.0, 9.0] {
            let expected = DRAWS as f64 * (-x / 3.0_f64).exp() / 2.0;
            for sign in [-1.0, 1.0] {
                let beyond = draws.iter().filter(|&&draw| sign * draw > x).count() as f64;
                assert!((beyond - expected).abs() < 1_344.0, "{beyond} beyond {sign} * {x}, not {expected}");
            }
        }
    }
}
