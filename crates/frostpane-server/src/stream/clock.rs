//! Whether the clock on the wall can be believed: what it ends is ended for good.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// While the service runs, the clock may go this much faster or slower than time itself: an hour.
const ASTRAY: i64 = 3_600_000_000;
/// At a start it may be this far ahead of a stream, or four slides if they are longer, unless that is said to be right: a day.
const AHEAD: i64 = 86_400_000_000;
/// At a start it may be this far behind: a minute.
const BEHIND: i64 = 60_000_000;
/// Small errors do not add up: what was right is forgotten after this time.
const FRESH: Duration = Duration::from_secs(60);

/// The clock on the wall, as far as it is believed.
#[derive(Debug)]
pub struct Clock {
    /// When it was last found right, by a clock that nobody sets.
    right: Option<(Instant, i64)>,
    /// What the stream had come to when it was gone on with, if to anything.
    reached: Option<i64>,
    /// How far ahead of that it may be.
    ahead: i64,
}

impl Clock {
    /// For a stream that has come to this moment, if it has come to any.
    pub fn new(reached: Option<i64>, slide: i64, accepted: bool) -> Self {
        Self {
            right: None,
            reached,
            ahead: match accepted {
                true => i64::MAX,
                false => AHEAD.max(slide.saturating_mul(4)),
            },
        }
    }

    /// What time it is, if the clock can be right; or why it cannot.
    pub fn read(&mut self) -> Result<i64, &'static str> {
        self.judge(Instant::now(), now())
    }

    fn judge(&mut self, at: Instant, wall: i64) -> Result<i64, &'static str> {
        match self.right {
            None => self.begin(wall)?,
            Some((since, right)) => {
                let passed = i64::try_from(at.duration_since(since).as_micros()).unwrap_or(i64::MAX);
                if wall.abs_diff(right.saturating_add(passed)) > ASTRAY as u64 {
                    return Err(
                        "the clock of this machine has jumped: no slide is ended and no event taken until it is right, or the service is started anew",
                    );
                }
            }
        }
        if self
            .right
            .is_none_or(|(since, _)| at.duration_since(since) > FRESH)
        {
            self.right = Some((at, wall));
        }
        Ok(wall)
    }

    /// That it can be right, seen from what the stream has come to.
    fn begin(&self, wall: i64) -> Result<(), &'static str> {
        let Some(reached) = self.reached else {
            return Ok(());
        };
        if wall < reached.saturating_sub(BEHIND) {
            return Err(
                "the clock of this machine is behind what the stream has come to: no event is taken until it is right",
            );
        }
        match wall.saturating_sub(reached) <= self.ahead {
            true => Ok(()),
            false => Err(
                "the clock of this machine is far ahead of what the stream has come to: no slide is ended and no event taken until the operator says \
                 that it is right, with --accept-clock",
            ),
        }
    }
}

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;
    const HOUR: i64 = 3_600 * SECOND;
    const NOW: i64 = 1_800_000_000 * SECOND;

    #[test]
    fn at_a_start_it_may_be_neither_behind_nor_far_ahead() {
        let judged = |reached: i64, accepted: bool| {
            let mut clock = Clock::new(Some(reached), 2 * SECOND, accepted);
            clock.judge(Instant::now(), NOW).is_ok()
        };
        assert!(judged(NOW - HOUR, false) && judged(NOW + 59 * SECOND, false));
        assert!(!judged(NOW + 61 * SECOND, false), "behind");
        assert!(!judged(NOW + HOUR, true), "behind, whatever is said");
        assert!(!judged(NOW - 25 * HOUR, false), "ahead");
        assert!(judged(NOW - 25 * HOUR, true), "ahead, and said to be right");
        let mut weekly = Clock::new(Some(NOW - 600 * HOUR), 168 * HOUR, false);
        assert!(weekly.judge(Instant::now(), NOW).is_ok(), "four slides");
        let mut new = Clock::new(None, 0, false);
        assert!(new.judge(Instant::now(), NOW).is_ok());
    }

    #[test]
    fn it_is_believed_again_when_it_is_right_again() {
        let began = Instant::now();
        let mut clock = Clock::new(Some(NOW), SECOND, false);
        assert!(
            clock.judge(began, NOW - 24 * HOUR).is_err(),
            "before its time is set"
        );
        assert_eq!(clock.judge(began, NOW), Ok(NOW));
        assert!(clock.judge(began, NOW + 2 * HOUR).is_err());
        assert!(clock.judge(began, NOW - 2 * HOUR).is_err());
        assert!(clock.judge(began, NOW + HOUR / 2).is_ok());
    }

    #[test]
    fn small_errors_do_not_add_up() {
        let began = Instant::now();
        let mut clock = Clock::new(Some(NOW), SECOND, false);
        for step in 0..100 {
            // An hour and a half pass in each hour that a machine that sleeps counts.
            let at = began + Duration::from_secs(3_600 * step);
            assert!(
                clock.judge(at, NOW + step as i64 * HOUR * 3 / 2).is_ok(),
                "{step}"
            );
        }
    }
}
