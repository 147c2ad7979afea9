//! Tells when a pipe has given what it held when it was opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::terminal::lock;

/// A pipe does not say how much it holds. What it holds at the start comes without a pause: a reader that has
/// waited for so long, in all, has read it.
const WAITED: Duration = Duration::from_secs(3);

/// Adds up how long a reader has waited for more.
#[derive(Default)]
pub struct Drain {
    is_waiting: AtomicBool,
    waited: Mutex<(Duration, Option<Instant>)>,
}

impl Drain {
    pub fn wait(&self) {
        self.lock().1 = Some(Instant::now());
        self.is_waiting.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn come(&self) {
        if self.is_waiting.swap(false, Ordering::Relaxed) {
            let (all, since) = &mut *self.lock();
            *all += since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }

    pub fn is_over(&self) -> bool {
        let (all, since) = *self.lock();
        all + since.map_or(Duration::ZERO, |since| since.elapsed()) >= WAITED
    }

    fn lock(&self) -> MutexGuard<'_, (Duration, Option<Instant>)> {
        lock(&self.waited)
    }
}
