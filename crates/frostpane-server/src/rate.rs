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
    left: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

impl Rate {
    /// Whether an address may ask once more, of so many requests a second; as many may come at once.
    pub fn allows(&self, address: IpAddr, most: u32) -> bool {
        let address = network(address);
        let most = f64::from(most);
        let now = Instant::now();
        let mut all = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED && !all.contains_key(&address) {
            // Those whose second is over have all of theirs again.
            all.retain(|_, (_, since)| now.duration_since(*since).as_secs() < 1);
            if all.len() >= REMEMBERED {
                return false;
            }
        }
        let (left, since) = all.entry(address).or_insert((most, now));
        *left = (*left + now.duration_since(*since).as_secs_f64() * most).min(most);
        *since = now;
        let allowed = *left >= 1.0;
        if allowed {
            *left -= 1.0;
        }
        allowed
    }
}
