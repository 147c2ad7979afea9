//! Limits how often an address may ask without a token.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use crate::http::connection_limit::network;
use crate::rate_limiter::RateLimiter;
use crate::sync;

const REMEMBERED: usize = 16_384;

/// A rate limiter for each network.
#[derive(Debug, Default)]
pub struct AddressRates(Mutex<RateTable>);

#[derive(Debug, Default)]
struct RateTable {
    limiters: HashMap<IpAddr, RateLimiter>,
    swept: Option<Instant>,
}

impl AddressRates {
    /// Takes one of the turns of an address, so many a second and at once. Returns false if none is left.
    pub fn allows(&self, address: IpAddr, most: u32) -> bool {
        let address = network(address);
        let now = Instant::now();
        let mut table = sync::lock(&self.0);
        if table.limiters.len() >= REMEMBERED && !table.limiters.contains_key(&address) && !table.sweep(now) {
            return false;
        }
        let limiter = table.limiters.entry(address);
        limiter.or_insert_with(|| RateLimiter::new(most, most, now)).turn(now).is_ok()
    }
}

impl RateTable {
    /// Once a second, forgets addresses that did not ask for a second: they have all of their turns again.
    /// Returns true if there is room for one more.
    fn sweep(&mut self, now: Instant) -> bool {
        let is_over = |since: Instant| now.duration_since(since).as_secs() >= 1;
        if self.swept.is_none_or(is_over) {
            self.swept = Some(now);
            self.limiters.retain(|_, limiter| !is_over(limiter.since));
        }
        self.limiters.len() < REMEMBERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_one_address_and_takes_no_place_of_others() {
        let rates = AddressRates::default();
        let of = |text: &str| text.parse::<IpAddr>().unwrap();
        for last in 0..30_000_u32 {
            rates.allows(of(&format!("2001:db8::{:x}:{:x}", last >> 16, last & 0xffff)), 5);
        }
        assert!(!rates.allows(of("2001:db8::ffff"), 5));
        assert!(rates.allows(of("2001:db8:0:1::1"), 5));
        assert!(rates.allows(of("192.0.2.1"), 5));
        assert!(rates.allows(of("::ffff:192.0.2.2"), 1) && !rates.allows(of("192.0.2.2"), 1));
    }
}
