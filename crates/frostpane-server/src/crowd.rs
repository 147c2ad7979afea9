//! Shares: how many of something each caller holds at once.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The holder of a share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// The token with this id.
    Token(String),
    /// Callers of one network who have no token.
    Network(IpAddr),
}

/// For each holder how many it has.
#[derive(Debug)]
pub struct Crowd<W>(Arc<Mutex<HashMap<W, usize>>>);

/// One of a holder's share, given back when it is dropped.
#[derive(Debug)]
pub struct Place<W: Eq + Hash>(Crowd<W>, W);

impl<W> Default for Crowd<W> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<W> Clone for Crowd<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Eq + Hash + Clone> Crowd<W> {
    /// One more for a holder, if it has fewer than so many.
    pub fn enter(&self, who: W, most: usize) -> Option<Place<W>> {
        let mut all = self.lock();
        let count = all.entry(who.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place(self.clone(), who))
    }
}

impl<W> Crowd<W> {
    fn lock(&self) -> MutexGuard<'_, HashMap<W, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Eq + Hash> Drop for Place<W> {
    fn drop(&mut self) {
        let mut all = self.0.lock();
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
    }
}

/// An address, or of the sixth version its network: whoever has one has all of it.
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
        let crowd = Crowd::default();
        let of = |text: &str| Who::Network(network(text.parse().unwrap()));
        let held: Vec<Place<Who>> = (0..3).map_while(|_| crowd.enter(of("192.0.2.1"), 2)).collect();
        assert_eq!(held.len(), 2);
        assert!(crowd.enter(of("192.0.2.2"), 2).is_some());
        assert!(crowd.enter(Who::Token("one".to_owned()), 2).is_some());
        drop(held);
        assert!(crowd.enter(of("192.0.2.1"), 2).is_some());
        assert!(crowd.lock().is_empty(), "who has none is not remembered");
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
