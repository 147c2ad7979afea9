//! Limits how many connections, requests or plans each holder has at once.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::OwnedSemaphorePermit;

use crate::sync;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    Token(String),
    /// Clients of one network that have no token.
    Network(IpAddr),
}

/// The number of permits of each holder.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLimit(Arc<Mutex<HashMap<Holder, usize>>>);

/// One of a holder's permits, returned when it is dropped.
#[derive(Debug)]
pub struct Permit(ConnectionLimit, Holder);

impl ConnectionLimit {
    /// Takes one more permit for a holder, if it has fewer than so many.
    pub fn acquire(&self, holder: Holder, most: usize) -> Option<Permit> {
        let mut all = sync::lock(&self.0);
        let count = all.entry(holder.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Permit(self.clone(), holder))
    }

    /// The same; a holder that is not known has no limit of its own.
    pub fn share(&self, holder: Option<Holder>, most: usize) -> Option<OwnPermit> {
        match holder {
            Some(holder) => self.acquire(holder, most).map(Some),
            None => Some(None),
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut all = sync::lock(&self.0.0);
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}

/// A holder's own permit, unless the holder is not known.
pub type OwnPermit = Option<Permit>;

/// A holder's own permit, and one of a limit for all callers together.
pub type SharedPermit = (OwnPermit, OwnedSemaphorePermit);

/// Reduces an IPv6 address to its /64 network, all of which one client has.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_has_so_many_places_and_gives_them_back() {
        let limit = ConnectionLimit::default();
        let of = |text: &str| Holder::Network(network(text.parse().unwrap()));
        let held: Vec<Permit> = (0..3).map_while(|_| limit.acquire(of("192.0.2.1"), 2)).collect();
        assert_eq!(held.len(), 2);
        assert!(limit.acquire(of("192.0.2.2"), 2).is_some());
        assert!(limit.acquire(Holder::Token("one".to_owned()), 2).is_some());
        drop(held);
        assert!(limit.acquire(of("192.0.2.1"), 2).is_some());
        assert!(sync::lock(&limit.0).is_empty(), "a holder without permits is not remembered");
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
