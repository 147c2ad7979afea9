//! The Gaussian noise that a given privacy needs: [the proof](crate::proofs::discrete_gaussian).

use crate::noise::DiscreteGaussian;
use crate::noise::discrete_gaussian::{GREATEST_VARIANCE, LEAST_VARIANCE, ROUNDING};
use crate::noise::gaussian_tail::tail_between;
use crate::privacy::Epsilon;
use crate::search::first;

/// Variances are multiples of `1 / GRID`.
const GRID: u64 = 64;
/// Larger sums are refused: their tails would take long to add up.
const GREATEST_SUM: u64 = 1 << 40;
/// Twice the proven relative difference, for each added value, between the distribution of a sum and
/// that of one Gaussian value.
const EACH_TERM: f64 = 8e-17;

/// Bounds the relative difference between the probabilities of a sum of `terms` values and those of one
/// value of the total variance.
pub fn of_sum(terms: u64) -> f64 {
    EACH_TERM * terms as f64
}

impl DiscreteGaussian {
    /// The least variance found, in multiples of 1/64, at which `keys` counts that move by up to
    /// `shift` each, all in one direction, are `(epsilon, delta)`-private with one noise value each.
    /// `None` if no offered variance suffices.
    pub fn for_keys(keys: u32, shift: u32, epsilon: Epsilon, delta: f64) -> Option<Self> {
        let of = |parts: u64| Self::new(parts, GRID).filter(|gaussian| gaussian.sum_is_offered(keys));
        let is_enough = |parts: u64| of(parts).is_some_and(|it| it.delta(keys, shift, epsilon) <= delta);
        let mut high = LEAST_VARIANCE * GRID;
        while !is_enough(high) {
            high *= 2;
            if high > GREATEST_VARIANCE * GRID {
                return None;
            }
        }
        of(first((high / 2 + 1).max(LEAST_VARIANCE * GRID), high, is_enough))
    }

    /// The least variance, in multiples of 1/64, at which vectors that move by at most `sqrt(squares)`
    /// in L2 norm, in steps that may depend on earlier outputs, are `rho`-concentrated. `None` if no
    /// offered variance suffices.
    pub fn for_rho(squares: u64, rho: f64) -> Option<Self> {
        let parts = GRID as f64 * squares as f64 / (2.0 * rho) * (1.0 + ROUNDING);
        // NaN and numbers that are too large are refused.
        (rho > 0.0 && parts <= (GREATEST_VARIANCE * GRID) as f64)
            .then(|| (parts.ceil() as u64).max(LEAST_VARIANCE * GRID))
            .and_then(|parts| Self::new(parts, GRID))
    }

    /// A tight upper bound on the least `delta` for which `keys` counts that move by up to `shift`
    /// each, all in one direction, are `(epsilon, delta)`-private with one noise value each. It is
    /// above that by at most `3e-10` of the probability that the loss exceeds epsilon.
    pub fn delta(&self, keys: u32, shift: u32, epsilon: Epsilon) -> f64 {
        if keys == 0 || shift == 0 {
            return 0.0;
        }
        let Some(first) = self.first_beyond(keys, shift, epsilon) else {
            return 1.0;
        };
        let moved = i128::from(keys) * i128::from(shift);
        let [_, exceeds] = self.sum_reaches(keys, first);
        let [moved_exceeds, _] = self.sum_reaches(keys, first + moved);
        // A smaller factor subtracts less, so the bound holds.
        let factor = epsilon.as_f64().exp().min(f64::MAX);
        (exceeds - factor * moved_exceeds).clamp(0.0, 1.0)
    }

    /// The least sum of `keys` values at which the loss exceeds epsilon: the least integer above
    /// `variance epsilon / shift - keys shift / 2`. `None` if the numbers are too large.
    fn first_beyond(&self, keys: u32, shift: u32, epsilon: Epsilon) -> Option<i128> {
        let [keys, shift] = [keys, shift].map(i128::from);
        let [numerator, denominator] = [self.numerator, self.denominator].map(i128::from);
        let unit = i128::from(epsilon.denominator()).checked_mul(denominator)?;
        let spread = (2 * numerator).checked_mul(i128::from(epsilon.numerator()))?;
        let middle = (keys * shift).checked_mul(shift)?.checked_mul(unit)?;
        Some(spread.checked_sub(middle)?.div_euclid(unit.checked_mul(2 * shift)?) + 1)
    }

    /// Lower and upper bounds on the probability that a sum of `terms` values is at least `least`.
    fn sum_reaches(&self, terms: u32, least: i128) -> [f64; 2] {
        if least <= 0 {
            let [low, high] = self.sum_reaches(terms, 1 - least);
            return [1.0 - high, 1.0 - low];
        }
        let variance = f64::from(terms) * self.variance();
        let [low, high] = tail_between(variance, least as f64);
        let off = of_sum(terms.into());
        [low * (1.0 - off), high * (1.0 + off)]
    }

    fn sum_is_offered(&self, terms: u32) -> bool {
        u128::from(terms) * u128::from(self.numerator)
            <= u128::from(GREATEST_SUM) * u128::from(self.denominator)
    }
}

/// The largest `rho` found such that every `rho`-concentrated mechanism is `(epsilon, delta)`-private;
/// 0 if there is none.
pub fn rho_for(epsilon: Epsilon, delta: f64) -> f64 {
    let epsilon = epsilon.as_f64();
    let by = |log: f64| rho_by(1.0 + log.exp(), epsilon, delta);
    // Every order gives a valid `rho`; the best lies near the best of these.
    let coarse = (-400..=800).map(|step| f64::from(step) / 20.0);
    let best = coarse.fold(0.0, |best, log| if by(log) > by(best) { log } else { best });
    let fine = (-1_000..=1_000).map(|step| best + f64::from(step) / 20_000.0);
    fine.map(by).fold(0.0, f64::max) * (1.0 - ROUNDING)
}

/// From the order `alpha`: `delta = exp((alpha - 1)(alpha rho - epsilon)) / alpha (1 - 1/alpha)^(alpha
/// - 1)`, solved for `rho`.
fn rho_by(alpha: f64, epsilon: f64, delta: f64) -> f64 {
    let less = alpha - 1.0;
    let log = delta.ln() + alpha.ln() - less * (-1.0 / alpha).ln_1p();
    (epsilon + log / less) / alpha
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::discrete_gaussian::tests::{gaussian, mass};

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    /// `sum of max(0, P - e^epsilon Q)` over all values of the shifted keys, in both directions.
    fn enumerated(variance: f64, shifts: &[i64], epsilon: f64) -> [f64; 2] {
        let far = (9.0 * variance.sqrt()) as i64;
        let masses: Vec<f64> = (-2 * far..=2 * far).map(|x| mass(variance, x)).collect();
        let at = |x: i64| masses.get((x + 2 * far) as usize).copied().unwrap_or(0.0);
        let mut pairs = vec![[1.0, 1.0]];
        for shift in shifts {
            let each = (-far..=far + shift).map(|x| [at(x), at(x - shift)]);
            let each: Vec<[f64; 2]> = each.collect();
            let all = pairs.iter().flat_map(|[p, q]| each.iter().map(move |[r, s]| [p * r, q * s]));
            pairs = all.collect();
        }
        let part = |p: f64, q: f64| (p - epsilon.exp() * q).max(0.0);
        let sum = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>();
        [sum(&|[p, q]| part(*p, *q)), sum(&|[p, q]| part(*q, *p))]
    }

    #[test]
    fn delta_is_what_enumeration_finds_in_both_directions() {
        for (variance, keys, shift, given) in [
            (4.0, 1, 1, 1.0),
            (4.0, 1, 3, 0.5),
            (4.0, 2, 1, 1.0),
            (4.0, 2, 2, 0.25),
            (4.0, 3, 1, 0.7),
            (6.25, 3, 2, 1.3),
            (30.25, 1, 1, 1.0),
            (30.25, 1, 1, 0.05),
            (30.25, 2, 4, 2.0),
            (150.0, 1, 1, 1.0),
            // The loss is exactly epsilon where a sum is an integer, and next to it.
            (4.0, 2, 1, 0.25),
            (4.0, 2, 1, 0.250001),
            (4.0, 2, 1, 0.249999),
            // The loss is already epsilon at a sum below 0.
            (4.0, 2, 4, 0.1),
        ] {
            let found = gaussian(variance).delta(keys, shift, epsilon(given));
            let shifts = vec![i64::from(shift); keys as usize];
            for expected in enumerated(variance, &shifts, given) {
                assert!(
                    (found - expected).abs() < 1e-9 && found > expected - 1e-13,
                    "{variance} {keys} {shift} {given}: {found}, {expected} expected"
                );
            }
        }
    }

    /// All shifts of two keys, and of three: none exceeds the bound for the largest, nor do fewer keys.
    #[test]
    fn the_largest_shift_of_all_keys_is_the_worst() {
        for (most, given) in [(2, 0.3), (3, 1.0)] {
            for keys in [1_u32, 2, 3] {
                let found = gaussian(4.0).delta(keys, most as u32, epsilon(given));
                let all = (0..(most + 1_i64).pow(keys)).filter(|number| keys < 3 || number % 5 == 4);
                for number in all {
                    let shift = |key: u32| number / (most + 1).pow(key) % (most + 1);
                    let shifts: Vec<i64> = (0..keys).map(shift).collect();
                    let worst = enumerated(4.0, &shifts, given).into_iter().fold(0.0, f64::max);
                    assert!(worst <= found + 1e-12, "{shifts:?}: {worst} {found}");
                }
                assert!(keys == 1 || gaussian(4.0).delta(keys - 1, most as u32, epsilon(given)) < found);
            }
        }
    }

    /// Sums of two and five values of the least variance, by full convolution: within the bound. A
    /// millionth of the bound is below what floats can tell.
    #[test]
    fn a_sum_is_gaussian_itself() {
        let far = 60_i64;
        let one: Vec<f64> = (-far..=far).map(|x| mass(4.0, x)).collect();
        let mut sum = one.clone();
        for terms in 2..=5_u32 {
            let last = sum.len() as i64 - 1 + 2 * far;
            sum = (0..=last)
                .map(|i| {
                    let pairs = (0..=2 * far).filter(|j| (0..sum.len() as i64).contains(&(i - j)));
                    pairs.map(|j| one[j as usize] * sum[(i - j) as usize]).sum()
                })
                .collect();
            for x in [0, 1, 3, 10, 20] {
                let found = sum[(x + i64::from(terms) * far) as usize];
                let expected = mass(4.0 * f64::from(terms), x);
                assert!((found / expected - 1.0).abs() < 1e-13, "{terms} {x}");
                let reaches: f64 = sum[(x + i64::from(terms) * far) as usize..].iter().sum();
                let [low, high] = gaussian(4.0).sum_reaches(terms, x.into());
                assert!(low < reaches && reaches < high && high / low - 1.0 < 3e-10, "{terms} {x}");
            }
        }
    }

    #[test]
    fn the_variance_is_the_least_on_its_grid() {
        for (keys, shift, given, delta) in [
            (1, 1, 1.0, 1e-9),
            (5, 1, 1.0, 1e-9),
            (20, 1, 1.0, 1e-9),
            (3, 4, 0.5, 1e-6),
            (1_000, 1, 1.0, 1e-9),
            (1, 1, 0.01, 1e-9),
        ] {
            let found = DiscreteGaussian::for_keys(keys, shift, epsilon(given), delta).unwrap();
            assert!(found.delta(keys, shift, epsilon(given)) <= delta);
            let parts = (found.variance() * 64.0) as u64;
            let less = DiscreteGaussian::new(parts - 1, 64).unwrap();
            assert!(less.delta(keys, shift, epsilon(given)) > delta, "{keys} {shift}");
        }
        let deviation = |keys| DiscreteGaussian::for_keys(keys, 1, epsilon(1.0), 1e-9).unwrap().sigma();
        for (keys, sigma) in [(1, 5.5), (5, 12.3), (20, 24.6)] {
            assert!((deviation(keys) - sigma).abs() < 0.05, "{keys}: {}", deviation(keys));
        }
    }

    #[test]
    fn what_is_too_small_or_too_large_is_not_offered() {
        let for_keys =
            |keys, shift, given, delta| DiscreteGaussian::for_keys(keys, shift, epsilon(given), delta);
        assert_eq!(for_keys(1, 1, 50.0, 1e-3).unwrap().variance(), 4.0, "as small as it gets");
        assert_eq!(for_keys(1, 1, 1e-6, 1e-9), None);
        assert_eq!(for_keys(u32::MAX, 1, 1.0, 1e-9), None);
        assert_eq!(for_keys(u32::MAX, u32::MAX, 1e6, 1e-9), None);
        assert_eq!(for_keys(1, 1, 1.0, 0.0), None);
        assert_eq!(DiscreteGaussian::for_rho(1, 0.0), None);
        assert_eq!(DiscreteGaussian::for_rho(1, -1.0), None);
        assert_eq!(DiscreteGaussian::for_rho(1, f64::NAN), None);
        assert_eq!(DiscreteGaussian::for_rho(1 << 40, 0.5), None);
        assert_eq!(DiscreteGaussian::for_rho(1, 10.0).unwrap().variance(), 4.0);
        assert_eq!(gaussian(4.0).delta(0, 1, epsilon(1.0)), 0.0);
        assert_eq!(gaussian(4.0).delta(1, 0, epsilon(1.0)), 0.0);
        assert_eq!(gaussian(4.0).delta(1, 1, epsilon(1e6)), f64::MIN_POSITIVE * (1.0 + of_sum(1)));
    }

    /// `rho = squares / (2 variance)`, rounded up to the grid of variances.
    #[test]
    fn the_variance_for_rho_is_rounded_up_on_its_grid() {
        for (squares, rho) in [(1, 0.01), (20, 0.0123), (45, 0.5), (7, 1e-6)] {
            let variance = DiscreteGaussian::for_rho(squares, rho).unwrap().variance();
            let exact = squares as f64 / (2.0 * rho);
            assert!(variance >= exact && variance < exact * (1.0 + 1e-9) + 1.0 / 64.0, "{squares} {rho}");
        }
    }

    /// Compared with an independent search over order and rho, and with the curve of the continuous
    /// Gaussian, which is `rho`-concentrated and so must have a delta that is no larger.
    #[test]
    fn rho_is_hardly_less_than_the_largest_that_delta_allows() {
        for (given, delta) in [(1.0, 1e-9), (0.1, 1e-6), (5.0, 1e-12), (0.001, 1e-9), (20.0, 0.01)] {
            let found = rho_for(epsilon(given), delta);
            let delta_by = |alpha: f64, rho: f64| {
                let log = (alpha - 1.0) * (alpha * rho - given) - alpha.ln();
                (log + (alpha - 1.0) * (1.0 - 1.0 / alpha).ln()).exp()
            };
            let least = |rho: f64| {
                let orders = (1..40_000).map(|step| 1.0 + 1e-3 * (f64::from(step) / 1_500.0).exp());
                orders.map(|alpha| delta_by(alpha, rho)).fold(1.0, f64::min)
            };
            assert!(least(found) <= delta * (1.0 + 1e-5), "{given} {delta}");
            assert!(least(found * 1.001) > delta, "{given} {delta}");
            if let Some(gaussian) = DiscreteGaussian::for_rho(1, found) {
                assert!(gaussian.delta(1, 1, epsilon(given)) <= delta, "{given} {delta}");
            }
            // Bun and Steinke: epsilon = rho + 2 sqrt(rho log(1/delta)) is valid too, and worse.
            let log = -delta.ln();
            assert!(found > ((log + given).sqrt() - log.sqrt()).powi(2), "{given} {delta}");
        }
        assert_eq!(rho_for(epsilon(1.0), 0.0), 0.0);
    }
}
