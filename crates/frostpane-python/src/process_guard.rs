//! A guard for values that belong to one process, and that one thread uses at a time.

use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::error::{CallError, Result};

/// Reasons why a value cannot be used any more.
const CLOSED: &str = "it has been closed: open or build another one";
const BROKEN: &str = "an update was interrupted, or failed, in the middle, and nobody knows how much of it \
                      was counted: nothing is released from this any more, so build another one";

/// A value that must not exist twice. A forked child has a copy of it, which it must not even drop: that
/// would write to files, and release locks, of the parent.
pub struct ProcessGuard<T> {
    process: u32,
    held: Mutex<GuardState<T>>,
}

struct GuardState<T> {
    thing: Option<T>,
    why: &'static str,
}

impl<T: Send> ProcessGuard<T> {
    pub fn new(thing: T) -> Self {
        Self { process: process::id(), held: Mutex::new(GuardState { thing: Some(thing), why: CLOSED }) }
    }

    /// Uses the value, with the interpreter lock released.
    pub fn with<R: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut T) -> Result<R> + Send) -> PyResult<R> {
        self.change(py, |thing| act(thing).map_err(UpdateError::Refused))
    }

    /// Changes the value. If that fails half-way, or panics, it is dropped: its contents are unknown.
    pub fn change<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut T) -> std::result::Result<R, UpdateError> + Send,
    ) -> PyResult<R> {
        self.check_process()?;
        let done = py.detach(|| {
            let held = &mut *self.lock();
            let Some(mut thing) = held.thing.take() else {
                return Err(CallError::Closed(held.why));
            };
            held.why = BROKEN;
            let done = match act(&mut thing) {
                Ok(done) => Ok(done),
                Err(UpdateError::Refused(cause)) => Err(cause),
                Err(UpdateError::Broken(cause)) => return Err(cause),
            };
            (held.thing, held.why) = (Some(thing), CLOSED);
            done
        });
        Ok(done?)
    }

    /// Takes the value out. Every later use is refused.
    pub fn take(&self, py: Python<'_>) -> PyResult<T> {
        self.check_process()?;
        let taken = py.detach(|| {
            let held = &mut *self.lock();
            held.thing.take().ok_or(CallError::Closed(held.why))
        });
        Ok(taken?)
    }

    /// Drops the value. Every later use is refused.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check_process()?;
        py.detach(|| drop(self.lock().thing.take()));
        Ok(())
    }

    fn check_process(&self) -> Result<()> {
        if self.process != process::id() {
            return Err(CallError::Forked);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, GuardState<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a change.
pub enum UpdateError {
    Refused(CallError),
    /// The change was made in part.
    Broken(CallError),
}

impl<T> Drop for ProcessGuard<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.held.get_mut().unwrap_or_else(PoisonError::into_inner).thing.take());
        }
    }
}
