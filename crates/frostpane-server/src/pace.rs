//! How often something may be done.

use std::time::{Duration, Instant};

/// Turns that come back with time.
#[derive(Debug)]
pub struct Pace {
    a_second: f64,
    at_once: f64,
    left: f64,
    since: Instant,
}

impl Pace {
    /// So many turns a second, and so many at once.
    pub fn new(a_second: u32, at_once: u32) -> Self {
        Self {
            a_second: f64::from(a_second),
            at_once: f64::from(at_once),
            left: f64::from(at_once),
            since: Instant::now(),
        }
    }

    /// Takes a turn, or says how long it takes until there is one.
    pub fn turn(&mut self) -> Result<(), Duration> {
        let now = Instant::now();
        let passed = now.duration_since(self.since).as_secs_f64();
        self.since = now;
        self.left = (self.left + passed * self.a_second).min(self.at_once);
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.left) / self.a_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_back_with_time() {
        let mut pace = Pace::new(1, 3);
        assert_eq!((0..4).filter(|_| pace.turn().is_ok()).count(), 3);
        let wait = pace.turn().unwrap_err();
        assert!(wait <= Duration::from_secs(1));
        pace.since -= Duration::from_secs(2);
        assert!(pace.turn().is_ok() && pace.turn().is_ok());
        pace.since -= Duration::from_secs(1_000);
        assert_eq!(
            (0..4).filter(|_| pace.turn().is_ok()).count(),
            3,
            "no more at once"
        );
    }
}
