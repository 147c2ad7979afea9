//! Whether the clock on the wall can be believed: what it ends is ended for good.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// While the service runs, the clock may go this much faster or slower than time itself, or by a slide if that is longer: a minute.
const ASTRAY: i64 = 60_000_000;
/// At a start it may be this far ahead of a stream, or four slides if they are longer, unless that is said to be right: a day.
const AHEAD: i64 = 86_400_000_000;
/// Small errors do not add up: what was right is forgotten after this time.
const FRESH: i64 = 60_000_000;

/// The clock on the wall, as far as it is believed.
#[derive(Debug)]
pub struct Clock {
    /// When it was last found right: by a clock that nobody sets and that goes on while the machine sleeps, and by itself.
    right: Option<(i64, i64)>,
    /// How far ahead of a stream it may be when it is first looked at.
    ahead: i64,
    /// How far from time itself afterwards.
    astray: i64,
    /// How far behind a stream at any time: events that are right would be of the future by more than they may.
    behind: i64,
}

/// Why it is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The stream has come further than the clock.
    Behind,
    /// It is far ahead of what the stream has come to.
    Ahead,
    /// It has jumped.
    Jumped,
}

impl Doubt {
    /// What it means, and until when.
    pub fn why(self) -> &'static str {
        match self {
            Self::Behind => {
                "the clock of this machine is behind what the stream has come to, because it was set back or the stream was restored: no event \
                 is taken until it has come there"
            }
            Self::Ahead => {
                "the clock of this machine is far ahead of what the stream has come to: no slide is ended and no event taken until the operator \
                 says that it is right, with --accept-clock"
            }
            Self::Jumped => {
                "the clock of this machine has jumped: no slide is ended and no event taken until it is right, or the service is started anew"
            }
        }
    }
}

impl Clock {
    /// For a stream with slides of this length, whose events may be this much later than the clock; accepted is that it may be ahead.
    pub fn new(slide: i64, tolerance: i64, accepted: bool) -> Self {
        Self {
            right: None,
            ahead: match accepted {
                true => i64::MAX,
                false => AHEAD.max(slide.saturating_mul(4)),
            },
            astray: ASTRAY.max(slide),
            behind: tolerance,
        }
    }

    /// What time it is for a stream that has come to this moment, if to any; or why nobody knows.
    pub fn read(&mut self, reached: Option<i64>) -> Result<i64, Doubt> {
        self.judge(passed(), now(), reached)
    }

    fn judge(&mut self, at: i64, wall: i64, reached: Option<i64>) -> Result<i64, Doubt> {
        let from = reached.unwrap_or(wall);
        if wall < from.saturating_sub(self.behind) {
            return Err(Doubt::Behind);
        }
        match self.right {
            None if wall.saturating_sub(from) > self.ahead => return Err(Doubt::Ahead),
            Some((since, right)) if wall.abs_diff(right + (at - since)) > self.astray as u64 => {
                return Err(Doubt::Jumped);
            }
            _ => {}
        }
        if self.right.is_none_or(|(since, _)| at - since > FRESH) {
            self.right = Some((at, wall));
        }
        Ok(wall.max(from))
    }
}

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}

/// Microseconds since the machine was started.
fn passed() -> i64 {
    let since = clock_gettime(ClockId::Boottime);
    since.tv_sec * 1_000_000 + since.tv_nsec / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;
    const HOUR: i64 = 3_600 * SECOND;
    const NOW: i64 = 1_800_000_000 * SECOND;

    fn clock(slide: i64, accepted: bool) -> Clock {
        Clock::new(slide, 5 * SECOND, accepted)
    }

    #[test]
    fn at_a_start_it_may_be_neither_behind_nor_far_ahead() {
        let judged = |reached: i64, accepted: bool| clock(2 * SECOND, accepted).judge(0, NOW, Some(reached));
        assert_eq!(judged(NOW - HOUR, false), Ok(NOW));
        assert_eq!(judged(NOW + 4 * SECOND, false), Ok(NOW + 4 * SECOND));
        assert_eq!(judged(NOW + 6 * SECOND, false), Err(Doubt::Behind));
        assert_eq!(
            judged(NOW + 6 * SECOND, true),
            Err(Doubt::Behind),
            "whatever is said"
        );
        assert_eq!(judged(NOW - 25 * HOUR, false), Err(Doubt::Ahead));
        assert_eq!(judged(NOW - 25 * HOUR, true), Ok(NOW), "said to be right");
        let weekly = clock(168 * HOUR, false).judge(0, NOW, Some(NOW - 600 * HOUR));
        assert_eq!(weekly, Ok(NOW), "four slides");
        assert_eq!(clock(0, false).judge(0, NOW, None), Ok(NOW));
    }

    #[test]
    fn what_is_set_back_is_behind_until_it_has_come_there_again() {
        let mut clock = clock(SECOND, false);
        assert_eq!(clock.judge(0, NOW, Some(NOW - SECOND)), Ok(NOW));
        // Half an hour back, which a stream with longer slides would take for right.
        let back = NOW - HOUR / 2;
        assert_eq!(clock.judge(SECOND, back + SECOND, Some(NOW)), Err(Doubt::Behind));
        assert_eq!(
            clock.judge(HOUR / 2, NOW, Some(NOW)),
            Err(Doubt::Jumped),
            "time itself has gone on"
        );
    }

    #[test]
    fn it_is_believed_again_when_it_is_right_again() {
        let mut clock = clock(SECOND, false);
        let reached = Some(NOW);
        let before = clock.judge(0, NOW - 24 * HOUR, reached);
        assert_eq!(before, Err(Doubt::Behind), "before its time is set");
        assert_eq!(clock.judge(0, NOW, reached), Ok(NOW));
        assert_eq!(clock.judge(0, NOW + 61 * SECOND, reached), Err(Doubt::Jumped));
        assert_eq!(clock.judge(0, NOW - 2 * HOUR, None), Err(Doubt::Jumped));
        let later = NOW + 59 * SECOND;
        assert_eq!(clock.judge(0, later, reached), Ok(later));
    }

    #[test]
    fn small_errors_do_not_add_up() {
        let mut clock = clock(SECOND, false);
        for step in 0..1_000 {
            // Half a second too much in every minute and a bit.
            let (at, wall) = (61 * SECOND * step, 61 * SECOND * step * 121 / 120);
            assert!(clock.judge(at, NOW + wall, None).is_ok(), "{step}");
        }
    }
}
