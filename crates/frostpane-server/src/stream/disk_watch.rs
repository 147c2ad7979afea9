//! The time for which the thread of a stream has been waiting for its disk, known without asking the disk.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Times are stored as microseconds since this moment.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

#[derive(Debug, Default)]
pub struct DiskWatch {
    /// Begin of the present operation; 0 if there is none.
    since: AtomicU64,
    /// End of the last operation; 0 if none has.
    ended: AtomicU64,
}

/// An operation, until it is dropped; `None` within one that is counted already.
pub struct DiskOperation<'a>(Option<&'a DiskWatch>);

impl DiskWatch {
    pub fn begin(&self) -> DiskOperation<'_> {
        let begun = self.since.compare_exchange(0, passed().max(1), Ordering::Relaxed, Ordering::Relaxed);
        DiskOperation(begun.is_ok().then_some(self))
    }

    /// The time for which the present operation has been going on.
    pub fn lasts(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_micros(passed().saturating_sub(since)),
        }
    }

    pub fn ended_within(&self, time: Duration) -> bool {
        match self.ended.load(Ordering::Relaxed) {
            0 => false,
            ended => Duration::from_micros(passed().saturating_sub(ended)) <= time,
        }
    }
}

impl Drop for DiskOperation<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.0 {
            watch.ended.store(passed().max(1), Ordering::Relaxed);
            watch.since.store(0, Ordering::Relaxed);
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
        let watch = DiskWatch::default();
        assert!(watch.lasts() == Duration::ZERO && !watch.ended_within(Duration::MAX));
        let outer = watch.begin();
        std::thread::sleep(Duration::from_millis(5));
        drop(watch.begin());
        assert!(watch.lasts() >= Duration::from_millis(5));
        assert!(!watch.ended_within(Duration::MAX), "an inner operation does not count");
        drop(outer);
        assert!(watch.lasts() == Duration::ZERO && watch.ended_within(Duration::MAX));
    }
}
