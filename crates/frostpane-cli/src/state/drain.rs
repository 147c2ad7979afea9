//! Whether a pipe has given what it held when it was opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A pipe does not say how much it holds. What a log has at a start comes without a pause; whoever has waited for so long, all in all, has
/// read it.
const WAITED: Duration = Duration::from_secs(3);

/// How long a reader has waited for more.
#[derive(Default)]
pub struct Drain {
    waits: AtomicBool,
    waited: Mutex<(Duration, Option<Instant>)>,
}

impl Drain {
    /// The reader waits from now on.
    pub fn wait(&self) {
        self.lock().1 = Some(Instant::now());
        self.waits.store(true, Ordering::Relaxed);
    }

    /// Something has come.
    #[inline]
    pub fn come(&self) {
        if self.waits.swap(false, Ordering::Relaxed) {
            let (all, since) = &mut *self.lock();
            *all += since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }

    pub fn is_over(&self) -> bool {
        let (all, since) = *self.lock();
        all + since.map_or(Duration::ZERO, |since| since.elapsed()) >= WAITED
    }

    fn lock(&self) -> MutexGuard<'_, (Duration, Option<Instant>)> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
