//! Numbers as text.

use frostpane::numbers::grouped;

/// A number of times.
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", grouped(number)),
    }
}

/// The factor by which a privacy loss of epsilon may raise the probability of an outcome, rounded up.
pub fn likelier(epsilon: f64) -> String {
    if epsilon <= 10.0 {
        format!("{:.1} times", (epsilon.exp() * 10.0).ceil() / 10.0)
    } else {
        format!("e^{epsilon} times")
    }
}

/// A small probability.
pub fn one_in(chance: f64) -> String {
    format!("1 in {}", grouped(plain(1.0 / chance) as u64))
}

/// The number without the rounding errors of the sums that led to it.
pub fn plain(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// A share in percent, to two decimal places.
pub fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_never_better_than_said() {
        assert_eq!(likelier(1.0), "2.8 times");
        assert_eq!(likelier(0.1), "1.2 times");
        assert_eq!(likelier(20.0), "e^20 times");
        assert_eq!(one_in(1e-9), "1 in 1,000,000,000");
        assert_eq!(one_in(0.3), "1 in 3");
        assert_eq!([0, 1, 1_000].map(times), ["0 times", "once", "1,000 times"]);
    }
}
