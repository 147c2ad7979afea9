//! How often an address may ask without a token.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::crowd::network;

/// Addresses that are remembered at once.
const REMEMBERED: usize = 16_384;

/// For each address how many requests it has left, and since when.
#[derive(Debug, Default)]
pub struct Rate {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    left: HashMap<IpAddr, (f64, Instant)>,
    /// When those were last looked for that have all of theirs again.
    swept: Option<Instant>,
}

impl Rate {
    /// Whether an address may ask once more, of so many requests a second; as many may come at once.
    pub fn allows(&self, address: IpAddr, most: u32) -> bool {
        let address = network(address);
        let most = f64::from(most);
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.left.len() >= REMEMBERED && !known.left.contains_key(&address) && !known.sweep(now) {
            return false;
        }
        let (left, since) = known.left.entry(address).or_insert((most, now));
        *left = (*left + now.duration_since(*since).as_secs_f64() * most).min(most);
        *since = now;
        let allowed = *left >= 1.0;
        if allowed {
            *left -= 1.0;
        }
        allowed
    }
}

impl Known {
    /// Forgets those whose second is over, which have all of theirs again, once a second. Returns whether there is room.
    fn sweep(&mut self, now: Instant) -> bool {
        let is_over = |since: Instant| now.duration_since(since).as_secs() >= 1;
        if self.swept.is_none_or(is_over) {
            self.swept = Some(now);
            self.left.retain(|_, (_, since)| !is_over(*since));
        }
        self.left.len() < REMEMBERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_one_address_and_takes_no_place_of_others() {
        let rate = Rate::default();
        let of = |text: &str| text.parse::<IpAddr>().unwrap();
        for last in 0..30_000_u32 {
            rate.allows(of(&format!("2001:db8::{:x}:{:x}", last >> 16, last & 0xffff)), 5);
        }
        assert!(!rate.allows(of("2001:db8::ffff"), 5));
        assert!(rate.allows(of("2001:db8:0:1::1"), 5));
        assert!(rate.allows(of("192.0.2.1"), 5));
        assert!(rate.allows(of("::ffff:192.0.2.2"), 1) && !rate.allows(of("192.0.2.2"), 1));
    }
}
