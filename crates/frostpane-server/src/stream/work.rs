//! For how long the thread that has a stream's state has been waiting for its disk, told without asking the disk.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Moments are told by how long after this one they are.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// What the thread does with its state, if it does something.
#[derive(Debug, Default)]
pub struct Work {
    /// When it began, in microseconds; 0 if nothing goes on.
    since: AtomicU64,
    /// When something ended last, in microseconds; 0 if nothing has.
    ended: AtomicU64,
}

/// Something that goes on as long as this is held; none if it is part of something that went on before.
pub struct Working<'a>(Option<&'a Work>);

impl Work {
    /// Something begins.
    pub fn begin(&self) -> Working<'_> {
        let begun = self
            .since
            .compare_exchange(0, passed().max(1), Ordering::Relaxed, Ordering::Relaxed);
        Working(begun.is_ok().then_some(self))
    }

    /// For how long something has been going on.
    pub fn lasts(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_micros(passed().saturating_sub(since)),
        }
    }

    /// Whether something has ended since so long ago.
    pub fn ended_within(&self, time: Duration) -> bool {
        match self.ended.load(Ordering::Relaxed) {
            0 => false,
            ended => Duration::from_micros(passed().saturating_sub(ended)) <= time,
        }
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if let Some(work) = self.0 {
            work.ended.store(passed().max(1), Ordering::Relaxed);
            work.since.store(0, Ordering::Relaxed);
        }
    }
}

fn passed() -> u64 {
    u64::try_from(START.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_from_the_outermost_beginning_to_its_end() {
        let work = Work::default();
        assert!(work.lasts() == Duration::ZERO && !work.ended_within(Duration::MAX));
        let outer = work.begin();
        std::thread::sleep(Duration::from_millis(5));
        drop(work.begin());
        assert!(work.lasts() >= Duration::from_millis(5));
        assert!(!work.ended_within(Duration::MAX), "a part of it has");
        drop(outer);
        assert!(work.lasts() == Duration::ZERO && work.ended_within(Duration::MAX));
    }
}
