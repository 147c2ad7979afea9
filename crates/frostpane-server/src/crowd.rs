//! How many connections an address has.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For each address how many it has.
#[derive(Clone, Debug, Default)]
pub struct Crowd(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A place among them.
#[derive(Debug)]
pub struct Place(Crowd, IpAddr);

impl Crowd {
    /// One more for an address, if it has fewer than so many.
    pub fn enter(&self, address: IpAddr, most: usize) -> Option<Place> {
        let mut all = self.lock();
        let count = all.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place(self.clone(), address))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
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
    fn an_address_has_so_many_places_and_gives_them_back() {
        let crowd = Crowd::default();
        let of = |text: &str| network(text.parse().unwrap());
        let held: Vec<Place> = (0..3).map_while(|_| crowd.enter(of("192.0.2.1"), 2)).collect();
        assert_eq!(held.len(), 2);
        assert!(crowd.enter(of("192.0.2.2"), 2).is_some());
        drop(held);
        assert!(crowd.enter(of("192.0.2.1"), 2).is_some());
        assert!(crowd.lock().is_empty(), "who has none is not remembered");
        assert_eq!(of("2001:db8::1"), of("2001:db8::2:3"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
