//! Numbers as people read them.

use std::time::Duration;

/// A whole number with its thousands set apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How often.
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", grouped(number)),
    }
}

/// How much likelier an outcome may become at a privacy loss of epsilon, rounded up.
pub fn likelier(epsilon: f64) -> String {
    match epsilon <= 10.0 {
        true => format!("{:.1} times", (epsilon.exp() * 10.0).ceil() / 10.0),
        false => format!("e^{epsilon} times"),
    }
}

/// A small chance.
pub fn one_in(chance: f64) -> String {
    format!("1 in {}", grouped(plain(1.0 / chance) as u64))
}

/// A small number as it was meant, without the dust of its sums.
pub fn plain(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// A share in percent, to two digits.
pub fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

const TENTH: u64 = 100_000;
const WHOLE: u64 = 1_000_000;

/// The tenths, or the whole of many, that a number of bytes is said in.
fn step_of(bytes: u64) -> u64 {
    if bytes < 10 * WHOLE { TENTH } else { WHOLE }
}

/// A number of bytes, rounded up.
pub fn megabytes(bytes: u64) -> String {
    match step_of(bytes) {
        TENTH => format!("{:.1} MB", bytes.div_ceil(TENTH) as f64 / 10.0),
        whole => format!("{} MB", bytes.div_ceil(whole)),
    }
}

/// The number of bytes that [`megabytes`] says.
pub(crate) fn in_megabytes(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(step_of(bytes)).unwrap_or(u64::MAX)
}

/// A number of bytes, rounded down: what is too small is less than what would do.
pub(crate) fn megabytes_below(bytes: u64) -> String {
    megabytes(bytes / step_of(bytes) * step_of(bytes))
}

/// A time in its largest unit and the next, or cut down to the largest if these two cannot say it.
pub fn spoken(time: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let seconds = time.as_secs();
    let largest = UNITS.iter().position(|(unit, _)| seconds >= *unit).unwrap_or(3);
    let (unit, name) = UNITS[largest];
    let Some((smaller, smaller_name)) = UNITS.get(largest + 1) else {
        return some(seconds, name);
    };
    let rounded = (seconds + smaller / 2) / smaller * smaller;
    match rounded % unit {
        _ if rounded != seconds => spoken(Duration::from_secs(rounded)),
        0 => some(seconds / unit, name),
        rest => format!(
            "{} {}",
            some(seconds / unit, name),
            some(rest / smaller, smaller_name)
        ),
    }
}

fn some(number: u64, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {name}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn odds_are_never_better_than_said() {
        assert_eq!(likelier(1.0), "2.8 times");
        assert_eq!(likelier(0.1), "1.2 times");
        assert_eq!(likelier(20.0), "e^20 times");
        assert_eq!(one_in(1e-9), "1 in 1,000,000,000");
        assert_eq!(one_in(0.3), "1 in 3");
        assert_eq!([0, 1, 1_000].map(times), ["0 times", "once", "1,000 times"]);
    }

    #[test]
    fn sizes_are_rounded_to_what_is_said() {
        for (bytes, said, number, below) in [
            (0, "0.0 MB", 0, "0.0 MB"),
            (7_310_000, "7.4 MB", 7_400_000, "7.3 MB"),
            (7_400_000, "7.4 MB", 7_400_000, "7.4 MB"),
            (9_900_001, "10.0 MB", 10_000_000, "9.9 MB"),
            (10_000_000, "10 MB", 10_000_000, "10 MB"),
            (64_000_001, "65 MB", 65_000_000, "64 MB"),
        ] {
            assert_eq!((megabytes(bytes).as_str(), in_megabytes(bytes)), (said, number));
            assert_eq!(megabytes_below(bytes), below);
        }
    }

    #[test]
    fn times_are_spoken_in_their_largest_units() {
        for (seconds, expected) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (90, "1 minute 30 seconds"),
            (5_400, "1 hour 30 minutes"),
            (7_200, "2 hours"),
            (14_399, "4 hours"),
            (86_399, "1 day"),
            (82_000, "22 hours 47 minutes"),
            (86_400, "1 day"),
            (100 * 3_600, "4 days 4 hours"),
            (30 * 86_400, "30 days"),
        ] {
            assert_eq!(spoken(Duration::from_secs(seconds)), expected);
        }
    }
}
