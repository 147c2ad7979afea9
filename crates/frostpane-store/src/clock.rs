//! The wall clock, with checks of its plausibility: a slide that it ends cannot be reopened.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::store::{ContinualRelease, Store, now};

/// The clock may deviate from elapsed time by this or a slide, whichever is longer: a minute.
const DEVIATION: i64 = 60_000_000;
/// At the start it may be ahead of a store by this or four slides, whichever is longer, unless the operator
/// accepts it: a day.
const AHEAD: i64 = 86_400_000_000;
/// The reference is renewed after this time, so that small errors do not add up: a minute.
const FRESH: i64 = 60_000_000;
/// A source that is being drained holds up the clock for at most this time.
const DRAINING: Duration = Duration::from_secs(60);
/// Slides that one transaction ends.
const SLIDES: i64 = 64;

/// The wall clock of one store. It never goes back, a jump stops it until the operator has looked, and while
/// a source is being drained it ends no slide. [`Store::clock`] makes one.
///
/// A time that the operator gives ([`Store::tick`]) is not checked.
#[derive(Debug)]
pub struct WallClock {
    /// The maximal lead over the store at the first reading, in microseconds.
    ahead: i64,
    /// The maximal deviation from elapsed time afterwards, in microseconds.
    deviation: i64,
    /// The maximal lag behind the store at any time, in microseconds: with more, correct events would count
    /// as too early.
    behind: i64,
    seen: Mutex<ClockState>,
}

#[derive(Debug, Default)]
struct ClockState {
    /// The last plausible reading: by a monotonic clock that includes sleep, and by the wall clock.
    reference: Option<(i64, i64)>,
    /// The moment since which a source is being drained.
    draining: Option<Instant>,
}

/// The reason why the wall clock is implausible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockError {
    /// The clock is behind the store.
    Behind,
    /// The clock is far ahead of the store.
    Ahead,
    /// The clock has jumped while the process ran.
    Jumped,
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Behind => {
                "the clock of this machine is behind what the stream has come to, because it was set back or \
                 the stream was restored: no event is taken until it has come there"
            }
            Self::Ahead => {
                "the clock of this machine is far ahead of what the stream has come to: no slide is ended \
                 and no event taken until the operator says that it is right, with --accept-clock"
            }
            Self::Jumped => {
                "the clock of this machine has jumped: no slide is ended and no event taken until it is \
                 right, or the process is started anew"
            }
        })
    }
}

impl std::error::Error for ClockError {}

impl WallClock {
    fn new(slide: i64, tolerance: Duration, accepted: bool) -> Self {
        Self {
            ahead: if accepted { i64::MAX } else { AHEAD.max(slide.saturating_mul(4)) },
            deviation: DEVIATION.max(slide),
            behind: i64::try_from(tolerance.as_micros()).unwrap_or(i64::MAX),
            seen: Mutex::default(),
        }
    }

    /// The time for a store that has reached this moment, in microseconds since 1970.
    pub fn read(&self, reached: Option<i64>) -> std::result::Result<i64, ClockError> {
        self.judge(passed(), now(), reached)
    }

    fn judge(&self, at: i64, wall: i64, reached: Option<i64>) -> std::result::Result<i64, ClockError> {
        let from = reached.unwrap_or(wall);
        if wall < from.saturating_sub(self.behind) {
            return Err(ClockError::Behind);
        }
        let mut seen = self.seen();
        match seen.reference {
            None if wall.saturating_sub(from) > self.ahead => return Err(ClockError::Ahead),
            Some((since, right)) if wall.abs_diff(right + (at - since)) > self.deviation as u64 => {
                return Err(ClockError::Jumped);
            }
            _ => {}
        }
        if seen.reference.is_none_or(|(since, _)| at - since > FRESH) {
            seen.reference = Some((at, wall));
        }
        Ok(wall.max(from))
    }

    /// Marks a source as being drained: the clock ends no slide until then, or for a minute.
    pub fn drain(&self) {
        self.seen().draining = Some(Instant::now());
    }

    /// Marks the source as drained.
    pub fn drained(&self) {
        self.seen().draining = None;
    }

    /// Returns true while a source is being drained.
    pub fn is_draining(&self) -> bool {
        let since = self.seen().draining;
        since.is_some_and(|since| since.elapsed() < DRAINING)
    }

    fn seen(&self) -> MutexGuard<'_, ClockState> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: StoredKey> Store<K> {
    /// The wall clock of this store, whose events may be later than the clock by `tolerance`. With `accepted`
    /// the operator accepts any lead of the clock at the start; a lag cannot be accepted.
    pub fn clock(&self, tolerance: Duration, accepted: bool) -> WallClock {
        WallClock::new(self.slide().unwrap_or(0), tolerance, accepted)
    }

    /// The time by the wall clock.
    pub fn present(&self, clock: &WallClock) -> Result<i64> {
        let reached = self.stream.now();
        let is_known = reached > 0 && !self.stream.spec().longest().is_by_count();
        clock.read(is_known.then_some(reached)).map_err(Error::Clock)
    }

    /// Advances time to the wall clock, unless a source is being drained: a few slides in each transaction.
    pub fn tick_by(&mut self, clock: &WallClock) -> Result<Vec<ContinualRelease<K>>> {
        let mut lists = Vec::new();
        let Some(slide) = self.slide().filter(|_| !clock.is_draining()) else {
            return Ok(lists);
        };
        let present = self.present(clock)?;
        loop {
            let reached = self.stream.clock();
            let until = if reached > 0 {
                reached.saturating_add(slide.saturating_mul(SLIDES)).min(present)
            } else {
                present
            };
            lists.extend(self.tick(until)?);
            if until == present || self.stream.clock() <= reached {
                return Ok(lists);
            }
        }
    }

    /// The length of a slide, or an epoch, in microseconds; none if the clock ends none.
    fn slide(&self) -> Option<i64> {
        let number = self.stream.numbers().end;
        let slide = self.stream.begins(number + 1) - self.stream.begins(number);
        (self.stream.clock() != i64::MAX).then_some(slide.max(1))
    }
}

/// Microseconds since the machine was started, sleep included.
#[cfg(target_os = "linux")]
fn passed() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let since = clock_gettime(ClockId::Boottime);
    since.tv_sec * 1_000_000 + since.tv_nsec / 1_000
}

/// Microseconds since the first call of this process.
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

    fn clock(slide: i64, accepted: bool) -> WallClock {
        WallClock::new(slide, Duration::from_secs(5), accepted)
    }

    #[test]
    fn at_a_start_it_may_be_neither_behind_nor_far_ahead() {
        let judged = |reached: i64, accepted: bool| clock(2 * SECOND, accepted).judge(0, NOW, Some(reached));
        assert_eq!(judged(NOW - HOUR, false), Ok(NOW));
        assert_eq!(judged(NOW + 4 * SECOND, false), Ok(NOW + 4 * SECOND));
        assert_eq!(judged(NOW + 6 * SECOND, false), Err(ClockError::Behind));
        assert_eq!(judged(NOW + 6 * SECOND, true), Err(ClockError::Behind), "whatever is said");
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
        // Within the tolerance of a stream with longer slides.
        let back = NOW - HOUR / 2;
        assert_eq!(clock.judge(SECOND, back + SECOND, Some(NOW)), Err(ClockError::Behind));
        assert_eq!(clock.judge(HOUR / 2, NOW, Some(NOW)), Err(ClockError::Jumped), "time itself has gone on");
    }

    #[test]
    fn it_is_believed_again_when_it_is_right_again() {
        let clock = clock(SECOND, false);
        let reached = Some(NOW);
        let before = clock.judge(0, NOW - 24 * HOUR, reached);
        assert_eq!(before, Err(ClockError::Behind), "before its time is set");
        assert_eq!(clock.judge(0, NOW, reached), Ok(NOW));
        assert_eq!(clock.judge(0, NOW + 61 * SECOND, reached), Err(ClockError::Jumped));
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
        assert!(long_ago.is_none() || !clock.is_draining(), "for a minute at the most");
    }
}
