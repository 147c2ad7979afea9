//! Whether the clock on the wall can be believed: what it ends is ended for good.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// While the service runs, the clock may go this much faster or slower than time itself: an hour.
const ASTRAY: i64 = 3_600_000_000;
/// At a start it may be this far ahead of a stream, or four slides if they are longer, unless that is said to be right: a day.
const AHEAD: i64 = 86_400_000_000;
/// At a start it may be this far behind: a minute.
const BEHIND: i64 = 60_000_000;

/// The clock on the wall, as far as it is believed.
#[derive(Debug)]
pub struct Clock {
    /// When it was last found right, by a clock that nobody sets.
    right: Option<(Instant, i64)>,
}

impl Clock {
    /// For a stream that has come to this moment, if it has come to any.
    pub fn new(reached: Option<i64>, slide: i64, accepted: bool) -> Self {
        let wall = now();
        let ahead = AHEAD.max(slide.saturating_mul(4));
        let is_right = match reached {
            None => true,
            Some(reached) => wall >= reached - BEHIND && (accepted || wall - reached <= ahead),
        };
        Self {
            right: is_right.then(|| (Instant::now(), wall)),
        }
    }

    /// What time it is, if it went as fast as time does.
    pub fn read(&mut self) -> Option<i64> {
        let (since, at) = self.right?;
        let wall = now();
        let passed = i64::try_from(since.elapsed().as_micros()).unwrap_or(i64::MAX);
        if wall.abs_diff(at.saturating_add(passed)) > ASTRAY as u64 {
            return None;
        }
        // Small errors do not add up.
        if since.elapsed() > Duration::from_secs(60) {
            self.right = Some((Instant::now(), wall));
        }
        Some(wall)
    }
}

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
