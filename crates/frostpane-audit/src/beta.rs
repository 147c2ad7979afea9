//! The regularised incomplete beta function, for binomial tails.

/// Terms of the continued fraction at most: far more than 10^8 runs need.
const MOST_TERMS: u32 = 100_000;
const TINY: f64 = 1e-300;
const ACCURACY: f64 = 1e-15;

/// `I_x(a, b)` for positive `a` and `b`.
pub fn regularised(x: f64, a: f64, b: f64) -> f64 {
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
}
