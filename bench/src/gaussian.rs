//! How many discrete Gaussian values a second are drawn, of the deviations that are given after the name, one a line.

use std::hint::black_box;

use frostpane::internals::{DiscreteGaussian, Entropy, Inversion, OsEntropy};

use crate::Outcome;
use crate::people::cpu;

const VALUES: u32 = 10_000_000;
/// Variances are fractions of this.
const PARTS: u64 = 100;

pub fn run() -> Outcome {
    let asked: Vec<String> = std::env::args().skip(2).collect();
    for deviation in if asked.is_empty() {
        vec!["5.5".to_owned()]
    } else {
        asked
    } {
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
