//! Discrete Gaussian values drawn per second, one line for each deviation given after the name.

use std::hint::black_box;

use frostpane::testing::{DiscreteGaussian, Entropy, Inversion, OsEntropy};

use crate::{BenchResult, cpu};

const VALUES: u32 = 10_000_000;
/// Denominator of variances.
const PARTS: u64 = 100;

pub fn run() -> BenchResult {
    let asked: Vec<String> = std::env::args().skip(2).collect();
    for deviation in if asked.is_empty() { vec!["5.5".to_owned()] } else { asked } {
        let deviation: f64 = deviation.parse()?;
        let variance = (deviation * deviation * PARTS as f64).round() as u64;
        let gaussian = DiscreteGaussian::new(variance, PARTS).ok_or("a deviation that is not offered")?;
        println!("{}", rate(&Inversion::new(gaussian), &mut OsEntropy::new())?);
    }
    Ok(())
}

fn rate(sampler: &Inversion, entropy: &mut impl Entropy) -> frostpane::Result<f64> {
    let start = cpu();
    for _ in 0..VALUES {
        black_box(sampler.sample(entropy)?);
    }
    Ok(f64::from(VALUES) / (cpu() - start))
}
