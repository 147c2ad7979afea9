//! Searches for the least number that satisfies a monotone condition.

/// The least of `from..=to`; `to` if none before satisfies the condition.
pub fn first(from: u64, to: u64, has: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from, to.max(from));
    while low < high {
        let middle = low + (high - low) / 2;
        if has(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// The least of all numbers, one by one from a guess that lies close.
pub fn first_near(guess: u64, has: impl Fn(u64) -> bool) -> u64 {
    let mut number = guess;
    while !has(number) {
        number += 1;
    }
    while number > 0 && has(number - 1) {
        number -= 1;
    }
    number
}
