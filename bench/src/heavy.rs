//! The number of L1 and of L2 heavy hitters of real streams at the alpha of the paper's own example, as the table of
//! `docs/paper.md`.

use hashbrown::HashMap;

use crate::BenchResult;
use crate::real::lines;

const STREAMS: [&str; 4] = ["baseball_batter", "flights_route", "homebrew_formula", "nycflights_dest"];
/// One over alpha.
const SHARE: u64 = 500;

pub fn run() -> BenchResult {
    println!("| stream | events | keys | L1 | L2 |");
    println!("|---|---|---|---|---|");
    for name in STREAMS {
        let Some(text) = lines(name)? else {
            continue;
        };
        let mut counts = HashMap::<&[u8], u64>::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let key = line.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
            *counts.entry(key).or_insert(0) += 1;
        }
        let counts: Vec<u64> = counts.into_values().collect();
        let [l1, l2] = heavy(&counts);
        println!("| {name} | {} | {} | {l1} | {l2} |", counts.iter().sum::<u64>(), counts.len());
    }
    Ok(())
}

/// The keys with at least alpha of the L1 norm, and of the L2 norm.
fn heavy(counts: &[u64]) -> [usize; 2] {
    let events: u64 = counts.iter().sum();
    let squares: u128 = counts.iter().map(|count| u128::from(*count).pow(2)).sum();
    let of_l1 = counts.iter().filter(|count| **count * SHARE >= events);
    let of_l2 = counts.iter().filter(|count| u128::from(**count * SHARE).pow(2) >= squares);
    [of_l1.count(), of_l2.count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_at_the_bound_is_heavy() {
        assert_eq!(heavy(&[300; 500]), [500, 500]);
        assert_eq!(heavy(&[300; 501]), [0, 501]);
        assert_eq!(heavy(&[1, 500]), [1, 1]);
        assert_eq!(heavy(&[1; 250_000]), [0, 250_000]);
        assert_eq!(heavy(&[1; 250_001]), [0, 0]);
    }
}
