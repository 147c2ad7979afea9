#![doc = include_str!("bound.md")]

/// Halvings of the interval in which a probability lies.
const HALVINGS: u32 = 45;
/// Terms of the continued fraction at most: far more than 10^8 runs need.
const MOST_TERMS: u32 = 100_000;
const TINY: f64 = 1e-300;
const ACCURACY: f64 = 1e-15;

/// The least probability that `hits` of `runs` are compatible with, but for a chance of `failure`.
pub fn low(hits: u64, runs: u64, failure: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (hits, misses) = (hits as f64, (runs - hits) as f64);
    bisect((0.0, 1.0), HALVINGS, |p| regularised(p, hits, misses + 1.0) < failure)
}

/// The largest probability that `hits` of `runs` are compatible with, but for a chance of `failure`.
pub fn high(hits: u64, runs: u64, failure: f64) -> f64 {
    1.0 - low(runs - hits, runs, failure)
}

/// The begin of the interval in which a condition ceases to hold.
pub(crate) fn bisect((mut low, mut high): (f64, f64), halvings: u32, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..halvings {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// The least epsilon compatible with outcomes seen `hits[0]` times on one stream and `hits[1]` times on the
/// other, in `runs` runs each.
pub fn epsilon(hits: [u64; 2], runs: u64, delta: f64, failure: f64) -> f64 {
    let likely = low(hits[0], runs, failure / 2.0) - delta;
    if likely <= 0.0 {
        return 0.0;
    }
    (likely / high(hits[1], runs, failure / 2.0)).ln().max(0.0)
}

/// The bound for outcomes at exactly their expected frequencies: never less than the bound.
pub fn optimistic(hits: [u64; 2], runs: u64, delta: f64) -> f64 {
    let likely = hits[0] as f64 - delta * runs as f64;
    if likely > 0.0 { (likely / hits[1] as f64).ln() } else { 0.0 }
}

/// The regularised incomplete beta function `I_x(a, b)` for positive `a` and `b`, for binomial tails.
fn regularised(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean, and the function is symmetric.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularised(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    front.exp() * fraction(x, a, b) / a
}

/// Lentz's method for the continued fraction.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = product;
        for step in [even, odd] {
            d = 1.0 / away(1.0 + step * d);
            c = away(1.0 + step / c);
            product *= c * d;
        }
        if (product / before - 1.0).abs() < ACCURACY {
            break;
        }
    }
    product
}

/// The logarithm of the gamma function of a positive number (Lanczos).
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.5203681218851,
        -1259.1392167224028,
        771.3234287776531,
        -176.6150291621406,
        12.507343278686905,
        -0.13857109526572012,
        9.984369578019572e-6,
        1.5056327351493116e-7,
    ];
    let x = x - 1.0;
    let t = x + 7.5;
    let terms = COEFFICIENTS.iter().zip(1..);
    let sum: f64 = terms.map(|(coefficient, i)| coefficient / (x + f64::from(i))).sum();
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + (sum + 0.999_999_999_999_809_9).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `I_p(k, n-k+1)` is the probability of `k` or more heads of `n`: against the sum, term by term.
    #[test]
    fn it_is_the_tail_of_a_binomial() {
        for (n, p) in [(1, 0.3_f64), (10, 0.5), (40, 0.02), (200, 0.9)] {
            let mut terms = vec![(1.0 - p).powi(n)];
            for k in 1..=n {
                let step = f64::from(n - k + 1) / f64::from(k) * p / (1.0 - p);
                terms.push(terms[k as usize - 1] * step);
            }
            for k in 1..=n {
                let tail: f64 = terms[k as usize..].iter().sum();
                let beta = regularised(p, f64::from(k), f64::from(n - k + 1));
                assert!((beta - tail).abs() < 1e-11, "{n} {p} {k}: {beta} {tail}");
            }
        }
    }

    /// Against published values of the Clopper-Pearson interval at 95 %.
    #[test]
    fn intervals_are_those_of_clopper_and_pearson() {
        for (hits, runs, lowest, highest) in [
            (0, 10, 0.0, 0.308_497),
            (1, 10, 0.002_529, 0.445_016),
            (5, 10, 0.187_086, 0.812_914),
            (10, 10, 0.691_503, 1.0),
            (81, 263, 0.252_689, 0.367_630),
        ] {
            assert!((low(hits, runs, 0.025) - lowest).abs() < 1e-4, "{hits} of {runs}");
            assert!((high(hits, runs, 0.025) - highest).abs() < 1e-4, "{hits} of {runs}");
        }
    }

    #[test]
    fn what_delta_explains_is_no_loss() {
        assert_eq!(epsilon([100, 0], 1_000, 0.1, 0.01), 0.0);
        assert!(epsilon([200, 0], 1_000, 0.1, 0.01) > 1.0);
        assert_eq!(epsilon([0, 0], 1_000, 0.0, 0.01), 0.0);
    }
}
