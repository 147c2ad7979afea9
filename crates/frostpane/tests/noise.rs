//! The noise against its exact probabilities and against OpenDP's sampler; thresholds against delta.

use std::collections::HashMap;
use std::time::Instant;

use dashu::rational::RBig;
use frostpane::testing::{
    DiscreteGaussian, DiscreteLaplace, Epsilon, InsecureSeededEntropy, Inversion, OsEntropy, Threshold,
};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

fn noise(sensitivity: u32, epsilon: f64) -> DiscreteLaplace {
    DiscreteLaplace::new(sensitivity, Epsilon::new(epsilon).unwrap())
}

/// `Pr[X = x]` in floats: the formula, not the code under test.
fn probability(scale: f64, x: i64) -> f64 {
    let p = (-1.0 / scale).exp();
    (1.0 - p) / (1.0 + p) * p.powi(x.unsigned_abs() as i32)
}

/// Pearson's statistic over the values expected 20 times or more and the rest, and the degrees of freedom.
fn chi_square(seen: &HashMap<i64, u64>, draws: u64, probability: impl Fn(i64) -> f64) -> (f64, f64) {
    let (mut statistic, mut cells) = (0.0, 0.0);
    let (mut rest_seen, mut rest_expected) = (draws as f64, draws as f64);
    for x in -2_000..=2_000 {
        let expected = probability(x) * draws as f64;
        if expected >= 20.0 {
            let times = *seen.get(&x).unwrap_or(&0) as f64;
            statistic += (times - expected).powi(2) / expected;
            rest_seen -= times;
            rest_expected -= expected;
            cells += 1.0;
        }
    }
    if rest_expected > 5.0 {
        statistic += (rest_seen - rest_expected).powi(2) / rest_expected;
        cells += 1.0;
    }
    (statistic, cells - 1.0)
}

/// Standard deviations of chi-square above its mean, by Wilson and Hilferty.
fn deviations(statistic: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// A million values against their exact probabilities, given a factor of the noise, and a part of them against
/// OpenDP's, which cannot be seeded. An alarm at 6 standard deviations is false less than once in 100 million
/// runs. Noise that is smaller by the factor `less` must not pass.
fn check(
    name: &str,
    mut ours: impl FnMut() -> i64,
    vetted: impl Fn() -> i64,
    probability: impl Fn(f64, i64) -> f64,
    less: f64,
) {
    const DRAWS: u64 = 1_000_000;
    const PART: u64 = 100_000;
    let (mut seen, mut part, mut theirs) = (HashMap::new(), HashMap::new(), HashMap::new());
    let start = Instant::now();
    for number in 0..DRAWS {
        let value = ours();
        *seen.entry(value).or_insert(0) += 1;
        if number < PART {
            *part.entry(value).or_insert(0) += 1;
        }
    }
    let our_rate = DRAWS as f64 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    for _ in 0..PART {
        *theirs.entry(vetted()).or_insert(0) += 1;
    }
    let their_rate = PART as f64 / start.elapsed().as_secs_f64();
    println!("{name}, draws a second: ours {our_rate:.0}, OpenDP's {their_rate:.0}");

    let (statistic, freedom) = chi_square(&seen, DRAWS, |x| probability(1.0, x));
    let alarm = deviations(statistic, freedom);
    assert!(alarm < 6.0, "{name}: {alarm:.1} standard deviations");
    let (smaller, _) = chi_square(&seen, DRAWS, |x| probability(less, x));
    assert!(deviations(smaller, freedom) > 6.0, "{name}: less noise would pass");
    let alarm = apart(&part, &theirs);
    assert!(alarm < 6.0, "{name}: {alarm:.1} standard deviations apart");
}

/// Standard deviations by which two samples of equal size differ more than two of one distribution.
fn apart(one: &HashMap<i64, u64>, other: &HashMap<i64, u64>) -> f64 {
    let (mut statistic, mut cells) = (0.0, 0.0);
    for x in -200..=200 {
        let [a, b] = [one, other].map(|seen| *seen.get(&x).unwrap_or(&0) as f64);
        if a + b >= 40.0 {
            statistic += (a - b).powi(2) / (a + b);
            cells += 1.0;
        }
    }
    deviations(statistic, cells)
}

/// Four scales, integer and not, from the operating system.
#[test]
fn laplace_values_have_their_exact_probabilities_and_are_distributed_as_those_of_opendp() {
    for (sensitivity, epsilon, scale) in
        [(2, 1.0, (2, 1)), (2, 0.9, (20, 9)), (1, 0.1, (10, 1)), (2, 7.3, (20, 73))]
    {
        let laplace = noise(sensitivity, epsilon);
        let mut entropy = OsEntropy::new();
        let theirs = RBig::from_parts(scale.0.into(), (scale.1 as u8).into());
        check(
            &format!("Laplace {}", laplace.scale()),
            || laplace.sample(&mut entropy).unwrap(),
            || i64::try_from(sample_discrete_laplace(theirs.clone()).unwrap()).unwrap(),
            |of, x| probability(of * laplace.scale(), x),
            0.5,
        );
    }
}

/// At deviations of 5.5 and 25, those of one and twenty keys of a user at epsilon 1 and delta 1e-9. Seeded.
#[test]
fn gaussian_values_have_their_exact_probabilities_and_are_distributed_as_those_of_opendp() {
    for (variance, sigma) in [((121, 4), (11, 2)), ((625, 1), (25, 1))] {
        let gaussian = DiscreteGaussian::new(variance.0, variance.1).unwrap();
        let sampler = Inversion::new(gaussian);
        let mut entropy = InsecureSeededEntropy::new(3);
        let theirs = RBig::from_parts(sigma.0.into(), (sigma.1 as u8).into());
        let probability = |of: f64, x: i64| {
            let variance = of * gaussian.variance();
            (-((x * x) as f64) / (2.0 * variance)).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
        };
        check(
            &format!("Gaussian {}", gaussian.sigma()),
            || sampler.sample(&mut entropy).unwrap(),
            || i64::try_from(sample_discrete_gaussian(theirs.clone()).unwrap()).unwrap(),
            probability,
            1.0 / 1.02,
        );
    }
}

/// The tail summed value by value in floats, which are exact enough here: no chance lies within 1e-9 of a
/// tail.
#[test]
fn tau_is_the_least_threshold_that_keeps_delta_with_the_mass_at_the_threshold() {
    for epsilon in [0.05, 0.5, 0.9, 1.0, 3.0] {
        let scale = 2.0 / epsilon;
        let tail = |m: i64| (m..m + 40 * (scale as i64 + 1)).map(|x| probability(scale, x)).sum::<f64>();
        for delta in [0.3, 0.1, 1e-3, 1e-6, 1e-9, 1e-12] {
            let tau = Threshold::for_open_keys(noise(2, epsilon), delta).value() as i64;
            let named = tail(tau - 1);
            assert!(named <= delta, "epsilon {epsilon}, delta {delta}: {named} at tau {tau}");
            assert!(tail(tau - 2) > delta, "epsilon {epsilon}, delta {delta}: {tau} is not the least");
        }
    }
}
