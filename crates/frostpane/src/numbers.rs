//! Numbers and durations as text: in messages of this library, and in what is written about a release.

use std::time::Duration;

/// A whole number with commas between its thousands.
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

const TENTH: u64 = 100_000;
const WHOLE: u64 = 1_000_000;

/// The unit that a number of bytes is rounded to: a tenth of a megabyte, or a whole one from 10 MB on.
fn step_of(bytes: u64) -> u64 {
    if bytes < 10 * WHOLE { TENTH } else { WHOLE }
}

/// A number of bytes in megabytes, rounded up.
pub fn megabytes(bytes: u64) -> String {
    match step_of(bytes) {
        TENTH => format!("{:.1} MB", bytes.div_ceil(TENTH) as f64 / 10.0),
        whole => format!("{} MB", bytes.div_ceil(whole)),
    }
}

/// The number of bytes that [`megabytes`] writes.
pub(crate) fn in_megabytes(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(step_of(bytes)).unwrap_or(u64::MAX)
}

/// A number of bytes in megabytes, rounded down: of a memory that is too small, beside one that suffices.
pub(crate) fn megabytes_below(bytes: u64) -> String {
    megabytes(bytes / step_of(bytes) * step_of(bytes))
}

/// A duration in its largest unit and the next, rounded where these two cannot express it.
pub fn spoken(time: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let seconds = time.as_secs();
    let largest = UNITS.iter().position(|(unit, _)| seconds >= *unit).unwrap_or(3);
    let (unit, name) = UNITS[largest];
    let Some((smaller, smaller_name)) = UNITS.get(largest + 1) else {
        return plural(seconds, name);
    };
    let rounded = (seconds + smaller / 2) / smaller * smaller;
    match rounded % unit {
        _ if rounded != seconds => spoken(Duration::from_secs(rounded)),
        0 => plural(seconds / unit, name),
        rest => format!("{} {}", plural(seconds / unit, name), plural(rest / smaller, smaller_name)),
    }
}

fn plural(number: u64, name: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {name}{ending}", grouped(number))
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
