//! The clock of the machine, as far as it is believed: what it ends is ended for good.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::{List, Store, now};

/// While a process runs, the clock may go this much faster or slower than time itself, or by a slide if that is longer: a minute.
const ASTRAY: i64 = 60_000_000;
/// At a start it may be this far ahead of a state, or four slides if they are longer, unless the operator accepts it: a day.
const AHEAD: i64 = 86_400_000_000;
/// Small errors do not add up: what was right is forgotten after this time.
const FRESH: i64 = 60_000_000;
/// A source that is drained holds up the clock at most so long after it last brought what had been taken before.
const DRAINING: Duration = Duration::from_secs(60);
/// Slides that are ended in one transaction.
const SLIDES: i64 = 64;

/// The wall clock for one state, and the only judge of it: it never goes back, a jump stops it until the operator has looked, and while a
/// source is drained it ends nothing. [`Store::clock`] makes one.
///
/// A time that the operator tells ([`Store::tick`]) is not judged by it.
#[derive(Debug)]
pub struct Clock {
    /// How far ahead of a state it may be when it is first looked at.
    ahead: i64,
    /// How far from time itself afterwards.
    astray: i64,
    /// How far behind a state at any time: events that are right would be of the future by more than they may.
    behind: i64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// When it was last found right: by a clock that nobody sets and that goes on while the machine sleeps, and by itself.
    right: Option<(i64, i64)>,
    /// Since when a source is drained.
    draining: Option<Instant>,
}

/// Why the wall clock is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockError {
    /// The state has come further than the clock.
    Behind,
    /// It is far ahead of what the state has come to.
    Ahead,
    /// It has jumped while the process ran.
    Jumped,
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Behind => {
                "the clock of this machine is behind what the stream has come to, because it was set back or the stream was restored: no event \
                 is taken until it has come there"
            }
            Self::Ahead => {
                "the clock of this machine is far ahead of what the stream has come to: no slide is ended and no event taken until the operator \
                 says that it is right, with --accept-clock"
            }
            Self::Jumped => {
                "the clock of this machine has jumped: no slide is ended and no event taken until it is right, or the process is started anew"
            }
        })
    }
}

impl std::error::Error for ClockError {}

impl Clock {
    /// For slides of this length; accepted is that it may be ahead at the start.
    fn new(slide: i64, tolerance: Duration, accepted: bool) -> Self {
        Self {
            ahead: match accepted {
                true => i64::MAX,
                false => AHEAD.max(slide.saturating_mul(4)),
            },
            astray: ASTRAY.max(slide),
            behind: i64::try_from(tolerance.as_micros()).unwrap_or(i64::MAX),
            seen: Mutex::default(),
        }
    }

    /// What time it is for a state that has come to this moment, if to any, in microseconds since 1970; or why nobody knows.
    pub fn read(&self, reached: Option<i64>) -> std::result::Result<i64, ClockError> {
        self.judge(passed(), now(), reached)
    }

    fn judge(&self, at: i64, wall: i64, reached: Option<i64>) -> std::result::Result<i64, ClockError> {
        let from = reached.unwrap_or(wall);
        if wall < from.saturating_sub(self.behind) {
            return Err(ClockError::Behind);
        }
        let mut seen = self.seen();
        match seen.right {
            None if wall.saturating_sub(from) > self.ahead => return Err(ClockError::Ahead),
            Some((since, right)) if wall.abs_diff(right + (at - since)) > self.astray as u64 => {
                return Err(ClockError::Jumped);
            }
            _ => {}
        }
        if seen.right.is_none_or(|(since, _)| at - since > FRESH) {
            seen.right = Some((at, wall));
        }
        Ok(wall.max(from))
    }

    /// What waits at a source comes before the clock: it ends nothing from now on, until the source is drained or a minute has passed.
    pub fn drain(&self) {
        self.seen().draining = Some(Instant::now());
    }

    /// What waited at the source has been taken.
    pub fn drained(&self) {
        self.seen().draining = None;
    }

    /// Whether what waits at a source comes before the clock.
    pub fn is_draining(&self) -> bool {
        let since = self.seen().draining;
        since.is_some_and(|since| since.elapsed() < DRAINING)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: StoredKey> Store<K> {
    /// The wall clock for this state, whose events may be this much later than it. The operator accepts that it is ahead of the state at
    /// first, however far; that it is behind nobody can accept.
    pub fn clock(&self, tolerance: Duration, accepted: bool) -> Clock {
        Clock::new(self.slide().unwrap_or(0), tolerance, accepted)
    }

    /// What time it is by the wall clock, or why nobody knows.
    pub fn present(&self, clock: &Clock) -> Result<i64> {
        let reached = self.stream.now();
        let is_known = reached > 0 && !self.stream.spec().longest().is_by_count();
        clock.read(is_known.then_some(reached)).map_err(Error::Clock)
    }

    /// Time has come to where the wall clock is, unless a source is drained: a few slides in each transaction.
    pub fn tick_by(&mut self, clock: &Clock) -> Result<Vec<List<K>>> {
        let mut lists = Vec::new();
        let Some(slide) = self.slide().filter(|_| !clock.is_draining()) else {
            return Ok(lists);
        };
        let present = self.present(clock)?;
        loop {
            let reached = self.stream.clock();
            let until = match reached > 0 {
                true => reached.saturating_add(slide.saturating_mul(SLIDES)).min(present),
                false => present,
            };
            lists.extend(self.tick(until)?);
            if until == present || self.stream.clock() <= reached {
                return Ok(lists);
            }
        }
    }

    /// How long a slide, or an epoch, is that the clock ends, in microseconds.
    fn slide(&self) -> Option<i64> {
        let number = self.stream.numbers().end;
        let slide = self.stream.begins(number + 1) - self.stream.begins(number);
        (self.stream.clock() != i64::MAX).then_some(slide.max(1))
    }
}

/// Microseconds since the machine was started, also while it slept.
#[cfg(target_os = "linux")]
fn passed() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let since = clock_gettime(ClockId::Boottime);
    since.tv_sec * 1_000_000 + since.tv_nsec / 1_000
}

/// Microseconds since this process first asked.
#[cfg(not(target_os = "linux"))]
fn passed() -> i64 {
    static FIRST: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let first = FIRST.get_or_init(Instant::now);
    i64::try_from(first.elapsed().as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;
    const HOUR: i64 = 3_600 * SECOND;
    const NOW: i64 = 1_800_000_000 * SECOND;

    fn clock(slide: i64, accepted: bool) -> Clock {
        Clock::new(slide, Duration::from_secs(5), accepted)
    }

    #[test]
    fn at_a_start_it_may_be_neither_behind_nor_far_ahead() {
        let judged = |reached: i64, accepted: bool| clock(2 * SECOND, accepted).judge(0, NOW, Some(reached));
        assert_eq!(judged(NOW - HOUR, false), Ok(NOW));
        assert_eq!(judged(NOW + 4 * SECOND, false), Ok(NOW + 4 * SECOND));
        assert_eq!(judged(NOW + 6 * SECOND, false), Err(ClockError::Behind));
        assert_eq!(
            judged(NOW + 6 * SECOND, true),
            Err(ClockError::Behind),
            "whatever is said"
        );
        assert_eq!(judged(NOW - 25 * HOUR, false), Err(ClockError::Ahead));
        assert_eq!(judged(NOW - 25 * HOUR, true), Ok(NOW), "said to be right");
        let weekly = clock(168 * HOUR, false).judge(0, NOW, Some(NOW - 600 * HOUR));
        assert_eq!(weekly, Ok(NOW), "four slides");
        assert_eq!(clock(0, false).judge(0, NOW, None), Ok(NOW));
    }

    #[test]
    fn what_is_set_back_is_behind_until_it_has_come_there_again() {
        let clock = clock(SECOND, false);
        assert_eq!(clock.judge(0, NOW, Some(NOW - SECOND)), Ok(NOW));
        // Half an hour back, which a stream with longer slides would take for right.
        let back = NOW - HOUR / 2;
        assert_eq!(
            clock.judge(SECOND, back + SECOND, Some(NOW)),
            Err(ClockError::Behind)
        );
        assert_eq!(
            clock.judge(HOUR / 2, NOW, Some(NOW)),
            Err(ClockError::Jumped),
            "time itself has gone on"
        );
    }

    #[test]
    fn it_is_believed_again_when_it_is_right_again() {
        let clock = clock(SECOND, false);
        let reached = Some(NOW);
        let before = clock.judge(0, NOW - 24 * HOUR, reached);
        assert_eq!(before, Err(ClockError::Behind), "before its time is set");
        assert_eq!(clock.judge(0, NOW, reached), Ok(NOW));
        assert_eq!(
            clock.judge(0, NOW + 61 * SECOND, reached),
            Err(ClockError::Jumped)
        );
        assert_eq!(clock.judge(0, NOW - 2 * HOUR, None), Err(ClockError::Jumped));
        let later = NOW + 59 * SECOND;
        assert_eq!(clock.judge(0, later, reached), Ok(later));
    }

    #[test]
    fn small_errors_do_not_add_up() {
        let clock = clock(SECOND, false);
        for step in 0..1_000 {
            // Half a second too much in every minute and a bit.
            let (at, wall) = (61 * SECOND * step, 61 * SECOND * step * 121 / 120);
            assert!(clock.judge(at, NOW + wall, None).is_ok(), "{step}");
        }
    }

    #[test]
    fn it_ends_nothing_while_a_source_is_drained() {
        let clock = clock(SECOND, false);
        assert!(!clock.is_draining());
        clock.drain();
        assert!(clock.is_draining());
        assert!(clock.judge(0, NOW, None).is_ok(), "what time it is can be asked");
        clock.drained();
        assert!(!clock.is_draining());
        let long_ago = Instant::now().checked_sub(DRAINING);
        clock.seen().draining = long_ago;
        assert!(
            long_ago.is_none() || !clock.is_draining(),
            "for a minute at the most"
        );
    }
}
