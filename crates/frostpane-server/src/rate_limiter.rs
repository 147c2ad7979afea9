//! Limits how often something may be done.

use std::time::{Duration, Instant};

/// A token bucket: turns accrue with time, up to a burst.
#[derive(Debug)]
pub struct RateLimiter {
    per_second: f64,
    burst: f64,
    left: f64,
    /// The time of the last call of `turn`.
    pub since: Instant,
}

impl RateLimiter {
    pub fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        Self {
            per_second: f64::from(per_second),
            burst: f64::from(burst),
            left: f64::from(burst),
            since: now,
        }
    }

    /// Takes a turn, or returns the time until there is one.
    pub fn turn(&mut self, now: Instant) -> Result<(), Duration> {
        let passed = now.duration_since(self.since).as_secs_f64();
        self.since = now;
        self.left = (self.left + passed * self.per_second).min(self.burst);
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.left) / self.per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_back_with_time() {
        let start = Instant::now();
        let mut limiter = RateLimiter::new(1, 3, start);
        let mut turns = |seconds| {
            let now = start + Duration::from_secs(seconds);
            (0..9).take_while(|_| limiter.turn(now).is_ok()).count()
        };
        assert_eq!([turns(0), turns(2), turns(3), turns(1_000)], [3, 2, 1, 3]);
        assert_eq!(limiter.turn(start + Duration::from_secs(1_000)), Err(Duration::from_secs(1)));
    }
}
