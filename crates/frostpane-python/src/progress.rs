//! Progress of long calls, and interrupts.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::CallError;
use crate::process_guard::UpdateError;

/// The interval between checks.
const OFTEN: Duration = Duration::from_millis(50);
/// The time that an update may go on after an interrupt, to be counted as a whole; else it is broken.
const GRACE: Duration = Duration::from_secs(2);

/// The progress of one call.
pub struct ProgressReporter {
    told: Option<Py<PyAny>>,
    total: u64,
    done: u64,
    grace: Duration,
    looked: Instant,
    stopped: Option<(Instant, PyErr)>,
}

impl ProgressReporter {
    /// A call that ingests so many rows, and reports to `told`.
    pub fn new(told: Option<Py<PyAny>>, total: u64) -> Self {
        Self { told, total, done: 0, grace: GRACE, looked: Instant::now(), stopped: None }
    }

    /// A call that can be repeated after an interrupt.
    pub fn prompt(told: Option<Py<PyAny>>, total: u64) -> Self {
        Self { grace: Duration::ZERO, ..Self::new(told, total) }
    }

    pub fn step(&mut self, rows: usize) -> Result<(), UpdateError> {
        self.done += rows as u64;
        if self.looked.elapsed() < OFTEN {
            return Ok(());
        }
        self.looked = Instant::now();
        if self.stopped.is_none() {
            let looked = self.look_around();
            self.stopped = looked.err().map(|cause| (Instant::now(), cause));
        }
        let is_over = |(since, _): &mut (Instant, _)| since.elapsed() >= self.grace && self.done < self.total;
        self.stopped.take_if(is_over).map_or(Ok(()), |(_, cause)| Err(UpdateError::Broken(cause.into())))
    }

    fn look_around(&self) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            self.told.as_ref().map_or(Ok(()), |told| told.call1(py, (self.done, self.total)).map(drop))
        })
    }

    /// Ends the call, and raises an interrupt that has come meanwhile.
    pub fn finish(self) -> Result<(), CallError> {
        match self.stopped {
            Some((_, cause)) => Err(cause.into()),
            None => self.look_around().map_err(CallError::from),
        }
    }
}
