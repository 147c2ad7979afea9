//! What one process has and one thread uses at a time.

use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::error::{Failure, Result};

/// Why something cannot be used any more.
const CLOSED: &str = "it has been closed: open or build another one";
const BROKEN: &str = "an update was interrupted, or failed, in the middle, and nobody knows how much of it was counted: nothing is released from \
                      this any more, so build another one";

/// A thing that must not exist twice. A child of the process has a copy of it, which it may not even drop: that would write to files, and
/// release locks, of the parent.
pub struct Own<T> {
    process: u32,
    held: Mutex<Held<T>>,
}

struct Held<T> {
    thing: Option<T>,
    why: &'static str,
}

impl<T: Send> Own<T> {
    pub fn new(thing: T) -> Self {
        Self {
            process: process::id(),
            held: Mutex::new(Held {
                thing: Some(thing),
                why: CLOSED,
            }),
        }
    }

    /// Uses it, without keeping other threads of Python from running.
    pub fn with<R: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut T) -> Result<R> + Send) -> PyResult<R> {
        self.change(py, |thing| act(thing).map_err(Change::Refused))
    }

    /// Changes it: if that fails in the middle, or panics, it is gone, because nobody would know what it holds.
    pub fn change<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut T) -> std::result::Result<R, Change> + Send,
    ) -> PyResult<R> {
        self.check_process()?;
        let done = py.detach(|| {
            let held = &mut *self.lock();
            let Some(mut thing) = held.thing.take() else {
                return Err(Failure::Closed(held.why));
            };
            held.why = BROKEN;
            let done = match act(&mut thing) {
                Ok(done) => Ok(done),
                Err(Change::Refused(cause)) => Err(cause),
                Err(Change::Broken(cause)) => return Err(cause),
            };
            (held.thing, held.why) = (Some(thing), CLOSED);
            done
        });
        Ok(done?)
    }

    /// Takes it out: whatever is asked of it from now on is refused.
    pub fn take(&self, py: Python<'_>) -> PyResult<T> {
        self.check_process()?;
        let taken = py.detach(|| {
            let held = &mut *self.lock();
            held.thing.take().ok_or(Failure::Closed(held.why))
        });
        Ok(taken?)
    }

    /// Whatever is asked of it from now on is refused.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process()?;
        py.detach(|| {
            let held = &mut *self.lock();
            drop(held.thing.take());
        });
        Ok(())
    }

    fn check_process(&self) -> Result<()> {
        match self.process == process::id() {
            true => Ok(()),
            false => Err(Failure::Forked),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a change was not made.
pub enum Change {
    /// Before anything was changed.
    Refused(Failure),
    /// In the middle.
    Broken(Failure),
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(held.thing.take());
        }
    }
}
