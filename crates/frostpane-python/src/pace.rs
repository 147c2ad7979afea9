//! How long calls look around: interrupts, and whoever wants to know how far they have come.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::Failure;
use crate::own::Change;

/// So often.
const OFTEN: Duration = Duration::from_millis(50);
/// After an interrupt an update goes on for this long, so that it is counted whole; if it takes longer nothing is made of it.
const GRACE: Duration = Duration::from_secs(2);

/// The pace of one call.
pub struct Pace {
    told: Option<Py<PyAny>>,
    total: u64,
    done: u64,
    grace: Duration,
    looked: Instant,
    stopped: Option<(Instant, PyErr)>,
}

impl Pace {
    /// Of a call that takes so many rows, and tells how many it has taken.
    pub fn new(told: Option<Py<PyAny>>, total: u64) -> Self {
        Self {
            told,
            total,
            done: 0,
            grace: GRACE,
            looked: Instant::now(),
            stopped: None,
        }
    }

    /// Of a call that can be gone on with after an interrupt.
    pub fn prompt(told: Option<Py<PyAny>>, total: u64) -> Self {
        Self {
            grace: Duration::ZERO,
            ..Self::new(told, total)
        }
    }

    /// So many more rows were taken.
    pub fn step(&mut self, rows: usize) -> Result<(), Change> {
        self.done += rows as u64;
        if self.looked.elapsed() < OFTEN {
            return Ok(());
        }
        self.looked = Instant::now();
        if self.stopped.is_none() {
            let looked = self.look_around();
            self.stopped = looked.err().map(|cause| (Instant::now(), cause));
        }
        match self.stopped.take() {
            Some((since, cause)) if since.elapsed() >= self.grace && self.done < self.total => {
                Err(Change::Broken(cause.into()))
            }
            stopped => {
                self.stopped = stopped;
                Ok(())
            }
        }
    }

    fn look_around(&self) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            match &self.told {
                Some(told) => told.call1(py, (self.done, self.total)).map(drop),
                None => Ok(()),
            }
        })
    }

    /// All rows were taken: an interrupt that came meanwhile is raised now.
    pub fn finish(self) -> Result<(), Failure> {
        match self.stopped {
            Some((_, cause)) => Err(cause.into()),
            None => self.look_around().map_err(Failure::from),
        }
    }
}
