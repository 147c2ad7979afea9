//! The noise against its exact probabilities and against OpenDP's sampler; thresholds against delta.

use std::collections::HashMap;
use std::time::Instant;

use dashu::rational::RBig;
use frostpane::testing::{
    DiscreteGaussian, DiscreteLaplace, Epsilon, InsecureSeededEntropy, Inversion, OsEntropy, Threshold,
};
use frostpane::{HeavyHitters, Keys, Norm, Window};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

fn noise(sensitivity: u32, epsilon: f64) -> DiscreteLaplace {
    DiscreteLaplace::new(sensitivity, Epsilon::new(epsilon).unwrap())
}

/// `Pr[X = x]` in floats: the formula, not the code under test.
fn probability(scale: f64, x: i64) -> f64 {
    let p = (-1.0 / scale).exp();
    (1.0 - p) / (1.0 + p) * p.powi(x.unsigned_abs() as i32)
}

/// Pearson's statistic over the values expected at least 20 times with the rest in one cell, and the degrees
/// of freedom.
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

/// Four scales, integer and not, a million draws each from the operating system. An alarm at 5.5 standard
/// deviations is false less than once in ten million runs.
#[test]
fn values_have_their_exact_probabilities() {
    for (sensitivity, epsilon) in [(2, 1.0), (2, 0.9), (1, 0.1), (2, 7.3)] {
        let noise = noise(sensitivity, epsilon);
        let mut entropy = OsEntropy::new();
        let mut seen = HashMap::new();
        let draws = 1_000_000;
        for _ in 0..draws {
            *seen.entry(noise.sample(&mut entropy).unwrap()).or_insert(0) += 1;
        }
        let scale = f64::from(sensitivity) / epsilon;
        let (statistic, freedom) = chi_square(&seen, draws, |x| probability(scale, x));
        let alarm = deviations(statistic, freedom);
        assert!(alarm < 5.5, "scale {scale}: {alarm:.1} standard deviations");
        let (half, _) = chi_square(&seen, draws, |x| probability(scale / 2.0, x));
        assert!(deviations(half, freedom) > 5.5, "half the noise would pass");
    }
}

/// Two samples of 300,000, at the scale of an L2 release. The same alarm.
#[test]
fn values_are_distributed_as_those_of_opendp() {
    let ours = noise(2, 0.9);
    let scale = RBig::from_parts(20.into(), 9u8.into());
    let draws = 300_000;
    let mut entropy = OsEntropy::new();
    let (mut seen, mut vetted) = (HashMap::new(), HashMap::new());
    let start = Instant::now();
    for _ in 0..draws {
        *seen.entry(ours.sample(&mut entropy).unwrap()).or_insert(0_u64) += 1;
    }
    let ours_took = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for _ in 0..draws {
        let value = i64::try_from(sample_discrete_laplace(scale.clone()).unwrap()).unwrap();
        *vetted.entry(value).or_insert(0_u64) += 1;
    }
    let theirs_took = start.elapsed().as_secs_f64();
    println!(
        "draws a second: ours {:.0}, OpenDP's {:.0}",
        draws as f64 / ours_took,
        draws as f64 / theirs_took
    );

    let alarm = apart(&seen, &vetted);
    assert!(alarm < 5.5, "{alarm:.1} standard deviations apart");
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

/// At deviations of 5.5 and 25, those of one and twenty keys of a user at epsilon 1 and delta 1e-9: a million
/// seeded values against their exact probabilities, and 100,000 of them against OpenDP's, which cannot be
/// seeded: an alarm at 8 standard deviations is false less than once in 10^14 runs.
#[test]
fn gaussian_values_have_their_exact_probabilities_and_are_distributed_as_those_of_opendp() {
    for (variance, sigma) in [((121, 4), (11, 2)), ((625, 1), (25, 1))] {
        let gaussian = DiscreteGaussian::new(variance.0, variance.1).unwrap();
        let sampler = Inversion::new(gaussian);
        let mut entropy = InsecureSeededEntropy::new(3);
        let (mut seen, mut part, mut vetted) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (draws, few) = (1_000_000, 100_000);
        let start = Instant::now();
        for number in 0..draws {
            let value = sampler.sample(&mut entropy).unwrap();
            *seen.entry(value).or_insert(0) += 1;
            if number < few {
                *part.entry(value).or_insert(0_u64) += 1;
            }
        }
        let ours_took = start.elapsed().as_secs_f64() / draws as f64;
        let probability = |variance: f64, x: i64| {
            (-((x * x) as f64) / (2.0 * variance)).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
        };
        let (statistic, freedom) = chi_square(&seen, draws, |x| probability(gaussian.variance(), x));
        let alarm = deviations(statistic, freedom);
        assert!(alarm < 5.5, "sigma {}: {alarm:.1} standard deviations", gaussian.sigma());
        let (half, _) = chi_square(&seen, draws, |x| probability(gaussian.variance() / 1.02, x));
        assert!(deviations(half, freedom) > 5.5, "a hundredth less noise would pass");

        let start = Instant::now();
        for _ in 0..few {
            let sigma = RBig::from_parts(sigma.0.into(), (sigma.1 as u8).into());
            let value = i64::try_from(sample_discrete_gaussian(sigma).unwrap()).unwrap();
            *vetted.entry(value).or_insert(0_u64) += 1;
        }
        println!(
            "Gaussian draws a second: ours {:.0}, OpenDP's {:.0}",
            1.0 / ours_took,
            few as f64 / start.elapsed().as_secs_f64()
        );
        let alarm = apart(&part, &vetted);
        assert!(alarm < 8.0, "{alarm:.1} standard deviations apart");
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

/// A delta that is exactly a float above or below a tail: floats alone could not decide these.
#[test]
fn tau_is_exact_next_to_the_boundary() {
    let noise = noise(2, 1.0);
    for m in [1_u64, 5, 20, 60] {
        let tail = noise.tail(m, 128).approximate();
        let above = f64::from_bits(tail.to_bits() + 2);
        let below = f64::from_bits(tail.to_bits() - 2);
        assert_eq!(Threshold::for_open_keys(noise, above).value(), m + 1);
        assert_eq!(Threshold::for_open_keys(noise, below).value(), m + 2);
    }
}

/// Of 200,000 single events a release lists some. Delta is just above the exact chance, so their mean number
/// is delta times 200,000 and the count above it by 6 standard deviations has a chance below 1e-8; a
/// threshold less one names 1.6 times as many.
#[test]
fn no_more_single_events_are_named_than_delta_allows() {
    let singles = 200_000_u64;
    let noise = noise(2, 1.0);
    let delta = noise.tail(7, 128).approximate() * (1.0 + 1e-9);
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .alpha(1e-9)
        .delta(delta)
        .window(Window::events(singles))
        .build()
        .unwrap();
    for key in 0..singles {
        hitters.update(key).unwrap();
    }
    let release = hitters.release().unwrap();
    assert_eq!(release.threshold, 8);
    let allowed = delta * singles as f64;
    let limit = allowed + 6.0 * allowed.sqrt();
    let named = release.heavy.len() as f64;
    assert!(named <= limit && named >= allowed - 6.0 * allowed.sqrt(), "{named} named, {allowed} allowed");

    let less_one = noise.tail(6, 128).approximate() * singles as f64;
    assert!(less_one - 6.0 * less_one.sqrt() > limit, "the test has no power");
    let mut entropy = InsecureSeededEntropy::new(1);
    let mutant = (0..singles)
        .filter(|_| 1 + noise.sample(&mut entropy).unwrap() >= release.threshold as i64 - 1)
        .count();
    assert!(mutant as f64 > limit, "a threshold less one passes: {mutant} named");
}
